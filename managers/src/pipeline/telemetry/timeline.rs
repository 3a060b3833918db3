//! `Timeline`: the items that were measured last, to look at.

use std::collections::VecDeque;

use super::report::StageTimes;

/// An item whose times were taken.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// Its number.
    pub index: u64,
    /// The place of the slot that it was in.
    pub slot: usize,
    /// When its stages began and ended, from about when the first item began that was measured.
    pub times: StageTimes,
}

/// The items of a pipeline that were measured last, up to 1024 of them. They can be
/// written [for a trace viewer](Self::write_chrome_trace) and drawn [as a picture](Self::svg).
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Each with whether it is the next item after the one before it.
    samples: VecDeque<(Sample, bool)>,
}

/// How many items are kept.
const KEPT: usize = 1024;

impl Timeline {
    pub(super) fn new() -> Self {
        Self {
            samples: VecDeque::with_capacity(KEPT),
        }
    }

    pub(super) fn clear(&mut self) {
        self.samples.clear();
    }

    /// Adds an item, in the place of the oldest one if there are too many.
    pub(super) fn push(&mut self, sample: Sample, is_next: bool) {
        if self.samples.len() == KEPT {
            self.samples.pop_front();
        }
        self.samples.push_back((sample, is_next));
    }

    /// The items, in the order in which they were submitted.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().map(|(sample, _)| sample)
    }

    /// Runs of neighbours, the oldest first.
    pub(super) fn runs(&self) -> Vec<Vec<Sample>> {
        let mut runs: Vec<Vec<Sample>> = Vec::new();
        for &(sample, is_next) in &self.samples {
            match runs.last_mut() {
                Some(run) if is_next => run.push(sample),
                _ => runs.push(vec![sample]),
            }
        }
        runs
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Items of three equal stages of a millisecond that overlap in three slots, from `first` on.
    fn overlapped(timeline: &mut Timeline, first: u64, items: u64) {
        for index in first..first + items {
            let at = index as f64;
            let times = StageTimes {
                upload: (at, at + 1.0),
                compute: (at + 1.0, at + 2.0),
                download: (at + 2.0, at + 3.0),
            };
            let slot = (index % 3) as usize;
            timeline.push(Sample { index, slot, times }, index > first);
        }
    }

    // Without it a pipeline that runs for days could keep all its items, or draw two runs as one.
    #[test]
    fn the_last_items_are_kept_in_their_runs() {
        let mut timeline = Timeline::new();
        let room = timeline.samples.capacity();
        overlapped(&mut timeline, 0, 3000);
        overlapped(&mut timeline, 5000, 8);
        assert_eq!(timeline.samples.capacity(), room);
        let indices: Vec<u64> = timeline.samples().map(|sample| sample.index).collect();
        let expected: Vec<u64> = (3000 - 1016..3000).chain(5000..5008).collect();
        assert_eq!(indices, expected);
        let runs: Vec<usize> = timeline.runs().iter().map(Vec::len).collect();
        assert_eq!(runs, [1016, 8]);
        timeline.clear();
        assert!(timeline.runs().is_empty());
    }
}
