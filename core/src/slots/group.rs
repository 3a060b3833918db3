//! A group: the slots that share one bitmap word of free slots.
//!
//! A bitmap has no ABA problem, keeps no links inside the values, and lets threads that
//! start at different words stay out of each other's way. Bits say "taken" and not
//! "free", so that zeroed memory is a valid empty group.

use core::fmt;

use super::slot::Slot;
use crate::sync::{AtomicU64, GROUP, Ordering};

/// A borrowed group, wherever the store keeps its parts.
pub struct Group<'p, T> {
    /// Bit set: the slot has an owner or a value, or is used up.
    pub(crate) taken: &'p AtomicU64,
    /// Bit set: the slot is retiring without leases, and waits for `reap`. Whoever clears
    /// the bit owns the slot.
    pub(crate) retired: &'p AtomicU64,
    /// At most `GROUP` slots.
    pub(crate) slots: &'p [Slot<T>],
}

/// A slot together with its bit.
pub(crate) struct Place<'p, T> {
    pub(crate) slot: &'p Slot<T>,
    taken: &'p AtomicU64,
    retired: &'p AtomicU64,
    mask: u64,
}

impl<T> fmt::Debug for Group<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<T> Clone for Group<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Group<'_, T> {}

impl<T> Clone for Place<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Place<'_, T> {}

impl<'p, T> Group<'p, T> {
    /// The place of slot `at`, if the group is that long.
    pub(crate) fn place(self, at: usize) -> Option<Place<'p, T>> {
        let Self {
            taken,
            retired,
            slots,
        } = self;
        slots.get(at).map(|slot| Place {
            slot,
            taken,
            retired,
            mask: 1 << at,
        })
    }

    /// Makes the caller owner of a free slot, and says which.
    pub(crate) fn claim(self) -> Option<(usize, Place<'p, T>)> {
        let all = u64::MAX >> (64 - self.slots.len());
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let free = !taken & all;
            if free == 0 {
                return None;
            }
            let at = free.trailing_zeros() as usize;
            // Acquire: pairs with the Release in `Place::free`, so the new owner sees what
            // the last one left.
            match self.taken.compare_exchange_weak(
                taken,
                taken | (1 << at),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return self.place(at).map(|place| (at, place)),
                Err(now) => taken = now,
            }
        }
    }

    /// Makes the caller owner of a slot that waits for `reap`, and says which.
    pub(crate) fn claim_retired(self) -> Option<(usize, Place<'p, T>)> {
        let mut retired = self.retired.load(Ordering::Relaxed);
        while retired != 0 {
            let at = retired.trailing_zeros() as usize;
            // Acquire: pairs with the Release in `Place::retire`.
            match self.retired.compare_exchange_weak(
                retired,
                retired & !(1 << at),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return self.place(at).map(|place| (at, place)),
                Err(now) => retired = now,
            }
        }
        None
    }

    /// Indices of the slots whose bit is set.
    pub(crate) fn taken(self) -> impl Iterator<Item = usize> {
        let taken = self.taken.load(Ordering::Relaxed);
        (0..GROUP).filter(move |at| taken & (1 << at) != 0)
    }
}

impl<T> Place<'_, T> {
    /// Gives an owned, vacant slot to the next who claims it.
    pub(crate) fn free(self) {
        // Release: pairs with the Acquire in `claim`.
        let before = self.taken.fetch_and(!self.mask, Ordering::Release);
        debug_assert!(before & self.mask != 0, "a slot was freed twice");
    }

    /// Leaves an owned, retiring slot to `reap`.
    pub(crate) fn retire(self) {
        // Release: passes on everything that came before the last lease ended.
        let before = self.retired.fetch_or(self.mask, Ordering::Release);
        debug_assert!(before & self.mask == 0, "a slot was retired twice");
    }

    /// Moves the value of an owned, retiring slot out and frees the slot.
    ///
    /// # Safety
    /// The caller owns the slot, which is retiring and has no lease.
    pub(crate) unsafe fn take(self) -> T {
        // SAFETY: the same conditions.
        let (value, reusable) = unsafe { self.slot.take() };
        if reusable {
            self.free();
        }
        value
    }
}
