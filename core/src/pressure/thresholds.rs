//! `Thresholds`: the bounds of the levels of pressure, with hysteresis.

use super::Pressure;

/// The bounds of the levels of pressure, in percent of the limit.
///
/// With a margin the levels have hysteresis: a level begins at its threshold, and ends only
/// when usage is below the threshold by the margin. Usage that wavers about a threshold
/// then does not change the level each time.
///
/// ```
/// use cupola_core::{Pressure, Thresholds};
///
/// let steady = Thresholds::DEFAULT.with_margin(5);
/// assert_eq!(steady.next(Pressure::Low, 80, 100), Pressure::High);
/// assert_eq!(steady.next(Pressure::High, 76, 100), Pressure::High);
/// assert_eq!(steady.next(Pressure::High, 74, 100), Pressure::Medium);
/// ```
#[doc(alias = "hysteresis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From this on the pressure is at least [`Pressure::Medium`].
    pub medium: u8,
    /// From this on it is at least [`Pressure::High`].
    pub high: u8,
    /// Above this it is [`Pressure::Critical`].
    pub critical: u8,
    /// How far below its threshold usage must be for a level to end.
    pub margin: u8,
}

impl Thresholds {
    /// 50, 80 and 95 %, no margin.
    pub const DEFAULT: Self = Self {
        medium: 50,
        high: 80,
        critical: 95,
        margin: 0,
    };

    /// The same thresholds with a margin, in percent of the limit. It should be smaller
    /// than each threshold: usage cannot be below 0 %, so a level would not end.
    #[must_use]
    #[inline]
    pub const fn with_margin(self, margin: u8) -> Self {
        Self { margin, ..self }
    }

    /// The level of `used` out of `limit` when no level came before. A limit of zero is
    /// [`Pressure::Critical`].
    #[must_use]
    #[inline]
    pub const fn level(&self, used: u64, limit: u64) -> Pressure {
        self.lowered(used, limit, 0)
    }

    /// The level after `from`, now that `used` out of `limit` are in use.
    #[must_use]
    #[inline]
    pub const fn next(&self, from: Pressure, used: u64, limit: u64) -> Pressure {
        let level = self.level(used, limit);
        if level as u8 >= from as u8 {
            return level;
        }
        // On the way down: the level that holds when every threshold is lower by the
        // margin, but not above `from`.
        let held = self.lowered(used, limit, self.margin);
        if held as u8 > from as u8 { from } else { held }
    }

    #[inline]
    const fn lowered(&self, used: u64, limit: u64, by: u8) -> Pressure {
        // 128 bits: 100 times the largest usage fits.
        let (used, limit) = (used as u128 * 100, limit as u128);
        if limit == 0 || used > limit * self.critical.saturating_sub(by) as u128 {
            Pressure::Critical
        } else if used >= limit * self.high.saturating_sub(by) as u128 {
            Pressure::High
        } else if used >= limit * self.medium.saturating_sub(by) as u128 {
            Pressure::Medium
        } else {
            Pressure::Low
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::DEFAULT
    }
}
