//! *Tell me when*: callers that a timeline tells when a ticket completes.

use std::sync::{Arc, Weak};
use std::time::Instant;

use super::waiters::Waiter;
use super::{Closed, Timeline};
use crate::driver::{ContextCore, Watched};
use crate::error::{Error, Result};

/// A subscription to the completion of a ticket: it ends when this is dropped.
pub(crate) struct OnDone {
    waiter: Arc<Waiter>,
    /// Else no thread could ask for the ticket.
    _timeline: Arc<Timeline>,
}

impl Drop for OnDone {
    fn drop(&mut self) {
        self.waiter.cancel();
    }
}

impl Timeline {
    /// Calls `function` once: when the ticket, which is one that was given out, completes, or with
    /// the error that it never will, and now if either is known. On the thread that learns of it,
    /// when that holds no lock.
    pub(crate) fn on_done(
        self: &Arc<Self>,
        core: &Arc<ContextCore>,
        ticket: u64,
        function: impl FnOnce(Result<()>) + Send + 'static,
    ) -> OnDone {
        let waiter = Waiter::new(core, ticket, function);
        let subscription = OnDone {
            waiter: Arc::clone(&waiter),
            _timeline: Arc::clone(self),
        };
        if let Err(forked) = core.not_forked() {
            waiter.tell(Err(forked));
            return subscription;
        }
        if self.is_done(ticket) {
            waiter.tell(Ok(()));
            return subscription;
        }
        // First the waiter is in the list, then the clock is looked at; a thread that completes
        // tickets sets the clock and looks at the list after. So one of the two finds the other.
        let is_new = self.waiters.add(&waiter);
        let mut is_told = false;
        if self.is_done(ticket) && !mutant!("timeline_waiter_looks_first") {
            is_told = true;
            waiter.tell(Ok(()));
        } else if !mutant!("timeline_waiter_hears_of_no_loss") {
            core.watch(waiter);
        }
        // Before the thread is woken, which takes longer: the stream writes meanwhile.
        if !is_told {
            self.raise_flag();
        }
        let this: Weak<Self> = Arc::downgrade(self);
        let watched = match is_new {
            true => core.reactor().watch(this),
            false => {
                core.reactor().hurry();
                Ok(())
            }
        };
        if let Err(error) = watched {
            tracing::warn!(%error, "no thread can be had that waits for tickets");
            self.waiters.abandon(Error::Full {
                kind: "thread that waits for tickets",
            });
        }
        subscription
    }

    /// The error of a ticket that never completes.
    pub(crate) fn never() -> Error {
        let problem = "it was destroyed, and no event tells when its work is done";
        Error::invalid("stream", problem)
    }
}

impl Watched for Timeline {
    fn advance(&self, now: Instant) -> bool {
        if self.is_early(now) {
            return true;
        }
        self.note_question(now);
        let Some((ticket, core)) = self.waiters.newest() else {
            return false;
        };
        let asked = self.close(&core, ticket).and_then(|closed| {
            if closed == Closed::Never {
                let covered = self.covered();
                self.waiters
                    .tell(|ticket| ticket > covered, &Err(Self::never()));
            }
            self.poll(&core).map(drop)
        });
        self.waiters.note(&asked);
        true
    }
}
