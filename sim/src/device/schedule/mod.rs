//! Machines with an order of their own: one scheduler decides which stream's next
//! operation, and which slice of which block of a running kernel, goes next.
//!
//! Nothing runs by itself. A driver call drives the work: a little when it enters, and as
//! much as it takes when it waits. One thread drives at a time; no lock is held while an
//! operation runs. `docs/design/sim/execution.md` says what is promised.

mod bus;
mod clock;
mod host;
mod kernel;
mod rng;
mod stream_queue;
mod trace;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::device::machine::config::{DeviceConfig, Order};
use crate::device::streams::stream::Stream;
use crate::device::sync::{lock, wait_timeout};
use clock::Parts;
use rng::Rng;
use stream_queue::StreamQueue;

pub(super) use clock::Time;
pub use trace::{Act, Step, Trace};

/// How often a call that waits for something outside the machine looks again.
const LOOK: Duration = Duration::from_millis(1);

const OVERLAP: &str = "a driver call entered while another thread's call was driving";

/// How the next step is chosen.
#[derive(Debug)]
enum Choice {
    /// Any that can run, by chance.
    Seeded(Rng),
    /// The earliest in virtual time; kernels' blocks take turns.
    Timed,
}

/// The scheduler of a machine.
#[derive(Debug)]
pub(super) struct Schedule {
    state: Mutex<State>,
    /// A step was made, or the baton is free.
    changed: Condvar,
    /// A thread drives the schedule.
    baton: AtomicBool,
    /// Lanes with work: a look at this spares calls of an idle machine the lock.
    busy: AtomicUsize,
    /// The program's clock, in picoseconds.
    now: AtomicU64,
    /// The machine has gone while a function that it called was running.
    abandoned: AtomicBool,
}

#[derive(Debug)]
struct State {
    choice: Choice,
    /// Streams with work, by number.
    queues: BTreeMap<u64, StreamQueue>,
    /// Of each device.
    parts: Vec<Parts>,
    /// When the latest of all steps so far was: what is in memory was written by then.
    latest: Time,
    trace: Trace,
}

/// What can run next.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    queue: u64,
    /// When it happens.
    at: Time,
    /// Since when it could have, had what it needs been free.
    since: Time,
    priority: i32,
}

/// The right to drive.
struct Baton<'a>(&'a Schedule);

impl Drop for Baton<'_> {
    fn drop(&mut self) {
        self.0.baton.store(false, Ordering::Release);
        self.0.changed.notify_all();
    }
}

impl Schedule {
    /// The scheduler of a machine with these devices, unless its streams have threads.
    pub(super) fn new(order: Order, devices: &[DeviceConfig]) -> Option<Arc<Self>> {
        let choice = match order {
            Order::Threads => return None,
            Order::Seeded(seed) => Choice::Seeded(Rng::new(seed)),
            Order::Timed => Choice::Timed,
        };
        Some(Arc::new(Self {
            state: Mutex::new(State {
                choice,
                queues: BTreeMap::new(),
                parts: devices.iter().map(Parts::new).collect(),
                latest: Time::default(),
                trace: Trace::default(),
            }),
            changed: Condvar::new(),
            baton: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            now: AtomicU64::new(0),
            abandoned: AtomicBool::new(false),
        }))
    }

    /// What was done so far.
    pub(super) fn trace(&self) -> Trace {
        let mut trace = lock(&self.state).trace.clone();
        trace.now = self.now().duration();
        trace
    }

    pub(super) fn now(&self) -> Time {
        Time::from_picos(self.now.load(Ordering::Acquire))
    }

    /// The program has seen something that happened then.
    pub(super) fn observe(&self, time: Time) {
        self.now.fetch_max(time.picos(), Ordering::AcqRel);
    }

    /// Puts what has no order into one that the seed draws.
    pub(super) fn shuffle<T>(&self, items: &mut [T]) {
        let mut state = lock(&self.state);
        let Choice::Seeded(rng) = &mut state.choice else {
            return;
        };
        for last in (1..items.len()).rev() {
            let other = usize::try_from(rng.below(last as u64 + 1)).unwrap_or(last);
            items.swap(last, other);
        }
    }

    /// Takes a stream that has work into account.
    pub(super) fn enlist(&self, stream: &Arc<Stream>) {
        let mut state = lock(&self.state);
        let queue = state.queues.entry(stream.id);
        queue.or_insert_with(|| StreamQueue::new(stream));
        self.busy.store(state.queues.len(), Ordering::Release);
        // A call that waits may have nothing else to run.
        self.changed.notify_all();
    }

