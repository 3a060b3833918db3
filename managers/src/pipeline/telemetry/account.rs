//! `Account`: how much of a run overlapped, item by item and in memory that does not grow.

use super::report::{Measured, OverlapReport, StageTimes};
use super::sweep::Sweep;

/// What the measured items of a run come to so far.
#[derive(Debug)]
pub(super) enum Account {
    /// Of all items, from the first start to the last end.
    Whole(Whole),
    /// Of runs of neighbours.
    Runs(Runs),
}

#[derive(Debug)]
pub(super) struct Whole {
    sweep: Sweep,
    items: u64,
    start: f64,
    end: f64,
}

#[derive(Debug)]
pub(super) struct Runs {
    sweep: Sweep,
    /// The neighbours of the run that has not ended.
    run: Vec<StageTimes>,
    /// How many they become.
    len: usize,
    runs: u64,
    /// Whole steps in all runs.
    steps: u64,
}

impl Account {
    /// Of all items, of which at most `depth` are in flight.
    pub(super) fn whole(depth: usize) -> Self {
        Self::Whole(Whole {
            // An item's work may begin while items before it are in flight.
            sweep: Sweep::with_room_for(depth.saturating_mul(2).saturating_add(2)),
            items: 0,
            start: f64::INFINITY,
            end: f64::NEG_INFINITY,
        })
    }

    /// Of runs of `len` neighbours.
    pub(super) fn runs(len: usize) -> Self {
        Self::Runs(Runs {
            sweep: Sweep::with_room_for(len),
            run: Vec::with_capacity(len),
            len,
            runs: 0,
            steps: 0,
        })
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Whole(whole) => {
                whole.sweep.clear();
                (whole.items, whole.start, whole.end) = (0, f64::INFINITY, f64::NEG_INFINITY);
            }
            Self::Runs(runs) => {
                runs.sweep.clear();
                runs.run.clear();
                (runs.runs, runs.steps) = (0, 0);
            }
        }
    }

    /// Adds an item; whether the one before it was added just before.
    pub(super) fn add(&mut self, item: &StageTimes, neighbour: Neighbour) {
        match self {
            Self::Whole(whole) => whole.add(item),
            Self::Runs(runs) => runs.add(item, neighbour),
        }
    }

    /// The report; `None` when nothing can be said.
    pub(super) fn report(&self) -> Option<OverlapReport> {
        match self {
            Self::Whole(whole) => whole.report(),
            Self::Runs(runs) => (runs.steps > 0).then(|| {
                OverlapReport::of_sums(&runs.sweep.sums(), runs.steps, Measured::Runs(runs.runs))
            }),
        }
    }
}

/// Where an item is in a run of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The first of a run.
    First,
    /// The one behind the item that was added before.
    Next,
    /// One behind an item that is missing: it failed, or its times could not be had.
    Apart,
}

impl Whole {
    fn add(&mut self, item: &StageTimes) {
        let stages = item.stages();
        self.items += 1;
        for (from, to) in stages {
            (self.start, self.end) = (self.start.min(from), self.end.max(to));
        }
        self.sweep.add(item, (f64::NEG_INFINITY, f64::INFINITY));
        // A stage takes one item after the other.
        let [upload, compute, download] = stages.map(|(_, end)| end);
        self.sweep.advance(upload.min(compute).min(download));
    }

    fn report(&self) -> Option<OverlapReport> {
        if self.items == 0 {
            return None;
        }
        let mut sweep = self.sweep.clone();
        sweep.finish(self.end - self.start);
        Some(OverlapReport::of_sums(
            &sweep.sums(),
            self.items,
            Measured::All,
        ))
    }
}

impl Runs {
    fn add(&mut self, item: &StageTimes, neighbour: Neighbour) {
        match neighbour {
            Neighbour::First => self.run.clear(),
            Neighbour::Next if self.run.is_empty() => return,
            Neighbour::Next => {}
            Neighbour::Apart => {
                // What the missing item did is not known: none of the run counts.
                self.run.clear();
                return;
            }
        }
        self.run.push(*item);
        if self.run.len() == self.len {
            self.end_run();
        }
    }

