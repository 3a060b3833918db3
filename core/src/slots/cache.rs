//! `SlotCache`: free slots in one thread's hands.
//!
//! What costs time when threads share a store is not locks but lines that they both write
//! to. A cache takes all free slots of a group with one write to the group's word, and
//! gives released ones back with another; in between its owner meets nobody.

use core::fmt;

use super::error::{HandleError, InsertError};
use super::group::{Bitmap, Group};
use super::policy::sealed::Reuse as _;
use super::slot::Slot;
use super::{Layout, Policy, Release, Slots, ValueOf};
use crate::handle::{Handle, Tag};
use crate::sync::GROUP;

/// Slots that are used in turn while they are inserted and released one by one. One would
/// have each exchange of its word wait for the one before; many would spread over lines,
/// and have the processor fetch those of the next group too, which are another thread's.
const ROUND: u32 = 8;

/// Free slots of one group that belong to the cache.
struct Batch<'s, L: Layout> {
    /// The group's slots; none before there is a group.
    slots: &'s [Slot<L::Cell>],
    bitmap: Option<&'s Bitmap>,
    /// Index of the group's first slot.
    base: usize,
    /// Bit set: the slot is free, and ours.
    mask: u64,
}

impl<'s, L: Layout> Batch<'s, L> {
    const NONE: Self = Self {
        slots: &[],
        bitmap: None,
        base: usize::MAX,
        mask: 0,
    };

    fn new(group: Group<'s, L::Cell>, base: usize, mask: u64) -> Self {
        Self {
            slots: group.slots,
            bitmap: Some(group.bitmap),
            base,
            mask,
        }
    }

    /// Gives the slots back to the store.
    fn flush(&mut self) {
        let mask = core::mem::take(&mut self.mask);
        if let Some(bitmap) = self.bitmap
            && mask != 0
        {
            bitmap.free(mask);
        }
    }
}

/// One owner's free slots of a store (a magazine): [`insert`](Self::insert) and
/// [`release`](Self::release) as the store does, mostly without touching memory that
/// another thread writes to. Made by [`Slots::cache`].
///
/// It keeps up to 64 free slots to insert into, and up to 64 that were released through it. Slots
/// are used in turns, of eight while as many are free, and their generations with them. Other
/// threads cannot have the slots that a cache keeps: a store is full, for them, when the rest of it is.
/// [`flush`](Self::flush), and dropping the cache, gives them back; a cache that is forgotten
/// keeps them for ever.
///
/// Any handle of the store can be released through any cache, whoever inserted it.
///
/// ```
/// use cupola_core::{FixedSlots, tag};
///
/// static EVENTS: FixedSlots<u64, 1024, tag::Event> = FixedSlots::new();
///
/// let mut cache = EVENTS.cache(0); // one for each thread, with the thread's number
/// let handle = cache.insert(7).unwrap();
/// assert_eq!(*EVENTS.get(handle).unwrap(), 7);
/// assert_eq!(cache.release(handle).unwrap().now(), Some(7));
/// ```
pub struct SlotCache<'s, L: Layout, G: Tag, P: Policy> {
    store: &'s Slots<L, G, P>,
    /// Number of the group at which the next search begins.
    near: usize,
    /// To insert into.
    free: Batch<'s, L>,
    /// Released through this cache.
    back: Batch<'s, L>,
    /// Slots released since the last of them were put with the free ones.
    turn: u32,
}

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// A cache of this store's slots for the caller's own use. Searches begin at the group
    /// that `hint` picks (a thread's number), as in [`insert_near`](Self::insert_near).
    pub fn cache(&self, hint: usize) -> SlotCache<'_, L, G, P> {
        SlotCache {
            store: self,
            near: hint,
            free: Batch::NONE,
            back: Batch::NONE,
            turn: 0,
        }
    }
}

