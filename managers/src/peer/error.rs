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
            Self::TooMany { .. } => ErrorClass::Resource,
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
            Self::Corrupt(corruption) => write!(f, "{corruption}"),
        }
    }
}

impl std::error::Error for PeerError {}
