//! The stores: everything that `FixedSlots` and `SlotPool` have in common.
//!
//! Both are one generic type over a layout that says where the groups of slots are, so
//! that each claim is proved once.

mod cache;
mod ensure;
mod error;
mod fixed;
mod group;
mod lease;
mod ledger;
mod payload;
mod policy;
mod pool;
mod shutdown;
mod slot;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod vacancy;
mod word;

use core::fmt;
use core::marker::PhantomData;

pub use cache::SlotCache;
pub use error::{EnsureError, HandleError, InsertError};
pub use fixed::{FixedSlots, FixedWords, InPlace};
use group::{Group, Place};
pub use lease::{Lease, WeakLease};
pub use ledger::{Ledger, LedgerLease};
use payload::sealed::Keep;
pub use payload::{Bits, InCell, InWord, Payload};
use policy::sealed::Reuse as _;
pub use policy::{Hot, Late, Park, Policy, Reuse, Spin, With};
pub use pool::{Chunk, ChunkSource, Grown, SlotPool, WordPool};
pub use shutdown::{Held, HeldSlot};
use slot::{Released, Slot};
pub use vacancy::Vacancy;
use word::{Phase, Word};

use crate::handle::{Handle, Tag, tag};
use crate::sync::{AtomicUsize, GROUP, Ordering};

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
    /// The group at which the next search for a free slot begins; of use to [`Late`] only.
    cursor: AtomicUsize,
    types: PhantomData<fn() -> (G, P)>,
}

/// A life without a value (yet): its slot, which is the caller's, and its handle.
struct Begun<'p, C: Payload, G>(Place<'p, C>, Handle<G>);

/// What became of a released value.
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "the value of a released slot is the caller's to destroy"]
pub enum Release<T> {
    /// No lease was out: here is the value.
    Now(T),
    /// Leases are out: the last one returns the value, or leaves it for `reap`.
    Deferred,
    /// The slot was reserved and never got a value.
    Empty,
}

impl<T> Release<T> {
    /// The value, if it came out at once.
    pub fn now(self) -> Option<T> {
        match self {
            Self::Now(value) => Some(value),
            Self::Deferred | Self::Empty => None,
        }
    }
}

// Without the value, as for `Lease`.
impl<T> fmt::Debug for Release<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now(..)",
            Self::Deferred => "Deferred",
            Self::Empty => "Empty",
        })
    }
}

