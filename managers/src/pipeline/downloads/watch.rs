//! `Watch`: whether the calls that put downloads take so long that copies may block.

use std::time::Duration;

/// A call that takes less gains little by another thread, which is woken in some tens of microseconds. One
/// that puts a copy and returns takes a few.
const LONG: Duration = Duration::from_micros(100);
/// So many long calls one after the other are no chance: the thread is not held up in each.
const LONG_CALLS: u8 = 4;
/// So many calls are looked at.
const CALLS: u8 = 32;

/// The calls that put the first downloads of a pipeline, by the time that they took.
#[derive(Default)]
pub(super) struct Watch {
    calls: u8,
    /// Of the last ones.
    long: u8,
}

/// What is known by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Undecided,
    /// Calls return at once.
    Short,
    /// Calls take long, for whatever reason.
    Long,
}

impl Watch {
    /// Notes a call that took so long.
    pub(super) fn note(&mut self, took: Duration) -> Verdict {
        self.calls += 1;
        self.long = match took >= LONG {
            true => self.long + 1,
            false => 0,
        };
        if self.long == LONG_CALLS {
            Verdict::Long
        } else if self.calls == CALLS {
            Verdict::Short
        } else {
            Verdict::Undecided
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a thread that is held up now and then could have a pipeline time copies, or one whose
    // copies block could never be seen.
    #[test]
    fn only_calls_that_are_long_in_a_row_tell() {
        let of = |long: fn(u8) -> bool| {
            let mut watch = Watch::default();
            let calls = (0..CALLS).map(|call| match long(call) {
                true => LONG,
                false => LONG - Duration::from_nanos(1),
            });
            let mut verdicts = calls.map(|took| watch.note(took));
            verdicts.find(|&verdict| verdict != Verdict::Undecided)
        };
        assert_eq!(of(|_| false), Some(Verdict::Short));
        assert_eq!(of(|call| call % 4 != 3), Some(Verdict::Short));
        assert_eq!(of(|_| true), Some(Verdict::Long));
        assert_eq!(of(|call| call >= 20), Some(Verdict::Long));
    }
}
