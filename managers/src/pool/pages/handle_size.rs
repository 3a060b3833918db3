//! How large the handles of new memory are.

use crate::pool::limit_use::LimitUse;

/// How much memory the device has, in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) free: u64,
    pub(crate) total: u64,
}

impl Device {
    /// After so many pages more were taken.
    pub(crate) fn less(self, pages: u64) -> Self {
        Self {
            free: self.free.saturating_sub(pages),
            ..self
        }
    }
}

/// How many pages the new handles of one request may have.
///
/// A handle costs nearly the same call up to 16 MiB, and three times as much at 256 MiB; but it is
/// unmapped as a whole or not at all, so one small block can keep all of it from being moved. So
/// the more is left of the limits, the larger they are, and of a page each near one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandleSizes {
    /// For any run, if it is no more than a quarter of it.
    small: u32,
    /// How many handles a long run is to have at most, unless those of `MOST` are too small.
    parts: Option<u32>,
    /// Pages of the largest one of a long run.
    most: u32,
}

/// A short handle keeps no larger part of the room from being moved.
const SMALL_SHARE: u64 = 2048;
/// A long handle is no larger part of a limit: one small block keeps that much from being moved.
/// Without this bound, programs whose huge blocks come and go among small ones need 1.024 times
/// their peak in place of 1.013.
const LONG_SHARE: u64 = 1024;
/// Handles of a long run while three quarters of all limits are left.
const FEW: u32 = 8;
/// Handles of a long run while a quarter is left: more would take the most of a millisecond. A
/// run is long if it has more pages than these.
const LONG: u32 = 24;
/// Pages of the largest handle: 256 MiB where a page has 2.
const MOST: u32 = 128;

impl HandleSizes {
    /// How large handles may be when `pages` pages more of `page` bytes are mapped on `device`,
    /// under these limits, which leave room for `room` pages.
    pub(crate) fn new(
        pages: u64,
        page: u64,
        room: u64,
        device: Device,
        limits: &[LimitUse],
    ) -> Self {
        let more = pages * page;
        let fits = |limit: &LimitUse, part: u64| {
            let after = limit.used.saturating_add(more);
            after <= limit.limit / 4 * part
        };
        // The part of each limit, and of the device, that stays free, in quarters.
        let leaves = |quarters: u64| {
            device.free.saturating_sub(pages) >= device.total / 4 * quarters
                && limits.iter().all(|limit| fits(limit, 4 - quarters))
        };
        let room = room.min(device.free).saturating_sub(pages);
        let limits = limits.iter().map(|limit| limit.limit / page);
        let whole = limits.fold(device.total, u64::min);
        let parts = if leaves(3) {
            Some(FEW)
        } else if leaves(1) {
            Some(LONG)
        } else {
            None
        };
        Self {
            small: match parts {
                Some(_) => (room / SMALL_SHARE).min(u64::from(MOST)) as u32,
                None => 0,
            },
            parts,
            most: (whole / LONG_SHARE).clamp(1, u64::from(MOST)) as u32,
        }
    }

    /// Pages of a handle for a run of so many.
    pub(crate) fn pages(self, run: u32) -> u32 {
        let small = run.div_ceil(4).min(self.small);
        let long = match self.parts {
            Some(parts) if run > LONG => run.div_ceil(parts).next_power_of_two().min(self.most),
            _ => 1,
        };
        small.max(long).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Device, FEW, HandleSizes, LONG, LONG_SHARE, LimitUse, MOST};

    fn count(sizes: HandleSizes, run: u32) -> u32 {
        run.div_ceil(sizes.pages(run))
    }

    // Without it requests that map memory would take milliseconds far from all limits.
    #[test]
    fn far_from_the_limits_few_handles_do() {
        let sizes = HandleSizes {
            small: 34,
            parts: Some(FEW),
            most: MOST,
        };
        assert_eq!(
            [1, 2, 4, 5, 23].map(|run| sizes.pages(run)),
            [1, 1, 1, 2, 6]
        );
        for run in 1..=FEW * MOST {
            assert!(count(sizes, run) <= FEW, "{run}");
        }
        assert_eq!(sizes.pages(u32::MAX), MOST);
    }

    // Without it one small block in a large handle could keep percents of a small limit from being
    // moved.
    #[test]
    fn a_long_handle_is_a_small_part_of_each_limit() {
        for share in [1, 7, 64, MOST] {
            let limit = LimitUse {
                used: 0,
                limit: u64::from(share) * LONG_SHARE * 10,
            };
            let whole = u64::from(MOST) * LONG_SHARE * 4;
            let device = Device {
                free: whole,
                total: whole,
            };
            let sizes = HandleSizes::new(1, 10, limit.limit / 10, device, &[limit]);
            assert_eq!(sizes.pages(u32::MAX), share);
        }
    }

    // Without it no page of a nearly full pool could be moved where it is needed.
    #[test]
    fn near_a_limit_each_page_has_a_handle() {
        let near = HandleSizes::default();
        let half = HandleSizes {
            small: 0,
            parts: Some(LONG),
            most: MOST,
        };
        for run in 1..=1000 {
            assert_eq!(near.pages(run), 1);
            assert!(run > LONG || half.pages(run) == 1, "{run}");
            assert!(count(half, run) <= LONG, "{run}");
        }
    }
}
