//! The stores: everything that `FixedSlots` and `SlotPool` have in common.
//!
//! Both are one generic type over a layout that says where the groups of slots are, so
//! that each claim is proved once.

mod array;
mod cache;
mod claim;
mod ensure;
mod error;
mod fixed;
mod group;
mod lease;
mod ledger;
mod look;
mod payload;
mod policy;
mod pool;
mod release;
mod shutdown;
mod slot;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod vacancy;
mod word;

use core::fmt;
use core::marker::PhantomData;

pub use array::ChunkArray;
pub use cache::SlotCache;
use claim::Begun;
pub use error::{EnsureError, HandleError, InsertError};
pub use fixed::{FixedSlots, FixedWords, InPlace};
use group::{Group, Place};
pub use lease::{Lease, WeakLease};
pub use ledger::{Ledger, LedgerLease};
use payload::sealed::Keep;
pub use payload::{Bits, InCell, InWord, Payload};
pub use policy::{Hot, Late, Park, Policy, Reuse, Spin, With};
pub use pool::{Chunk, ChunkSource, Grown, SlotPool, WordPool};
pub use release::Release;
pub use shutdown::{Held, HeldSlot};
use slot::Slot;
pub use vacancy::Vacancy;
use word::Phase;

use crate::handle::{Handle, Tag, tag};
use crate::sync::{AtomicUsize, GROUP};

/// Where a store keeps its slots. Sealed: implemented by this crate's layouts only.
pub trait Layout: sealed::Groups {}

mod sealed {
    use super::{Group, Payload, Slot};

    pub trait Groups {
        type Cell: Payload;

        /// Group `index`; `None` past the end. A group once seen stays where it is.
        fn group(&self, index: usize) -> Option<Group<'_, Self::Cell>>;

        /// The slot at `index`.
        fn slot(&self, index: usize) -> Option<&Slot<Self::Cell>>;

        /// Number of groups, perhaps a little out of date: for hints only.
        fn count(&self) -> usize;

        /// Tries to add group `index`, which the caller has not found. False when there is
        /// none to be had; true when it is worth looking again.
        fn grow(&self, index: usize) -> bool;

        /// As `group`, but `None` also means that no group will ever be at `index`.
        fn seal(&self, index: usize) -> Option<Group<'_, Self::Cell>>;

        /// The store was closed before it had any group.
        fn is_sealed_empty(&self) -> bool;

        /// Slots that the store may come to have.
        fn capacity(&self) -> usize;
    }
}

/// What a store with this layout holds.
pub type ValueOf<L> = <<L as sealed::Groups>::Cell as Keep>::Value;

/// A store of values that are named by handles; used as [`FixedSlots`], [`SlotPool`],
/// [`FixedWords`] or [`WordPool`].
///
/// Lock-free, and nothing here allocates. A value goes in with [`insert`](Self::insert),
/// is looked at under a [`Lease`], and comes out with [`release`](Self::release): at once
/// when nobody looks at it, else with the last lease. A released handle is refused for
/// ever: each life of a slot has its own generation, and a slot whose 2^39 lives are used
/// up is never used again.
///
/// A value is put back into the caller's hands by `release`, [`Lease::release`],
/// [`reap`](Self::reap) or [`drain`](Self::drain). Dropping the store drops what is left.
///
/// A thread that inserts and releases often does so through its own
/// [`cache`](Self::cache).
///
/// A handle does not say which store it is from: tell stores apart by their tag `G`.
pub struct Slots<L, G = tag::Slot, P = With> {
    layout: L,
    /// Added to the hints at which searches for a free slot begin; of use to [`Late`] only.
    cursor: AtomicUsize,
    types: PhantomData<fn() -> (G, P)>,
}

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// Stores `value`.
    ///
    /// # Errors
    /// [`InsertError`] with the value when no slot is free or the store is closed.
    pub fn insert(&self, value: ValueOf<L>) -> Result<Handle<G>, InsertError<ValueOf<L>>> {
        self.insert_near(0, value)
    }

    /// As [`insert`](Self::insert), looking first in the group of slots that `hint` picks.
    /// Threads that pass different hints (a thread's or a stream's number) begin in different
    /// groups, and meet no more often than they must: where the store has as many groups as there
    /// are such threads. A pool gets its groups one by one, each when the others are full: until
    /// it has held more than 64 values at a time, all its threads exchange the same word.
    ///
    /// # Errors
    /// As `insert`.
    pub fn insert_near(
        &self,
        hint: usize,
        value: ValueOf<L>,
    ) -> Result<Handle<G>, InsertError<ValueOf<L>>> {
        let (index, place) = match self.claim(hint) {
            Ok(claimed) => claimed,
            Err(refusal) => return Err(refusal.with(value)),
        };
        // SAFETY: the claim made us owner of a slot that is vacant and not used up: a slot
        // with a value or used up keeps its bit.
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
        self.vacancy_near(0)
    }

    /// As [`vacancy`](Self::vacancy), with a hint as for [`insert_near`](Self::insert_near).
    ///
    /// # Errors
    /// As `vacancy`.
    pub fn vacancy_near(&self, hint: usize) -> Result<Vacancy<'_, L::Cell, G>, InsertError<()>> {
        let Begun(place, handle) = self.begin(hint, Phase::Filling)?;
        // SAFETY: we own the slot and have just begun this life.
        Ok(unsafe { Vacancy::new(place, handle) })
    }

    /// Ends the life of the value that `handle` names. From now on the handle is stale.
    /// Works on a closed store.
    ///
    /// # Errors
    /// [`HandleError::Stale`] when the handle was released before: of several callers one
    /// succeeds. [`HandleError::NotReady`] while its value is being made, and while those who
    /// waited for an attempt that failed have not all been told.
    pub fn release(&self, handle: Handle<G>) -> Result<Release<ValueOf<L>>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        let (outcome, reusable) = Release::of(place.slot.end(handle.generation())?);
        if reusable {
            Self::reuse(place);
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
                // SAFETY: the claim made us owner of a retiring slot without leases.
                let (value, reusable) = unsafe { place.slot.take() };
                if reusable {
                    Self::reuse(place);
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
        self.groups().flat_map(|(base, group)| {
            group.bitmap.taken().filter_map(move |at| {
                let word = group.slots.get(at)?.state.word();
                (word.phase() == Phase::Alive).then(|| Handle::new(base + at, word.generation()))
            })
        })
    }

    /// Number of values that have not been released. Exact while nobody inserts or releases.
    #[must_use]
    pub fn live(&self) -> usize {
        self.iter().count()
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
