//! How events are made, and how many.

use crate::error::Result;
use crate::limits::{MOST_OBJECTS, check_capacity};

/// How an event is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventConfig {
    /// Whether it takes the time when it is reached. Off by default: recording is ten
    /// times cheaper without.
    pub timing: bool,
    /// Whether a host thread that waits for it sleeps instead of spinning.
    pub blocking_sync: bool,
}

impl EventConfig {
    /// An event that takes the time.
    #[must_use]
    pub const fn timing() -> Self {
        Self {
            timing: true,
            blocking_sync: false,
        }
    }

    /// The object pool's class.
    #[inline]
    pub(super) fn class(self) -> usize {
        usize::from(self.timing) | usize::from(self.blocking_sync) << 1
    }
}

/// How an [`EventManager`](super::EventManager) is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsConfig {
    /// The most events that may exist at a time, waiting ones included.
    pub capacity: usize,
}

impl EventsConfig {
    pub(crate) fn check(self) -> Result<Self> {
        check_capacity("events.capacity", self.capacity)?;
        Ok(self)
    }
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self {
            capacity: MOST_OBJECTS,
        }
    }
}
