//! What kind of device a software device plays.
//!
//! The codes are those that users report of such machines, or what the documentation says;
//! `docs/design/sim/profiles.md` has them with their sources.

use std::str::FromStr;

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;

/// What kind of device a software device plays; [`Discrete`](Self::Discrete) unless told.
///
/// A profile gives a device its usual size, unless the [`DeviceConfig`](crate::DeviceConfig)
/// says it, and the refusals and waits of its kind. By name, as in settings: `discrete`,
/// `confidential`, `integrated`, `mig`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// A GPU with memory of its own behind a bus.
    #[default]
    Discrete,
    /// A GPU in confidential-computing mode. What crosses the bus is encrypted by the thread
    /// that asks for it, so asynchronous copies between host and device return when they are
    /// done, from page-locked memory too. `cuMemHostRegister` is
    /// `CUDA_ERROR_NOT_SUPPORTED`. No device reaches another's memory.
    Confidential,
    /// A GPU in the processor's chip, with the host's memory: page-locked memory counts
    /// against the device's, and host memory cannot be registered
    /// (`CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED`). One copy engine. No device reaches
    /// another's memory.
    Integrated,
    /// An instance of a GPU that is partitioned (MIG): a seventh of the multiprocessors, an
    /// eighth of the memory, one copy engine. A process sees one instance, by a UUID that is
    /// written `MIG-...`. No device reaches another's memory, and no other process either.
    Mig,
}

/// A name that is no profile's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no profile: use discrete, confidential, integrated or mig")]
pub struct UnknownProfile {
    /// What was given.
    pub name: String,
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        match name.trim() {
            "discrete" => Ok(Self::Discrete),
            "confidential" => Ok(Self::Confidential),
            "integrated" => Ok(Self::Integrated),
            "mig" => Ok(Self::Mig),
            other => Err(UnknownProfile { name: other.into() }),
        }
    }
}

impl Profile {
    /// The part of a GPU's multiprocessors that the device has, and the part of its memory.
    pub(super) fn parts(self) -> (u32, u64) {
        match self {
            Self::Mig => (7, 8),
            Self::Discrete | Self::Confidential | Self::Integrated => (1, 1),
        }
    }

    pub(super) fn copy_engines(self) -> u32 {
        match self {
            Self::Discrete | Self::Confidential => 2,
            Self::Integrated | Self::Mig => 1,
        }
    }

    /// Whether an asynchronous copy between host and device returns when it is done, whatever
    /// memory it names.
    pub(in crate::device) fn copies_wait(self) -> bool {
        self == Self::Confidential
    }

    /// Whether a device may reach the memory of another.
    pub(in crate::device) fn has_peers(self) -> bool {
        self == Self::Discrete
    }

    /// Whether a device's memory may be shared with other processes by `cuIpc...`.
    pub(in crate::device) fn shares_memory(self) -> bool {
        self != Self::Mig
    }

    /// Whether the device's memory is the host's.
    pub(in crate::device) fn is_integrated(self) -> bool {
        self == Self::Integrated
    }

    /// Whether the program's own memory may be registered.
    ///
    /// # Errors
    /// The code of `cuMemHostRegister` otherwise.
    pub(in crate::device) fn may_register(self) -> Reply {
        match self {
            Self::Discrete | Self::Mig => Ok(()),
            Self::Confidential => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
            Self::Integrated => Err(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
        }
    }
}
