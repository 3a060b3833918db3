//! `Fence`: the end of an execution.

use std::sync::{Arc, OnceLock};

use cupola_managers::{DeferredTicket, Result, Stream, Ticket};

use super::times::Timing;

/// The end of an execution, for others to come [after](super::Request::after).
#[derive(Debug)]
pub struct Fence {
    deferred: DeferredTicket,
    /// Once an event was needed.
    ticket: OnceLock<Ticket>,
    timing: Option<Arc<Timing>>,
}

impl Fence {
    pub(super) fn new(deferred: DeferredTicket, timing: Option<Arc<Timing>>) -> Self {
        Self {
            deferred,
            ticket: OnceLock::new(),
            timing,
        }
    }

    /// Whether it was reached (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// As [`Ticket::is_done`] and [`Stream::ticket`].
    #[doc(alias = "cuEventQuery")]
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        match self.deferred.is_known_done() {
            true => Ok(true),
            false => self.ticket()?.is_done(),
        }
    }

    /// Waits on the host until it is reached (`cuEventSynchronize`, unless it is known).
    ///
    /// # Errors
    /// As [`Ticket::wait`] and [`Stream::ticket`].
    #[doc(alias = "cuEventSynchronize")]
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        match self.deferred.is_known_done() {
            true => Ok(()),
            false => self.ticket()?.wait(),
        }
    }

    /// Makes later work on `stream` wait for it, on the device (`cuStreamWaitEvent`, unless it does so
    /// anyway).
    ///
    /// # Errors
    /// As [`Ticket::wait_on`] and [`Stream::ticket`].
    #[doc(alias = "cuStreamWaitEvent")]
    #[track_caller]
    pub fn wait_on(&self, stream: &Stream) -> Result<()> {
        match self.deferred.precedes(stream) {
            true => Ok(()),
            false => self.ticket()?.wait_on(stream),
        }
    }

    /// The event that it is reached with, recorded now if there is none.
    #[track_caller]
    pub(super) fn ticket(&self) -> Result<&Ticket> {
        if let Some(ticket) = self.ticket.get() {
            return Ok(ticket);
        }
        let ticket = self.deferred.ticket()?;
        Ok(self.ticket.get_or_init(|| ticket))
    }

    /// A ticket for a future of its own; `None` when it is known to be reached.
    #[track_caller]
    pub(super) fn own_ticket(&self) -> Result<Option<Ticket>> {
        match self.deferred.is_known_done() {
            true => Ok(None),
            false => self.deferred.ticket().map(Some),
        }
    }

    pub(super) fn timing(&self) -> Option<&Timing> {
        self.timing.as_deref()
    }
}
