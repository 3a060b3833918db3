//! `Lease`: a value that stays alive while it is looked at. `Vacancy`: a slot that is
//! reserved before its value exists.
//!
//! A lease never runs the value's destructor: destroying a CUDA object on whatever thread
//! happens to let go last is how deadlocks are made. The last lease of a released slot
//! returns the value, or leaves it for `reap`.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;

use super::InsertError;
use super::group::Place;
use crate::handle::{Handle, Tag};

/// A strong lease: the value stays in its slot, alive, until the lease ends.
///
/// Ends by [`release`](Self::release), which returns the value when this was the last
/// lease of a released slot, or by being dropped, which then leaves the value for the
/// store's `reap`.
pub struct Lease<'p, T, G> {
    place: Place<'p, T>,
    handle: Handle<G>,
}

impl<'p, T, G> Lease<'p, T, G> {
    /// # Safety
    /// `place` was pinned for this lease, and `handle` names it.
    pub(crate) unsafe fn new(place: Place<'p, T>, handle: Handle<G>) -> Self {
        Self { place, handle }
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
        let place = ManuallyDrop::new(self).place;
        // SAFETY: this lease was made by `pin`, and its destructor no longer runs.
        let last = unsafe { place.slot.unpin() };
        // SAFETY: `last` makes us the owner of a retiring slot without leases.
        last.then(|| unsafe { place.take() })
    }
}

impl<T, G> Deref for Lease<'_, T, G> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lease lives as long as the reference that borrows it.
        unsafe { self.place.slot.get() }
    }
}

impl<T, G> Drop for Lease<'_, T, G> {
    fn drop(&mut self) {
        // SAFETY: this lease was made by `pin` and ends here.
        if unsafe { self.place.slot.unpin() } {
            self.place.retire();
        }
    }
}

// Without the value, so that a result can be unwrapped or logged whatever it is.
impl<T, G: Tag> fmt::Debug for Lease<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.handle).finish()
    }
}

/// A reserved slot: it has its handle and waits for its value.
///
/// Until [`fill`](Self::fill) the handle is refused with `NotReady`. Dropped unfilled, it
/// gives the slot back and the handle is stale for ever.
#[must_use = "an unfilled vacancy gives its slot back"]
pub struct Vacancy<'p, T, G> {
    place: Place<'p, T>,
    handle: Handle<G>,
}

impl<'p, T, G> Vacancy<'p, T, G> {
    /// # Safety
    /// The caller owns `place`, has begun its life with the generation of `handle`, and
    /// leaves both to the vacancy.
    pub(crate) unsafe fn new(place: Place<'p, T>, handle: Handle<G>) -> Self {
        Self { place, handle }
    }

    /// The handle that will name the value.
    #[must_use]
    pub fn handle(&self) -> Handle<G> {
        self.handle
    }

    /// Stores the value.
    ///
    /// # Errors
    /// [`InsertError::Closed`] with the value when the store was closed meanwhile.
    pub fn fill(self, value: T) -> Result<Handle<G>, InsertError<T>> {
        // SAFETY: a vacancy owns its slot, which is initialising.
        match unsafe { self.place.slot.publish(value) } {
            Ok(_) => Ok(ManuallyDrop::new(self).handle),
            Err(value) => Err(InsertError::Closed(value)),
        }
    }
}

impl<T, G> Drop for Vacancy<'_, T, G> {
    fn drop(&mut self) {
        // SAFETY: a vacancy owns its slot, which was never given a value.
        if unsafe { self.place.slot.vacate() } {
            self.place.free();
        }
    }
}

impl<T, G: Tag> fmt::Debug for Vacancy<'_, T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vacancy").field(&self.handle).finish()
    }
}
