//! How streams are made: their purpose, their priority, and how many.

use crate::error::Result;
use crate::limits::{MOST_OBJECTS, check_capacity};
use crate::object_pool::CLASSES;
use std::sync::{Mutex, PoisonError};

/// The purpose of a stream. Streams of different purposes carry work that should overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamPurpose {
    /// Copies from the host to the device.
    #[doc(alias = "Upload")]
    ConfigUpload,
    /// Kernels.
    #[doc(alias = "Compute")]
    KernelExecution,
    /// Copies from the device to the host.
    #[doc(alias = "Download")]
    TelemetryDownload,
    /// Copies between devices.
    #[doc(alias = "Peer")]
    P2PTransfer,
    /// Work that should not be in the way of the others.
    #[doc(alias = "Auxiliary")]
    AuxCompute,
}

impl StreamPurpose {
    /// Every purpose.
    pub const ALL: [Self; 5] = [
        Self::ConfigUpload,
        Self::KernelExecution,
        Self::TelemetryDownload,
        Self::P2PTransfer,
        Self::AuxCompute,
    ];

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// How a stream is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamConfig {
    /// Whether it waits for, and is waited for by, the legacy default stream. Off by default: such
    /// a stream overlaps with no work that is put on that one.
    pub blocking: bool,
    /// Lower numbers run first; 0 is the default. Clamped by the driver to
    /// [`StreamManager::priorities`](super::StreamManager::priorities).
    pub priority: i32,
}

impl StreamConfig {
    /// A non-blocking stream of this priority.
    #[must_use]
    pub const fn priority(priority: i32) -> Self {
        Self {
            blocking: false,
            priority,
        }
    }
}

/// How a [`StreamManager`](super::StreamManager) is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamsConfig {
    /// The most streams that may exist at a time, waiting ones included.
    pub capacity: usize,
}

impl StreamsConfig {
    /// The most that [`capacity`](Self::capacity) may be.
    pub const MOST: usize = MOST_OBJECTS;

    pub(crate) fn check(self) -> Result<Self> {
        check_capacity("streams.capacity", self.capacity)?;
        Ok(self)
    }
}

impl Default for StreamsConfig {
    fn default() -> Self {
        Self {
            capacity: Self::MOST,
        }
    }
}

/// A class that no object waits in: a stream of it is destroyed after its first life.
pub(super) const UNCLASSED: usize = usize::MAX;

/// Which streams stand in for each other, as the object pool's classes: those of one
/// configuration. Configurations beyond the classes that there are get none.
#[derive(Debug, Default)]
pub(super) struct Classes(Mutex<Vec<StreamConfig>>);

impl Classes {
    #[inline]
    pub(super) fn of(&self, config: StreamConfig) -> usize {
        // The usual one has the first class, without a look at the others.
        if config == StreamConfig::default() {
            0
        } else {
            self.other(config)
        }
    }

    #[cold]
    fn other(&self, config: StreamConfig) -> usize {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.iter().position(|&other| other == config) {
            Some(index) => index + 1,
            None if known.len() + 1 < CLASSES => {
                known.push(config);
                known.len()
            }
            None => UNCLASSED,
        }
    }
}
