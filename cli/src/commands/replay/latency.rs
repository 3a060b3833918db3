//! How long single operations take: all of them are kept, so that percentiles are exact.

use std::time::Duration;

use serde::Serialize;

/// Times of one kind of operation.
#[derive(Debug, Default)]
pub(super) struct Latencies(Vec<u64>);

impl Latencies {
    pub(super) fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    pub(super) fn push(&mut self, took: Duration) {
        self.0
            .push(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// The figures; `None` if there are no times.
    pub(super) fn percentiles(mut self) -> Option<Percentiles> {
        self.0.sort_unstable();
        let times = &self.0[..];
        let max = *times.last()?;
        // The nearest rank: the smallest time that so many parts of 10 000 do not exceed.
        let rank = |parts: usize| times[(times.len() * parts).div_ceil(10_000).max(1) - 1];
        let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
        let histogram = times
            .chunk_by(|a, b| bucket(*a) == bucket(*b))
            .map(|times| Bucket {
                below: bucket(times[0]),
                count: times.len(),
            })
            .collect();
        Some(Percentiles {
            histogram,
            count: times.len(),
            mean: sum as f64 / times.len() as f64,
            p50: rank(5_000),
            p99: rank(9_900),
            p999: rank(9_990),
            p9999: rank(9_999),
            max,
        })
    }
}

/// The power of two above a time.
fn bucket(time: u64) -> u64 {
    1_u64
        .checked_shl(u64::BITS - time.leading_zeros())
        .unwrap_or(u64::MAX)
}

/// Times in one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Bucket {
    /// They are below this power of two of nanoseconds, and not below the half of it.
    pub(super) below: u64,
    pub(super) count: usize,
}

/// Times in nanoseconds. Each holds the two readings of the clock around the operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Percentiles {
    /// All of them, by powers of two; ranges without any are left out.
    pub(super) histogram: Vec<Bucket>,
    pub(super) count: usize,
    pub(super) mean: f64,
    pub(super) p50: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) p9999: u64,
    pub(super) max: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a percentile could be that of a neighbouring rank, a time be counted in a
    /// neighbouring range, or reading none could panic.
    #[test]
    fn percentiles_are_exact() {
        let mut times = Latencies::with_capacity(10_000);
        for time in (1..=10_000).rev() {
            times.push(Duration::from_nanos(time));
        }
        let found = times.percentiles().unwrap();
        assert_eq!(
            (found.p50, found.p99, found.p999, found.p9999, found.max),
            (5_000, 9_900, 9_990, 9_999, 10_000)
        );
        assert!((found.mean - 5_000.5).abs() < 1e-9);
        let ranges = found.histogram.iter().map(|it| (it.below, it.count));
        let ranges: Vec<_> = ranges.collect();
        assert_eq!(ranges[..3], [(2, 1), (4, 2), (8, 4)]);
        assert_eq!(ranges[12..], [(8192, 4096), (16384, 1809)]);
        let mut one = Latencies::default();
        one.push(Duration::from_nanos(7));
        let found = one.percentiles().unwrap();
        assert_eq!((found.p50, found.p9999, found.max), (7, 7, 7));
        assert_eq!([0, 1, 2, u64::MAX].map(bucket), [1, 2, 4, u64::MAX]);
        assert_eq!(Latencies::default().percentiles(), None);
    }
}
