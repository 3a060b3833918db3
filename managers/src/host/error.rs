//! `HostMemoryError`: why host memory was refused.

use core::fmt;

use super::usage::PinnedUsage;
use crate::error::{Cause, ErrorClass};

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
    /// The memory, or a part of it, is registered or page-locked already (`cuMemHostRegister`).
    AlreadyRegistered {
        /// The call that failed.
        cause: Cause,
    },
    /// The device registers no memory of the program: in confidential computing, and where host and
    /// device have one memory (`cuMemHostRegister`).
    NoRegistration {
        /// The call that failed.
        cause: Cause,
    },
    /// The device or its driver registers no memory for reading alone
    /// (`CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED`).
    NoReadOnlyRegistration,
    /// The device has no managed memory (`CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY`).
    NoManagedMemory,
    /// The host must not touch the device's managed memory while anything runs there, and what other
    /// code runs is not known (no `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`).
    NoConcurrentAccess,
}

impl HostMemoryError {
    /// The failed call of the driver, if there was one.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        match self {
            Self::AlreadyRegistered { cause } | Self::NoRegistration { cause } => Some(cause),
            _ => None,
        }
    }

    /// The remedy.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::OverLimit { .. } => "drop buffers or raise the limit",
            Self::AlreadyRegistered { .. } => {
                "use what has registered it, or copies of other memory"
            }
            Self::NoRegistration { .. } => "copy through a pinned pool",
            Self::NoManagedMemory => "use device memory and copies",
            Self::NoConcurrentAccess => "copy from and to it: ops::read, ops::write",
            Self::NoReadOnlyRegistration => {
                "register memory that may be written, or copy through a pinned pool"
            }
            Self::System { .. } => {
                "free host memory, or raise the limit of the process (ulimit -v)"
            }
        }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::OverLimit { .. } | Self::System { .. } => ErrorClass::Resource,
            Self::AlreadyRegistered { .. } => ErrorClass::Programmer,
            Self::NoRegistration { .. }
            | Self::NoReadOnlyRegistration
            | Self::NoManagedMemory
            | Self::NoConcurrentAccess => ErrorClass::Unsupported,
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
            Self::AlreadyRegistered { cause } => {
                f.write_str("the memory, or a part of it, is registered already: ")?;
                cause.fmt_own(f)
            }
            Self::NoRegistration { cause } => {
                f.write_str("the device registers no host memory: ")?;
                cause.fmt_own(f)
            }
            Self::NoManagedMemory => f.write_str("the device has no managed memory"),
            Self::NoConcurrentAccess => f.write_str(
                "the host must not touch managed memory of this device while anything runs there",
            ),
            Self::NoReadOnlyRegistration => {
                f.write_str("the device registers no host memory for reading alone")
            }
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
