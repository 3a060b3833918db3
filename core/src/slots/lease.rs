//! `Lease`: a reference that keeps a value in its slot, alive.
//!
//! A lease never runs the value's destructor: destroying a CUDA object on the thread that
//! happens to end its use is how deadlocks are made. The last lease of a released slot
//! returns the value, or leaves it for `reap`.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;

use super::error::HandleError;
use super::group::{Bitmap, Place};
use super::payload::{InCell, ValueCell};
use super::state::State;
use super::{Layout, Policy, Slots};
use crate::handle::{Handle, Tag};
use crate::sync::GROUP;

/// The parts of a slot that its leases need, of whatever type its errors are.
pub(crate) struct Leased<'p, T> {
    state: &'p State,
    value: &'p ValueCell<T>,
    bitmap: &'p Bitmap,
}

impl<'p, T, E> From<Place<'p, InCell<T, E>>> for Leased<'p, T> {
    fn from(place: Place<'p, InCell<T, E>>) -> Self {
        Self {
            state: &place.slot.state,
            value: &place.slot.cell.value,
            bitmap: place.bitmap,
        }
    }
}

/// A counted reference to a value of a store, which stays in its slot, alive, until the
/// lease ends.
///
/// A lease ends by [`release`](Self::release), which returns the value when this was the last
/// lease of a released slot, or by being dropped, which then leaves the value for
/// [`Slots::reap`](crate::Slots::reap).
#[doc(alias = "pin")]
pub struct Lease<'p, T, G> {
    slot: Leased<'p, T>,
    handle: Handle<G>,
}

// SAFETY: a lease gives out `&T` (T: Sync) and may move the value out (T: Send) on the
// thread that it is on; all else that it touches is atomic.
unsafe impl<T: Send + Sync, G> Send for Lease<'_, T, G> {}
// SAFETY: a shared lease gives out `&T` (T: Sync) and nothing else.
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
        // SAFETY: `State::unpin` needs a lease from `pin` that is not used afterwards: `new`
        // was given one, and `ManuallyDrop` keeps the destructor from ending it again.
        if !unsafe { state.unpin() } {
            return None;
        }
        // SAFETY: `unpin` made this thread the owner of a retiring slot without leases, so
        // the value is there and no other thread touches it. `with_mut`, because a move out
        // is a write.
        let value = value.with_mut(|cell| unsafe { (*cell).assume_init_read() });
        // SAFETY: `State::vacate` needs an owner and an empty cell: this thread owns the
        // slot, and has just moved the value out.
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
            // SAFETY: the returned reference borrows the lease, and as long as the lease
            // lives the value is there and no thread moves or changes it.
            unsafe { (*cell).assume_init_ref() }
        })
    }
}

impl<T, G> Drop for Lease<'_, T, G> {
    fn drop(&mut self) {
        // SAFETY: `State::unpin` needs a lease from `pin` that is not used afterwards: `new`
        // was given one, and a dropped lease is not used again.
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
        // SAFETY: `Lease::new` needs a slot pinned for this lease, whose life `handle` names:
        // `pin` has just succeeded for the handle's generation.
        Ok(unsafe { Lease::new(place.into(), handle) })
    }
}
