//! `Sampling`: of which items the device times are taken.

use std::num::NonZeroU64;

/// Of which items of a pipeline the device times are taken.
///
/// An item whose times are taken costs six events that take the time and six questions to the driver,
/// some 20 us of the host. Memory for what was measured is made with the pipeline and does not grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// None. A step makes no call for it.
    #[default]
    Off,
    /// A few neighbours out of each so many items: `2 * depth + 2` in a row, the last of them, so that
    /// what overlaps with what is still seen. A number that is not larger means all items.
    OneRunIn(NonZeroU64),
    /// All of them: for measurements.
    All,
}

impl Sampling {
    /// One run of neighbours in 1024 items: at a depth of 3 that is 8 items, which costs less than 1 %
    /// of steps of 20 us and more.
    pub const SPARSE: Self = Self::OneRunIn(NonZeroU64::new(1024).unwrap());
}

/// Which items are measured, in windows of so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Items of a window.
    every: u64,
    /// Its last ones, which are measured.
    run: u64,
}

/// Of a plan that measures all items: times of a window count from its own begin, because the driver
/// tells them as `f32`.
const WINDOW: u64 = 256;

impl Plan {
    /// The plan for a pipeline of this depth; `None` to measure nothing.
    pub(super) fn new(sampling: Sampling, depth: usize) -> Option<Self> {
        // Whole steps are seen between the first item's last stage and the last item's first one. An
        // upload waits for the item `depth` before it, so `depth + 2` items always show a whole step.
        let run = (depth as u64).saturating_mul(2).saturating_add(2);
        let every = match sampling {
            Sampling::Off => return None,
            Sampling::OneRunIn(every) => every.get(),
            Sampling::All => 0,
        };
        Some(match every > run {
            true => Self { every, run },
            false => {
                let every = WINDOW.max(run);
                Self { every, run: every }
            }
        })
    }

    /// Whether all items are measured.
    pub(super) fn is_whole(self) -> bool {
        self.run == self.every
    }

    /// How many neighbours are measured in a window.
    pub(super) fn run(self) -> usize {
        usize::try_from(self.run).unwrap_or(usize::MAX)
    }

    /// The window of an item, counted in the order in which they are submitted, and whether the item is
    /// measured.
    pub(super) fn window(self, item: u64) -> (u64, bool) {
        let (window, at) = (item / self.every, item % self.every);
        (window, at >= self.every - self.run)
    }

    /// Whether an item is the first that is measured in its window.
    pub(super) fn is_first(self, item: u64) -> bool {
        item % self.every == self.every - self.run
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it neighbours could be too few to show a whole step, or a plan measure what was not asked.
    #[test]
    fn a_plan_measures_the_last_neighbours_of_each_window() {
        assert!(Plan::new(Sampling::Off, 3).is_none());
        let plan = Plan::new(Sampling::SPARSE, 3).unwrap();
        let measured: Vec<u64> = (0..3000).filter(|&item| plan.window(item).1).collect();
        let expected: Vec<u64> = (1016..1024).chain(2040..2048).collect();
        assert_eq!(measured, expected);
        assert_eq!((plan.window(1023).0, plan.window(1024).0), (0, 1));
        assert!(plan.is_first(1016) && !plan.is_first(1017) && !plan.is_whole());
        let few = Sampling::OneRunIn(NonZeroU64::new(8).unwrap());
        for plan in [Plan::new(Sampling::All, 3), Plan::new(few, 3)] {
            let plan = plan.unwrap();
            assert!(plan.is_whole() && (0..1000).all(|item| plan.window(item).1));
        }
        // More in flight than a window would have: no item of the one before the last is in flight.
        let deep = Plan::new(Sampling::All, 1000).unwrap();
        assert_eq!(deep.window(2002), (1, true));
    }
}
