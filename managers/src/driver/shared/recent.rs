//! `RecentBlocks`: the blocks of a context that a thread found last.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::CUdeviceptr;

use crate::sync::per_thread;

/// Blocks that a thread remembers: more than kernels have arguments, as a rule.
const PLACES: usize = 16;

per_thread! {
    static RECENT: [Cell<Recent>; PLACES] = [const { Cell::new(Recent::NONE) }; PLACES];
}

/// A block that was found.
#[derive(Clone, Copy)]
pub(super) struct Recent {
    pub(super) start: CUdeviceptr,
    pub(super) end: CUdeviceptr,
    /// In which the context had it.
    pub(super) era: u64,
}

impl Recent {
    const NONE: Self = Self {
        start: 0,
        end: 0,
        era: 0,
    };

    /// This thread has found it by this address.
    pub(super) fn remember(self, address: CUdeviceptr) {
        let _ = RECENT.try_with(|recent| recent[place(address)].set(self));
    }
}

/// When the blocks of one context were found, for all threads: a time in which none has ended.
pub(super) struct RecentBlocks {
    /// A number that no other context and no other time of this one has.
    era: AtomicU64,
}

impl Default for RecentBlocks {
    fn default() -> Self {
        Self {
            era: AtomicU64::new(next_era()),
        }
    }
}

fn next_era() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Where a thread remembers the block at an address.
fn place(address: CUdeviceptr) -> usize {
    // The multiplier is 2^64 over the golden ratio, which spreads the blocks of an array; its upper four
    // bits are a place.
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize % PLACES
}

impl RecentBlocks {
    /// The bytes from an address to the end of its block, if this thread has found that in this era; and
    /// the era, for what it finds now.
    #[inline]
    pub(super) fn find(&self, address: CUdeviceptr) -> (Option<u64>, u64) {
        // Relaxed: a thread that was told of the end of a block sees a later era, as of any variable. One that
        // sees a later era and looks under the lock does so behind the end: before it, it would have
        // seen what had not happened yet.
        let era = self.era.load(Ordering::Relaxed);
        let recent = RECENT.try_with(|recent| recent[place(address)].get());
        let recent = recent.unwrap_or(Recent::NONE);
        let is_now = recent.era == era || mutant!("recent_block_never_ends");
        let is_there = is_now && (recent.start..recent.end).contains(&address);
        (is_there.then(|| recent.end - address), era)
    }

    /// A block has ended: it was taken out under the lock, and is found by no thread any more.
    pub(super) fn end_all(&self) {
        self.era.store(next_era(), Ordering::Relaxed);
    }
}
