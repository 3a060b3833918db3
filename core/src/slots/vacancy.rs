//! `Vacancy`: a slot that is reserved before its value exists.

use core::fmt;
use core::mem::ManuallyDrop;

use super::error::InsertError;
use super::group::Place;
use super::payload::Payload;
use crate::handle::{Handle, Tag};

/// A reserved slot: it has its handle and waits for its value.
///
/// Until [`fill`](Self::fill) the handle is refused with `NotReady`. Dropped unfilled, it
/// gives the slot back and the handle is stale for ever. Forgotten, it keeps its slot, which
/// then counts as held.
#[must_use = "an unfilled vacancy gives its slot back"]
pub struct Vacancy<'p, C: Payload, G> {
    place: Place<'p, C>,
    handle: Handle<G>,
}

impl<'p, C: Payload, G> Vacancy<'p, C, G> {
    /// # Safety
    /// The caller owns `place`, has begun its life with the generation of `handle`, and
    /// leaves both to the vacancy.
    pub(crate) unsafe fn new(place: Place<'p, C>, handle: Handle<G>) -> Self {
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
    pub fn fill(self, value: C::Value) -> Result<Handle<G>, InsertError<C::Value>> {
        // SAFETY: `Slot::publish` needs the owner of a slot that is filling or vacant: `new`
        // was given the ownership and a life that has begun as filling.
        match unsafe { self.place.slot.publish(value) } {
            Ok(_) => Ok(ManuallyDrop::new(self).handle),
            Err(value) => Err(InsertError::Closed(value)),
        }
    }
}

impl<C: Payload, G> Drop for Vacancy<'_, C, G> {
    fn drop(&mut self) {
        // SAFETY: `State::vacate` needs the owner of a slot without a value: `new` was given
        // the ownership, and `fill` disarms this destructor when it has stored a value.
        if unsafe { self.place.slot.state.vacate() } {
            self.place.rest();
        }
    }
}

impl<C: Payload, G: Tag> fmt::Debug for Vacancy<'_, C, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vacancy").field(&self.handle).finish()
    }
}
