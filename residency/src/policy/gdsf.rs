//! `Gdsf`: how often a slot is used, with an age that grows with each eviction.

use super::{Candidate, EvictionPolicy, Use};

/// Greedy-Dual-Size-Frequency (Cherkasova, 1998): a slot's worth is how often it was used, plus the worth
/// of what gave memory up last when it was used. So a slot that was used often once is given up after a
/// while too.
///
/// The worth of the paper is divided by the size and multiplied by the cost of loading. Here memory is
/// given up by pieces, and a byte costs the same whichever slot it is of, so the two cancel.
#[derive(Clone, Debug, Default)]
pub struct Gdsf {
    /// By slot.
    worth: Vec<u64>,
    uses: Vec<u64>,
    age: u64,
}

impl Gdsf {
    fn worth(&self, slot: usize) -> u64 {
        self.worth.get(slot).copied().unwrap_or(0)
    }
}

impl EvictionPolicy for Gdsf {
    fn note_use(&mut self, used: Use) {
        if self.worth.len() <= used.slot {
            self.worth.resize(used.slot + 1, 0);
            self.uses.resize(used.slot + 1, 0);
        }
        self.uses[used.slot] += 1;
        self.worth[used.slot] = self.age + self.uses[used.slot];
    }

    fn forget(&mut self, slot: usize) {
        if slot < self.worth.len() {
            self.worth[slot] = 0;
            self.uses[slot] = 0;
        }
    }

    fn note_eviction(&mut self, candidate: Candidate) {
        self.age = self.age.max(self.worth(candidate.slot));
    }

    fn sort(&mut self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| (self.worth(candidate.slot), candidate.last_use));
    }
}
