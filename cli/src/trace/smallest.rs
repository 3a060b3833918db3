//! The smallest limit under which a trace replays, and whether larger ones do as well.
//!
//! More memory mostly fits more, and a bisection finds where that begins. But an allocator that
//! has more room places blocks elsewhere, and on several streams what may be used again depends on
//! where it is: limits a little above the one found can fail, and some below it can do. So there
//! the limits around it are tried one by one.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Limits are whole pages of memory as the driver maps them.
pub(crate) const STEP: u64 = 2 << 20;

/// How far to look around what a bisection has found.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// So many limits in a row that fail end the way down.
    below: u64,
    /// So many in a row that do end the way up.
    above: u64,
    /// At most so many limits are tried on both ways, and none is begun after so long.
    most: usize,
    time: Duration,
}

/// What a trace on several streams gets.
pub const AROUND: Around = Around {
    below: 16,
    above: 32,
    most: 256,
    time: Duration::from_secs(60),
};

/// What the search found. Nothing is said of limits that were not tried.
#[derive(Debug, Serialize)]
pub struct Smallest {
    /// The least limit that was tried and did, in bytes; `None` if the trace does not fit the
    /// device.
    pub limit: Option<u64>,
    /// The least from which on every limit that was tried did.
    pub safe_from: Option<u64>,
    /// Limits larger than `limit` that failed.
    pub larger_failed: Vec<u64>,
    /// Bytes between two limits that could be tried.
    pub step: u64,
    /// Every limit around the one that the bisection found was to be tried, and there was no time
    /// for all.
    pub cut_short: bool,
    /// Blocks were stamped and checked by kernels: never. Where kernels lag behind, more is
    /// pending, and a limit that does here can fail.
    pub kernels: bool,
    /// Each limit that was tried, in order, and whether everything fit.
    pub tried: Vec<Attempt>,
}

/// A limit that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// In bytes.
    pub limit: u64,
    /// Every allocation succeeded.
    pub fits: bool,
}

/// Looks for the smallest limit between the trace's `peak`, below which nothing can fit, and
/// `most`, in bytes. `fits` says whether every allocation succeeds under a limit.
///
/// # Errors
/// The first of `fits`.
pub fn search<E>(
    peak: u64,
    most: u64,
    around: Option<Around>,
    fits: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Smallest, E> {
    let mut search = Search {
        least: peak.div_ceil(STEP).max(1),
        most: most / STEP,
        fits,
        tried: Vec::new(),
    };
    let mut cut_short = false;
    if let Some(found) = search.bisect()?
        && let Some(around) = around
    {
        cut_short = !search.around(found, around)?;
    }
    Ok(Smallest::new(search.tried, cut_short))
}

struct Search<F> {
    /// Limits in steps.
    least: u64,
    most: u64,
    fits: F,
    tried: Vec<Attempt>,
}

impl<E, F: FnMut(u64) -> Result<bool, E>> Search<F> {
    fn fits(&mut self, steps: u64) -> Result<bool, E> {
        let limit = steps * STEP;
        if let Some(known) = self.tried.iter().find(|attempt| attempt.limit == limit) {
            return Ok(known.fits);
        }
        let fits = (self.fits)(limit)?;
        self.tried.push(Attempt { limit, fits });
        Ok(fits)
    }

    /// Up from the least in jumps that double, and then by halves.
    fn bisect(&mut self) -> Result<Option<u64>, E> {
        if self.least > self.most {
            return Ok(None);
        }
        let (mut below, mut jump) = (self.least - 1, 1);
        let mut above = loop {
            let next = (below + jump).min(self.most);
            if self.fits(next)? {
                break next;
            }
            if next == self.most {
                return Ok(None);
            }
            below = next;
            jump *= 2;
        };
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if self.fits(middle)? {
                above = middle;
            } else {
                below = middle;
            }
        }
        Ok(Some(above))
    }

    /// Every limit above `found` until enough in a row do, and below it until enough in a row
    /// fail. False if that was given up.
    fn around(&mut self, found: u64, around: Around) -> Result<bool, E> {
        let begin = Instant::now();
        let enough = self.tried.len() + around.most;
        let mut row = 0;
        for steps in found + 1..=self.most {
            if row == around.above {
                break;
            }
            if self.tried.len() >= enough || begin.elapsed() >= around.time {
                return Ok(false);
            }
            row = if self.fits(steps)? { row + 1 } else { 0 };
        }
        row = 0;
        for steps in (self.least..found).rev() {
            if row == around.below {
                break;
            }
            if self.tried.len() >= enough || begin.elapsed() >= around.time {
                return Ok(false);
            }
            row = if self.fits(steps)? { 0 } else { row + 1 };
        }
        Ok(true)
    }
}

