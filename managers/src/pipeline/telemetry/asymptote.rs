//! `Asymptote`: what a pipeline could reach, from stages that were timed alone.

use std::time::Duration;

use super::report::{Measured, OverlapReport};

/// The times of an item's stages, each alone on the device, and of its two copies at once: what no
/// pipeline can be faster than on this device. Measure them in the run that is compared with them,
/// because clocks and buses change with time.
///
/// ```
/// use std::time::Duration;
/// use cupola_managers::pipeline::Asymptote;
///
/// let us = Duration::from_micros;
/// let asymptote = Asymptote {
///     upload: us(300),
///     compute: us(300),
///     download: us(300),
///     // Both directions share the bus: together they take a little longer than one.
///     both_copies: us(327),
/// };
/// assert_eq!(asymptote.step(), us(327));
/// assert!((asymptote.speedup() - 2.75).abs() < 0.01);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asymptote {
    /// The upload.
    pub upload: Duration,
    /// The kernels.
    pub compute: Duration,
    /// The download.
    pub download: Duration,
    /// One upload and one download that are put at once: from the first start to the last end.
    pub both_copies: Duration,
}

impl Asymptote {
    /// The time of an item, when all stages overlap.
    #[must_use]
    pub fn step(&self) -> Duration {
        let copies = self.upload.max(self.download).max(self.both_copies);
        self.compute.max(copies)
    }

    /// The time of an item whose stages run one after the other.
    #[must_use]
    pub fn serial(&self) -> Duration {
        let copies = self.upload.saturating_add(self.download);
        copies.saturating_add(self.compute)
    }

    /// How many times faster overlapping can be.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        match self.step().is_zero() {
            true => 1.0,
            false => self.serial().as_secs_f64() / self.step().as_secs_f64(),
        }
    }
}

impl OverlapReport {
    /// The time that its items would take if they overlapped as far as the device lets them, divided by
    /// the time that they took. The first item to come and the last to go are part of both, except in
    /// a sample, which has neither.
    #[must_use]
    pub fn efficiency_of(&self, asymptote: &Asymptote) -> f64 {
        let (step, items) = (asymptote.step().as_secs_f64(), self.items as f64);
        let needed = match self.measured {
            Measured::All => asymptote.serial().as_secs_f64() + step * (items - 1.0).max(0.0),
            Measured::Runs(_) => step * items,
        };
        match self.span.is_zero() {
            true => 0.0,
            false => needed / self.span.as_secs_f64(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pipeline::StageTimes;

    // Without it a pipeline that is as fast as its device could be told that it is not, or a slow one
    // that it is.
    #[test]
    fn a_pipeline_as_fast_as_its_device_has_all_of_the_efficiency() {
        let ms = Duration::from_millis;
        let asymptote = Asymptote {
            upload: ms(10),
            compute: ms(20),
            download: ms(10),
            both_copies: ms(12),
        };
        assert_eq!((asymptote.step(), asymptote.serial()), (ms(20), ms(40)));
        let run = |apart: u32| {
            let item = |item: u32| {
                let at = f64::from(item * apart);
                StageTimes {
                    upload: (at, at + 10.0),
                    compute: (at + 10.0, at + 30.0),
                    download: (at + 30.0, at + 40.0),
                }
            };
            let items: Vec<_> = (0..10).map(item).collect();
            OverlapReport::of(&items).map(|report| report.efficiency_of(&asymptote))
        };
        assert!((run(20).unwrap() - 1.0).abs() < 1e-9);
        assert!((run(40).unwrap() - 0.55).abs() < 1e-9);
        let bus = Asymptote {
            both_copies: ms(25),
            ..asymptote
        };
        assert_eq!(bus.step(), ms(25));
        assert!((bus.speedup() - 1.6).abs() < 1e-9);
        let nothing = Asymptote {
            upload: ms(0),
            compute: ms(0),
            download: ms(0),
            both_copies: ms(0),
        };
        assert_eq!(nothing.speedup(), 1.0);
    }
}
