//! `Summary`: what some times have in common.

use std::fmt;
use std::time::Duration;

/// Statistics of some times. A percentile is by nearest rank: the smallest of the times that are not
/// exceeded by so many percent of them, which is always one that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many times there are; at least 1.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: Duration,
    /// The one in the middle, or the mean of the two there.
    pub median: Duration,
    /// Standard deviation of a sample (of `count - 1`); 0 of one time.
    pub deviation: Duration,
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
    /// 50th percentile.
    pub p50: Duration,
    /// 90th percentile.
    pub p90: Duration,
    /// 95th percentile.
    pub p95: Duration,
    /// 99th percentile.
    pub p99: Duration,
}

impl Summary {
    /// Of these times; `None` of none.
    #[must_use]
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let count = sorted.len();
        let nanoseconds = |time: &Duration| time.as_secs_f64() * 1e9;
        let mean = sorted.iter().map(nanoseconds).sum::<f64>() / count as f64;
        let squares = sorted.iter().map(|time| (nanoseconds(time) - mean).powi(2));
        let variance = match count {
            1 => 0.0,
            _ => squares.sum::<f64>() / (count - 1) as f64,
        };
        let (low, high) = (sorted[(count - 1) / 2], sorted[count / 2]);
        Some(Self {
            count,
            mean: duration(mean),
            median: low + (high - low) / 2,
            deviation: duration(variance.sqrt()),
            min,
            max,
            p50: percentile(&sorted, 50),
            p90: percentile(&sorted, 90),
            p95: percentile(&sorted, 95),
            p99: percentile(&sorted, 99),
        })
    }

    /// Each figure with its name, the count aside.
    pub(super) fn figures(&self) -> [(&'static str, Duration); 9] {
        [
            ("mean", self.mean),
            ("median", self.median),
            ("deviation", self.deviation),
            ("min", self.min),
            ("max", self.max),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
        ]
    }
}

/// By nearest rank, of sorted times of which there are some; `percent` is from 1 to 100.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn duration(nanoseconds: f64) -> Duration {
    Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or(Duration::MAX)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, time) in self.figures() {
            write!(f, "{separator}{name} {time:.2?}")?;
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition, without a sorted list: the smallest time that is not exceeded by so many.
    fn naive_percentile(times: &[Duration], percent: usize) -> Duration {
        let enough = |limit: &Duration| {
            let below = times.iter().filter(|time| *time <= limit).count();
            below * 100 >= percent * times.len()
        };
        *times.iter().filter(|time| enough(time)).min().unwrap()
    }

    // Without it a percentile could be off by one, which shows in few samples only, or a mean or deviation
    // be another's.
    #[test]
    fn statistics_are_those_of_their_definitions() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn property(raw: Vec<u32>) -> bool {
            let times: Vec<_> = raw
                .iter()
                .map(|&ns| Duration::from_nanos(ns.into()))
                .collect();
            let Some(summary) = Summary::of(&times) else {
                return times.is_empty();
            };
            let n = raw.len() as f64;
            let mean = raw.iter().map(|&ns| f64::from(ns) / n).sum::<f64>();
            let squares = raw.iter().map(|&ns| f64::from(ns).powi(2)).sum::<f64>();
            // Of the squares' mean, which is another way and less exact.
            let deviation = match raw.len() {
                1 => 0.0,
                _ => ((squares - n * mean * mean).max(0.0) / (n - 1.0)).sqrt(),
            };
            let near = |found: Duration, expected: f64, off: f64| {
                (found.as_nanos() as f64 - expected).abs() <= off
            };
            let percentiles = [
                (50, summary.p50),
                (90, summary.p90),
                (95, summary.p95),
                (99, summary.p99),
            ];
            let mut sorted = raw.clone();
            sorted.sort_unstable();
            let twice = u64::from(sorted[(raw.len() - 1) / 2]) + u64::from(sorted[raw.len() / 2]);
            summary.count == raw.len()
                && near(summary.mean, mean, 2.0)
                && near(summary.deviation, deviation, 2.0 + 1e-3 * mean)
                && summary.median == Duration::from_nanos(twice / 2)
                && summary.min == *times.iter().min().unwrap()
                && summary.max == *times.iter().max().unwrap()
                && (percentiles.into_iter())
                    .all(|(percent, found)| found == naive_percentile(&times, percent))
        }
        assert_eq!(Summary::of(&[]), None);
        quickcheck::quickcheck(property as fn(Vec<u32>) -> bool);
        // Lengths at which a rank changes.
        for len in [1, 2, 9, 10, 11, 19, 20, 21, 99, 100, 101, 199, 200] {
            assert!(property((0..len).rev().collect()), "{len}");
        }
    }
}
