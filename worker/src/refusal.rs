//! Why an item has no result, and why a supervisor refuses.

use std::fmt;
use std::time::Duration;

use crate::failure::Failure;
use crate::loss::Loss;

/// Why an item has no result. It was delivered all the same: the item is finished.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The handler returned an error. The worker is well.
    #[error("{0}")]
    Failed(Failure),
    /// Every worker that had the item was lost, so it was given up.
    #[error("given up after {attempts} workers were lost with it; the first time: {first}")]
    GivenUp {
        /// How many workers were lost.
        attempts: u32,
        /// Why the first one was.
        first: Box<Loss>,
        /// Why the last one was.
        last: Box<Loss>,
    },
}

impl ItemError {
    /// What the handler said, where it said something; of an item that was given up, what it
    /// said the first time.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::GivenUp { first, .. } => first.failure(),
        }
    }
}

/// Why a supervisor does not do what it is asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// A field of the configuration is outside of what is possible.
    #[error("WorkerConfig::{field}: {problem}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The first worker did not start.
    #[error("the worker did not start: {0}")]
    NotStarted(Box<Loss>),
    /// Workers were lost more often than was allowed. What has no outcome yet is in the
    /// report of [`shutdown`](crate::Supervisor::shutdown).
    #[error(
        "{restarts} workers were lost within {within:?}, more than WorkerConfig::restarts \
         allows; the first time: {first}; the last time: {last}"
    )]
    GaveUp {
        /// How many workers were lost within the time.
        restarts: u32,
        /// The time.
        within: Duration,
        /// Why the first one was lost, of all of this supervisor.
        first: Box<Loss>,
        /// Why the last one was lost.
        last: Box<Loss>,
    },
    /// This process is a fork of the one that started the worker.
    #[error("this process is a fork of the one that supervises; use the supervisor there")]
    Forked,
    /// This process was itself started as a worker, and has not said so yet.
    #[error(
        "this process was started as the worker of job {job:?}: call worker::serve with that \
         name at the start of main, before a supervisor is made"
    )]
    InsideWorker {
        /// The job.
        job: String,
    },
    /// This platform has no supervised workers.
    #[error("supervised workers need Unix sockets, which this platform does not have")]
    Unsupported,
}

/// An item that was not taken, and why.
#[derive(Clone)]
pub struct Refused {
    /// The item.
    pub item: Vec<u8>,
    /// Why it was not taken.
    pub why: Refusal,
}

impl fmt::Debug for Refused {
    // Not the item: it may be megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("why", &self.why)
            .field("bytes", &self.item.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Refusal::Worker(error) => Some(error),
            _ => None,
        }
    }
}

/// Why an item was not taken.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// So many items have been taken whose outcomes were not received.
    #[error("{0} items are taken already: receive an outcome first")]
    Full(usize),
    /// Items and results have so many bytes together that this item does not fit.
    #[error(
        "an item of {bytes} bytes beside {held} bytes that are held, over \
         WorkerConfig::capacity_bytes, {limit}: receive an outcome first"
    )]
    FullBytes {
        /// Bytes of the item.
        bytes: usize,
        /// Bytes of the items without an outcome and the results that were not received.
        held: usize,
        /// The limit.
        limit: usize,
    },
    /// The item is longer than was agreed.
    #[error("an item of {bytes} bytes, over WorkerConfig::item_limit, {limit}")]
    TooLong {
        /// Bytes of the item.
        bytes: usize,
        /// The limit.
        limit: u32,
    },
    /// The supervisor can do no more.
    #[error("{0}")]
    Worker(WorkerError),
}

/// Why a [`call`](crate::Supervisor::call) has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The item was not taken.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// The item failed.
    #[error("{0}")]
    Item(#[from] ItemError),
    /// The supervisor could do no more. The item is in the report of its shutdown.
    #[error("{0}")]
    Worker(#[from] WorkerError),
}