    /// Lets some work happen, because the program makes a driver call: by chance, or what
    /// happens until the program's present.
    pub(super) fn enter(self: &Arc<Self>) {
        if self.busy.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut state = lock(&self.state);
        let Some(_baton) = self.try_baton() else {
            state.trace.depart(OVERLAP);
            return;
        };
        match &mut state.choice {
            Choice::Seeded(rng) => {
                for _ in 0..rng.few() {
                    (state, _) = self.step(state, None);
                }
            }
            Choice::Timed => {
                let now = Some(self.now());
                let mut more = true;
                while more {
                    (state, more) = self.step(state, now);
                }
            }
        }
        drop(state);
    }

    /// Lets at least one step happen, because the program asks for something that is not
    /// there yet. With virtual time, the program is then where the step is.
    pub(super) fn poll(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        let Some(_baton) = self.try_baton() else {
            state.trace.depart(OVERLAP);
            return;
        };
        if let Choice::Timed = state.choice {
            let next = state
                .candidates(self.now())
                .into_iter()
                .map(|next| next.at)
                .min();
            next.into_iter().for_each(|next| self.observe(next));
        }
        (state, _) = self.step(state, None);
        drop(state);
    }

    /// Drives until `done`, which is looked at under the scheduler's lock.
    pub(super) fn drive(self: &Arc<Self>, done: impl Fn() -> bool) {
        let mut state = lock(&self.state);
        while !done() {
            if let Some(_baton) = self.try_baton() {
                let mut more = true;
                while more && !done() {
                    (state, more) = self.step(state, None);
                }
                if more {
                    drop(state);
                    return;
                }
            }
            // What is missing comes from outside: another thread that drives or submits, a
            // function of the program that has not returned, or memory that it writes.
            state = wait_timeout(&self.changed, state, LOOK).0;
        }
    }

    /// A function that the machine had gone on without has returned.
    fn function_returned(self: &Arc<Self>) {
        self.changed.notify_all();
        if self.abandoned.load(Ordering::Acquire) {
            // No other thread is there to drop what is left.
            self.drive(|| self.busy.load(Ordering::Acquire) == 0);
        }
    }

    /// The machine goes, in a function that it called: what is left is dropped when that
    /// returns.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    fn try_baton(&self) -> Option<Baton<'_>> {
        let taken = self.baton.swap(true, Ordering::AcqRel);
        (!taken).then(|| Baton(self))
    }

    /// Makes one step, if anything can run, before `limit` if there is one. The caller has
    /// the baton.
    fn step<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        limit: Option<Time>,
    ) -> (MutexGuard<'a, State>, bool) {
        let mut candidates = state.candidates(self.now());
        if let Some(limit) = limit {
            candidates.retain(|candidate| candidate.at <= limit);
        }
        let Some(next) = state.choose(&candidates) else {
            return (state, false);
        };
        state.latest = state.latest.max(next.at);
        state = self.perform(state, next);
        (state, true)
    }
}

impl State {
    /// What can run now, in the order of the streams' numbers, with the program's clock at
    /// `now`.
    fn candidates(&mut self, now: Time) -> Vec<Candidate> {
        let written = self.latest.max(now);
        let parts = &mut self.parts;
        let queues = self.queues.iter_mut();
        queues
            .filter_map(|(number, queue)| {
                let (since, at) = queue.ready(parts, written)?;
                Some(Candidate {
                    queue: *number,
                    at,
                    since,
                    priority: queue.priority(),
                })
            })
            .collect()
    }

    fn choose(&mut self, candidates: &[Candidate]) -> Option<Candidate> {
        match &mut self.choice {
            Choice::Timed => candidates
                .iter()
                .min_by_key(|next| (next.at, next.since, next.priority, next.queue))
                .copied(),
            Choice::Seeded(rng) => {
                // Twice as often for each step of priority, of which lower is higher.
                let weight = |next: &Candidate| 1u64 << next.priority.clamp(-16, 0).unsigned_abs();
                let mut ticket = rng.below(candidates.iter().map(weight).sum());
                let chosen = candidates.iter().find(|next| {
                    let mine = ticket < weight(next);
                    ticket = ticket.saturating_sub(weight(next));
                    mine
                });
                chosen.copied()
            }
        }
    }
}
