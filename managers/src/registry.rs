//! `Registry`: a store of shared objects, named by handles, that can be shut down.
//!
//! An object is leased by cloning its `Arc`, so a lease borrows nothing and may outlive
//! the manager. Releasing the handle makes it stale at once; the object goes with its last
//! lease. An object that nothing keeps but its leases has a [`Name`], which releases its handle
//! at its end. An object that can be leased without a name is remembered weakly, from before a
//! caller can lease it: so a shutdown finds it, however its name ended and however many leases it
//! has. An object with one owner, which ends with its name, is remembered by a shutdown only:
//! making it takes no lock.

mod name;

use std::collections::HashSet;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, Weak};

use cupola_core::{
    Chunk, ChunkSource, EnsureError, FixedSlots, Grown, Handle, HandleError, InCell, InPlace,
    Layout, Payload, Release, SlotPool, Slots, StorePolicy, Tag,
};

pub(crate) use name::Name;

use crate::error::{Error, Result};
use crate::handle::{ManagedHandle, ManagerNumber};
use crate::lists;
use crate::stats::ManagerStats;
use crate::sync::capacity::{Capacity, Permit};
use crate::sync::deferred::DeferCallbacks;
use crate::sync::once_wait::OnceWait;
use crate::sync::shutdown_gate::{GateToken, ShutdownGate};
use crate::sync::{Mutex, MutexGuard};

/// Chunks of slots on the heap.
pub(crate) struct Heap;

// SAFETY: a boxed chunk stays where it is, and `into_raw` leaves it to the pool alone.
unsafe impl<C: Payload> ChunkSource<C> for Heap {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        NonNull::new(Box::into_raw(Box::new(Chunk::new())))
    }

    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
        // SAFETY: it comes from `lend`, so from `Box::into_raw`, and comes back once.
        drop(unsafe { Box::from_raw(chunk.as_ptr()) });
    }
}

/// 64 slots a chunk: 65 536 objects of a kind.
const CHUNKS: usize = 1024;

/// One is made at a time, the others sleep, and an error goes to all of them.
type Ways = StorePolicy<Error, OnceWait>;
type Cell<T> = InCell<Kept<T>, Error>;
/// A slot's share in its object.
pub(crate) enum Kept<T> {
    /// The object, until its handle is released.
    Held(Arc<T>),
    /// Nothing: the object is there as long as it is leased.
    Leased(Weak<T>),
}

impl<T> Kept<T> {
    /// A lease of the object, if it is there.
    fn get(&self) -> Option<Arc<T>> {
        match self {
            Self::Held(value) => Some(Arc::clone(value)),
            Self::Leased(value) => value.upgrade(),
        }
    }
}

/// Slots that grow.
pub(crate) type Growing<T> = Grown<Cell<T>, Heap, CHUNKS>;
/// A number of slots, in place.
pub(crate) type Fixed<T, const N: usize> = InPlace<Cell<T>, N>;

pub(crate) struct Registry<T, G: Tag, L: Layout<Cell = Cell<T>> = Growing<T>> {
    /// Shared with the [names](Name) of objects, which do not keep it.
    slots: Arc<Slots<L, G, Ways>>,
    gate: ShutdownGate,
    capacity: Arc<Capacity>,
    /// Objects that may be there without a name, oldest first.
    made: Mutex<Vec<(ManagedHandle<G>, Weak<T>)>>,
    /// The number of this manager, which its handles carry.
    manager: ManagerNumber,
    /// Whether only a shutdown ends a name while its object is there.
    owned: bool,
}

impl<T, G: Tag> Registry<T, G> {
    /// `capacity` is the most objects that may exist at a time.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots: SlotPool<Kept<T>, Heap, G, CHUNKS, Ways> = SlotPool::new(Heap);
        Self::over(slots, capacity)
    }
}

impl<T, G: Tag, const N: usize> Registry<T, G, Fixed<T, N>> {
    /// A registry with `N` slots in place, instead of slots that grow.
    pub(crate) fn fixed() -> Self {
        let slots: FixedSlots<Kept<T>, N, G, Ways> = FixedSlots::new();
        Self::over(slots, N)
    }
}

