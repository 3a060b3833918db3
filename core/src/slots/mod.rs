//! The stores: everything that `FixedSlots` and `SlotPool` have in common.
//!
//! Both are one generic type over a layout that says where the groups of slots are, so
//! that each claim is proved once.

mod error;
mod fixed;
mod group;
mod lease;
mod pool;
mod slot;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

use core::fmt;
use core::marker::PhantomData;

pub use error::{HandleError, InsertError};
pub use fixed::{FixedSlots, InPlace};
use group::{Group, Place};
pub use lease::{Lease, Vacancy};
pub use pool::{Chunk, ChunkSource, Grown, SlotPool};
use slot::{Ended, Slot};
use word::Phase;

use crate::handle::{Handle, Tag, tag};
use crate::sync::GROUP;

/// Where a store keeps its slots. Sealed: implemented by this crate's layouts only.
pub trait Layout: sealed::Groups {}

mod sealed {
    use super::Group;

    pub trait Groups {
        type Value;

        /// Group `index`; `None` past the end. A group once seen stays where it is.
        fn group(&self, index: usize) -> Option<Group<'_, Self::Value>>;

        /// Number of groups, perhaps a little out of date: for hints only.
        fn count(&self) -> usize;

        /// Tries to add group `index`, which the caller has not found. False when there is
        /// none to be had; true when it is worth looking again.
        fn grow(&self, index: usize) -> bool;

        /// As `group`, but `None` also means that no group will ever be at `index`.
        fn seal(&self, index: usize) -> Option<Group<'_, Self::Value>>;

        /// The store was closed before it had any group.
        fn is_sealed_empty(&self) -> bool;

        /// Slots that the store may come to have.
        fn capacity(&self) -> usize;
    }
}

/// A store of values that are named by handles; used as [`FixedSlots`] or [`SlotPool`].
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
/// A handle does not say which store it is from: tell stores apart by their tag `G`.
pub struct Slots<L, G = tag::Slot> {
    layout: L,
    tag: PhantomData<fn() -> G>,
}

/// What became of a released value.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "the value of a released slot is the caller's to destroy"]
pub enum Release<T> {
    /// No lease was out: here is the value.
    Now(T),
    /// Leases are out: the last one returns the value, or leaves it for `reap`.
    Deferred,
}

impl<T> Release<T> {
    /// The value, if it came out at once.
    pub fn now(self) -> Option<T> {
        match self {
            Self::Now(value) => Some(value),
            Self::Deferred => None,
        }
    }
}

// Without the value, as for `Lease`.
impl<T> fmt::Debug for Release<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now(..)",
            Self::Deferred => "Deferred",
        })
    }
}

/// What a store still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Slots with a value, or reserved for one.
    pub slots: usize,
    /// Leases out on them.
    pub leases: u64,
}

impl Held {
    /// Nothing is held any more.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl<L: Layout, G: Tag> Slots<L, G> {
    /// Stores `value`.
    ///
    /// # Errors
    /// [`InsertError`] with the value when no slot is free or the store is closed.
    pub fn insert(&self, value: L::Value) -> Result<Handle<G>, InsertError<L::Value>> {
        self.insert_near(0, value)
    }

    /// As [`insert`](Self::insert), looking first in the group of slots that `hint` picks.
    /// Threads that pass different hints (a thread's or a stream's number) do not meet.
    ///
    /// # Errors
    /// As `insert`.
    pub fn insert_near(
        &self,
        hint: usize,
        value: L::Value,
    ) -> Result<Handle<G>, InsertError<L::Value>> {
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

    /// Reserves a slot, so that a value which is costly to make is not made for a full
    /// store, or can know its own handle.
    ///
    /// # Errors
    /// [`InsertError`] when no slot is free or the store is closed.
    pub fn vacancy(&self) -> Result<Vacancy<'_, L::Value, G>, InsertError<()>> {
        let (index, place) = self.claim(0)?;
        // SAFETY: as in `insert_near`.
        match unsafe { place.slot.begin() } {
            // SAFETY: we own the slot and have just begun this life.
            Some(generation) => Ok(unsafe { Vacancy::new(place, Handle::new(index, generation)) }),
            None => {
                place.free();
                Err(InsertError::Closed(()))
            }
        }
    }

