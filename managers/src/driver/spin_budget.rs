//! `SpinBudget`: how long a future asks the driver itself before it leaves that to the reactor.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The longest that a future asks. The end of a short kernel is seen sooner so than by another
/// thread.
const MOST: Duration = Duration::from_micros(20);

/// The mean of the last waits, which the next one is expected to be like. While waits are long a
/// future asks once: more would take its thread's time for nothing.
#[derive(Default)]
pub(crate) struct SpinBudget {
    /// In nanoseconds. A decision about speed alone rests on it.
    mean: AtomicU32,
}

impl SpinBudget {
    /// Asks until the work is done or the time is up, and once while waits are long. Whether it is
    /// done. An error ends it, and is for the next question to tell.
    pub(crate) fn spin<E>(&self, is_done: impl Fn() -> Result<bool, E>) -> bool {
        let mean = Duration::from_nanos(self.mean.load(Ordering::Relaxed).into());
        let time = if mean > MOST { Duration::ZERO } else { MOST };
        let begin = Instant::now();
        loop {
            match is_done() {
                Ok(true) => {
                    self.note(begin.elapsed());
                    return true;
                }
                Ok(false) if begin.elapsed() < time => std::hint::spin_loop(),
                Ok(false) | Err(_) => return false,
            }
        }
    }

    /// Notes how long a wait was, as a quarter of the mean from now on; a long one counts as a few
    /// times the most, so that some short ones after it are enough.
    pub(crate) fn note(&self, waited: Duration) {
        let waited = waited.min(4 * MOST).subsec_nanos();
        let mean = self.mean.load(Ordering::Relaxed);
        self.mean
            .store(mean / 4 * 3 + waited / 4, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How often the work was asked for, and whether it is done.
    fn asked(budget: &SpinBudget, is_done: bool) -> (u32, bool) {
        let asked = Cell::new(0);
        let done = budget.spin(|| {
            asked.set(asked.get() + 1);
            Ok::<_, ()>(is_done)
        });
        (asked.get(), done)
    }

    // Without it each wait for a long kernel would take its thread's time; or none for a short one
    // would be seen at once again.
    #[test]
    fn long_waits_end_the_spinning_and_short_ones_begin_it() {
        let budget = SpinBudget::default();
        assert_eq!(asked(&budget, true), (1, true));
        let (times, done) = asked(&budget, false);
        assert!(times > 0 && !done);
        budget.note(Duration::from_secs(3));
        budget.note(Duration::from_secs(3));
        assert_eq!(asked(&budget, false), (1, false));
        for _ in 0..8 {
            budget.note(Duration::from_micros(5));
        }
        assert!(asked(&budget, false).0 > 1);
        assert_eq!(asked(&budget, true), (1, true));
        let failed = budget.spin(|| Err::<bool, _>(()));
        assert!(!failed);
    }
}
