//! The report of a run: how much was in flight at once, by the device's clock.

use std::time::Duration;

use crate::lists::{sort_by_number, sum};

/// When the stages of one item began and ended, in milliseconds of the device's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Start and end of the upload.
    pub upload: (f32, f32),
    /// Start and end of the computation.
    pub compute: (f32, f32),
    /// Start and end of the download.
    pub download: (f32, f32),
}

impl StageTimes {
    fn stages(&self) -> [(f64, f64); 3] {
        let wide = |(start, end): (f32, f32)| (f64::from(start), f64::from(end.max(start)));
        [wide(self.upload), wide(self.compute), wide(self.download)]
    }
}

/// The items of a run, the host's waits, and the device times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Items that went through.
    pub items: u64,
    /// How often the host waited because all slots were in flight.
    pub full_waits: u64,
    /// The device times, of a measured pipeline that had items.
    pub overlap: Option<OverlapReport>,
}

/// How much of a run's work overlapped, from the device times of its stages.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OverlapReport {
    /// Items.
    pub items: u64,
    /// Time in uploads.
    pub upload: Duration,
    /// Time in computations.
    pub compute: Duration,
    /// Time in downloads.
    pub download: Duration,
    /// From the first start to the last end.
    pub span: Duration,
    /// The time of the stages one after the other: the sum of their times.
    pub serial_sum: Duration,
    /// Time in which two or three different stages were at work.
    pub shared: Duration,
    /// Time in which a stage was at work.
    pub busy: Duration,
    /// Time in which copies of both directions were at work, or waited for their engine.
    pub both_copies: Duration,
    /// Copy engines of the device; 0 where that is not known.
    pub copy_engines: u32,
    /// Time of the busiest stage divided by the span: 1 is the most that overlapping can
    /// reach. The stages' times are those of this run, with all that they cost each other.
    pub efficiency: f64,
    /// Whether different stages were at work at the same time at all.
    pub overlapped: bool,
}

impl OverlapReport {
    /// The report of these items; `None` for none.
    #[must_use]
    pub fn of(items: &[StageTimes]) -> Option<Self> {
        let first = items.first()?.upload.0;
        let mut busy = [0.0; 3];
        let (mut start, mut end) = (f64::from(first), f64::from(first));
        // Ends and starts of work: at equal times the ends come first.
        let mut changes = Vec::with_capacity(items.len() * 6);
        for item in items {
            for (stage, (from, to)) in item.stages().into_iter().enumerate() {
                busy[stage] += to - from;
                start = start.min(from);
                end = end.max(to);
                changes.push((to, -1, stage));
            }
        }
        for item in items {
            for (stage, (from, _)) in item.stages().into_iter().enumerate() {
                changes.push((from, 1, stage));
            }
        }
        // What is not negative sorts as its bits do.
        sort_by_number(&mut changes, |(at, ..)| (at - start).to_bits());
        let (mut active, mut last) = ([0i64; 3], start);
        let (mut at_work, mut shared, mut both_copies) = (0.0, 0.0, 0.0);
        for &(at, change, stage) in &changes {
            let stages = sum(&active, |&count| u64::from(count > 0));
            if stages > 0 {
                at_work += at - last;
            }
            if stages > 1 {
                shared += at - last;
            }
            if active[0] > 0 && active[2] > 0 {
                both_copies += at - last;
            }
            active[stage] += change;
            last = at;
        }
        let [upload, compute, download] = busy;
        let (span, busiest) = (end - start, upload.max(compute).max(download));
        let milliseconds = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
        let (upload, compute, download) = (
            milliseconds(upload),
            milliseconds(compute),
            milliseconds(download),
        );
        Some(Self {
            items: items.len() as u64,
            upload,
            compute,
            download,
            span: milliseconds(span),
            serial_sum: upload + compute + download,
            shared: milliseconds(shared),
            busy: milliseconds(at_work),
            both_copies: milliseconds(both_copies),
            copy_engines: 0,
            efficiency: if span > 0.0 { busiest / span } else { 0.0 },
            overlapped: shared > 0.0,
        })
    }

    /// How many times longer the stages would have taken one after the other.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        if self.span.is_zero() {
            return 1.0;
        }
        self.serial_sum.as_secs_f64() / self.span.as_secs_f64()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn item(upload: (u8, u8), compute: (u8, u8), download: (u8, u8)) -> StageTimes {
        let ms = |(start, len): (u8, u8)| (f32::from(start), f32::from(start) + f32::from(len));
        StageTimes {
            upload: ms(upload),
            compute: ms(compute),
            download: ms(download),
        }
    }

    // Without it a serial pipeline could be reported as overlapped, or the reverse.
    #[test]
    fn serial_and_perfect_runs_are_told_apart() {
        let serial: Vec<_> = (0..4)
            .map(|i| item((30 * i, 10), (30 * i + 10, 10), (30 * i + 20, 10)))
            .collect();
        let report = OverlapReport::of(&serial).unwrap();
        assert!(!report.overlapped);
        assert_eq!(report.span, report.serial_sum);
        assert!((report.efficiency - 1.0 / 3.0).abs() < 1e-9);
        let perfect: Vec<_> = (0..8)
            .map(|i| item((10 * i, 10), (10 * i + 10, 10), (10 * i + 20, 10)))
            .collect();
        let report = OverlapReport::of(&perfect).unwrap();
        assert!(report.overlapped);
        assert_eq!(report.span, Duration::from_millis(100));
        assert_eq!(report.shared, Duration::from_millis(80));
        assert!((report.efficiency - 0.8).abs() < 1e-9);
        assert!((report.speedup() - 2.4).abs() < 1e-9);
        assert_eq!(OverlapReport::of(&[]), None);
    }

    // Without it the sweep over starts and ends could be wrong where they coincide. The
    // oracle looks at each millisecond.
    #[test]
    fn shared_time_is_what_a_look_at_each_millisecond_finds() {
        type Span = (u8, u8);
        fn property(raw: Vec<(Span, Span, Span)>) -> bool {
            let items: Vec<_> = raw.into_iter().map(|(u, c, d)| item(u, c, d)).collect();
            let Some(report) = OverlapReport::of(&items) else {
                return items.is_empty();
            };
            let active = |stage: usize, at: f64| {
                items.iter().any(|item| {
                    let (start, end) = item.stages()[stage];
                    start <= at && at < end
                })
            };
            let shared = (0..512)
                .filter(|&ms| (0..3).filter(|&s| active(s, f64::from(ms))).count() > 1)
                .count();
            report.shared == Duration::from_millis(shared as u64)
                && report.overlapped == (shared > 0)
        }
        quickcheck::quickcheck(property as fn(Vec<(Span, Span, Span)>) -> bool);
    }
}
