//! Which slots give memory up first.
//!
//! A slot gives memory up by pieces, from its end, and only as much as is lacking. So the sizes of
//! slots make no holes, and an order is all that a policy has to find. What was
//! [announced](crate::Residency::announce) is known better than any policy guesses: slots with an
//! announced use come after all others, the one that is used last first.

mod adaptive;
mod gdsf;
mod ghost;
mod recency;

use std::cmp::Reverse;
use std::fmt;

pub use adaptive::Adaptive;
pub use gdsf::Gdsf;
pub use recency::{LeastFrequent, LeastRecent, MostRecent};

/// A slot that may give memory up, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its number: the same as long as the slot lives, and then used again.
    pub slot: usize,
    /// Bytes of device memory that it needs as a whole.
    pub bytes: u64,
    /// Bytes that it has.
    pub resident: u64,
    /// The number of its last use: each use in the residency has one more than the use before.
    pub last_use: u64,
    /// How often it was used.
    pub uses: u64,
}

/// A use of a slot, as a policy is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Use {
    /// The slot's number.
    pub slot: usize,
    /// Bytes of device memory that it needs as a whole.
    pub bytes: u64,
    /// Bytes of device memory that all slots together may have.
    pub budget: u64,
    /// The number of the use.
    pub at: u64,
}

/// Finds the order in which slots give memory up.
///
/// A policy is called with the lock of the residency's table held: it makes no call of the residency, and
/// waits for nothing.
pub trait EvictionPolicy: Send + fmt::Debug {
    /// A slot is used.
    fn note_use(&mut self, used: Use) {
        let _ = used;
    }

    /// A slot is gone: its number may become another slot's.
    fn forget(&mut self, slot: usize) {
        let _ = slot;
    }

    /// A slot gives memory up.
    fn note_eviction(&mut self, candidate: Candidate) {
        let _ = candidate;
    }

    /// Brings the candidates into order: the first gives memory up first.
    fn sort(&mut self, candidates: &mut [Candidate]);
}

/// By priority, then by what is announced, then by the policy.
pub(crate) fn sort_all(
    policy: &mut dyn EvictionPolicy,
    candidates: &mut [Candidate],
    priority: impl Fn(usize) -> u8,
    next_use: impl Fn(usize) -> Option<u64>,
) {
    policy.sort(candidates);
    // Stable: what is equal stays in the policy's order.
    candidates.sort_by_key(|candidate| {
        let next = next_use(candidate.slot);
        (
            priority(candidate.slot),
            next.is_some(),
            Reverse(next.unwrap_or(0)),
        )
    });
}