    /// Adds the steps of the run of which all work is known. Work of other items is behind the last
    /// item in each stage, and before the first: so all is known between the latest begin of the first
    /// item's stages and the earliest end of the last item's. Whole steps of that are counted, from one
    /// such begin to another, because parts of one would favour some stages.
    fn end_run(&mut self) {
        let latest = |item: &StageTimes| {
            item.stages()
                .map(|(from, _)| from)
                .into_iter()
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let earliest = |item: &StageTimes| {
            item.stages()
                .map(|(_, to)| to)
                .into_iter()
                .fold(f64::INFINITY, f64::min)
        };
        let (Some(first), Some(last)) = (self.run.first(), self.run.last()) else {
            return;
        };
        let (from, known) = (latest(first), earliest(last));
        let mut whole = None;
        for (steps, item) in self.run.iter().enumerate().skip(1) {
            let to = latest(item);
            if to <= known {
                whole = Some((steps as u64, to));
            }
        }
        if let Some((steps, to)) = whole {
            for item in &self.run {
                self.sweep.add(item, (from, to));
            }
            self.sweep.finish(to - from);
            self.steps += steps;
            self.runs += 1;
        }
        self.run.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Item `index` of a pipeline in its steady state whose items follow each other by `apart` and
    /// have stages of these lengths, in milliseconds.
    fn item(index: u32, stages: [f64; 3], apart: f64) -> StageTimes {
        let start = f64::from(index) * apart;
        let [upload, compute, download] = stages;
        let computing = start + upload;
        let downloading = computing + compute;
        StageTimes {
            upload: (start, computing),
            compute: (computing, downloading),
            download: (downloading, downloading + download),
        }
    }

    /// The report of one run of `len` neighbours.
    fn sampled(len: usize, stages: [f64; 3], apart: f64) -> OverlapReport {
        let mut account = Account::runs(len);
        for index in 0..len as u32 {
            let neighbour = match index {
                0 => Neighbour::First,
                _ => Neighbour::Next,
            };
            account.add(&item(100 + index, stages, apart), neighbour);
        }
        account.report().expect("a whole step")
    }

    // Without it a sample could be cut so that a stage seems busier than it is, or that what is
    // overlapped seems not to be: the figures must be those of the steady state.
    #[test]
    fn a_run_of_neighbours_says_what_the_whole_does() {
        for (depth, stages, apart) in [
            (3, [1.0, 1.0, 1.0], 1.0),
            (3, [1.0, 10.0, 1.0], 10.0),
            (3, [10.0, 1.0, 10.0], 10.0),
            (3, [1.0, 2.0, 10.0], 10.0),
            (1, [1.0, 1.0, 1.0], 3.0),
            (2, [1.0, 1.0, 1.0], 1.5),
            (4, [3.0, 1.0, 2.0], 7.0),
        ] {
            let report = sampled(2 * depth + 2, stages, apart);
            let longest = stages.iter().copied().fold(0.0, f64::max);
            assert!(
                (report.efficiency - longest / apart).abs() < 1e-6,
                "{report:?}"
            );
            let sum: f64 = stages.iter().sum();
            let an_item = report.serial_sum.as_secs_f64() * 1e3 / report.items as f64;
            assert!((an_item - sum).abs() < 1e-6, "{report:?}");
            assert_eq!(report.overlapped, apart < sum);
            assert_eq!(report.measured, Measured::Runs(1));
        }
    }

    // Without it an item that is missing could make the device seem idle.
    #[test]
    fn a_run_that_lacks_an_item_does_not_count() {
        let mut account = Account::runs(4);
        let add = |account: &mut Account, neighbours: [Neighbour; 4]| {
            for (index, neighbour) in neighbours.into_iter().enumerate() {
                account.add(&item(index as u32, [1.0; 3], 1.0), neighbour);
            }
        };
        add(
            &mut account,
            [
                Neighbour::First,
                Neighbour::Next,
                Neighbour::Apart,
                Neighbour::Next,
            ],
        );
        add(
            &mut account,
            [
                Neighbour::Apart,
                Neighbour::Next,
                Neighbour::Next,
                Neighbour::Next,
            ],
        );
        assert_eq!(account.report(), None);
        add(
            &mut account,
            [
                Neighbour::First,
                Neighbour::Next,
                Neighbour::Next,
                Neighbour::Next,
            ],
        );
        assert_eq!(account.report().map(|report| report.items), Some(2));
        account.clear();
        assert_eq!(account.report(), None);
    }

    // Without it an account that forgets what is behind it could add up something else than one that
    // looks at all items at once.
    #[test]
    fn item_by_item_is_as_good_as_all_at_once() {
        fn property(steps: Vec<(u8, u8, u8, u8)>) -> bool {
            let (mut free, mut items) = ([0.0_f64; 3], Vec::new());
            let mut account = Account::whole(3);
            for (wait, upload, compute, download) in steps {
                let mut at = free[0] + f64::from(wait);
                let mut stage = |stage: usize, length: u8| {
                    let from = at.max(free[stage]);
                    at = from + f64::from(length);
                    free[stage] = at;
                    (from, at)
                };
                let item = StageTimes {
                    upload: stage(0, upload),
                    compute: stage(1, compute),
                    download: stage(2, download),
                };
                account.add(&item, Neighbour::Next);
                items.push(item);
            }
            account.report() == OverlapReport::of(&items)
        }
        quickcheck::quickcheck(property as fn(Vec<(u8, u8, u8, u8)>) -> bool);
    }
}
