//! `Bound`: what a run of a pipeline could not do faster, in words.

use std::fmt;
use std::time::Duration;

use super::report::{Measured, OverlapReport};

/// What a run of a pipeline waited for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bound {
    /// Copies to the device: less data, or fewer and larger copies.
    Upload,
    /// Kernels: a faster one, or a faster device.
    Kernel,
    /// Copies to the host.
    Download,
    /// The host, which fills, consumes or submits more slowly than the device works: larger items,
    /// more slots, threads that fill.
    Host,
    /// A device with one copy engine, on which copies of both directions take turns.
    CopyEngine,
    /// Copies that block the thread that puts them, as it puts kernels and copies of both directions: see
    /// [`CopyThreads`](super::super::CopyThreads).
    BlockingCopies,
    /// The order of the work: the device was never idle, but stages waited for each other, as with
    /// fewer slots than stages, one stream, or a wait of the host in each step.
    Order,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Upload => "uploads",
            Self::Kernel => "kernels",
            Self::Download => "downloads",
            Self::Host => "the host: the device had nothing to do in between",
            Self::CopyEngine => "one copy engine: both directions take turns",
            Self::BlockingCopies => "copies that block the one thread that puts all work",
            Self::Order => "the order: stages waited for each other",
        })
    }
}

/// What bound a run, and how much longer it took than it needed to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What the run waited for most.
    pub bound: Bound,
    /// The span, less what it would be if its stages overlapped as far as they can.
    pub lost: Duration,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bound by {}", self.bound)?;
        match self.lost.is_zero() {
            true => Ok(()),
            false => write!(f, "; {:.2?} longer than its stages need", self.lost),
        }
    }
}

/// A run that takes this much longer than its stages need is not bound by the longest of them.
const TOLERATED: f64 = 0.1;

impl OverlapReport {
    /// What bound the run. The stages overlap as far as they can when the busiest one never waits but
    /// for the first item to come and the last one to go.
    #[must_use]
    pub fn diagnosis(&self) -> Diagnosis {
        let stages = [self.upload, self.compute, self.download];
        let busiest = stages.into_iter().max().unwrap_or_default();
        let items = u32::try_from(self.items).unwrap_or(u32::MAX).max(1);
        let edges = match self.measured {
            Measured::All => self.serial_sum.saturating_sub(busiest) / items,
            // Neither the first item nor the last is in it.
            Measured::Runs(_) => Duration::ZERO,
        };
        let needed = busiest.saturating_add(edges);
        let lost = self.span.saturating_sub(needed);
        Diagnosis {
            bound: self.bound(busiest, lost),
            lost,
        }
    }

    fn bound(&self, busiest: Duration, lost: Duration) -> Bound {
        // The time that a copy waits for its engine is in the time of its stage.
        let copies = self.upload.min(self.download);
        if self.copy_engines == 1 && self.both_copies > copies / 2 {
            return Bound::CopyEngine;
        }
        if lost > self.span.mul_f64(TOLERATED) {
            if self.copies_block {
                return Bound::BlockingCopies;
            }
            let idle = self.span.saturating_sub(self.busy);
            return match idle > lost / 2 {
                true => Bound::Host,
                false => Bound::Order,
            };
        }
        if busiest == self.upload {
            Bound::Upload
        } else if busiest == self.compute {
            Bound::Kernel
        } else {
            Bound::Download
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pipeline::StageTimes;

    /// Items that follow each other so closely, in milliseconds, as stages of these lengths let them.
    fn run(items: u16, stages: [u16; 3], apart: u16) -> OverlapReport {
        let ms = |start: u16, len: u16| (f64::from(start), f64::from(start + len));
        let items: Vec<_> = (0..items)
            .map(|item| {
                let start = item * apart;
                let [upload, compute, download] = stages;
                StageTimes {
                    upload: ms(start, upload),
                    compute: ms(start + upload, compute),
                    download: ms(start + upload + compute, download),
                }
            })
            .collect();
        OverlapReport::of(&items).unwrap()
    }

    // Without it a run would be told to be bound by a stage that is not at fault.
    #[test]
    fn a_run_is_bound_by_what_it_waited_for() {
        let bound = |stages, apart| run(50, stages, apart).diagnosis();
        for (stages, longest, expected) in [
            ([10, 1, 2], 10, Bound::Upload),
            ([1, 10, 2], 10, Bound::Kernel),
            ([2, 1, 10], 10, Bound::Download),
        ] {
            let perfect = bound(stages, longest);
            assert_eq!(perfect.bound, expected);
            assert!(perfect.lost < Duration::from_millis(1), "{perfect:?}");
            // One after the other: never idle, and never two at once.
            assert_eq!(bound(stages, 13).bound, Bound::Order);
            // As slow, because there is nothing to do.
            assert_eq!(bound(stages, 30).bound, Bound::Host);
        }
        let late = bound([10, 10, 10], 20);
        assert_eq!((late.bound, late.lost.as_millis()), (Bound::Order, 490));
        assert_eq!(
            late.to_string(),
            "bound by the order: stages waited for each other; 490.00ms longer than its stages need"
        );
        let mut turns = run(50, [20, 10, 20], 20);
        assert_eq!(turns.diagnosis().bound, Bound::Upload);
        turns.copy_engines = 1;
        assert_eq!(turns.diagnosis().bound, Bound::CopyEngine);
        let mut blocked = run(50, [10, 10, 10], 30);
        assert_eq!(blocked.diagnosis().bound, Bound::Order);
        blocked.copies_block = true;
        assert_eq!(blocked.diagnosis().bound, Bound::BlockingCopies);
        // A single item has nothing to overlap with.
        assert_eq!(run(1, [1, 5, 2], 0).diagnosis().bound, Bound::Kernel);
    }
}
