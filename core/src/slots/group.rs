//! A group: the slots that share one bitmap word of free slots.
//!
//! A bitmap has no ABA problem, keeps no links inside the values, and lets threads that
//! start at different words stay out of each other's way. Bits say "taken" and not
//! "free", so that zeroed memory is a valid empty group.

use core::fmt;

use super::payload::Payload;
use super::slot::Slot;
use crate::sync::{AtomicU64, GROUP, Ordering, const_fn};

/// The bitmap words of one group.
#[repr(C)]
pub(crate) struct Bitmap {
    /// Bit set: the slot has an owner or a value, or is used up.
    taken: AtomicU64,
    /// Bit set: the slot is retiring without leases, and waits for `reap`. Whoever clears
    /// the bit owns the slot.
    retired: AtomicU64,
}

impl Bitmap {
    const_fn! {
        pub(crate) fn new() -> Self {
            Self { taken: AtomicU64::new(0), retired: AtomicU64::new(0) }
        }
    }

    /// Makes the caller owner of a free slot among `all`, the lowest from `from` on: its
    /// place in the group.
    pub(crate) fn claim(&self, all: u64, from: usize) -> Option<usize> {
        let all = all & (u64::MAX << from);
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let free = !taken & all;
            if free == 0 {
                return None;
            }
            let at = free.trailing_zeros() as usize;
            let order = if cfg!(mutant = "slots_relaxed_claim") {
                Ordering::Relaxed
            } else {
                // Acquire: pairs with the Release in `free`, so the new owner sees what the
                // last one left.
                Ordering::Acquire
            };
            match self.taken.compare_exchange_weak(
                taken,
                taken | (1 << at),
                order,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(at),
                Err(now) => taken = now,
            }
        }
    }

    /// One of `all` is free.
    pub(crate) fn has_free(&self, all: u64) -> bool {
        !self.taken.load(Ordering::Relaxed) & all != 0
    }

    /// Makes the caller owner of every free slot among `all`.
    pub(crate) fn claim_all(&self, all: u64) -> u64 {
        // Looks before it writes: a group that is full is not fought over.
        if !self.has_free(all) {
            return 0;
        }
        // Acquire: as in `claim`.
        !self.taken.fetch_or(all, Ordering::Acquire) & all
    }

    /// Gives owned, vacant slots to the next who claims them.
    pub(crate) fn free(&self, mask: u64) {
        let order = if cfg!(mutant = "slots_relaxed_free") {
            Ordering::Relaxed
        } else {
            // Release: pairs with the Acquire in `claim`.
            Ordering::Release
        };
        let before = self.taken.fetch_and(!mask, order);
        debug_assert!(before & mask == mask, "a slot was freed twice");
    }

    /// Leaves an owned, retiring slot to `reap`.
    pub(crate) fn retire(&self, at: usize) {
        // Release: passes on everything that came before the last lease ended.
        let before = self.retired.fetch_or(1 << at, Ordering::Release);
        debug_assert!(before & (1 << at) == 0, "a slot was retired twice");
    }

    /// Makes the caller owner of a slot that waits for `reap`: its place in the group.
    pub(crate) fn claim_retired(&self) -> Option<usize> {
        let mut retired = self.retired.load(Ordering::Relaxed);
        while retired != 0 {
            let at = retired.trailing_zeros() as usize;
            // Acquire: pairs with the Release in `retire`.
            match self.retired.compare_exchange_weak(
                retired,
                retired & !(1 << at),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(at),
                Err(now) => retired = now,
            }
        }
        None
    }

    /// Places of the slots whose bit is set.
    pub(crate) fn taken(&self) -> impl Iterator<Item = usize> + use<> {
        let taken = self.taken.load(Ordering::Relaxed);
        (0..GROUP).filter(move |at| taken & (1 << at) != 0)
    }
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
    /// Gives an owned, vacant slot to the next who claims it.
    pub(crate) fn free(self) {
        self.bitmap.free(1 << self.at);
    }

    /// Moves the value of an owned, retiring slot out and frees the slot.
    ///
    /// # Safety
    /// The caller owns the slot, which is retiring and has no lease.
    pub(crate) unsafe fn take(self) -> C::Value {
        // SAFETY: the same conditions.
        let (value, reusable) = unsafe { self.slot.take() };
        if reusable {
            self.free();
        }
        value
    }
}