impl<T, G: Tag, L: Layout<Cell = Cell<T>>> Registry<T, G, L> {
    fn over(slots: Slots<L, G, Ways>, capacity: usize) -> Self {
        Self {
            slots: Arc::new(slots),
            gate: ShutdownGate::new(),
            capacity: Arc::new(Capacity::new(capacity)),
            made: Mutex::new(Vec::new()),
            manager: ManagerNumber::next::<G>(),
            owned: false,
        }
    }

    /// Its objects have one owner each, which [takes](Self::take) the name at the object's end and
    /// not before.
    pub(crate) fn of_owned(self) -> Self {
        Self {
            owned: true,
            ..self
        }
    }

    fn begin(&self) -> Result<GateToken> {
        self.gate.begin().ok_or(Error::ShutDown { kind: G::NAME })
    }

    fn refused(refusal: HandleError, handle: ManagedHandle<G>) -> Error {
        Error::handle(refusal, G::NAME, handle.to_bits())
    }

    fn name(&self, slot: Handle<G>) -> ManagedHandle<G> {
        ManagedHandle::new(self.manager, slot)
    }

    /// The slot that a handle is of.
    ///
    /// # Errors
    /// It is another manager's.
    fn slot(&self, handle: ManagedHandle<G>) -> Result<Handle<G>> {
        let stale = || Error::stale(G::NAME, handle.to_bits());
        handle.of(self.manager).ok_or_else(stale)
    }

    /// Room for one more object.
    pub(crate) fn permit(&self) -> Result<Permit> {
        Capacity::acquire(&self.capacity).ok_or(Error::Full { kind: G::NAME })
    }

    /// The limit on how many objects exist.
    pub(crate) fn capacity(&self) -> &Arc<Capacity> {
        &self.capacity
    }

    /// Reserves a handle, makes the object for it, and keeps the object, which keeps its
    /// permit.
    pub(crate) fn insert_with(
        &self,
        make: impl FnOnce(ManagedHandle<G>, Permit) -> Result<T>,
    ) -> Result<Arc<T>> {
        self.insert_permitted(|handle| make(handle, self.permit()?))
    }

    /// Inserts an object, which unlike that of `insert_with` may have its [`permit`](Self::permit)
    /// already.
    pub(crate) fn insert_permitted(
        &self,
        make: impl FnOnce(ManagedHandle<G>) -> Result<T>,
    ) -> Result<Arc<T>> {
        self.insert(make, |value| Kept::Held(Arc::clone(value)))
    }

    /// Inserts an object of which, unlike `insert_with`, nothing is kept: the handle is good as
    /// long as the object is leased. The object gets its [name](Self::name) next.
    pub(crate) fn insert_leased(
        &self,
        make: impl FnOnce(ManagedHandle<G>, Permit) -> Result<T>,
    ) -> Result<Arc<T>> {
        let make = |handle| make(handle, self.permit()?);
        self.insert(make, |value| Kept::Leased(Arc::downgrade(value)))
    }

    /// A [`Name`], which releases the handle of an object when the object goes; `None` if the
    /// handle is another manager's.
    pub(crate) fn releaser(&self, handle: ManagedHandle<G>) -> Option<Name<T, G, L>> {
        Some(Name::new(&self.slots, handle.of(self.manager)?))
    }

    fn insert(
        &self,
        make: impl FnOnce(ManagedHandle<G>) -> Result<T>,
        keep: impl FnOnce(&Arc<T>) -> Kept<T>,
    ) -> Result<Arc<T>> {
        let token = self.begin()?;
        let vacancy = self
            .slots
            .vacancy()
            .map_err(|e| Error::insert(&e, G::NAME))?;
        let handle = self.name(vacancy.handle());
        let value = self.made_now(handle, make(handle)?);
        let slot = vacancy
            .fill(keep(&value))
            .map_err(|e| Error::insert(&e, G::NAME))?;
        self.settle(token, slot)?;
        Ok(value)
    }

