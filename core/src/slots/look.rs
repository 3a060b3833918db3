//! Looking at values: under a lease, or at a word without one.

use super::error::HandleError;
use super::lease::{Lease, WeakLease};
use super::payload::{Bits, InCell, InWord};
use super::word::{Phase, Word};
use super::{Layout, Policy, Slots};
use crate::handle::{Handle, Tag};
use crate::sync::Ordering;

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
    /// The value that `handle` names, without a lease: loads (three, and one more to find a
    /// pool's chunk) and no write, however many threads look. The value may be released as soon
    /// as this returns.
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
            if word == alive || mutant!("slots_peek_looks_once") {
                return Ok(W::from_bits(bits));
            }
        }
        word.check(handle.generation())?;
        Err(HandleError::Closed)
    }
}
