//! `HostMemoryError`: why host memory was refused.

use core::fmt;

use super::usage::PinnedUsage;
use crate::error::ErrorClass;

/// Why an operation of [`host`](crate::host) memory was refused. Nothing was made or changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HostMemoryError {
    /// The request does not fit the limit of a [`PinnedPool`](crate::host::PinnedPool), also after all
    /// that nothing uses was given back.
    OverLimit {
        /// Bytes asked for.
        requested: u64,
        /// The pool's account.
        usage: PinnedUsage,
    },
    /// The system has no memory or no addresses for the process (`mmap`).
    System {
        /// Bytes asked for.
        bytes: u64,
        /// The system's code, if there is one.
        code: Option<i32>,
    },
}

impl HostMemoryError {
    /// The remedy.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::OverLimit { .. } => "drop buffers or raise the limit",
            Self::System { .. } => {
                "free host memory, or raise the limit of the process (ulimit -v)"
            }
        }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::OverLimit { .. } | Self::System { .. } => ErrorClass::Resource,
        }
    }
}

impl fmt::Display for HostMemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverLimit { requested, usage } => write!(
                f,
                "over the limit of pinned memory: {requested} bytes asked for, {usage}"
            ),
            Self::System { bytes, code } => {
                write!(
                    f,
                    "the system has no {bytes} bytes of memory for the process"
                )?;
                match code {
                    Some(code) => write!(f, " (error {code})"),
                    None => Ok(()),
                }
            }
        }
    }
}
