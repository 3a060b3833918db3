//! Slot stores (slot maps): everything that `FixedSlots` and `SlotPool` have in common.
//!
//! Both are one generic type over a layout that says where the groups of slots are, so
//! that each claim is proved once. The registries of `cupola-managers` stand on them.

mod claim;
mod ensure;
mod error;
mod group;
mod layout;
mod lease;
mod payload;
mod policy;
mod release;
mod shutdown;
mod slot;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod vacancy;
mod word;

use core::marker::PhantomData;
use core::{fmt, iter};

use claim::Begun;
pub use error::{EnsureError, HandleError, InsertError};
use group::{Group, Place};
pub use layout::{Chunk, ChunkSource, FixedSlots, Grown, InPlace, Layout, SlotPool, ValueOf};
pub use lease::Lease;
pub use payload::{InCell, Payload};
pub use policy::{Park, Policy, Spin, StorePolicy};
pub use release::Release;
pub use shutdown::{Held, HeldSlot};
use slot::Slot;
pub use vacancy::Vacancy;
use word::Phase;

use crate::handle::{Handle, Tag, tag};
use crate::sync::GROUP;

/// A store of values that are named by handles, a slot map; used as [`FixedSlots`] or
/// [`SlotPool`].
///
/// Lock-free, and nothing here allocates. A value goes in with [`insert`](Self::insert),
/// is looked at under a [`Lease`], and comes out with [`release`](Self::release): at once
/// when no lease is out, else with the last lease. A released handle is refused for
/// ever: each life of a slot has its own generation, and a slot whose 2^39 lives are used
/// up is never used again.
///
/// A value is put back into the caller's hands by `release`, [`Lease::release`],
/// [`reap`](Self::reap) or [`drain`](Self::drain). Dropping the store drops the
/// values that are left.
///
/// A handle does not say which store it is from: tell stores apart by their tag `G`.
#[doc(alias("slot map", "slab", "generational arena"))]
pub struct Slots<L, G = tag::Slot, P = StorePolicy> {
    layout: L,
    types: PhantomData<fn() -> (G, P)>,
}

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// Stores `value` in the lowest free slot.
    ///
    /// # Errors
    /// [`InsertError`] with the value when no slot is free or the store is closed.
    pub fn insert(&self, value: ValueOf<L>) -> Result<Handle<G>, InsertError<ValueOf<L>>> {
        let (index, place) = match self.claim() {
            Ok(claimed) => claimed,
            Err(refusal) => return Err(refusal.with(value)),
        };
        // SAFETY: `Slot::publish` needs an owner and a slot that is vacant and not used up.
        // `claim` made this thread the owner, and slots in other states keep their bit, so
        // `claim` does not find them.
        match unsafe { place.slot.publish(value) } {
            Ok(generation) => Ok(Handle::new(index, generation)),
            Err(value) => {
                place.free();
                Err(InsertError::Closed(value))
            }
        }
    }

    /// Reserves a slot for a value that the caller is about to make, so that it is not made
    /// for a full store, or can know its own handle.
    ///
    /// # Errors
    /// [`InsertError`] when no slot is free or the store is closed.
    pub fn vacancy(&self) -> Result<Vacancy<'_, L::Cell, G>, InsertError<()>> {
        let Begun(place, handle) = self.begin(Phase::Filling)?;
        // SAFETY: `Vacancy::new` needs an owned slot whose life has begun with the handle's
        // generation, and takes both over: `begin` has just returned them to this thread.
        Ok(unsafe { Vacancy::new(place, handle) })
    }

    /// Ends the life of the value that `handle` names. From now on the handle is stale.
    /// Works on a closed store.
    ///
    /// # Errors
    /// [`HandleError::Stale`] when the handle was released before: of several callers one
    /// succeeds. [`HandleError::NotReady`] while its value is being made, and while threads
    /// that waited for an attempt that failed have not all been told.
    pub fn release(&self, handle: Handle<G>) -> Result<Release<ValueOf<L>>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        let (outcome, reusable) = Release::of(place.slot.end(handle.generation())?);
        if reusable {
            place.free();
        }
        Ok(outcome)
    }

    /// Hands out a value that was released while leased and whose last lease has been
    /// dropped. Call it until `None` where such values may be destroyed. A value in a group
    /// in which another thread is just looking for a slot can be missed; it is found the next
    /// time.
    pub fn reap(&self) -> Option<(Handle<G>, ValueOf<L>)> {
        for (base, group) in self.groups() {
            let left = group.bitmap.claim_left(group.slots, Phase::Retiring, 1);
            // No bit: no place either.
            if let Some(place) = group.place(left.trailing_zeros() as usize) {
                let handle = Handle::new(base + place.at, place.slot.state.word().generation());
                // SAFETY: `Slot::take` needs the owner of a retiring slot without leases.
                // `claim_left` made this thread the owner, of a slot in that phase, and only
                // the last lease leaves such a slot.
                let (value, reusable) = unsafe { place.slot.take() };
                if reusable {
                    place.free();
                }
                return Some((handle, value));
            }
        }
        None
    }

    /// `handle` names a value that is there now. It may be released at any time: to use it,
    /// lease it.
    #[must_use]
    pub fn contains(&self, handle: Handle<G>) -> bool {
        let slot = self.layout.slot(handle.index());
        slot.is_some_and(|slot| slot.state.word().check(handle.generation()).is_ok())
    }

    /// Handles of the values that are there now. Values that come or go meanwhile may be
    /// missed or listed; `get` tells.
    pub fn iter(&self) -> impl Iterator<Item = Handle<G>> + '_ {
        let mut taken = self.chosen(|group| group.bitmap.taken());
        iter::from_fn(move || {
            loop {
                let (index, slot) = taken.next()?;
                let word = slot.state.word();
                if word.phase() == Phase::Alive {
                    return Some(Handle::new(index, word.generation()));
                }
            }
        })
    }

    /// Number of values that have not been released. Exact while no thread inserts or releases.
    #[must_use]
    pub fn live(&self) -> usize {
        let mut live = 0;
        for _ in self.iter() {
            live += 1;
        }
        live
    }

    /// The most values that the store can come to hold at a time, were no slot used up.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.layout.capacity()
    }

    /// The groups that are there now, each with the index of its first slot.
    fn groups(&self) -> impl Iterator<Item = (usize, Group<'_, L::Cell>)> {
        (0..).map_while(|index| Some((index * GROUP, self.layout.group(index)?)))
    }

    /// The slots of the groups that are there now, as far as a group has the bit of each, with
    /// their indices. Written out: adapters of adapters would be most of what a registry of
    /// `cupola-managers` has to compile, for each kind of object.
    fn chosen<'s>(
        &'s self,
        bits: fn(Group<'s, L::Cell>) -> u64,
    ) -> impl Iterator<Item = (usize, &'s Slot<L::Cell>)> {
        let (mut next, mut here) = (0, None::<(Group<'_, L::Cell>, u64)>);
        iter::from_fn(move || {
            loop {
                if let Some((group, rest)) = &mut here
                    && *rest != 0
                {
                    let at = rest.trailing_zeros() as usize;
                    *rest &= *rest - 1;
                    // The last group may have fewer slots than bits.
                    let Some(slot) = group.slots.get(at) else {
                        continue;
                    };
                    return Some(((next - 1) * GROUP + at, slot));
                }
                let group = self.layout.group(next)?;
                (next, here) = (next + 1, Some((group, bits(group))));
            }
        })
    }

    fn place(&self, index: usize) -> Option<Place<'_, L::Cell>> {
        self.layout.group(index / GROUP)?.place(index % GROUP)
    }
}

impl<L: Layout, G: Tag, P: Policy> fmt::Debug for Slots<L, G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots")
            .field("tag", &G::NAME)
            .field("live", &self.live())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
