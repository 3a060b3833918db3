//! Policies that know each slot's last use, or how often it was used.

use std::cmp::Reverse;

use super::{Candidate, EvictionPolicy, Use};

/// The slot that was not used for the longest time gives memory up first (LRU).
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastRecent;

impl EvictionPolicy for LeastRecent {
    fn sort(&mut self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| candidate.last_use);
    }
}

/// The slot that was used last gives memory up first (MRU): the best order for requests that go round
/// in a circle, for which LRU is the worst.
#[derive(Clone, Copy, Debug, Default)]
pub struct MostRecent;

impl EvictionPolicy for MostRecent {
    fn sort(&mut self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| Reverse(candidate.last_use));
    }
}

/// The slot that was used the fewest times gives memory up first (LFU); of several the one that was not
/// used for the longest time.
#[derive(Clone, Debug, Default)]
pub struct LeastFrequent {
    /// By slot.
    uses: Vec<u64>,
}

impl EvictionPolicy for LeastFrequent {
    fn note_use(&mut self, used: Use) {
        if self.uses.len() <= used.slot {
            self.uses.resize(used.slot + 1, 0);
        }
        self.uses[used.slot] += 1;
    }

    fn forget(&mut self, slot: usize) {
        if let Some(uses) = self.uses.get_mut(slot) {
            *uses = 0;
        }
    }

    fn sort(&mut self, candidates: &mut [Candidate]) {
        let uses = |slot: usize| self.uses.get(slot).copied().unwrap_or(0);
        candidates.sort_by_key(|candidate| (uses(candidate.slot), candidate.last_use));
    }
}
