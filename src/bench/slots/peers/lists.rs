//! Queues as lists of free slots. They hand out indices and store no value, so they have
//! less to do than a store.

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::bench::slots::bars::{ARRAY_QUEUE, CONCURRENT_QUEUE, SEG_QUEUE};
use crate::bench::slots::pairs::{CAPACITY, Groups, Store};

pub(super) fn pairs(groups: &mut Groups) {
    groups.all(ARRAY_QUEUE, || {
        filled(ArrayQueue::new(CAPACITY), |queue, index| {
            let _ = queue.push(index);
        })
    });
    groups.all(SEG_QUEUE, || filled(SegQueue::new(), SegQueue::push));
    groups.all(CONCURRENT_QUEUE, || {
        filled(ConcurrentQueue::bounded(CAPACITY), |queue, index| {
            let _ = queue.push(index);
        })
    });
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
