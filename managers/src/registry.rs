//! `Registry`: a growing store of shared objects, named by handles.
//!
//! An object is leased by cloning its `Arc`, so a lease borrows nothing and may outlive
//! the manager. Releasing the handle makes it stale at once; the object goes with its last
//! lease.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use cupola_core::{Chunk, ChunkSource, Handle, Payload, Release, SlotPool, Tag};

use crate::error::{Error, Result};

/// Chunks of slots on the heap.
struct Heap;

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

/// 64 slots a chunk: 65 536 objects of a kind in a context.
const CHUNKS: usize = 1024;

pub(crate) struct Registry<T, G: Tag> {
    slots: Box<SlotPool<Arc<T>, Heap, G, CHUNKS>>,
}

impl<T, G: Tag> Registry<T, G> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::new(SlotPool::new(Heap)),
        }
    }

    /// Reserves a handle, makes the object for it, and keeps the object.
    pub(crate) fn insert_with(&self, make: impl FnOnce(Handle<G>) -> Result<T>) -> Result<Arc<T>> {
        let vacancy = self
            .slots
            .vacancy()
            .map_err(|e| Error::insert(&e, G::NAME))?;
        let value = Arc::new(make(vacancy.handle())?);
        vacancy
            .fill(Arc::clone(&value))
            .map_err(|e| Error::insert(&e, G::NAME))?;
        Ok(value)
    }

    /// The object that `handle` names.
    pub(crate) fn lease(&self, handle: Handle<G>) -> Result<Arc<T>> {
        let lease = self
            .slots
            .get(handle)
            .map_err(|e| Error::handle(e, G::NAME, handle.to_bits()))?;
        let value = Arc::clone(&lease);
        // When the handle was released meanwhile, the slot's own `Arc` comes out here.
        drop(lease.release());
        Ok(value)
    }

    /// Ends the handle. The object, when nobody leases it any more.
    pub(crate) fn release(&self, handle: Handle<G>) -> Result<Option<T>> {
        let released = self
            .slots
            .release(handle)
            .map_err(|e| Error::handle(e, G::NAME, handle.to_bits()))?;
        Ok(match released {
            Release::Now(value) => Arc::into_inner(value),
            Release::Deferred | Release::Empty => None,
        })
    }

    pub(crate) fn handles(&self) -> impl Iterator<Item = Handle<G>> + '_ {
        self.slots.iter()
    }

    pub(crate) fn live(&self) -> usize {
        self.slots.live()
    }
}

impl<T, G: Tag> fmt::Debug for Registry<T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.handles()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cupola_core::tag;

    // Without it a released handle could reach the slot's next object, or an object go
    // while it is leased.
    #[test]
    fn stale_handles_stay_stale_and_leases_outlive_them() {
        let registry: Registry<u32, tag::Stream> = Registry::new();
        let mut handle = None;
        registry
            .insert_with(|h| {
                handle = Some(h);
                Ok(7)
            })
            .unwrap();
        let handle = handle.unwrap();
        let lease = registry.lease(handle).unwrap();
        assert_eq!(registry.release(handle), Ok(None));
        assert_eq!(*lease, 7);
        registry.insert_with(|_| Ok(8)).unwrap();
        assert!(matches!(
            registry.lease(handle),
            Err(Error::StaleHandle { kind: "Stream", .. })
        ));
        assert!(matches!(
            registry.release(handle),
            Err(Error::StaleHandle { .. })
        ));
    }

    // Without it a failed creation would use up a slot for ever.
    #[test]
    fn a_failed_creation_gives_its_slot_back() {
        let registry: Registry<u32, tag::Event> = Registry::new();
        for _ in 0..200_000 {
            assert!(registry.insert_with(|_| Err(Error::Forked)).is_err());
        }
        assert_eq!(registry.live(), 0);
        assert!(registry.insert_with(|_| Ok(1)).is_ok());
    }
}
