//! `Adaptive`: the policy that would have done best of late.

use super::ghost::Ghost;
use super::{Candidate, EvictionPolicy, Gdsf, LeastFrequent, LeastRecent, MostRecent, Use};

/// Follows the uses under several policies without any memory, and does as the one that would have
/// reloaded the fewest bytes; a use counts half as much 177 uses later. No single policy is good for
/// requests that go round in a circle (LRU reloads everything), that come in bursts (MRU and LFU do) and
/// that favour some models (LRU and MRU do).
///
/// The cost of a use is a few passes over the slots, which are few.
#[derive(Debug)]
pub struct Adaptive {
    ghosts: Vec<Ghost>,
    /// The one that is followed.
    best: usize,
}

/// How much less another policy must cost before it is followed.
const MARGIN: f64 = 0.97;

impl Default for Adaptive {
    /// Of LRU, GDSF, LFU and MRU.
    fn default() -> Self {
        Self {
            ghosts: vec![
                Ghost::new(LeastRecent),
                Ghost::new(Gdsf::default()),
                Ghost::new(LeastFrequent::default()),
                Ghost::new(MostRecent),
            ],
            best: 0,
        }
    }
}

impl EvictionPolicy for Adaptive {
    fn note_use(&mut self, used: Use) {
        for ghost in &mut self.ghosts {
            ghost.note_use(used);
        }
        let mut best = self.best;
        for (number, ghost) in self.ghosts.iter().enumerate() {
            let now = self.ghosts[best].price();
            if ghost.price() < now * MARGIN {
                best = number;
            }
        }
        self.best = best;
    }

    fn forget(&mut self, slot: usize) {
        for ghost in &mut self.ghosts {
            ghost.forget(slot);
        }
    }

    fn sort(&mut self, candidates: &mut [Candidate]) {
        if let Some(best) = self.ghosts.get_mut(self.best) {
            best.sort(candidates);
        }
    }
}
