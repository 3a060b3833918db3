//! `Supervisor`: what a program holds of its worker.

use std::fmt;
use std::time::Duration;

use crate::config::WorkerConfig;
use crate::drive::{Drive, State};
use crate::ledger::{Ledger, Outcome};
use crate::link::LEFT;
use crate::refusal::{CallError, Refusal, Refused, WorkerError};
use crate::statistics::{Report, Statistics};
use crate::talk::Phase;

/// How long a worker has to end by itself when its supervisor is dropped.
const BRIEF: Duration = Duration::from_millis(50);

/// How long its end is waited for after it was killed.
const AFTER_KILL: Duration = Duration::from_secs(1);

/// Keeps one worker running and gives it items.
///
/// Dropping it ends the worker and waits for the end of its process, for 1 s once it was killed;
/// a process that has not ended then (in a driver that hangs) is waited for by the next
/// [`start`](Self::start) of the program. What the worker had is lost, which
/// [`shutdown`](Self::shutdown) avoids. It is of no use in a fork of its process,
/// and dropping it there leaves the worker alone.
pub struct Supervisor {
    drive: Drive,
    /// The process that it was started in: a fork has a copy of all this, and no worker.
    process: u32,
}

impl Supervisor {
    /// Starts the first worker and waits until it has its handler.
    ///
    /// # Errors
    /// [`WorkerError::Invalid`] for a configuration that cannot be;
    /// [`WorkerError::NotStarted`] with the cause if the program cannot be started, is no
    /// worker of this job, or has no handler within
    /// [`start_deadline`](WorkerConfig::start_deadline): a first start is not tried again;
    /// [`WorkerError::InsideWorker`] in a worker that has not called
    /// [`serve`](crate::serve), which would start itself without end;
    /// [`WorkerError::Unsupported`] where there are no workers.
    pub fn start(mut config: WorkerConfig) -> Result<Self, WorkerError> {
        if cfg!(not(unix)) {
            return Err(WorkerError::Unsupported);
        }
        config.check()?;
        #[cfg(unix)]
        if let Some(job) = crate::server::unserved() {
            return Err(WorkerError::InsideWorker { job });
        }
        LEFT.reap();
        let mut supervisor = Self {
            drive: Drive::new(config),
            process: std::process::id(),
        };
        loop {
            match &supervisor.drive.state {
                State::Up(up) if up.talk.phase == Phase::Ready => {
                    supervisor.drive.proven = true;
                    return Ok(supervisor);
                }
                State::Failed(error) => return Err(error.clone()),
                _ => supervisor.drive.step(),
            }
        }
    }

    /// Takes an item, and sends it if the worker has room for it. Returns its number: the
    /// first item's is 1, the next one's is one higher. Does not wait.
    ///
    /// # Errors
    /// The item, and why it was not taken.
    pub fn submit(&mut self, item: Vec<u8>) -> Result<u64, Refused> {
        if let Err(why) = self.may_submit(&item) {
            return Err(Refused { item, why });
        }
        let sequence = self.drive.ledger.push(item);
        self.drive.pass();
        Ok(sequence)
    }

    fn may_submit(&self, item: &[u8]) -> Result<(), Refusal> {
        self.check().map_err(Refusal::Worker)?;
        let config = &self.drive.config;
        if item.len() > config.item_limit as usize {
            return Err(Refusal::TooLong {
                bytes: item.len(),
                limit: config.item_limit,
            });
        }
        if self.outstanding() >= config.capacity {
            return Err(Refusal::Full(config.capacity));
        }
        let (bytes, held) = (item.len(), self.drive.ledger.held_bytes());
        let limit = config.capacity_bytes;
        if held.saturating_add(bytes) > limit && self.outstanding() > 0 {
            return Err(Refusal::FullBytes { bytes, held, limit });
        }
        Ok(())
    }

    /// Whether no item is taken before an outcome is received. If not, an item may still be
    /// too long for what is left of [`WorkerConfig::capacity_bytes`].
    #[must_use]
    pub fn is_full(&self) -> bool {
        let config = &self.drive.config;
        self.outstanding() >= config.capacity
            || self.outstanding() > 0 && self.drive.ledger.held_bytes() >= config.capacity_bytes
    }

    /// How many items were taken whose outcomes were not received.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.drive.ledger.len()
    }

    /// The outcome of the next item, in the order of their numbers; waits for it. `None` if
    /// every outcome was received.
    ///
    /// # Errors
    /// [`WorkerError::GaveUp`], after every outcome that there was before it in the order.
    pub fn receive(&mut self) -> Result<Option<Outcome>, WorkerError> {
        loop {
            let received = self.receive_now()?;
            if received.is_some() || self.outstanding() == 0 {
                return Ok(received);
            }
            self.check()?;
            self.drive.step();
        }
    }

    /// The outcome of the next item if it is there by now, without waiting.
    ///
    /// # Errors
    /// As of [`receive`](Self::receive).
    pub fn try_receive(&mut self) -> Result<Option<Outcome>, WorkerError> {
        if self.is_forked() {
            return Err(WorkerError::Forked);
        }
        self.drive.pass();
        let received = self.receive_now()?;
        if received.is_none() && self.outstanding() > 0 {
            self.check()?;
        }
        Ok(received)
    }

    fn receive_now(&mut self) -> Result<Option<Outcome>, WorkerError> {
        if self.is_forked() {
            return Err(WorkerError::Forked);
        }
        Ok(self.drive.ledger.receive())
    }

    /// Submits an item and waits for its result. Outcomes of earlier items stay to be
    /// received.
    ///
    /// # Errors
    /// The item was not taken, it failed or was given up, or no worker is left.
    pub fn call(&mut self, item: Vec<u8>) -> Result<Vec<u8>, CallError> {
        let sequence = self.submit(item)?;
        loop {
            if let Some(outcome) = self.drive.ledger.receive_this(sequence) {
                return Ok(outcome.result?);
            }
            self.check()?;
            self.drive.step();
        }
    }

    /// What happened so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.drive.statistics()
    }

    /// Ends the worker, in order: it finishes the items that it has, up to
    /// [`WorkerConfig::window`] of them, for at most
    /// [`stop_deadline`](WorkerConfig::stop_deadline). To finish all items, receive until
    /// there are none, then shut down.
    ///
    /// # Errors
    /// [`WorkerError::Forked`] in a fork.
    pub fn shutdown(mut self) -> Result<Report, WorkerError> {
        if self.is_forked() {
            return Err(WorkerError::Forked);
        }
        let patience = self.drive.config.stop_deadline;
        let orderly = self.drive.stop(patience, patience.max(AFTER_KILL));
        let statistics = self.drive.statistics();
        let ledger = std::mem::replace(&mut self.drive.ledger, Ledger::new());
        let (outcomes, unfinished) = ledger.into_rest();
        Ok(Report {
            statistics,
            outcomes,
            unfinished,
            orderly,
        })
    }

    /// Whether this process is a fork of the one that has the worker.
    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// Whether there is, or will be, a worker.
    fn check(&self) -> Result<(), WorkerError> {
        if self.is_forked() {
            return Err(WorkerError::Forked);
        }
        match &self.drive.state {
            State::Failed(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("job", &self.drive.config.job)
            .field("outstanding", &self.outstanding())
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if !self.is_forked() {
            self.drive.stop(BRIEF, AFTER_KILL);
            LEFT.keep(&mut self.drive.unreaped);
        }
    }
}
