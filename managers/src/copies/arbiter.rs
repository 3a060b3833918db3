//! `Arbiter`: which chunks of bulk copies are with the device, of one direction.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::stream::Ticket;
use crate::sync;
use crate::sync::deferred::DeferCallbacks;

/// Gives bulk copies of one direction their turns. A chunk is put on a stream whose work is done, so
/// it ends without the program's help, and a copy without a turn waits for the oldest chunk.
#[derive(Debug, Default)]
pub(super) struct Arbiter {
    /// Behind the chunks that may still run, in the order in which they were put.
    in_flight: Mutex<VecDeque<Arc<Ticket>>>,
}

/// The right to put chunks, as long as there is room. No other copy puts any meanwhile.
pub(super) struct Turn<'a> {
    window: usize,
    in_flight: MutexGuard<'a, VecDeque<Arc<Ticket>>>,
    /// Behind the lock, so that it is dropped after it.
    _defer: DeferCallbacks,
}

impl Arbiter {
    /// A turn to put chunks until `window` are in flight. Those that were are asked for
    /// (`cuEventQuery`), once.
    pub(super) fn turn(&self, window: usize) -> Turn<'_> {
        let defer = DeferCallbacks::new();
        let mut in_flight = sync::lock(&self.in_flight);
        // One that cannot be asked is of a lost context, or its own copy is told of the error.
        in_flight.retain(|chunk| matches!(chunk.is_done(), Ok(false)));
        Turn {
            window,
            in_flight,
            _defer: defer,
        }
    }

    /// Forgets the chunks that have ended: a ticket keeps its context.
    pub(super) fn sweep(&self) {
        drop(self.turn(0));
    }
}

impl Turn<'_> {
    /// The oldest chunk, when no more may be put.
    pub(super) fn full(&self) -> Option<&Arc<Ticket>> {
        let is_full = self.in_flight.len() >= self.window && !mutant!("copies_window_is_open");
        self.in_flight.front().filter(|_| is_full)
    }

    /// Notes a chunk, which is in flight until this ticket is done.
    pub(super) fn put(&mut self, chunk: Arc<Ticket>) {
        self.in_flight.push_back(chunk);
    }
}
