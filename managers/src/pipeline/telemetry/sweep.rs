//! `Sweep`: how long which stages were at work at once, from intervals that come one by one.

use super::report::StageTimes;

/// Sums over the intervals of a run, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// Time in each stage.
    pub(super) stages: [f64; 3],
    /// Time in which a stage was at work.
    pub(super) busy: f64,
    /// Time in which two or three were.
    pub(super) shared: f64,
    /// Time in which both copies were.
    pub(super) both_copies: f64,
    /// Time that was looked at.
    pub(super) span: f64,
}

/// Begin or end of a stage's work on an item.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: f64,
    begins: bool,
    stage: usize,
}

/// A walk over the begins and ends of work, in the order of time.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// Those that the walk has not come to, in order; at one time the ends first.
    changes: Vec<Change>,
    active: [u32; 3],
    /// The last begin or end that it came to.
    last: f64,
    sums: Sums,
}

impl Sweep {
    /// A sweep with room for so many items that it has not come to the end of.
    pub(super) fn with_room_for(items: usize) -> Self {
        Self {
            changes: Vec::with_capacity(items.saturating_mul(6)),
            active: [0; 3],
            last: f64::NEG_INFINITY,
            sums: Sums::default(),
        }
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.changes.clear();
        (self.active, self.last, self.sums) = ([0; 3], f64::NEG_INFINITY, Sums::default());
    }

    /// Adds what of an item's work is between two times.
    pub(super) fn add(&mut self, item: &StageTimes, between: (f64, f64)) {
        for (stage, (from, to)) in item.stages().into_iter().enumerate() {
            let (from, to) = (from.max(between.0), to.min(between.1));
            if from < to {
                self.sums.stages[stage] += to - from;
                self.insert(from, true, stage);
                self.insert(to, false, stage);
            }
        }
    }

    fn insert(&mut self, at: f64, begins: bool, stage: usize) {
        // The driver rounds times, so that work may seem to begin just before what ended before it.
        let at = at.max(self.last);
        let place = self
            .changes
            .partition_point(|other| (other.at, other.begins) <= (at, begins));
        self.changes.insert(place, Change { at, begins, stage });
    }

    /// Goes on to this time; all that begins before it must have been added.
    pub(super) fn advance(&mut self, to: f64) {
        let done = self.changes.partition_point(|change| change.at <= to);
        for at in 0..done {
            self.step(self.changes[at]);
        }
        self.changes.drain(..done);
    }

    fn step(&mut self, change: Change) {
        let passed = change.at - self.last;
        let [upload, compute, download] = self.active.map(|count| u8::from(count > 0));
        let stages = upload + compute + download;
        if stages > 0 {
            self.sums.busy += passed;
        }
        if stages > 1 {
            self.sums.shared += passed;
        }
        if upload + download > 1 {
            self.sums.both_copies += passed;
        }
        let active = &mut self.active[change.stage];
        *active = match change.begins {
            true => *active + 1,
            false => active.saturating_sub(1),
        };
        self.last = change.at;
    }

    /// Goes to the end of what was added, and adds `span` to the time that was looked at.
    pub(super) fn finish(&mut self, span: f64) {
        self.advance(f64::INFINITY);
        self.last = f64::NEG_INFINITY;
        self.sums.span += span;
    }
}
