//! `PressureGauge`: reports each change of a budget's pressure to one caller.
//!
//! The level depends on the way it was reached, so it is kept, in a word with the number of
//! crossings. A crossing is one exchange of that word, and its winner reports it. The
//! number makes an exchange fail that judged by an older crossing.

use super::{Pressure, Thresholds};
use crate::budget::Budget;
use crate::sync::{AtomicU64, Ordering, const_fn};

/// A change of the level of pressure. Its `from` is the `to` of the crossing before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The level that ended.
    pub from: Pressure,
    /// The level that began.
    pub to: Pressure,
    /// How many crossings there were, with this one: the order of reports.
    pub number: u64,
}

impl Crossing {
    /// Whether the pressure rose.
    #[must_use]
    #[inline]
    pub fn rises(&self) -> bool {
        self.to > self.from
    }
}

/// The level of pressure of one budget, and each change of it exactly once.
///
/// Whoever changes the budget (reserves, releases, drops a reservation, sets the limit)
/// looks at the gauge afterwards until it reports nothing more. Each crossing is reported
/// to one of those callers, whichever thread it is. When all have done so, the level is
/// that of what is in use. Lock-free; nothing is written while the level stays the same.
///
/// ```
/// use cupola_core::{Budget, Pressure, PressureGauge, Thresholds};
///
/// let budget = Budget::new(1000);
/// let gauge = PressureGauge::new(Thresholds::DEFAULT.with_margin(10));
/// let held = budget.reserve(800).unwrap();
/// while let Some(crossing) = gauge.observe(&budget) {
///     assert_eq!((crossing.from, crossing.to), (Pressure::Low, Pressure::High));
/// }
/// budget.release(held.commit() - 750).unwrap();
/// assert_eq!(gauge.observe(&budget), None); // 750 is not below 800 by 10 % of 1000
/// ```
pub struct PressureGauge {
    /// Crossings above the level, which takes the two low bits.
    state: AtomicU64,
    thresholds: Thresholds,
}

const LEVEL: u64 = 3;
const ONE_CROSSING: u64 = LEVEL + 1;

impl PressureGauge {
    const_fn! {
        /// A gauge at [`Pressure::Low`].
        #[must_use]
        pub fn new(thresholds: Thresholds) -> Self {
            Self {
                state: AtomicU64::new(Pressure::Low as u64),
                thresholds,
            }
        }
    }

    /// Looks at the budget, which must always be the same one. `Some` when the level has
    /// changed: this caller alone is told, and looks again.
    #[inline]
    pub fn observe(&self, budget: &Budget) -> Option<Crossing> {
        // Acquire, here and on failure: what is in use is seen at least as new as by the
        // crossing before.
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            let from = level(state);
            let (used, limit) = budget.look();
            let to = self.thresholds.next(from, used, limit);
            if to == from {
                return None;
            }
            // A number that wraps takes 2^62 crossings.
            let next = (state & !LEVEL).wrapping_add(ONE_CROSSING) | to as u64;
            let crossing = Crossing {
                from,
                to,
                number: next / ONE_CROSSING,
            };
            let exchange =
                self.state
                    .compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Acquire);
            match exchange {
                Ok(_) => {
                    // Who changed the budget since we looked, and saw the old level here,
                    // is seen when we look again; who comes later sees the new level.
                    if !mutant!("gauge_unsettled") {
                        budget.settle();
                    }
                    return Some(crossing);
                }
                Err(_) if mutant!("gauge_edge_twice") => return Some(crossing),
                Err(now) => state = now,
            }
        }
    }

    /// The level that was last reported; [`Pressure::Low`] at first.
    #[must_use]
    #[inline]
    pub fn level(&self) -> Pressure {
        level(self.state.load(Ordering::Relaxed))
    }

    /// How many crossings there were.
    #[must_use]
    #[inline]
    pub fn crossings(&self) -> u64 {
        self.state.load(Ordering::Relaxed) / ONE_CROSSING
    }

    /// Where the levels begin and end.
    #[must_use]
    #[inline]
    pub const fn thresholds(&self) -> Thresholds {
        self.thresholds
    }
}

impl Default for PressureGauge {
    fn default() -> Self {
        Self::new(Thresholds::DEFAULT)
    }
}

#[inline]
const fn level(state: u64) -> Pressure {
    match state & LEVEL {
        0 => Pressure::Low,
        1 => Pressure::Medium,
        2 => Pressure::High,
        _ => Pressure::Critical,
    }
}

impl core::fmt::Debug for PressureGauge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PressureGauge")
            .field("level", &self.level())
            .field("crossings", &self.crossings())
            .field("thresholds", &self.thresholds)
            .finish()
    }
}
