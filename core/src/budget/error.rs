//! Errors of a budget.

use core::fmt;

/// A request did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes in use when it was refused.
    pub used: u64,
    /// The limit that it was refused under.
    pub limit: u64,
}

/// More bytes were released than are charged: the caller's account is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverRelease {
    /// Bytes to be released.
    pub requested: u64,
    /// Bytes in use.
    pub used: u64,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            requested,
            used,
            limit,
        } = self;
        write!(
            f,
            "{requested} bytes do not fit: {used} of {limit} bytes are in use"
        )
    }
}

impl core::error::Error for OverBudget {}

impl fmt::Display for OverRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requested, used } = self;
        write!(
            f,
            "{requested} bytes released, but only {used} bytes are in use"
        )
    }
}

impl core::error::Error for OverRelease {}
