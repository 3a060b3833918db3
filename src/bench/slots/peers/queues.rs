//! Queues and triple buffers.

use std::sync::Mutex;

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use triple_buffer::{Input, Output, triple_buffer};

use crate::bench::slots::bars::TRIPLE_BUFFER;
use crate::bench::slots::ours::lock;
use crate::bench::slots::queues::{PLACES, Queue, Queues};
use crate::bench::slots::rotation::{Exchange, Exchanges};

pub(super) fn queues(queues: &mut Queues) {
    queues.bounded("crossbeam ArrayQueue", || ArrayQueue::new(PLACES));
    queues.bounded("concurrent-queue bounded", || {
        ConcurrentQueue::bounded(PLACES)
    });
    queues.unbounded("crossbeam SegQueue", SegQueue::new);
    queues.unbounded("concurrent-queue unbounded", ConcurrentQueue::unbounded);
}

pub(super) fn exchanges(exchanges: &mut Exchanges) {
    exchanges.add::<Triple>(TRIPLE_BUFFER);
}

impl Queue for ArrayQueue<u64> {
    fn push(&self, value: u64) -> bool {
        Self::push(self, value).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        Self::pop(self)
    }
}

impl Queue for SegQueue<u64> {
    fn push(&self, value: u64) -> bool {
        Self::push(self, value);
        true
    }

    fn pop(&self) -> Option<u64> {
        Self::pop(self)
    }
}

impl Queue for ConcurrentQueue<u64> {
    fn push(&self, value: u64) -> bool {
        Self::push(self, value).is_ok()
    }

    fn pop(&self) -> Option<u64> {
        Self::pop(self).ok()
    }
}

/// Both ends, until their threads come for them.
struct Triple {
    input: Mutex<Option<Input<u64>>>,
    output: Mutex<Option<Output<u64>>>,
}

impl Exchange for Triple {
    type Input<'s> = Input<u64>;
    type Output<'s> = Output<u64>;

    fn new() -> Self {
        let (input, output) = triple_buffer(&0);
        Self {
            input: Mutex::new(Some(input)),
            output: Mutex::new(Some(output)),
        }
    }

    fn input(&self) -> Option<Self::Input<'_>> {
        lock(&self.input).take()
    }

    fn output(&self) -> Option<Self::Output<'_>> {
        lock(&self.output).take()
    }

    fn publish(input: &mut Self::Input<'_>, value: u64) -> bool {
        input.write(value);
        true
    }

    fn read(output: &mut Self::Output<'_>) -> u64 {
        *output.read()
    }
}
