//! Pairs: a slot is acquired and released, by one thread, by several on one shared store,
//! or acquired by one thread and released by another.

use std::hint::black_box;

use crate::bench::clock::{once, pause, together};
use crate::bench::ring::Ring;
use crate::bench::rounds::Case;

/// Pairs between two looks at the clock.
const BATCH: u64 = 1024;

/// Slots of every store, where it has a limit: enough for the ring.
pub(super) const CAPACITY: usize = 4096;

/// Something that slots are acquired from and released to.
pub(super) trait Store: Sync + 'static {
    /// An acquired slot.
    type Token<'s>;

    /// Threads may sleep in here.
    const SLEEPS: bool = false;

    /// Puts `value` into a free slot. `None` when there seems to be none.
    fn acquire(&self, value: u64) -> Option<Self::Token<'_>>;

    /// Frees the slot and returns the value. Stores of slots without values, which have
    /// less to do, return `value`, which is what was put in.
    fn release<'s>(&'s self, token: Self::Token<'s>, value: u64) -> Option<u64>;
}

/// The three groups of rows that a store has.
pub(super) struct Groups {
    threads: usize,
    floor: &'static str,
    cases: [Vec<Case>; 3],
}

/// The prefix of the rows of one thread.
pub(super) const ONE: &str = "1 thread";
/// The prefix of the rows in which a second thread releases.
pub(super) const HAND_OVER: &str = "hand-over";

/// The prefix of the rows of several threads.
pub(super) fn many(threads: usize) -> String {
    format!("{threads} threads")
}

impl Groups {
    /// No rows yet; all will be compared with those of the store `floor`.
    pub(super) fn new(threads: usize, floor: &'static str) -> Self {
        Self {
            threads,
            floor,
            cases: [vec![], vec![], vec![]],
        }
    }

    /// Measures a store on one thread and on several.
    pub(super) fn shared<S: Store>(&mut self, name: &str, make: impl Fn() -> S) {
        let alone = format!("{ONE}: {name}");
        let floor = self.floor;
        let case = pairs(alone.clone(), 1, make()).against(format!("{ONE}: {floor}"));
        self.cases[0].push(case);
        if self.threads > 1 {
            let group = many(self.threads);
            let case = pairs(format!("{group}: {name}"), self.threads, make())
                .against(format!("{group}: {floor}"))
                .alone(alone)
                .sleeps(S::SLEEPS);
            self.cases[1].push(case);
        }
    }

    /// Measures a store in all three ways.
    pub(super) fn all<S>(&mut self, name: &str, make: impl Fn() -> S)
    where
        S: Store,
        for<'s> S::Token<'s>: Send,
    {
        self.shared(name, &make);
        self.handed_over(name, make);
    }

    /// Measures a store whose slots one thread acquires and another one releases.
    pub(super) fn handed_over<S>(&mut self, name: &str, make: impl Fn() -> S)
    where
        S: Store,
        for<'s> S::Token<'s>: Send,
    {
        if self.threads > 1 {
            let case = hand_over(format!("{HAND_OVER}: {name}"), make());
            self.cases[2].push(case.sleeps(S::SLEEPS));
        }
    }

    /// The cases, group by group.
    pub(super) fn into_cases(self) -> impl Iterator<Item = Case> {
        self.cases.into_iter().flatten()
    }
}

/// Every thread acquires a slot and releases it, again and again.
fn pairs<S: Store>(name: String, threads: usize, store: S) -> Case {
    Case::new(name, threads, move |turn| {
        let mut wrong = 0;
        let mut missed = 0;
        let mut value = turn.thread as u64;
        let lap = turn.measure(|| {
            value = black_box(value.wrapping_add(1));
            let mut failed = 0;
            for _ in 0..BATCH {
                let Some(token) = store.acquire(value) else {
                    failed += 1;
                    continue;
                };
                let back = store.release(black_box(token), value);
                wrong |= back.map_or(u64::MAX, |back| back ^ value);
            }
            missed += failed;
            BATCH - failed
        });
        // A list of free slots that often has none is too small, or loses them.
        (wrong == 0 && missed * 100 <= lap.operations()).then_some(lap)
    })
}

/// The first thread acquires, the second one releases.
fn hand_over<S>(name: String, store: S) -> Case
where
    S: Store,
    for<'s> S::Token<'s>: Send,
{
    Case::of_samples(name, 2, move |time| {
        let ring = Ring::new();
        together(2, time, |turn| {
            if turn.thread == 0 {
                let mut sender = ring.sender()?;
                turn.ready();
                let mut value = 0_u64;
                let mut spins = 0;
                let lap = turn.time(|| {
                    for _ in 0..BATCH {
                        value += 1;
                        let token = loop {
                            match store.acquire(value) {
                                Some(token) => break token,
                                None => pause(&mut spins),
                            }
                        };
                        sender.send((token, value));
                    }
                    BATCH
                });
                return Some(lap);
            }
            let mut receiver = ring.receiver()?;
            turn.ready();
            let mut wrong = 0;
            let lap = once(|| {
                let mut received = 0;
                while let Some((token, value)) = receiver.receive() {
                    let back = store.release(token, value);
                    received += 1;
                    wrong |= back.map_or(u64::MAX, |back| back ^ value) | (value ^ received);
                }
                received
            });
            (wrong == 0).then_some(lap)
        })
    })
}
