//! The smallest limit under which a trace replays.

use serde::Serialize;

/// Limits are whole pages of memory as the driver maps them.
const STEP: u64 = 2 << 20;

/// What the search found.
#[derive(Debug, Serialize)]
pub(super) struct Smallest {
    /// Bytes; `None` if the trace does not fit the device.
    pub(super) limit: Option<u64>,
    /// Each limit that was tried, in order, and whether everything fit.
    pub(super) tried: Vec<Attempt>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Attempt {
    pub(super) limit: u64,
    pub(super) fits: bool,
}

/// Bisects between the trace's `peak`, below which nothing can fit, and a limit that fits, of
/// at most `most` bytes. That more memory never fits less is taken for granted: allocators can
/// break it by a little.
pub(super) fn search<E>(
    peak: u64,
    most: u64,
    mut fits: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Smallest, E> {
    let mut tried = Vec::new();
    let least = peak.div_ceil(STEP).max(1);
    let most = most / STEP;
    if least > most {
        return Ok(Smallest { limit: None, tried });
    }
    let mut fits = |steps: u64| {
        let limit = steps * STEP;
        let fits = fits(limit)?;
        tried.push(Attempt { limit, fits });
        Ok(fits)
    };
    let (mut below, mut found) = (least - 1, None);
    let mut jump = 1;
    while found.is_none() {
        let next = (below + jump).min(most);
        if fits(next)? {
            found = Some(next);
        } else if next == most {
            break;
        } else {
            below = next;
            jump *= 2;
        }
    }
    if let Some(above) = &mut found {
        while *above - below > 1 {
            let middle = below + (*above - below) / 2;
            if fits(middle)? {
                *above = middle;
            } else {
                below = middle;
            }
        }
    }
    Ok(Smallest {
        limit: found.map(|steps| steps * STEP),
        tried,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peak: u64, most: u64, need: u64) -> (Option<u64>, usize) {
        let search = search(peak, most, |limit| Ok::<_, ()>(limit >= need)).unwrap();
        for attempt in &search.tried {
            assert_eq!(attempt.fits, attempt.limit >= need);
            assert_eq!(attempt.limit % STEP, 0);
        }
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
}
