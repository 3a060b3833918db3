//! `Lease`: a value that stays alive while it is looked at. `WeakLease`: the way back to
//! one.
//!
//! A lease never runs the value's destructor: destroying a CUDA object on whatever thread
//! happens to let go last is how deadlocks are made. The last lease of a released slot
//! returns the value, or leaves it for `reap`.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;

use super::error::HandleError;
use super::group::{Bitmap, Place};
use super::payload::{InCell, ValueCell};
use super::state::State;
use crate::handle::{Handle, Tag};
use crate::sync::{GROUP, Ordering};

/// The parts of a slot that its leases need, whatever its errors are.
pub(crate) struct Leased<'p, T> {
    state: &'p State,
    value: &'p ValueCell<T>,
    bitmap: &'p Bitmap,
}

impl<T> Clone for Leased<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Leased<'_, T> {}

impl<'p, T, E> From<Place<'p, InCell<T, E>>> for Leased<'p, T> {
    fn from(place: Place<'p, InCell<T, E>>) -> Self {
        Self {
            state: &place.slot.state,
            value: &place.slot.cell.value,
            bitmap: place.bitmap,
        }
    }
}

/// A strong lease: the value stays in its slot, alive, until the lease ends.
///
/// Ends by [`release`](Self::release), which returns the value when this was the last
/// lease of a released slot, or by being dropped, which then leaves the value for the
/// store's `reap`.
pub struct Lease<'p, T, G> {
    slot: Leased<'p, T>,
    handle: Handle<G>,
}

// SAFETY: a lease gives out `&T` (T: Sync) and may move the value out (T: Send) on
// whatever thread it is; all else that it touches is atomic.
unsafe impl<T: Send + Sync, G> Send for Lease<'_, T, G> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send + Sync, G> Sync for Lease<'_, T, G> {}

impl<'p, T, G> Lease<'p, T, G> {
    /// # Safety
    /// `slot` was pinned for this lease, and `handle` names it.
    pub(crate) unsafe fn new(slot: Leased<'p, T>, handle: Handle<G>) -> Self {
        Self { slot, handle }
    }

    /// The handle that this is a lease of.
    #[must_use]
    pub fn handle(&self) -> Handle<G> {
        self.handle
    }

    /// A weak lease of the same value.
    #[must_use]
    pub fn downgrade(&self) -> WeakLease<'p, T, G> {
        WeakLease {
            slot: self.slot,
            handle: self.handle,
        }
    }

    /// Ends the lease. `Some` when the slot was released meanwhile and this was its last
    /// lease: the value is then the caller's to destroy.
    #[must_use = "the value of a released slot is the caller's to destroy"]
    pub fn release(self) -> Option<T> {
        let lease = ManuallyDrop::new(self);
        let Leased {
            state,
            value,
            bitmap,
        } = lease.slot;
        // SAFETY: this lease was made by `pin`, and its destructor no longer runs.
        if !unsafe { state.unpin() } {
            return None;
        }
        // SAFETY: we are the owner of a retiring slot without leases, so its value is
        // there and nobody else's. `with_mut`, because a move out is a write.
        let value = value.with_mut(|cell| unsafe { (*cell).assume_init_read() });
        // SAFETY: the slot is ours and its value has been moved out.
        if unsafe { state.vacate() } {
            bitmap.leave(lease.at());
        }
        Some(value)
    }

    /// The slot's place in its group.
    fn at(&self) -> usize {
        self.handle.index() % GROUP
    }
}

impl<T, G> Deref for Lease<'_, T, G> {
    type Target = T;

    fn deref(&self) -> &T {
        self.slot.value.with(|cell| {
            // SAFETY: the lease lives as long as the reference that borrows it; under it
            // the value is there and nobody moves or changes it.
            unsafe { (*cell).assume_init_ref() }
        })
    }
}

impl<T, G> Drop for Lease<'_, T, G> {
    fn drop(&mut self) {
        // SAFETY: this lease was made by `pin` and ends here.
        if unsafe { self.slot.state.unpin() } {
            self.slot.bitmap.leave(self.at());
        }
    }
}

// Without the value, so that a result can be unwrapped or logged whatever it is.
impl<T, G: Tag> fmt::Debug for Lease<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.handle).finish()
    }
}

/// A weak lease: keeps nothing alive, and [`promote`](Self::promote) makes a strong one of
/// it while the value has not been released.
///
/// Holding one costs nothing and is counted nowhere. The slot's memory stays where it is as
/// long as the store does, and the generation says whether the value is still the same.
pub struct WeakLease<'p, T, G> {
    slot: Leased<'p, T>,
    handle: Handle<G>,
}

// SAFETY: as for `Lease`, which a weak lease can become on any thread.
unsafe impl<T: Send + Sync, G> Send for WeakLease<'_, T, G> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send + Sync, G> Sync for WeakLease<'_, T, G> {}

impl<'p, T, G> WeakLease<'p, T, G> {
    /// `handle` need not name a value (any more); its index is that of `slot`.
    pub(crate) fn new(slot: Leased<'p, T>, handle: Handle<G>) -> Self {
        Self { slot, handle }
    }

    /// The handle that this is a lease of.
    #[must_use]
    pub fn handle(&self) -> Handle<G> {
        self.handle
    }

    /// Where the slot is: no other slot of any store that is there is at the same place.
    pub(crate) fn slot_address(&self) -> usize {
        core::ptr::from_ref(self.slot.state).addr()
    }

    /// A strong lease, if the value has not been released.
    ///
    /// # Errors
    /// As [`Slots::get`](crate::Slots::get).
    pub fn promote(&self) -> Result<Lease<'p, T, G>, HandleError> {
        self.promote_with(Ordering::Acquire)
    }

    /// As `promote`; with AcqRel, whoever sees the lease sees what the caller did before.
    pub(crate) fn promote_with(&self, order: Ordering) -> Result<Lease<'p, T, G>, HandleError> {
        self.slot.state.pin_with(self.handle.generation(), order)?;
        // SAFETY: just pinned, for this handle.
        Ok(unsafe { Lease::new(self.slot, self.handle) })
    }
}

impl<T, G> Clone for WeakLease<'_, T, G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, G> Copy for WeakLease<'_, T, G> {}

impl<T, G: Tag> fmt::Debug for WeakLease<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakLease").field(&self.handle).finish()
    }
}
