//! `PeerError`: why a device does not reach another's memory.

use core::fmt;

use cupola_sys::ErrorClass;

use super::corruption::PeerCorruption;
use crate::error::Cause;

/// Why an operation between two devices was refused. No access was given, and no copy was put.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PeerError {
    /// There is no link by which the device could reach the other's memory
    /// (`cuDeviceCanAccessPeer`).
    NoLink {
        /// Ordinal of the device that was to have the access.
        device: u32,
        /// Ordinal of the device that has the memory.
        peer: u32,
    },
    /// Both contexts are on one device: peer access is between two.
    SameDevice {
        /// Its ordinal.
        device: u32,
    },
    /// The device has access to as many others as its hardware can tell apart
    /// (`cuCtxEnablePeerAccess`).
    TooMany {
        /// The call that failed.
        cause: Cause,
    },
    /// A pool was to be [closed](crate::MemoryPool::close_to) to a context that may still use its memory.
    InUse {
        /// Ordinal of the device that has the access.
        device: u32,
        /// Ordinal of the device that has the memory.
        peer: u32,
        /// Buffers of the pool that the context's streams have used, and that are not freed.
        buffers: usize,
        /// Buffers that were freed, whose uses on the device are not known to be over.
        freed: usize,
    },
    /// The first use of two devices found wrong bytes, though the driver had returned success.
    Corrupt(PeerCorruption),
}

impl PeerError {
    /// The failed call of the driver, if there was one.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        match self {
            Self::TooMany { cause } => Some(cause),
            _ => None,
        }
    }

    /// The remedy.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::NoLink { .. } => {
                "copy with ops::copy_between, which needs no access and goes through the host"
            }
            Self::SameDevice { .. } => {
                "name contexts of two devices, or copy with ops::copy_between"
            }
            Self::InUse { buffers: 0, .. } => {
                "close it again when the work is over: wait for the streams that the buffers were allocated on"
            }
            Self::InUse { .. } => {
                "drop the buffers that streams of that device have used, then close the pool again"
            }
            Self::TooMany { .. } => "drop the access to another device, or use ops::copy_between",
            Self::Corrupt(_) => {
                "do not use this pair: turn off the IOMMU, or PCIe access control services (ACS) in \
                 the bridges between the devices, as for NCCL_P2P_DISABLE=1; copies through pinned \
                 host memory are not concerned"
            }
        }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::NoLink { .. } => ErrorClass::Unsupported,
            Self::SameDevice { .. } => ErrorClass::Programmer,
            Self::InUse { buffers: 0, .. } => ErrorClass::Transient,
            Self::TooMany { .. } | Self::InUse { .. } => ErrorClass::Resource,
            Self::Corrupt(_) => ErrorClass::Unsupported,
        }
    }
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLink { device, peer } => write!(
                f,
                "device {device} cannot reach the memory of device {peer}"
            ),
            Self::SameDevice { device } => {
                write!(
                    f,
                    "both contexts are on device {device}, which is no peer of itself"
                )
            }
            Self::TooMany { cause } => {
                f.write_str("the device has access to as many others as it can: ")?;
                cause.fmt_own(f)
            }
            Self::InUse {
                device,
                peer,
                buffers,
                freed,
            } => write!(
                f,
                "device {device} may still use memory of the pool on device {peer}: its streams have used \
                 {buffers} buffers that are not freed, and {freed} whose uses are not known to be over"
            ),
            Self::Corrupt(corruption) => write!(f, "{corruption}"),
        }
    }
}

impl std::error::Error for PeerError {}
