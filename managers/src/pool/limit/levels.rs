//! `Levels`: how full a pool is, by steps that do not flicker.

use std::sync::atomic::{AtomicU8, Ordering};

use cupola_core::{Pressure, Thresholds};

/// A level ends so much below where it begins: looks at a pool at the edge of one do not find
/// another level each time.
const LEVELS: Thresholds = Thresholds::DEFAULT.with_margin(5);

/// A level that depends on the level at the last look.
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
pub(crate) struct Levels {
    own: Level,
    shared: Level,
}

impl Levels {
    /// The level of the pool's own limit now.
    pub(crate) fn look_at_own(&self, used: u64, limit: u64) -> Pressure {
        self.own.look(used, limit)
    }

    /// The level of the limit that it shares now.
    pub(crate) fn look_at_shared(&self, used: u64, limit: u64) -> Pressure {
        self.shared.look(used, limit)
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
