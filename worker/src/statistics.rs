//! What a supervisor counts, and what it leaves behind.

use std::time::Duration;

use crate::ledger::Outcome;
use crate::loss::Loss;

/// What happened since the supervisor was started.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Workers that were started, the first one included.
    pub started: u64,
    /// Workers that were lost.
    pub lost: LossCounts,
    /// Workers that were lost while they had an item, all of it.
    pub lost_at_work: u64,
    /// Items that were taken.
    pub submitted: u64,
    /// Items that a worker answered, with a result or an error.
    pub answered: u64,
    /// Items that were given up.
    pub given_up: u64,
    /// Times that an item was with a worker that was lost, and was kept for the next one.
    pub resent: u64,
    /// Outcomes that were received.
    pub received: u64,
    /// Why the first worker was lost.
    pub first_cause: Option<Loss>,
    /// Why the last worker was lost.
    pub last_cause: Option<Loss>,
    /// How long the last start took, from the start of the program to the handler.
    pub last_start: Duration,
    /// The longest time without a worker: from when the loss of one was noticed to when the
    /// next one had its handler.
    pub longest_outage: Duration,
    /// Killed processes that the system has not ended yet, as happens to a process inside of
    /// a driver that hangs.
    pub unreaped: usize,
    /// The process of the worker, while there is one.
    pub process: Option<u32>,
}

/// How many workers were lost by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossCounts {
    /// [`Loss::Sticky`].
    pub sticky: u64,
    /// [`Loss::Panicked`].
    pub panicked: u64,
    /// [`Loss::Hung`].
    pub hung: u64,
    /// [`Loss::Exited`], [`Loss::Killed`], [`Loss::Gone`], [`Loss::Closed`] and
    /// [`Loss::NotStopped`].
    pub ended: u64,
    /// [`Loss::Protocol`] and [`Loss::Connection`].
    pub protocol: u64,
    /// The others: it was lost before it had a handler.
    pub start: u64,
}

impl LossCounts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sticky + self.panicked + self.hung + self.ended + self.protocol + self.start
    }

    pub(super) fn count(&mut self, cause: &Loss) {
        *match cause {
            Loss::Sticky(_) => &mut self.sticky,
            Loss::Panicked(_) => &mut self.panicked,
            Loss::Hung(_) => &mut self.hung,
            Loss::Exited(_)
            | Loss::Killed { .. }
            | Loss::Gone
            | Loss::Closed
            | Loss::NotStopped(_) => &mut self.ended,
            Loss::Protocol(_) | Loss::Connection(_) => &mut self.protocol,
            Loss::NotSpawned { .. }
            | Loss::NoHello(_)
            | Loss::NotReady(_)
            | Loss::NotOpened(_)
            | Loss::EndedEarly(_) => &mut self.start,
        } += 1;
    }
}

/// What a supervisor leaves behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What happened.
    pub statistics: Statistics,
    /// Outcomes that were not received, in order.
    pub outcomes: Vec<Outcome>,
    /// Items without an outcome, with their numbers, in order. A worker may have worked on
    /// the first ones.
    pub unfinished: Vec<(u64, Vec<u8>)>,
    /// Whether the last worker ended by itself when it was told to, with exit code 0 and
    /// without an item that it had not answered. If it was lost instead,
    /// [`Statistics::last_cause`] says why.
    pub orderly: bool,
}
