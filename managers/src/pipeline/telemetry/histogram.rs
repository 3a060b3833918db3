//! `Histogram`: times in buckets of a fixed relative width.

use std::fmt;
use std::time::Duration;

/// Bits of a bucket's number that tell it from the others of its power of two.
const BITS: u32 = 5;
/// Buckets of a power of two.
const PER_POWER: usize = 1 << BITS;
/// The largest power of two with buckets: 2^40 ns are 18 minutes. Longer times are in the last bucket.
const LAST_POWER: u32 = 40;
/// Times below 2^5 ns have a bucket each; so do the 32 parts of each power of two behind.
const BUCKETS: usize = PER_POWER * (LAST_POWER - BITS + 2) as usize;

/// Counts of times, in nanoseconds: a bucket each below 32 ns, and 32 buckets for each power of two up
/// to 18 minutes (log-linear, as in HdrHistogram). A percentile is within 1/64, 1.6 %, of the time that
/// sorting all of them would find, as long as that is not longer; the shortest and the longest are exact.
/// It has 10 KB whatever is counted, and counting allocates nothing.
///
/// ```
/// use std::time::Duration;
/// use cupola_managers::pipeline::Histogram;
///
/// let mut steps = Histogram::new();
/// for us in 1..=1000 {
///     steps.record(Duration::from_micros(us));
/// }
/// let p99 = steps.percentile(99.0).unwrap().as_secs_f64();
/// assert!((p99 / 990e-6 - 1.0).abs() <= Histogram::RELATIVE_ERROR);
/// assert_eq!(steps.max(), Some(Duration::from_millis(1)));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    buckets: Box<[u64]>,
    count: u64,
    min: u64,
    max: u64,
    /// Of all times.
    sum: u128,
}

impl Histogram {
    /// The most that a [percentile](Self::percentile) is off, as a part of it.
    pub const RELATIVE_ERROR: f64 = 1.0 / (2 * PER_POWER) as f64;

    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }

    /// Counts a time; one beyond 584 years as that.
    pub fn record(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = &mut self.buckets[bucket_of(nanoseconds)];
        *bucket = bucket.saturating_add(1);
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(u128::from(nanoseconds));
        self.min = self.min.min(nanoseconds);
        self.max = self.max.max(nanoseconds);
    }

    /// Adds all that another one has counted.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *bucket = bucket.saturating_add(*more);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        (self.count, self.min, self.max, self.sum) = (0, u64::MAX, 0, 0);
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The time that `percent` of all times do not exceed, within
    /// [`RELATIVE_ERROR`](Self::RELATIVE_ERROR); `None` when none was counted. Less than 0 is taken
    /// for 0, the shortest, and more than 100 for 100, the longest.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        if self.count == 0 {
            return None;
        }
        // In this order, so that whole percents of whole hundreds are exact. NaN is taken for 0.
        let rank = percent.clamp(0.0, 100.0) * self.count as f64 / 100.0;
        let wanted = (rank.ceil() as u64).clamp(1, self.count);
        if wanted == self.count {
            return Some(Duration::from_nanos(self.max));
        }
        let mut found = 0_u64;
        for (place, &count) in self.buckets.iter().enumerate() {
            found = found.saturating_add(count);
            if found >= wanted {
                let (low, width) = range_of(place);
                let middle = low + (width - 1) / 2;
                return Some(Duration::from_nanos(middle.clamp(self.min, self.max)));
            }
        }
        Some(Duration::from_nanos(self.max))
    }

    /// The shortest time.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration::from_nanos(self.min))
    }

    /// The longest time.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(Duration::from_nanos(self.max))
    }

    /// The mean, of the times themselves and not of the buckets.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum.checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(
            u64::try_from(mean).unwrap_or(u64::MAX),
        ))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("p50", &self.percentile(50.0))
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(p50), Some(p90), Some(p99), Some(max)) = (
            self.percentile(50.0),
            self.percentile(90.0),
            self.percentile(99.0),
            self.max(),
        ) else {
            return f.write_str("nothing was measured");
        };
        write!(
            f,
            "p50 {p50:.2?}, p90 {p90:.2?}, p99 {p99:.2?}, max {max:.2?} of {}",
            self.count
        )
    }
}

