//! What a pool has beyond a limit that was lowered. It goes back as soon as nothing uses it.
//!
//! A hit asks nobody for the limit. So while something is over, a flag keeps threads out of their
//! lanes: what they free goes to the heap, and who comes there gives back what is idle.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::lane::EXCESS;
use crate::sync::biased_lock::BiasedLock;
use crate::sync::{AtomicBool, Ordering};

/// Of operations on less than a page one in so many looks: few of them leave a page idle.
const SELDOM: u64 = 64;

/// Whether a pool is over its limit.
#[derive(Debug, Default)]
pub(crate) struct Excess {
    /// The lanes have the flag. Changed under their lock.
    flagged: AtomicBool,
    /// Operations on less than a page meanwhile.
    small: AtomicU64,
}

impl Excess {
    pub(super) fn is_flagged(&self) -> bool {
        self.flagged.load(Ordering::Relaxed)
    }

    /// Gives a new lane the flag that the others have. Under the lock of the lanes.
    pub(crate) fn enter(&self, lane: &BiasedLock) {
        if self.is_flagged() && !mutant!("excess_forgets_new_lanes") {
            lane.set_flags(EXCESS);
        }
    }

    /// Keeps threads out of their lanes while the pool is over its limit: `lanes` locks these.
    pub(crate) fn flag<T: AsRef<BiasedLock>, L: Deref<Target = Vec<Arc<T>>>>(
        &self,
        is_over: impl Fn() -> bool,
        lanes: impl FnOnce() -> L,
    ) {
        let early = mutant!("excess_looks_before_the_lock").then(&is_over);
        let lanes = lanes();
        // Whoever changes the limit does so before he comes here, so the last to look is right.
        let is_over = early.unwrap_or_else(is_over);
        if self.flagged.swap(is_over, Ordering::Relaxed) == is_over {
            return;
        }
        let all = lanes.iter().map(|lane| (**lane).as_ref());
        if is_over {
            let seized = BiasedLock::revoke_all(all);
            seized.iter().for_each(|lane| lane.set_flags(EXCESS));
        } else {
            all.for_each(|lane: &BiasedLock| lane.clear_flags(EXCESS));
        }
    }

    /// Whether it is time for an operation on less than a page to look.
    pub(super) fn is_turn(&self) -> bool {
        let count = self.small.fetch_add(1, Ordering::Relaxed);
        count.is_multiple_of(SELDOM)
    }
}
