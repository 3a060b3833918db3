//! `Release`: the outcome of releasing a handle.

use core::fmt;

use super::slot::Released;

/// The outcome of releasing a handle.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "the value of a released slot is the caller's to destroy"]
pub enum Release<T> {
    /// No lease was out: here is the value.
    Now(T),
    /// Leases are out: the last one returns the value, or leaves it for `reap`.
    Deferred,
    /// The slot was reserved and never got a value.
    Empty,
}

impl<T> Release<T> {
    /// The value, if it came out at once.
    pub fn now(self) -> Option<T> {
        match self {
            Self::Now(value) => Some(value),
            Self::Deferred | Self::Empty => None,
        }
    }
}

// Without the value, as for `Lease`.
impl<T> fmt::Debug for Release<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now(..)",
            Self::Deferred => "Deferred",
            Self::Empty => "Empty",
        })
    }
}

impl<T> Release<T> {
    /// The outcome for the caller, and whether the slot goes back to the free ones.
    pub(super) fn of(released: Released<T>) -> (Self, bool) {
        match released {
            Released::Now(Some(value), reusable) => (Self::Now(value), reusable),
            Released::Now(None, reusable) => (Self::Empty, reusable),
            Released::Later => (Self::Deferred, false),
        }
    }
}