impl<'s, L: Layout, G: Tag, P: Policy> SlotCache<'s, L, G, P> {
    /// As [`Slots::insert`].
    ///
    /// # Errors
    /// [`InsertError`] with the value when no slot is free, here or in the store, or the
    /// store is closed.
    #[inline]
    pub fn insert(&mut self, value: ValueOf<L>) -> Result<Handle<G>, InsertError<ValueOf<L>>> {
        loop {
            let at = self.free.mask.trailing_zeros() as usize;
            let Some(slot) = self.free.slots.get(at) else {
                // No bit is set.
                match self.refill() {
                    Ok(()) => continue,
                    Err(refusal) => return Err(refusal.with(value)),
                }
            };
            // SAFETY: the bit says that the slot is ours; such slots are vacant and not
            // used up.
            return match unsafe { slot.publish_vacant(value) } {
                Ok(generation) => {
                    self.free.mask &= self.free.mask - 1;
                    Ok(Handle::new(self.free.base + at, generation))
                }
                Err(value) => Err(InsertError::Closed(value)),
            };
        }
    }

    /// As [`Slots::release`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn release(&mut self, handle: Handle<G>) -> Result<Release<ValueOf<L>>, HandleError> {
        let at = handle.index() % GROUP;
        let base = handle.index() - at;
        if self.back.base != base {
            self.turn_to(base).ok_or(HandleError::Stale)?;
        }
        let slot = self.back.slots.get(at).ok_or(HandleError::Stale)?;
        let (outcome, reusable) = Release::of(slot.end(handle.generation())?);
        if reusable {
            if P::Reuse::is_round()
                && let Some(bitmap) = self.back.bitmap
            {
                // It rests with the others.
                bitmap.leave(at);
            } else {
                self.back.mask |= 1 << at;
                self.turn += 1;
                if self.turn >= ROUND && self.back.base == self.free.base {
                    // Used again soon, while their lines are in this thread's cache.
                    self.free.mask |= core::mem::take(&mut self.back.mask);
                    self.turn = 0;
                }
            }
        }
        Ok(outcome)
    }

    /// Gives the free slots that the cache keeps back to the store.
    pub fn flush(&mut self) {
        self.free.flush();
        self.back.flush();
    }

    /// Number of free slots that the cache keeps from others.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.free.mask.count_ones() + self.back.mask.count_ones()) as usize
    }

    /// It keeps none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.free.mask | self.back.mask == 0
    }

    /// Has `back` collect slots of the group whose first slot is `base`.
    #[cold]
    fn turn_to(&mut self, base: usize) -> Option<()> {
        let group = self.store.layout.group(base / GROUP)?;
        self.back.flush();
        self.back = Batch::new(group, base, 0);
        self.turn = 0;
        Some(())
    }

    /// Gets free slots: those released here, else all that the first group with any has.
    #[cold]
    fn refill(&mut self) -> Result<(), InsertError<()>> {
        if self.back.mask != 0 {
            core::mem::swap(&mut self.free, &mut self.back);
            self.turn = 0;
            return Ok(());
        }
        let mut known = 0;
        loop {
            let count = self.store.layout.count().max(known);
            let first = self.near % count.max(1);
            for index in (first..count).chain(0..first) {
                if let Some(group) = self.store.layout.group(index) {
                    let mask = group.bitmap.claim_all(group.all());
                    if mask != 0 {
                        self.take(index, group, mask);
                        return Ok(());
                    }
                }
            }
            if let Some((index, group, mask)) = self.store.wake(first, count) {
                self.take(index, group, mask);
                return Ok(());
            }
            known = self.store.grow(count)?;
        }
    }

    /// Inserts into the slots `mask` of group `index` from now on.
    fn take(&mut self, index: usize, group: Group<'s, L::Cell>, mask: u64) {
        self.near = index;
        self.free = Batch::new(group, index * GROUP, mask);
    }
}

impl<L: Layout, G: Tag, P: Policy> Drop for SlotCache<'_, L, G, P> {
    fn drop(&mut self) {
        if !mutant!("slots_cache_keeps_its_slots") {
            self.flush();
        }
    }
}

impl<L: Layout, G: Tag, P: Policy> fmt::Debug for SlotCache<'_, L, G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotCache")
            .field("tag", &G::NAME)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
