//! The report of a run: how much was in flight at once, by the device's clock.

use std::fmt;
use std::time::Duration;

use super::sweep::{Sums, Sweep};

/// When the stages of one item began and ended, in milliseconds of the device's clock. Of `f64`: in
/// a run of an hour neighbours of an `f32` are 0.2 ms apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Start and end of the upload.
    pub upload: (f64, f64),
    /// Start and end of the computation.
    pub compute: (f64, f64),
    /// Start and end of the download.
    pub download: (f64, f64),
}

impl StageTimes {
    /// Start and end of each stage; none ends before it starts.
    pub(super) fn stages(&self) -> [(f64, f64); 3] {
        let ordered = |(start, end): (f64, f64)| (start, end.max(start));
        [self.upload, self.compute, self.download].map(ordered)
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
    /// The device times, of a pipeline that [measures](super::Sampling) and has measured enough: an
    /// item, or a run of neighbours.
    pub overlap: Option<OverlapReport>,
}

/// What the figures of an [`OverlapReport`] are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measured {
    /// All items, from the start of the first to the end of the last.
    All,
    /// So many runs of neighbours. Of each run the whole steps are counted in which all work of the
    /// device's is known; the first items to come and the last ones to go are not seen.
    Runs(u64),
}

/// How much of a run's work overlapped, from the device times of its stages.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OverlapReport {
    /// Items that the figures are of; of a sample, whole steps.
    pub items: u64,
    /// All items, or a sample.
    pub measured: Measured,
    /// Time in uploads.
    pub upload: Duration,
    /// Time in computations.
    pub compute: Duration,
    /// Time in downloads.
    pub download: Duration,
    /// From the first start to the last end; of a sample, the time that was looked at.
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
    /// Whether copies are known to block the thread that puts them, and that puts all work: the pipeline has no
    /// [thread](super::super::CopyThread) for downloads.
    pub copies_block: bool,
    /// Time of the busiest stage divided by the span: 1 is the most that overlapping can
    /// reach. The stages' times are those of this run, with all that they cost each other;
    /// [`efficiency_of`](Self::efficiency_of) compares with stages that were alone.
    pub efficiency: f64,
    /// Whether different stages were at work at the same time at all.
    pub overlapped: bool,
}

/// How much of the time each engine of the device was at work: 1 is all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Utilisation {
    /// The engine that copies to the device.
    pub upload: f64,
    /// The compute units: a kernel was there, however few of them it used.
    pub compute: f64,
    /// The engine that copies to the host.
    pub download: f64,
}

impl fmt::Display for Utilisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [upload, compute, download] =
            [self.upload, self.compute, self.download].map(|share| share * 100.0);
        write!(
            f,
            "upload {upload:.1} %, compute {compute:.1} %, download {download:.1} %"
        )
    }
}

impl OverlapReport {
    /// The report of these items; `None` for none.
    #[must_use]
    pub fn of(items: &[StageTimes]) -> Option<Self> {
        if items.is_empty() {
            return None;
        }
        let mut sweep = Sweep::with_room_for(items.len());
        let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
        for item in items {
            for (from, to) in item.stages() {
                (start, end) = (start.min(from), end.max(to));
            }
            sweep.add(item, (f64::NEG_INFINITY, f64::INFINITY));
        }
        sweep.finish(end - start);
        Some(Self::of_sums(
            &sweep.sums(),
            items.len() as u64,
            Measured::All,
        ))
    }

    /// The report of what was summed up.
    pub(super) fn of_sums(sums: &Sums, items: u64, measured: Measured) -> Self {
        let milliseconds =
            |ms: f64| Duration::try_from_secs_f64(ms.max(0.0) / 1000.0).unwrap_or(Duration::MAX);
        let [upload, compute, download] = sums.stages.map(milliseconds);
        let busiest = sums.stages.into_iter().fold(0.0, f64::max);
        Self {
            items,
            measured,
            upload,
            compute,
            download,
            span: milliseconds(sums.span),
            serial_sum: upload.saturating_add(compute).saturating_add(download),
            shared: milliseconds(sums.shared),
            busy: milliseconds(sums.busy),
            both_copies: milliseconds(sums.both_copies),
            copy_engines: 0,
            copies_block: false,
            efficiency: if sums.span > 0.0 {
                busiest / sums.span
            } else {
                0.0
            },
            overlapped: sums.shared > 0.0,
        }
    }

    /// How much of the span each engine was at work. A stage that waits for another one's engine or
    /// memory counts as at work.
    #[must_use]
    pub fn utilisation(&self) -> Utilisation {
        let span = self.span.as_secs_f64();
        let share = |time: Duration| match span > 0.0 {
            true => time.as_secs_f64() / span,
            false => 0.0,
        };
        Utilisation {
            upload: share(self.upload),
            compute: share(self.compute),
            download: share(self.download),
        }
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
        let ms = |(start, len): (u8, u8)| (f64::from(start), f64::from(start) + f64::from(len));
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
        let utilisation = report.utilisation();
        assert_eq!(
            utilisation.to_string(),
            "upload 80.0 %, compute 80.0 %, download 80.0 %"
        );
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
