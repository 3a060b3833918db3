//! `LaunchOrder`: the order of launches that use the same memory.

use std::sync::{Arc, PoisonError};

use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::sync::deferred::DeferCallbacks;
use crate::sync::{Mutex, MutexGuard};

/// One launch after the other, of executables that share memory.
#[derive(Default)]
pub(crate) struct LaunchOrder {
    /// The stream of the last launch, and the ticket that it ends by.
    last: Mutex<Option<(Stream, u64)>>,
}

impl LaunchOrder {
    /// Makes later work on `stream` wait for the last launch, and keeps other threads' launches off
    /// until this one is put.
    ///
    /// # Errors
    /// What the driver returned; [`Error::Capturing`] while one of the two streams is captured by calls
    /// that this crate does not see: a launch there would come after nothing.
    #[track_caller]
    pub(crate) fn take_turn(&self, stream: &Stream) -> Result<Turn<'_>> {
        let callbacks = DeferCallbacks::new();
        let mut last = self.lock();
        if let Some((before, ticket)) = &*last
            && !stream.wait_for_ticket(before.timeline(), before.core(), *ticket)?
        {
            let operation = "launch a graph of a group";
            return Err(Error::Capturing { operation });
        }
        if mutant!("launch_order_ends_a_turn_early") {
            drop(last);
            last = self.lock();
        }
        Ok(Turn {
            last,
            _callbacks: callbacks,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Stream, u64)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A launch's turn in its group.
pub(crate) struct Turn<'o> {
    last: MutexGuard<'o, Option<(Stream, u64)>>,
    // After the lock.
    _callbacks: DeferCallbacks,
}

impl Turn<'_> {
    /// The launch is on `stream`, and over by this ticket.
    pub(crate) fn end(mut self, stream: &Stream, ticket: u64) {
        if mutant!("launch_order_keeps_the_first") && self.last.is_some() {
            return;
        }
        match &mut *self.last {
            Some((before, known)) if before.is(stream) => *known = ticket,
            last => *last = Some((stream.clone(), ticket)),
        }
    }
}

/// What was in no order, or in this one, is in this order from now on.
///
/// # Errors
/// [`Error::Invalid`] when it is in another one: its launches cannot be in both.
pub(super) fn join_order(
    mine: &mut Option<Arc<LaunchOrder>>,
    order: Option<&Arc<LaunchOrder>>,
) -> Result<()> {
    let Some(order) = order else { return Ok(()) };
    let joined = mine.get_or_insert_with(|| Arc::clone(order));
    match Arc::ptr_eq(joined, order) {
        true => Ok(()),
        false => Err(Error::invalid("graph", "it is of another group")),
    }
}