/// The bucket of a time.
fn bucket_of(nanoseconds: u64) -> usize {
    let power = nanoseconds.max(1).ilog2();
    if power < BITS {
        return nanoseconds as usize;
    }
    if power > LAST_POWER {
        return BUCKETS - 1;
    }
    // The top bits behind the first one.
    let part = (nanoseconds >> (power - BITS)) as usize - PER_POWER;
    PER_POWER * (power - BITS + 1) as usize + part
}

/// The shortest time of a bucket, and how many nanoseconds belong to it.
fn range_of(bucket: usize) -> (u64, u64) {
    if bucket < PER_POWER {
        return (bucket as u64, 1);
    }
    let (row, part) = (bucket / PER_POWER - 1, bucket % PER_POWER);
    let width = 1 << row;
    ((PER_POWER + part) as u64 * width, width)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it two times could share a bucket that is wider than was promised, or a bucket's times be
    // told as another's.
    #[test]
    fn buckets_cover_all_times_in_their_order() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (low, width) = range_of(bucket);
            assert_eq!(low, next);
            next = low + width;
            assert_eq!([low, next - 1].map(bucket_of), [bucket; 2]);
            assert!(width == 1 || low / width >= PER_POWER as u64, "{bucket}");
        }
        assert_eq!(next, 1 << (LAST_POWER + 1));
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    // Without it a percentile could be off by more than was promised, be of the wrong rank, or change
    // with the order in which histograms are merged.
    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        fn property(times: Vec<u64>, shifts: Vec<u8>, percents: Vec<u8>) -> bool {
            // Of all sizes: quickcheck's own numbers are nearly all large.
            let mut shifts = shifts.into_iter().cycle();
            let mut shift = || shifts.next().map_or(0, |bits| bits % 40);
            let times: Vec<u64> = times
                .into_iter()
                .map(|time| (time & ((1 << 40) - 1)) >> shift())
                .collect();
            let (mut whole, mut parts) = (Histogram::new(), [Histogram::new(), Histogram::new()]);
            for (at, &time) in times.iter().enumerate() {
                whole.record(Duration::from_nanos(time));
                parts[at % 2].record(Duration::from_nanos(time));
            }
            let [mut merged, other] = parts;
            merged.merge(&other);
            let mut sorted = times;
            sorted.sort_unstable();
            let ends = (whole.min(), whole.max());
            let expected = (sorted.first(), sorted.last());
            let right = percents
                .into_iter()
                .map(|percent| percent % 101)
                .all(|percent| {
                    let found = whole.percentile(f64::from(percent));
                    let rank = (sorted.len() * usize::from(percent)).div_ceil(100).max(1);
                    match sorted.get(rank - 1) {
                        None => found.is_none(),
                        Some(&oracle) => found.is_some_and(|found| {
                            let off = found.as_nanos().abs_diff(u128::from(oracle)) as f64;
                            off <= oracle as f64 * Histogram::RELATIVE_ERROR
                        }),
                    }
                });
            let exact = |time: Option<Duration>, expected: Option<&u64>| {
                time == expected.map(|&time| Duration::from_nanos(time))
            };
            right
                && merged == whole
                && whole.count() == sorted.len() as u64
                && exact(ends.0, expected.0)
                && exact(ends.1, expected.1)
        }
        quickcheck::quickcheck(property as fn(Vec<u64>, Vec<u8>, Vec<u8>) -> bool);
    }

    // Without it a histogram could say something of times that it has not seen, or keep them.
    #[test]
    fn nothing_has_no_percentile() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.percentile(50.0), histogram.mean()), (None, None));
        assert_eq!(histogram.to_string(), "nothing was measured");
        for us in [10, 20, 40] {
            histogram.record(Duration::from_micros(us));
        }
        assert_eq!(histogram.mean(), Some(Duration::from_nanos(23_333)));
        assert_eq!(histogram.percentile(f64::NAN), histogram.percentile(-3.0));
        assert_eq!(histogram.percentile(300.0), Some(Duration::from_micros(40)));
        histogram.record(Duration::MAX);
        assert_eq!(histogram.max(), Some(Duration::from_nanos(u64::MAX)));
        histogram.clear();
        assert_eq!(histogram, Histogram::new());
    }
}