    /// Leases the value that `handle` names.
    ///
    /// # Errors
    /// [`HandleError`]: the handle is stale or not ready, the store is closed, or 2^21 - 1
    /// leases are out on this slot.
    pub fn get(&self, handle: Handle<G>) -> Result<Lease<'_, L::Value, G>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        place.slot.pin(handle.generation())?;
        // SAFETY: just pinned, for this handle.
        Ok(unsafe { Lease::new(place, handle) })
    }

    /// Ends the life of the value that `handle` names. From now on the handle is stale.
    /// Works on a closed store.
    ///
    /// # Errors
    /// [`HandleError::Stale`] when the handle was released before: of several callers one
    /// succeeds. [`HandleError::NotReady`] when its value is not there yet.
    pub fn release(&self, handle: Handle<G>) -> Result<Release<L::Value>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        Ok(match place.slot.end(handle.generation())? {
            Ended::Now(value, reusable) => {
                if reusable {
                    place.free();
                }
                Release::Now(value)
            }
            Ended::Later => Release::Deferred,
        })
    }

    /// Hands out a value that was released while leased and whose last lease has been
    /// dropped. Call it until `None` where such values may be destroyed.
    pub fn reap(&self) -> Option<(Handle<G>, L::Value)> {
        for (base, group) in self.groups() {
            if let Some((at, place)) = group.claim_retired() {
                let handle = Handle::new(base + at, place.slot.word().generation());
                // SAFETY: the claim made us owner of a retiring slot without leases.
                return Some((handle, unsafe { place.take() }));
            }
        }
        None
    }

    /// Handles of the values that are there now. Values that come or go meanwhile may be
    /// missed or listed; `get` tells.
    pub fn iter(&self) -> impl Iterator<Item = Handle<G>> + '_ {
        self.groups().flat_map(|(base, group)| {
            group.taken().filter_map(move |at| {
                let word = group.slots.get(at)?.word();
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

    /// First phase of shutting down: refuses new values and new leases from now on, for
    /// ever, and grows no more. Values stay where they are, and releasing goes on.
    ///
    /// When this returns, no lease is granted any more: [`held`](Self::held) then only
    /// falls.
    pub fn close(&self) {
        let mut index = 0;
        while let Some(group) = self.layout.seal(index) {
            for slot in group.slots {
                slot.close();
            }
            index += 1;
        }
    }

    /// Closing has begun.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let first = self.layout.group(0).and_then(|group| group.slots.first());
        first.map_or_else(
            || self.layout.is_sealed_empty(),
            |slot| slot.word().is_closed(),
        )
    }

    /// Second phase of shutting down: releases every value that is there, passes each one
    /// that nobody leases to `destroy`, and returns what is still held. Call it again when
    /// leases have ended, until nothing is.
    pub fn drain(&self, mut destroy: impl FnMut(Handle<G>, L::Value)) -> Held {
        for handle in self.iter() {
            if let Ok(Release::Now(value)) = self.release(handle) {
                destroy(handle, value);
            }
        }
        while let Some((handle, value)) = self.reap() {
            destroy(handle, value);
        }
        self.held()
    }

    /// What the store holds now: values, released or not, and leases.
    #[must_use]
    pub fn held(&self) -> Held {
        let mut held = Held::default();
        for (_, group) in self.groups() {
            let words = group.slots.iter().map(Slot::word);
            for word in words.filter(|word| word.is_occupied()) {
                held.slots += 1;
                held.leases += word.leases();
            }
        }
        held
    }

    /// Makes the caller owner of a free slot: its index and place.
    fn claim(&self, hint: usize) -> Result<(usize, Place<'_, L::Value>), InsertError<()>> {
        loop {
            let start = hint % self.layout.count().max(1);
            let mut end = start;
            for (base, group) in self.groups().skip(start) {
                if let Some((at, place)) = group.claim() {
                    return Ok((base + at, place));
                }
                end += 1;
            }
            for (base, group) in self.groups().take(start) {
                if let Some((at, place)) = group.claim() {
                    return Ok((base + at, place));
                }
            }
            if self.is_closed() {
                return Err(InsertError::Closed(()));
            }
            if !self.layout.grow(end) {
                return Err(InsertError::Full(()));
            }
        }
    }

    /// The groups that are there now, each with the index of its first slot.
    fn groups(&self) -> impl Iterator<Item = (usize, Group<'_, L::Value>)> {
        (0..).map_while(|index| Some((index * GROUP, self.layout.group(index)?)))
    }

    fn place(&self, index: usize) -> Option<Place<'_, L::Value>> {
        self.layout.group(index / GROUP)?.place(index % GROUP)
    }
}

impl<L: Layout, G: Tag> fmt::Debug for Slots<L, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots")
            .field("tag", &G::NAME)
            .field("live", &self.live())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
