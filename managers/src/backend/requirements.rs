//! `Requirements`: the properties that a program needs of a device, and how to choose among devices
//! that have them.

use std::cmp::Ordering;
use std::fmt;

use cupola_sys::Version;

use super::unavailable::Unavailable;
use crate::device::{ComputeMode, DeviceInfo, Features};
use crate::error::Error;

/// The properties that a program needs of a device. The default needs nothing and takes software
/// devices.
///
/// Free memory is not among it: only a context tells, and choosing creates none.
///
/// ```
/// use cupola_managers::backend::{Requirements, Strategy};
/// use cupola_managers::device::Features;
///
/// let wanted = Requirements::default()
///     .compute_capability(8, 0)
///     .memory(24 << 30)
///     .features(Features::MEMORY_POOLS | Features::VIRTUAL_MEMORY)
///     .allow_software(false)
///     .strategy(Strategy::Memory);
/// assert_eq!(wanted.memory, 24 << 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requirements {
    /// Least compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Least memory in bytes, used or not.
    pub memory: u64,
    /// Features that it must have.
    pub features: Features,
    /// Least CUDA version that the driver supports.
    pub driver_version: Version,
    /// Whether a software device will do.
    pub allow_software: bool,
    /// How to choose among devices that suit.
    pub strategy: Strategy,
}

/// How to choose among devices that suit. Of devices that are equal by it, and of those of one
/// backend with another, the first is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The highest compute capability, then as for [`Throughput`](Self::Throughput).
    #[default]
    Capability,
    /// The most memory.
    Memory,
    /// The most multiprocessor cycles in a second: their number by their clock.
    Throughput,
    /// The first, in the order of backends and ordinals.
    First,
}

impl Default for Requirements {
    fn default() -> Self {
        Self {
            compute_capability: (0, 0),
            memory: 0,
            features: Features::empty(),
            driver_version: Version(0),
            allow_software: true,
            strategy: Strategy::default(),
        }
    }
}

impl Requirements {
    /// Needs this compute capability or a higher one.
    #[must_use]
    pub const fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.compute_capability = (major, minor);
        self
    }

    /// Needs this many bytes of memory, used or not.
    #[must_use]
    pub const fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Needs all of these features.
    #[must_use]
    pub const fn features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// Needs a driver that supports this CUDA version or a newer one.
    #[must_use]
    pub const fn driver_version(mut self, version: Version) -> Self {
        self.driver_version = version;
        self
    }

    /// Whether a software device will do.
    #[must_use]
    pub const fn allow_software(mut self, allow: bool) -> Self {
        self.allow_software = allow;
        self
    }

    /// How to choose among devices that suit.
    #[must_use]
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// All requirements that a device of a driver of this version lacks.
    pub(super) fn unmet(&self, info: &DeviceInfo, version: Version) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        if info.compute_mode == ComputeMode::PROHIBITED {
            unmet.push(Unmet::Prohibited);
        }
        if version < self.driver_version {
            unmet.push(Unmet::DriverVersion {
                needs: self.driver_version,
                has: version,
            });
        }
        if info.compute_capability < self.compute_capability {
            unmet.push(Unmet::ComputeCapability {
                needs: self.compute_capability,
                has: info.compute_capability,
            });
        }
        if info.total_memory < self.memory {
            unmet.push(Unmet::Memory {
                needs: self.memory,
                has: info.total_memory,
            });
        }
        let lacks = self.features - info.features;
        if !lacks.is_empty() {
            unmet.push(Unmet::Features { lacks });
        }
        unmet
    }
}

impl Strategy {
    /// Greater is better.
    pub(super) fn compare(self, one: &DeviceInfo, other: &DeviceInfo) -> Ordering {
        let throughput =
            |info: &DeviceInfo| u64::from(info.multiprocessors) * u64::from(info.clock_khz);
        match self {
            Self::First => Ordering::Equal,
            Self::Memory => one.total_memory.cmp(&other.total_memory),
            Self::Throughput => throughput(one).cmp(&throughput(other)),
            Self::Capability => one
                .compute_capability
                .cmp(&other.compute_capability)
                .then(throughput(one).cmp(&throughput(other))),
        }
    }
}

/// One requirement that a device, or a backend as a whole, lacks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Unmet {
    /// The backend cannot be used.
    Unavailable(Unavailable),
    /// It is a software backend, and those are not allowed.
    Software,
    /// The device did not report its properties.
    Unreadable(Error),
    /// Its administrator lets no process use the device.
    Prohibited,
    /// The driver is too old.
    DriverVersion {
        /// Least version.
        needs: Version,
        /// Its version.
        has: Version,
    },
    /// The device is too old.
    ComputeCapability {
        /// Least compute capability.
        needs: (u32, u32),
        /// Its compute capability.
        has: (u32, u32),
    },
    /// The device has too little memory.
    Memory {
        /// Least memory in bytes.
        needs: u64,
        /// Its memory in bytes.
        has: u64,
    },
    /// The device lacks features.
    Features {
        /// The features that it lacks.
        lacks: Features,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => why.fmt(f),
            Self::Software => f.write_str("software devices are not allowed"),
            Self::Unreadable(error) => error.fmt(f),
            Self::Prohibited => f.write_str("its compute mode lets no process use it"),
            Self::DriverVersion { needs, has } => {
                write!(f, "its driver is of CUDA {has}, not {needs}")
            }
            Self::ComputeCapability { needs, has } => write!(
                f,
                "its compute capability is {}.{}, not {}.{}",
                has.0, has.1, needs.0, needs.1
            ),
            Self::Memory { needs, has } => {
                write!(f, "it has {has} bytes of memory, not {needs}")
            }
            Self::Features { lacks } => write!(f, "it lacks {lacks}"),
        }
    }
}
