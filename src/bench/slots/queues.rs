//! Queues: values pass through, on one thread, on several at a time, and from one thread
//! to another.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, mpsc};

use cupola_core::queue::{Bounded, Mpsc, Node};

use super::ours::lock;
use super::pairs::{HAND_OVER, ONE, many};
use crate::bench::clock::{Turn, once, pause, together};
use crate::bench::rounds::Case;

/// Operations between two looks at the clock.
const BATCH: u64 = 1024;

/// Places of the queues that have a limit.
pub(super) const PLACES: usize = 256;

/// Values that are pushed before they are popped again, in the rows of batches.
const TOGETHER: u64 = 64;

/// Values that pass from one thread to another in a sample of the unbounded queues.
const PASSED: usize = 1 << 16;

/// A queue that any thread pushes to and pops from.
pub(super) trait Queue: Sync + 'static {
    /// Threads may sleep in here.
    const SLEEPS: bool = false;

    fn push(&self, value: u64) -> bool;
    fn pop(&self) -> Option<u64>;
}

impl<const N: usize> Queue for Bounded<u64, N> {
    fn push(&self, value: u64) -> bool {
        Bounded::push(self, value).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        Bounded::pop(self).ok()
    }
}

impl Queue for Mutex<VecDeque<u64>> {
    const SLEEPS: bool = true;

    fn push(&self, value: u64) -> bool {
        let mut queue = lock(self);
        let fits = queue.len() < PLACES;
        if fits {
            queue.push_back(value);
        }
        fits
    }

    fn pop(&self) -> Option<u64> {
        lock(self).pop_front()
    }
}

/// A channel whose receiver is lent to one thread at a time.
struct Channel {
    sender: mpsc::Sender<u64>,
    receiver: Mutex<mpsc::Receiver<u64>>,
}

impl Default for Channel {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self {
            sender,
            receiver: Mutex::new(receiver),
        }
    }
}

impl Queue for Channel {
    fn push(&self, value: u64) -> bool {
        self.sender.send(value).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        lock(&self.receiver).try_recv().ok()
    }
}

/// The rows, group by group.
pub(super) struct Queues {
    threads: usize,
    cases: [Vec<Case>; 4],
}

/// All rows.
pub(super) fn cases(threads: usize) -> impl Iterator<Item = Case> {
    let mut queues = Queues {
        threads,
        cases: [vec![], vec![], vec![], vec![]],
    };
    queues.bounded(super::bars::BOUNDED, Bounded::<u64, PLACES>::new);
    queues.bounded("std Mutex<VecDeque>", Mutex::<VecDeque<u64>>::default);
    queues.mpsc();
    queues.unbounded("std mpsc, receiver in a Mutex", Channel::default);
    #[cfg(feature = "peers")]
    super::peers::queues(&mut queues);
    queues.cases.into_iter().flatten()
}

impl Queues {
    /// Measures a queue with [`PLACES`] places.
    pub(super) fn bounded<Q: Queue>(&mut self, name: &str, make: impl Fn() -> Q) {
        let name = format!("queue, {name}");
        let alone = format!("{ONE}: {name}");
        self.cases[0].push(pairs(alone.clone(), make()));
        if self.threads > 1 {
            let case = shared(
                format!("{}: {name}", many(self.threads)),
                self.threads,
                make(),
            );
            self.cases[1].push(case.alone(alone).sleeps(Q::SLEEPS));
            let case = passed(format!("{HAND_OVER}: {name}"), make());
            self.cases[2].push(case.sleeps(Q::SLEEPS));
        }
    }

    /// Measures a queue without a limit, from one thread to another.
    pub(super) fn unbounded<Q: Queue>(&mut self, name: &str, make: impl Fn() -> Q) {
        let name = format!("unbounded queue, {name}");
        self.cases[3].push(batches(format!("{ONE}: {name}, batches of 64"), make()));
        if self.threads > 1 {
            self.cases[3].push(passed(format!("{HAND_OVER}: {name}"), make()));
        }
    }

    fn mpsc(&mut self) {
        let name = super::bars::MPSC;
        let case = mpsc_batches(format!("{ONE}: unbounded queue, {name}, batches of 64"));
        self.cases[3].push(case);
        if self.threads > 1 {
            let case = mpsc_passed(format!("{HAND_OVER}: unbounded queue, {name}"));
            self.cases[3].push(case);
        }
    }
}

/// A push and a pop, on an else empty queue.
fn pairs(name: String, queue: impl Queue) -> Case {
    Case::new(name, 1, move |turn| {
        let mut wrong = false;
        let mut value = 0;
        let lap = turn.measure(|| {
            for _ in 0..BATCH {
                value += 1;
                wrong |= !queue.push(black_box(value));
                wrong |= queue.pop() != Some(value);
            }
            BATCH
        });
        (!wrong).then_some(lap)
    })
}