impl<T> Release<T> {
    /// What to tell of an end, and whether the slot goes back to the free ones.
    fn of(released: Released<T>) -> (Self, bool) {
        match released {
            Released::Now(Some(value), reusable) => (Self::Now(value), reusable),
            Released::Now(None, reusable) => (Self::Empty, reusable),
            Released::Later => (Self::Deferred, false),
        }
    }
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
    /// Threads that pass different hints (a thread's or a stream's number) do not meet.
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
        let Begun(place, handle) = self.begin(Phase::Filling)?;
        // SAFETY: we own the slot and have just begun this life.
        Ok(unsafe { Vacancy::new(place, handle) })
    }

    /// Reserves a slot for a value that [`ensure_alive`](Self::ensure_alive) makes when it is
    /// first needed. Until then the handle is refused with `NotReady`, and
    /// [`release`](Self::release) gives the slot back.
    ///
    /// # Errors
    /// As [`vacancy`](Self::vacancy).
    pub fn reserve(&self) -> Result<Handle<G>, InsertError<()>> {
        self.begin(Phase::Reserved).map(|Begun(_, handle)| handle)
    }

    /// Ends the life of the value that `handle` names. From now on the handle is stale.
    /// Works on a closed store.
    ///
    /// # Errors
    /// [`HandleError::Stale`] when the handle was released before: of several callers one
    /// succeeds. [`HandleError::NotReady`] while its value is being made.
    pub fn release(&self, handle: Handle<G>) -> Result<Release<ValueOf<L>>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        let (outcome, reusable) = Release::of(place.slot.end(handle.generation())?);
        if reusable {
            Self::reuse(place);
        }
        Ok(outcome)
    }

    /// Hands out a value that was released while leased and whose last lease has been
    /// dropped. Call it until `None` where such values may be destroyed.
    pub fn reap(&self) -> Option<(Handle<G>, ValueOf<L>)> {
        for (base, group) in self.groups() {
            let left = group.bitmap.claim_left(group.slots, Phase::Retiring);
            if let Some(place) = left.and_then(|at| group.place(at)) {
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

    /// Makes the caller owner of a free slot: its index and place.
    fn claim(&self, hint: usize) -> Result<(usize, Place<'_, L::Cell>), InsertError<()>> {
        loop {
            // Groups that are added meanwhile are found by growing.
            let count = self.layout.count();
            let first = if P::Reuse::ROUND {
                self.cursor.load(Ordering::Relaxed)
            } else {
                hint
            };
            if let Some((index, place)) = self.claim_from(first, count) {
                if P::Reuse::ROUND && index / GROUP != first {
                    self.cursor.store(index / GROUP, Ordering::Relaxed);
                }
                return Ok((index, place));
            }
            self.grow()?;
        }
    }

    /// As `claim` among the first `count` groups, beginning with group `first`.
    fn claim_from(&self, first: usize, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        let claim = |index: usize| {
            let group = self.layout.group(index)?;
            let place = group.place(group.bitmap.claim(group.all())?)?;
            Some((index * GROUP + place.at, place))
        };
        let first = if first < count {
            first
        } else {
            first % count.max(1)
        };
        claim(first)
            .or_else(|| (first + 1..count).find_map(claim))
            .or_else(|| (0..first).find_map(claim))
    }

    /// Passes an owned, vacant slot on as the policy says.
    fn reuse(place: Place<'_, L::Cell>) {
        if P::Reuse::ROUND {
            place.rest();
        } else {
            place.free();
        }
    }

    /// Frees the slots that rest, if there are any.
    fn wake(&self) -> bool {
        let mut any = false;
        for (_, group) in self.groups() {
            let mut woken = 0;
            while let Some(at) = group.bitmap.claim_left(group.slots, Phase::Vacant) {
                woken |= 1 << at;
            }
            if woken != 0 {
                group.bitmap.free(woken);
                any = true;
            }
        }
        any
    }

    /// Makes room when no slot is free: has the resting slots used, adds a group, or finds
    /// one with a free slot. An error when there is none of these.
    fn grow(&self) -> Result<(), InsertError<()>> {
        if self.is_closed() {
            return Err(InsertError::Closed(()));
        }
        if self.wake() {
            return Ok(());
        }
        // From the beginning: the number of groups and the groups themselves may be seen
        // late in any order.
        let mut end = 0;
        while let Some(group) = self.layout.group(end) {
            if group.bitmap.has_free(group.all()) {
                return Ok(());
            }
            end += 1;
        }
        if self.layout.grow(end) {
            Ok(())
        } else {
            Err(InsertError::Full(()))
        }
    }

    /// Begins a life without a value, in `phase`.
    fn begin(&self, phase: Phase) -> Result<Begun<'_, L::Cell, G>, InsertError<()>> {
        let (index, place) = self.claim(0)?;
        // SAFETY: as in `insert_near`.
        match unsafe { place.slot.state.begin(phase) } {
            Some(generation) => Ok(Begun(place, Handle::new(index, generation))),
            None => {
                place.free();
                Err(InsertError::Closed(()))
            }
        }
    }

    /// The groups that are there now, each with the index of its first slot.
    fn groups(&self) -> impl Iterator<Item = (usize, Group<'_, L::Cell>)> {
        (0..).map_while(|index| Some((index * GROUP, self.layout.group(index)?)))
    }

    fn place(&self, index: usize) -> Option<Place<'_, L::Cell>> {
        self.layout.group(index / GROUP)?.place(index % GROUP)
    }
}

impl<L, G, P, T> Slots<L, G, P>
where
    L: Layout<Cell = InCell<T, P::Error>>,
    G: Tag,
    P: Policy,
{
    /// Leases the value that `handle` names.
    ///
    /// # Errors
    /// [`HandleError`]: the handle is stale or not ready, the store is closed, or 2^20 - 1
    /// leases are out on this slot.
    pub fn get(&self, handle: Handle<G>) -> Result<Lease<'_, T, G>, HandleError> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        place.slot.state.pin(handle.generation())?;
        // SAFETY: just pinned, for this handle.
        Ok(unsafe { Lease::new(place.into(), handle) })
    }

    /// A weak lease of what `handle` names, whether it is there or not; `None` when this
    /// store has no such slot.
    #[must_use]
    pub fn weak(&self, handle: Handle<G>) -> Option<WeakLease<'_, T, G>> {
        let place = self.place(handle.index())?;
        Some(WeakLease::new(place.into(), handle))
    }
}

impl<L, G, P, W> Slots<L, G, P>
where
    L: Layout<Cell = InWord<W>>,
    G: Tag,
    P: Policy,
    W: Bits,
{
    /// The value that `handle` names, without a lease: three loads and no write, however
    /// many threads look. The value may be released as soon as this returns.
    ///
    /// # Errors
    /// [`HandleError`]: the handle is stale or not ready, or the store is closed.
    pub fn peek(&self, handle: Handle<G>) -> Result<W, HandleError> {
        let slot = self.layout.slot(handle.index()).ok_or(HandleError::Stale)?;
        let alive = Word::new(handle.generation(), Phase::Alive, false, 0);
        // Acquire: pairs with the Release in `publish`, so the value is at least as new.
        let mut word = slot.state.word();
        if word == alive {
            // Acquire: when this is the value of a later life, the next load sees that this
            // life is over.
            let bits = slot.cell.bits.load(Ordering::Acquire);
            word = slot.state.glance();
            if word == alive || cfg!(mutant = "slots_peek_looks_once") {
                return Ok(W::from_bits(bits));
            }
        }
        word.check(handle.generation())?;
        Err(HandleError::Closed)
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
