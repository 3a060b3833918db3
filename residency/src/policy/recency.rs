//! Policies that know each slot's last use and how often it was used, and nothing else.

use std::cmp::Reverse;

use super::{Candidate, EvictionPolicy};

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
#[derive(Clone, Copy, Debug, Default)]
pub struct LeastFrequent;

impl EvictionPolicy for LeastFrequent {
    fn sort(&mut self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| (candidate.uses, candidate.last_use));
    }
}
