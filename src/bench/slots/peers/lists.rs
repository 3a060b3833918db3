//! Queues as lists of free slots. They hand out indices and store no value, so they have
//! less to do than a store; one row shows what values would add.

use std::sync::atomic::{AtomicU64, Ordering};

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::bench::slots::bars::{ARRAY_QUEUE, ARRAY_QUEUE_WORDS, CONCURRENT_QUEUE, SEG_QUEUE};
use crate::bench::slots::pairs::{CAPACITY, Groups, Store};

pub(super) fn pairs(groups: &mut Groups) {
    groups.all(ARRAY_QUEUE, || {
        filled(ArrayQueue::new(CAPACITY), |queue, index| {
            let _ = queue.push(index);
        })
    });
    groups.all(ARRAY_QUEUE_WORDS, WithWords::new);
    groups.all(SEG_QUEUE, || filled(SegQueue::new(), SegQueue::push));
    groups.all(CONCURRENT_QUEUE, || {
        filled(ConcurrentQueue::bounded(CAPACITY), |queue, index| {
            let _ = queue.push(index);
        })
    });
}

/// The least that makes a store of a list: a word for each index, and no generations.
struct WithWords {
    free: ArrayQueue<usize>,
    words: Box<[AtomicU64]>,
}

impl WithWords {
    fn new() -> Self {
        let free = ArrayQueue::new(CAPACITY);
        Self {
            free: filled(free, |queue, index| {
                let _ = queue.push(index);
            }),
            words: (0..CAPACITY).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Store for WithWords {
    type Local<'s> = ();
    type Token<'s> = usize;

    fn local(&self, _: usize) {}

    fn acquire(&self, (): &mut (), value: u64) -> Option<usize> {
        let index = self.free.pop()?;
        // Relaxed, here and below: the queue orders what its users do.
        self.words.get(index)?.store(value, Ordering::Relaxed);
        Some(index)
    }

    fn release(&self, (): &mut (), token: usize, _: u64) -> Option<u64> {
        let value = self.words.get(token)?.load(Ordering::Relaxed);
        self.free.push(token).is_ok().then_some(value)
    }
}

fn filled<Q>(queue: Q, push: impl Fn(&Q, usize)) -> Q {
    (0..CAPACITY).for_each(|index| push(&queue, index));
    queue
}

macro_rules! list {
    ($queue:ty, $pop:expr, $push:expr) => {
        impl Store for $queue {
            type Local<'s> = ();
            type Token<'s> = usize;

            fn local(&self, _: usize) {}

            fn acquire(&self, (): &mut (), _: u64) -> Option<usize> {
                let pop: fn(&Self) -> Option<usize> = $pop;
                pop(self)
            }

            fn release(&self, (): &mut (), token: usize, value: u64) -> Option<u64> {
                let push: fn(&Self, usize) -> bool = $push;
                (token < CAPACITY && push(self, token)).then_some(value)
            }
        }
    };
}

list!(ArrayQueue<usize>, Self::pop, |queue, index| queue
    .push(index)
    .is_ok());
list!(
    ConcurrentQueue<usize>,
    |queue| queue.pop().ok(),
    |queue, index| { queue.push(index).is_ok() }
);
list!(SegQueue<usize>, Self::pop, |queue, index| {
    queue.push(index);
    true
});