    /// Reserves a handle for an object that is made when it is first needed.
    pub(crate) fn reserve(&self) -> Result<ManagedHandle<G>> {
        let token = self.begin()?;
        let slot = self
            .slots
            .reserve()
            .map_err(|e| Error::insert(&e, G::NAME))?;
        self.settle(token, slot)?;
        Ok(self.name(slot))
    }

    /// The object that `handle` names, made now if its handle is only reserved: by one
    /// thread, whose error goes to all that wait for it.
    pub(crate) fn ensure_alive(
        &self,
        handle: ManagedHandle<G>,
        make: impl FnOnce(Permit) -> Result<T>,
    ) -> Result<Arc<T>> {
        self.ensure_permitted(handle, || make(self.permit()?))
    }

    /// Makes an object alive, which unlike that of `ensure_alive` may have its
    /// [`permit`](Self::permit) already.
    pub(crate) fn ensure_permitted(
        &self,
        handle: ManagedHandle<G>,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        // Others wait for the initialiser.
        let _defer = DeferCallbacks::new();
        let token = self.begin()?;
        let slot = self.slot(handle)?;
        let init = || Ok(Kept::Held(self.made_now(handle, make()?)));
        let lease = self
            .slots
            .ensure_alive(slot, init)
            .map_err(|refused| match refused {
                EnsureError::Init(error) => error,
                EnsureError::Refused(refusal) | EnsureError::Withheld { refusal, .. } => {
                    Self::refused(refusal, handle)
                }
                _ => Error::Full { kind: G::NAME },
            })?;
        let value = lease.get();
        drop(lease.release());
        self.settle(token, slot)?;
        // None: its last lease is just ending.
        value.ok_or_else(|| Error::stale(G::NAME, handle.to_bits()))
    }

    /// Counts an object, which no caller can lease yet, and remembers it.
    fn made_now(&self, handle: ManagedHandle<G>, value: T) -> Arc<T> {
        self.capacity.note_created();
        let value = Arc::new(value);
        if !self.owned {
            self.remember(handle, &value);
        }
        value
    }

    fn remember(&self, handle: ManagedHandle<G>, value: &Arc<T>) {
        let mut made = self.made();
        if made.len() == made.capacity() {
            lists::retain(&mut made, |(_, object)| object.strong_count() > 0);
            // Room for as many again: so seldom that it costs each object little.
            let there = made.len();
            made.reserve(there.max(4));
        }
        made.push((handle, Arc::downgrade(value)));
    }

    fn made(&self) -> MutexGuard<'_, Vec<(ManagedHandle<G>, Weak<T>)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a handle back that a shutdown may not have seen.
    fn settle(&self, token: GateToken, slot: Handle<G>) -> Result<()> {
        if self.gate.validate(token) || mutant!("registry_does_not_look_back") {
            return Ok(());
        }
        drop(self.slots.release(slot));
        Err(Error::ShutDown { kind: G::NAME })
    }

    /// The object that `handle` names.
    pub(crate) fn lease(&self, handle: ManagedHandle<G>) -> Result<Arc<T>> {
        let stale = || Error::stale(G::NAME, handle.to_bits());
        let token = self.gate.begin().ok_or_else(stale)?;
        let value = self.look(handle)?;
        if self.gate.validate(token) {
            Ok(value)
        } else {
            Err(stale())
        }
    }

    fn look(&self, handle: ManagedHandle<G>) -> Result<Arc<T>> {
        let lease = self
            .slots
            .get(self.slot(handle)?)
            .map_err(|e| Self::refused(e, handle))?;
        let value = lease.get();
        // When the handle was released meanwhile, the slot's own `Arc` comes out here.
        drop(lease.release());
        // None: its last lease is just ending.
        value.ok_or_else(|| Error::stale(G::NAME, handle.to_bits()))
    }

    /// Ends the handle. Its object; `None` if it was only reserved, if its last lease is just
    /// ending, or if another thread is just leasing it, which has it then.
    pub(crate) fn take(&self, handle: ManagedHandle<G>) -> Result<Option<Arc<T>>> {
        let released = self
            .slots
            .release(self.slot(handle)?)
            .map_err(|e| Self::refused(e, handle))?;
        Ok(match released {
            Release::Now(kept) => kept.get(),
            Release::Deferred | Release::Empty => None,
        })
    }