impl Smallest {
    fn new(tried: Vec<Attempt>, cut_short: bool) -> Self {
        let mut sorted = tried.clone();
        sorted.sort_unstable_by_key(|attempt| attempt.limit);
        let limit = sorted.iter().find(|attempt| attempt.fits);
        let limit = limit.map(|attempt| attempt.limit);
        let last_failed = sorted.iter().rposition(|attempt| !attempt.fits);
        let safe = sorted.get(last_failed.map_or(0, |last| last + 1));
        let failed = sorted.iter().filter(|attempt| !attempt.fits);
        let failed = failed.map(|attempt| attempt.limit);
        Self {
            limit,
            safe_from: safe.map(|attempt| attempt.limit),
            larger_failed: failed
                .filter(|failed| limit.is_some_and(|limit| *failed > limit))
                .collect(),
            step: STEP,
            cut_short,
            kernels: false,
            tried,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peak: u64, most: u64, need: u64) -> (Option<u64>, usize) {
        let search = search(peak, most, None, |limit| Ok::<_, ()>(limit >= need)).unwrap();
        for attempt in &search.tried {
            assert_eq!(attempt.fits, attempt.limit >= need);
            assert_eq!(attempt.limit % STEP, 0);
        }
        assert_eq!(search.safe_from, search.limit);
        assert!(search.larger_failed.is_empty() && !search.cut_short);
        (search.limit, search.tried.len())
    }

    /// Without it the figure by which the pool is judged could be a page off.
    #[test]
    fn the_smallest_limit_is_exact() {
        for pages in 1..200 {
            let need = pages * STEP;
            let (limit, tried) = found(1, 1 << 40, need);
            assert_eq!(limit, Some(need));
            assert!(tried < 20, "{tried}");
            assert_eq!(found(need, 1 << 40, need), (Some(need), 1));
            assert_eq!(found(need + 1, 1 << 40, need).0, Some(need + STEP));
        }
        assert_eq!(found(0, 1 << 40, 0), (Some(STEP), 1));
    }

    /// Without it the search could run for ever, or ask for more than there is.
    #[test]
    fn what_does_not_fit_the_device_has_none() {
        let (limit, tried) = found(STEP, 64 * STEP, 65 * STEP);
        assert_eq!(limit, None);
        assert!(tried < 10);
        assert_eq!(found(STEP, 64 * STEP, 64 * STEP).0, Some(64 * STEP));
        assert_eq!(found(u64::MAX, 1 << 40, 0), (None, 0));
    }

    /// What a pool was seen to do on four streams: 1706 to 1711 do, 1712 to 1716 do not, and
    /// neither do 1720 and 1722.
    fn ragged(limit: u64) -> Result<bool, ()> {
        let steps = limit / STEP;
        Ok((1706..=1711).contains(&steps) || steps >= 1717 && ![1720, 1722].contains(&steps))
    }

    /// Without it a limit was called the smallest below which others do, and larger ones that
    /// fail went unsaid.
    #[test]
    fn limits_around_the_one_found_are_tried() {
        let steps = |limits: &[u64]| -> Vec<u64> { limits.iter().map(|one| one / STEP).collect() };
        for least in [1605, 1650, 1690, 1700] {
            let search = search(least * STEP, 1 << 40, Some(AROUND), ragged).unwrap();
            assert_eq!(search.limit, Some(1706 * STEP), "from {least}");
            assert_eq!(search.safe_from, Some(1723 * STEP));
            let failed = [1712, 1713, 1714, 1715, 1716, 1720, 1722];
            assert_eq!(steps(&search.larger_failed), failed);
            assert!(!search.cut_short && !search.kernels);
            // None twice, and all that are near.
            let mut tried: Vec<_> = search.tried.iter().map(|one| one.limit / STEP).collect();
            tried.sort_unstable();
            assert!(tried.is_sorted_by(|one, other| one < other), "{tried:?}");
            for near in least.max(1690)..=1722 + 32 {
                assert!(tried.binary_search(&near).is_ok(), "{near}");
            }
        }
    }

    /// Without it a search could take hours where each limit takes minutes, or say of a part that
    /// it was all.
    #[test]
    fn looking_around_ends() {
        let late = Around {
            time: Duration::ZERO,
            ..AROUND
        };
        let search = |peak, most, around| search(peak, most, Some(around), ragged).unwrap();
        let first = search(1690 * STEP, 1 << 40, late);
        assert!(first.cut_short && first.tried.len() < 15, "{first:?}");
        let few = Around { most: 5, ..AROUND };
        let second = search(1690 * STEP, 1 << 40, few);
        assert_eq!(second.tried.len(), first.tried.len() + 5);
        assert!(second.cut_short);
        // The device ends what is above, the peak what is below.
        let third = search(1709 * STEP, 1722 * STEP, AROUND);
        assert_eq!(third.limit, Some(1709 * STEP));
        assert_eq!(third.safe_from, None);
        assert_eq!(third.tried.len(), 14);
        assert!(!third.cut_short);
    }
}
