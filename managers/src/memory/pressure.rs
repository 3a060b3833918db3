//! How full a pool is.

use std::sync::atomic::{AtomicU8, Ordering};

use cupola_core::{Pressure, Thresholds};

use super::pool::Pool;

/// A level ends so much below where it begins: who looks while the pool is at the edge of one is
/// not told another level each time.
const LEVELS: Thresholds = Thresholds::DEFAULT.with_margin(5);

/// A level that depends on what it was at the last look.
#[derive(Debug)]
struct Level(AtomicU8);

impl Default for Level {
    fn default() -> Self {
        Self(AtomicU8::new(Pressure::Low as u8))
    }
}

impl Level {
    /// The level now. Of looks at the same time any may be the last.
    fn look(&self, used: u64, limit: u64) -> Pressure {
        let levels = [Pressure::Low, Pressure::Medium, Pressure::High];
        let before = self.0.load(Ordering::Relaxed);
        let before = levels.into_iter().find(|level| *level as u8 == before);
        let now = LEVELS.next(before.unwrap_or(Pressure::Critical), used, limit);
        self.0.store(now as u8, Ordering::Relaxed);
        now
    }
}

/// The levels of a pool.
#[derive(Debug, Default)]
pub(super) struct Levels {
    own: Level,
    shared: Level,
}

impl Pool {
    /// How full the tighter limit is, without what is ready for reuse.
    pub(super) fn pressure(&self) -> Pressure {
        if self.core.not_forked().is_err() {
            // Another thread may have left a lock taken.
            return Pressure::of(self.budget.used(), self.budget.limit());
        }
        // What is wrong with the context is for those who use it.
        let device_free = self.device_memory().map_or(u64::MAX, |(free, _)| free);
        self.pressure_with(self.reusable_now(), device_free)
    }

    /// Bytes that a request may have without anything more from the driver. What is wrong with
    /// the context is for those who use it.
    fn reusable_now(&self) -> u64 {
        self.gauges().0.reusable()
    }

    /// As `pressure`, with so many bytes ready for reuse, and so many that the device has left.
    pub(super) fn pressure_with(&self, reusable: u64, device_free: u64) -> Pressure {
        // A device that others fill grants less than the limit.
        let granted = |used: u64, limit: u64| limit.min(used.saturating_add(device_free));
        let used = self.budget.used();
        let limit = granted(used, self.budget.limit());
        let own = (self.levels.own).look(used.saturating_sub(reusable), limit);
        let Some(shared) = &self.config.within else {
            return own;
        };
        // What others keep for reuse they give up when it is asked for.
        let theirs = self.others().map(|other| other.reusable_now());
        let used = shared.used();
        let limit = granted(used, shared.limit());
        let used = used.saturating_sub(theirs.sum::<u64>() + reusable);
        own.max(self.levels.shared.look(used, limit))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a pool at the edge of a level would be told another one with each block.
    #[test]
    fn a_level_ends_below_where_it_begins() {
        let level = Level::default();
        let looks = [
            (79, Pressure::Medium),
            (80, Pressure::High),
            (76, Pressure::High),
            (74, Pressure::Medium),
            (96, Pressure::Critical),
            (91, Pressure::Critical),
            (89, Pressure::High),
            (46, Pressure::Medium),
            (44, Pressure::Low),
        ];
        for (used, expected) in looks {
            assert_eq!(level.look(used, 100), expected, "{used}");
        }
    }
}