    /// Ends the handle. The object, when it has no other lease any more.
    pub(crate) fn release(&self, handle: ManagedHandle<G>) -> Result<Option<T>> {
        Ok(self.take(handle)?.and_then(|value| part(value).ok()))
    }

    /// Hands out nothing from now on, ends every handle, and returns all objects: those that had a
    /// handle, those that are leased without one, and those that a call which runs beside this one
    /// holds and will give up.
    pub(crate) fn shut(&self) -> Vec<(ManagedHandle<G>, Arc<T>)> {
        self.gate.close();
        // Held before their names end, so that they end with the caller. A thread that makes one
        // after this look finds the gate shut, and takes it back.
        let mut objects = Vec::new();
        // By address alone, as u64: one kind of set for objects of every kind, which is that of all
        // sets in this crate. It is compiled once.
        let mut known = HashSet::new();
        for (handle, object) in self.made().iter() {
            if let Some(object) = object.upgrade() {
                known.insert(Arc::as_ptr(&object).addr() as u64);
                objects.push((*handle, object));
            }
        }
        if mutant!("registry_loses_what_is_leased") {
            lists::retain(&mut objects, |(handle, _)| self.is_alive(*handle));
        }
        for held in self.slots.still_held() {
            let handle = self.name(held.handle);
            // Before its name ends: another thread may just be looking at it, and take it out.
            let looked = self.owned.then(|| self.look(handle).ok()).flatten();
            let Ok(taken) = self.take(handle) else {
                continue;
            };
            let Some(value) = taken.or(looked) else {
                continue;
            };
            if known.contains(&(Arc::as_ptr(&value).addr() as u64)) {
                continue;
            }
            if self.owned && !mutant!("registry_forgets_what_is_owned") {
                self.remember(handle, &value);
            }
            // Else its maker gives it up, perhaps before us.
            objects.push((handle, value));
        }
        objects
    }

    /// Whether no object that was made here is left.
    pub(crate) fn is_empty(&self) -> bool {
        let is_gone = |(_, object): &(_, Weak<T>)| object.strong_count() == 0;
        self.capacity.taken() == 0 && self.made().iter().all(is_gone)
    }

    pub(crate) fn is_shut(&self) -> bool {
        self.gate.is_closed()
    }

    /// The most objects that may exist at a time.
    #[cfg(feature = "test-utils")]
    pub(crate) fn set_capacity(&self, capacity: usize) {
        self.capacity.set_limit(capacity);
    }

    /// Ends a shutdown.
    pub(crate) fn open(&self, capacity: usize) {
        self.capacity.set_limit(capacity);
        self.gate.open();
    }

    /// Whether `handle` names an object that is there.
    pub(crate) fn is_alive(&self, handle: ManagedHandle<G>) -> bool {
        let slot = handle.of(self.manager);
        slot.is_some_and(|slot| self.slots.contains(slot))
    }

    pub(crate) fn handles(&self) -> impl Iterator<Item = ManagedHandle<G>> + '_ {
        self.slots.iter().map(|slot| self.name(slot))
    }

    pub(crate) fn live(&self) -> usize {
        self.slots.live()
    }

    pub(crate) fn stats(&self) -> ManagerStats {
        ManagerStats {
            created: self.capacity.created(),
            live: self.capacity.taken(),
            named: self.live(),
            peak: self.capacity.peak(),
            capacity: self.capacity.limit(),
        }
    }
}

impl<T, G: Tag, L: Layout<Cell = Cell<T>>> fmt::Debug for Registry<T, G, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handles()).finish()
    }
}

/// The object itself if that was its last `Arc`, else how many leases it has.
pub(crate) fn part<T>(value: Arc<T>) -> Result<T, u64> {
    let leases = (Arc::strong_count(&value) as u64 - 1).max(1);
    Arc::into_inner(value).ok_or(leases)
}

#[cfg(all(test, not(loom)))]
mod tests;
