//! `Pressure`: the level of usage of a budget, one of four.

mod thresholds;

pub use thresholds::Thresholds;

/// How much of a limit is in use, in four levels, which are ordered by fullness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// Below 50 %.
    Low,
    /// From 50 % up to, not including, 80 %.
    Medium,
    /// From 80 % up to and including 95 %.
    High,
    /// Above 95 %, and always when the limit is zero.
    Critical,
}

impl Pressure {
    /// The pressure of `used` out of `limit`, both in the same unit.
    ///
    /// ```
    /// use cupola_core::Pressure;
    /// assert_eq!(Pressure::of(49, 100), Pressure::Low);
    /// assert_eq!(Pressure::of(95, 100), Pressure::High);
    /// assert_eq!(Pressure::of(0, 0), Pressure::Critical);
    /// ```
    #[must_use]
    #[inline]
    pub const fn of(used: u64, limit: u64) -> Self {
        Thresholds::DEFAULT.level(used, limit)
    }
}