/// Every thread pushes and pops; the queue is neither full nor empty.
fn shared(name: String, threads: usize, queue: impl Queue) -> Case {
    let filled = (0..PLACES as u64 / 2).all(|_| queue.push(1));
    Case::new(name, threads, move |turn| {
        let mut wrong = !filled;
        let lap = turn.measure(|| {
            let mut spins = 0;
            for _ in 0..BATCH {
                while !queue.push(black_box(1)) {
                    pause(&mut spins);
                }
                let value = loop {
                    match queue.pop() {
                        Some(value) => break value,
                        None => pause(&mut spins),
                    }
                };
                wrong |= value != 1;
            }
            BATCH
        });
        (!wrong).then_some(lap)
    })
}

/// One thread pushes, another pops: what comes out must be in order.
fn passed(name: String, queue: impl Queue) -> Case {
    Case::of_samples(name, 2, move |time| {
        together(2, time, |turn| {
            turn.ready();
            let mut spins = 0;
            if turn.thread == 0 {
                return Some(once(|| {
                    for value in 1..=PASSED as u64 {
                        while !queue.push(value) {
                            pause(&mut spins);
                        }
                    }
                    PASSED as u64
                }));
            }
            let mut wrong = false;
            let lap = once(|| {
                for value in 1..=PASSED as u64 {
                    let popped = loop {
                        match queue.pop() {
                            Some(popped) => break popped,
                            None => pause(&mut spins),
                        }
                    };
                    wrong |= popped != value;
                }
                PASSED as u64
            });
            (!wrong).then_some(lap)
        })
    })
}

/// As many pushes, then as many pops.
fn batches(name: String, queue: impl Queue) -> Case {
    Case::new(name, 1, move |turn| {
        let mut wrong = false;
        let lap = turn.measure(|| {
            for _ in 0..BATCH / TOGETHER {
                for value in 0..TOGETHER {
                    wrong |= !queue.push(black_box(value));
                }
                for value in 0..TOGETHER {
                    wrong |= queue.pop() != Some(value);
                }
            }
            BATCH
        });
        (!wrong).then_some(lap)
    })
}

type Nodes = Vec<&'static mut Node<u64>>;

/// Nodes for the whole run: they are linked through, so they are never given back.
fn nodes(count: usize) -> Mutex<Nodes> {
    let nodes = (0..count).map(|_| Box::leak(Box::new(Node::new(0))));
    Mutex::new(nodes.collect())
}

/// As many pushes, then all at once taken out, oldest first.
fn mpsc_batches(name: String) -> Case {
    let nodes = nodes(TOGETHER as usize);
    Case::new(name, 1, move |turn: Turn<'_>| {
        let queue = Mpsc::new();
        let mut nodes = lock(&nodes);
        let mut wrong = false;
        let lap = turn.measure(|| {
            for _ in 0..BATCH / TOGETHER {
                for (node, value) in nodes.drain(..).zip(0..) {
                    **node = black_box(value);
                    queue.push(node);
                }
                for (node, value) in queue.pop_all().oldest_first().zip(0..) {
                    wrong |= **node != value;
                    nodes.push(node);
                }
            }
            BATCH
        });
        (!wrong && nodes.len() as u64 == TOGETHER).then_some(lap)
    })
}

/// One thread pushes nodes, another takes all that there are, again and again.
fn mpsc_passed(name: String) -> Case {
    let kept = nodes(PASSED);
    Case::of_samples(name, 2, move |time| {
        let queue = Mpsc::new();
        together(2, time, |turn| {
            if turn.thread == 0 {
                let nodes = std::mem::take(&mut *lock(&kept));
                turn.ready();
                return Some(once(|| {
                    for (node, value) in nodes.into_iter().zip(0..) {
                        **node = value;
                        queue.push(node);
                    }
                    PASSED as u64
                }));
            }
            let mut back: Nodes = Vec::with_capacity(PASSED);
            turn.ready();
            let mut sum = 0;
            let mut spins = 0;
            let lap = once(|| {
                while back.len() < PASSED {
                    let before = back.len();
                    for node in queue.pop_all() {
                        sum += **node;
                        back.push(node);
                    }
                    if back.len() == before {
                        pause(&mut spins);
                    }
                }
                PASSED as u64
            });
            *lock(&kept) = back;
            let all = PASSED as u64;
            (sum == all * (all - 1) / 2).then_some(lap)
        })
    })
}
