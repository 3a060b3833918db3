//! `ResidencyError`: why a slot is not what was asked for.

use std::fmt;
use std::time::Duration;

use cupola_managers::Error;

/// An error of a loader of the program's.
pub type LoaderError = Box<dyn std::error::Error + Send + Sync>;

/// Result of this crate.
pub type Result<T, E = ResidencyError> = std::result::Result<T, E>;

/// Why an operation on slots failed. Every slot is as it was, but that other slots may have given memory
/// up, and that this one may have a part of what it lacked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidencyError {
    /// A call of the driver failed, or an object is another context's.
    #[error(transparent)]
    Device(#[from] Error),
    /// A slot would never fit.
    #[error("{slot} needs {bytes} bytes of device memory, the limit is {limit}: raise the limit")]
    TooLarge {
        /// Its name.
        slot: String,
        /// Bytes that it needs, in whole pages.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// There is too little memory, no slot may give more up, and the end of leases would not free enough.
    #[error(
        "{slot} lacks {lacking} bytes of device memory: of the limit of {limit} bytes, slots that are leased have {leased}, pinned ones {pinned}, and others than this residency {others}: end leases, unpin slots, or raise the limit"
    )]
    NoRoom {
        /// The name of the slot that was to be loaded.
        slot: String,
        /// Bytes that it still lacks.
        lacking: u64,
        /// The limit.
        limit: u64,
        /// Bytes of slots that are leased, the slot itself included.
        leased: u64,
        /// Bytes of pinned slots that are not leased.
        pinned: u64,
        /// Bytes under the same limit that are not this residency's.
        others: u64,
        /// What was said when more memory was asked for: that the limit, or the device, has none.
        source: Box<Error>,
    },
    /// Leases of other slots, or requests that came before, kept the memory until the request's time was over.
    #[error(
        "{slot} lacks {lacking} bytes of device memory after a wait of {waited:?}, {before} requests before it; leased are: {}: end leases, do not ask for a slot while a lease that keeps its memory is held, or wait longer",
        list(held)
    )]
    TimedOut {
        /// The name of the slot that was to be loaded.
        slot: String,
        /// Bytes that it still lacks.
        lacking: u64,
        /// How long the request waited.
        waited: Duration,
        /// Requests that were to be served before it.
        before: usize,
        /// The other slots that were leased then.
        held: Vec<LeasedSlot>,
    },
    /// Slots could give memory up but for work that uses it, which was waited for.
    #[error(
        "{slot} gives no memory up: work on the device still uses it after {waited:?}: wait for that work, or raise `wait`"
    )]
    InUse {
        /// The name of the slot that is used.
        slot: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// There are as many slots as there may be.
    #[error("all {slots} slots are taken: drop one, or make the residency with more")]
    Full {
        /// How many there may be.
        slots: usize,
    },
    /// A slot is leased.
    #[error("{slot} is leased {leases} times: end the leases first")]
    Leased {
        /// Its name.
        slot: String,
        /// How many leases there are.
        leases: usize,
    },
    /// A slot has no memory to give up.
    #[error("{slot} has no device memory: it was evicted, or never loaded")]
    NotResident {
        /// Its name.
        slot: String,
    },
    /// A slot is pinned.
    #[error("{slot} is pinned to the device: unpin it first")]
    Pinned {
        /// Its name.
        slot: String,
    },
    /// The host copy of a slot does not fit the host's limit.
    #[error(
        "the host copy of {slot} needs {bytes} bytes, and {left} are left of the limit on host memory: give slots up, raise `host_limit`, or register it without a host copy"
    )]
    HostLimit {
        /// Its name.
        slot: String,
        /// Bytes of its copy.
        bytes: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// What was written to a slot cannot be kept: it has no host copy.
    #[error("{slot} has no host copy that could keep what is written to it")]
    NoHostCopy {
        /// Its name.
        slot: String,
    },
    /// A value does not do.
    #[error("{field}: {problem}")]
    Invalid {
        /// The field or argument.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The slot's loader failed.
    #[error("the loader of {slot} failed")]
    Loader {
        /// The slot's name.
        slot: String,
        /// Its error.
        source: LoaderError,
    },
}

/// A slot whose leases keep its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeasedSlot {
    /// Its name.
    pub slot: String,
    /// How many leases there are.
    pub leases: usize,
    /// Bytes of device memory that it has.
    pub bytes: u64,
    /// How long it has been leased without a break, since a request that waits first saw it so.
    pub seen_for: Duration,
}

impl fmt::Display for LeasedSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} leases, {} bytes, for {:?})",
            self.slot, self.leases, self.bytes, self.seen_for
        )
    }
}

fn list(held: &[LeasedSlot]) -> String {
    match held {
        [] => "none".to_owned(),
        some => some
            .iter()
            .map(LeasedSlot::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}
