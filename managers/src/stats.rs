//! The state and the figures that managers report.

use std::fmt;

/// Whether a manager hands objects out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Ready,
    /// It was shut down, and makes nothing until it is configured again.
    ShutDown,
}

impl State {
    pub(crate) fn of(shut: bool) -> Self {
        if shut { Self::ShutDown } else { Self::Ready }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::ShutDown => "shut down",
        })
    }
}

/// Figures of a manager that uses its driver objects again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecycleStats {
    /// Driver objects that were created.
    pub created: u64,
    /// Acquisitions that were served with an object that had been used before.
    pub reused: u64,
    /// Objects that are leased.
    pub live: usize,
    /// Objects that wait to be used again.
    pub idle: usize,
    /// The most objects that existed at a time, waiting ones included.
    pub peak: usize,
    /// The most objects that may exist at a time.
    pub capacity: usize,
}

/// Figures of a manager whose objects are not used again: devices, contexts, modules,
/// functions, buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManagerStats {
    /// Objects that were created.
    pub created: u64,
    /// Objects that exist, those without a name that are still leased among them.
    pub live: usize,
    /// Objects that have a handle.
    pub named: usize,
    /// The most objects that existed at a time.
    pub peak: usize,
    /// The most objects that may exist at a time.
    pub capacity: usize,
}
