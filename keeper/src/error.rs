//! `KeeperError`: why a keeper or a guest did not do what it was asked for.

use std::io;
use std::time::Duration;

use cupola_managers::Error;
use cupola_sharing::{LedgerError, SharingError};

use crate::protocol::{ProtocolError, Refusal};

/// Result of this crate.
pub type Result<T, E = KeeperError> = std::result::Result<T, E>;

/// Why a keeper or a guest did not do what it was asked for. Objects are as they were, unless a variant says
/// otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeeperError {
    /// A call of this process's driver failed, or an object is another context's.
    #[error(transparent)]
    Device(#[from] Error),
    /// The socket failed. This guest is cut off: connect again.
    #[error("{0}")]
    Socket(#[from] SharingError),
    /// The other side said what it should not. This guest is cut off: connect again.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// There is no ledger of the limit, or no row in it.
    #[error("{0}")]
    Ledger(#[from] LedgerError),
    /// A call of the operating system failed.
    #[error("{call} failed: {source}")]
    System {
        /// The function.
        call: &'static str,
        /// Its error.
        source: io::Error,
    },
    /// The connection has ended, or an earlier error has cut it off. What is mapped stays mapped; connect
    /// again for more.
    #[error("this guest is not connected any more: connect again")]
    Disconnected,
    /// A value does not do.
    #[error("{field}: {problem}")]
    Invalid {
        /// The field or argument.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// There is an object of this name.
    #[error("there is an object {name:?}: open it, or remove it first")]
    Exists {
        /// The name.
        name: String,
    },
    /// There is no object of this name.
    #[error("there is no object {name:?}: create it")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The object is not sealed yet.
    #[error(
        "{name:?} is still being filled: ask again when its creator has sealed it, or has ended"
    )]
    Filling {
        /// The name.
        name: String,
    },
    /// The object was made for readers only.
    #[error(
        "{name:?} may only be read: open it with Rights::Read, or create it with Rights::ReadWrite"
    )]
    ReadOnly {
        /// The name.
        name: String,
    },
    /// The object is asleep.
    #[error("{name:?} is asleep: wake it")]
    Asleep {
        /// The name.
        name: String,
    },
    /// The object has lost its bytes.
    #[error("{name:?} was discarded, and has no bytes: fill it again (Guest::refill)")]
    Discarded {
        /// The name.
        name: String,
    },
    /// The object has its bytes, or is filled already.
    #[error("{name:?} was not discarded: there is nothing to fill again")]
    NotDiscarded {
        /// The name.
        name: String,
    },
    /// The keeper does not know that this guest has the object.
    #[error("the keeper does not have this guest down for {name:?}: connect again")]
    NotHeld {
        /// The name.
        name: String,
    },
    /// The keeper is putting the object to sleep, and waits for this guest.
    #[error("the keeper waits for this guest to let {name:?} go: attend first")]
    Attend {
        /// The name.
        name: String,
    },
    /// This process's driver did not unmap the object, or did not take its memory back.
    #[error(
        "this process's driver keeps a part of {name:?}: open the object again, in a new process if that fails"
    )]
    Stuck {
        /// The name.
        name: String,
    },
    /// Guests have the object mapped, and did not let it go in time. It is awake.
    #[error(
        "{name:?} is still mapped by the processes {guests:?} after {waited:?}: let them attend, or wait longer"
    )]
    InUse {
        /// The name.
        name: String,
        /// The numbers of the processes, as far as they have one here.
        guests: Vec<u32>,
        /// How long they were waited for.
        waited: Duration,
    },
    /// The limit has no room.
    #[error(
        "{bytes} bytes for {name:?} do not fit: {used} of the limit of {limit} are in use: remove objects or put them to sleep, or raise the limit"
    )]
    OverLimit {
        /// The name.
        name: String,
        /// Bytes that were asked for.
        bytes: u64,
        /// Bytes that are charged to the limit.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// The keeper's host memory has no room for the bytes of an object.
    #[error(
        "the keeper's host memory has no room for {name:?}: raise `host_limit`, or discard the object"
    )]
    HostLimit {
        /// The name.
        name: String,
    },
    /// The device has too little memory, though the limit has room.
    #[error("the device has too little memory for {name:?}, within the limit: others use it")]
    OutOfMemory {
        /// The name.
        name: String,
    },
    /// The keeper has as many as it may have.
    #[error("the keeper has {most} {what}, and takes no more: raise its configuration")]
    Full {
        /// Guests or objects.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// The keeper's device is not this one.
    #[error("the keeper's memory is on another device: use a context of that")]
    OtherDevice,
    /// A call of the keeper's driver failed.
    #[error("a call of the keeper's driver failed with {status}: Keeper::last_error says more")]
    KeeperDriver {
        /// The code, or 0 if the error is none of the driver's.
        status: u32,
    },
}

impl KeeperError {
    pub(crate) fn system(call: &'static str, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        Self::System { call, source }
    }

    /// What a keeper has refused, of an object of this name.
    pub(crate) fn refused(refusal: Refusal, name: &str) -> Self {
        let invalid = |field, problem: &str| Self::Invalid {
            field,
            problem: problem.to_owned(),
        };
        let name = name.to_owned();
        match refusal {
            Refusal::Exists => Self::Exists { name },
            Refusal::NotFound => Self::NotFound { name },
            Refusal::Filling => Self::Filling { name },
            Refusal::ReadOnly => Self::ReadOnly { name },
            Refusal::Asleep => Self::Asleep { name },
            Refusal::Discarded => Self::Discarded { name },
            Refusal::NotDiscarded => Self::NotDiscarded { name },
            Refusal::NotHeld => Self::NotHeld { name },
            Refusal::Attend => Self::Attend { name },
            Refusal::Bytes => invalid("bytes", "no bytes, or more than any device has"),
            Refusal::Device => Self::OtherDevice,
            Refusal::Guests { most } => Self::Full {
                what: "guests",
                most,
            },
            Refusal::Objects { most } => Self::Full {
                what: "objects",
                most,
            },
            Refusal::OverLimit { bytes, used, limit } => Self::OverLimit {
                name,
                bytes,
                used,
                limit,
            },
            Refusal::HostLimit => Self::HostLimit { name },
            Refusal::OutOfMemory => Self::OutOfMemory { name },
            Refusal::Driver { status } => Self::KeeperDriver { status },
            Refusal::Ended => Self::Disconnected,
        }
    }

    /// Whether the place in the stream of frames is lost.
    pub(crate) fn cuts_off(&self) -> bool {
        matches!(
            self,
            Self::Socket(_) | Self::Protocol(_) | Self::Disconnected
        )
    }
}
