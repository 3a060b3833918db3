//! A group: the slots that share one bitmap word of free slots.
//!
//! A bitmap has no ABA problem, keeps no links inside the values, and lets threads that
//! start at different words stay out of each other's way. Bits say "taken" and not
//! "free", so that zeroed memory is a valid empty group.

use core::fmt;

use super::payload::Payload;
use super::slot::Slot;
use super::word::Phase;
use crate::sync::{AtomicU64, Ordering, const_fn};

/// The bitmap words of one group.
#[repr(C)]
pub(crate) struct Bitmap {
    /// Bit set: the slot has an owner or a value, or is used up.
    taken: AtomicU64,
    /// Bit set: the slot's owner has left it as it is: retiring without leases, for `reap`,
    /// or vacant, to rest until no other slot is free. The thread that clears the bit owns the
    /// slot.
    left: AtomicU64,
}

impl Bitmap {
    const_fn! {
        pub(crate) fn new() -> Self {
            Self { taken: AtomicU64::new(0), left: AtomicU64::new(0) }
        }
    }

    /// Makes the caller owner of a free slot among `all`, the lowest: its place in the
    /// group.
    #[inline]
    pub(crate) fn claim(&self, all: u64) -> Option<usize> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let free = !taken & all;
            if free == 0 {
                return None;
            }
            let at = free.trailing_zeros() as usize;
            // Acquire: pairs with the Release in `free`, so the new owner sees what the
            // last one left.
            match self.taken.compare_exchange_weak(
                taken,
                taken | (1 << at),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(at),
                Err(now) => taken = now,
            }
        }
    }

    /// One of `all` is free.
    #[inline]
    pub(crate) fn has_free(&self, all: u64) -> bool {
        !self.taken.load(Ordering::Relaxed) & all != 0
    }

    /// Makes owned, vacant slots free: the next claim may take them.
    #[inline]
    pub(crate) fn free(&self, mask: u64) {
        // Release: pairs with the Acquire in `claim`.
        let before = self.taken.fetch_and(!mask, Ordering::Release);
        debug_assert!(before & mask == mask, "a slot was freed twice");
    }

    /// Leaves an owned slot to others: a retiring one to `reap`, a vacant one to rest.
    #[inline]
    pub(crate) fn leave(&self, at: usize) {
        // Release: passes on everything that came before the last lease ended, and the
        // moving out of the value.
        let before = self.left.fetch_or(1 << at, Ordering::Release);
        debug_assert!(before & (1 << at) == 0, "a slot was left twice");
    }

    /// Makes the caller owner of slots that were left in `phase`, of at most `most` of them:
    /// a bit for each.
    pub(crate) fn claim_left<C: Payload>(
        &self,
        slots: &[Slot<C>],
        phase: Phase,
        most: usize,
    ) -> u64 {
        let is = |at: u32| {
            slots
                .get(at as usize)
                .is_some_and(|slot| slot.state.word().phase() == phase)
        };
        // Looks before it takes.
        let mut want = bits(self.left.load(Ordering::Relaxed), is);
        while want.count_ones() as usize > most {
            want &= want - 1;
        }
        if want == 0 {
            return 0;
        }
        // Acquire: pairs with the Release in `leave`.
        let got = self.left.fetch_and(!want, Ordering::Acquire) & want;
        // Slots that this thread owns do not change any more. Some may be in a later life:
        // they are left again as they were. Relaxed: this thread has not touched them, and what
        // their last owner released is passed on, because every change of the word is an exchange.
        let right = bits(got, is);
        if right != got {
            self.left.fetch_or(got & !right, Ordering::Relaxed);
        }
        right
    }

    /// The slots that have an owner or a value, or are used up: a bit for each.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// The bits of `mask` that `keep` keeps.
fn bits(mask: u64, mut keep: impl FnMut(u32) -> bool) -> u64 {
    let (mut rest, mut kept) = (mask, 0);
    while rest != 0 {
        let at = rest.trailing_zeros();
        rest &= rest - 1;
        kept |= u64::from(keep(at)) << at;
    }
    kept
}

/// A borrowed group, wherever the store keeps its parts.
pub struct Group<'p, C: Payload> {
    pub(crate) bitmap: &'p Bitmap,
    /// At most `GROUP` slots.
    pub(crate) slots: &'p [Slot<C>],
}

impl<C: Payload> fmt::Debug for Group<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("taken", &self.bitmap.taken)
            .finish_non_exhaustive()
    }
}

impl<C: Payload> Clone for Group<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Payload> Copy for Group<'_, C> {}

impl<'p, C: Payload> Group<'p, C> {
    /// A bit for each slot.
    pub(crate) fn all(self) -> u64 {
        u64::MAX >> (64 - self.slots.len())
    }

    /// The place of slot `at`, if the group is that long.
    pub(crate) fn place(self, at: usize) -> Option<Place<'p, C>> {
        self.slots.get(at).map(|slot| Place {
            slot,
            bitmap: self.bitmap,
            at,
        })
    }
}

/// A slot together with its bit.
pub(crate) struct Place<'p, C: Payload> {
    pub(crate) slot: &'p Slot<C>,
    pub(crate) bitmap: &'p Bitmap,
    pub(crate) at: usize,
}

impl<C: Payload> Clone for Place<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Payload> Copy for Place<'_, C> {}

impl<C: Payload> Place<'_, C> {
    /// Makes an owned, vacant slot free: the next claim may take it.
    #[inline]
    pub(crate) fn free(self) {
        self.bitmap.free(1 << self.at);
    }

    /// Has an owned, vacant slot rest until no other slot is free.
    pub(crate) fn rest(self) {
        self.bitmap.leave(self.at);
    }
}
