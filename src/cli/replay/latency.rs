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
        Some(Percentiles {
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

/// Times in nanoseconds. Each holds the two readings of the clock around the operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Percentiles {
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

    /// Without it a percentile could be that of a neighbouring rank, or reading none could
    /// panic.
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
        let mut one = Latencies::default();
        one.push(Duration::from_nanos(7));
        let found = one.percentiles().unwrap();
        assert_eq!((found.p50, found.p9999, found.max), (7, 7, 7));
        assert_eq!(Latencies::default().percentiles(), None);
    }
}
