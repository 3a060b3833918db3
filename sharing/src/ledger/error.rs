//! `LedgerError`: why there is no ledger, or no row in it.

use std::io;

use cupola_core::ledger::Damaged;

use crate::ledger::header::HeaderError;

/// Why there is no ledger, or no row in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A call of the system failed. `pidfd_open` is missing before Linux 5.3.
    #[error("{call} failed: {source}")]
    System {
        /// The system's function, or what it was called for.
        call: &'static str,
        /// Its error.
        source: io::Error,
    },
    /// The file is not sealed, or has another length: a process could make it shorter, which would kill those
    /// that touch it.
    #[error("this file is no ledger: it is not a sealed file in memory of {expected} bytes")]
    Unsealed {
        /// As many bytes has the file of a ledger.
        expected: u64,
    },
    /// The file is no ledger that this version reads.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The ledger is of another namespace than this process, or `/proc` is: process numbers or start times
    /// there are not those of this process.
    #[error(
        "the ledger or /proc is of another {kind} namespace than this process: use it in containers that share \
         that (docker run --pid=host, shareProcessNamespace)"
    )]
    Namespace {
        /// `pid` or `time`.
        kind: &'static str,
    },
    /// All rows have an owner that has not ended.
    #[error("all {rows} rows of the ledger are taken: end a process, or drop its account")]
    Full {
        /// As many there are.
        rows: usize,
    },
    /// Other code has written to the ledger.
    #[error("{0}; make a new ledger")]
    Damaged(#[from] Damaged),
}

impl LedgerError {
    pub(crate) fn system(call: &'static str, source: io::Error) -> Self {
        Self::System { call, source }
    }
}
