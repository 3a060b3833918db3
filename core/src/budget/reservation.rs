//! `Reservation`: bytes that are charged until it is decided whether they are needed.

use core::fmt;
use core::mem::ManuallyDrop;

use super::{Budget, OverBudget};

/// Bytes charged for something that is being created. Dropping it gives them back.
#[must_use = "a dropped reservation gives its bytes back"]
pub struct Reservation<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl<'b> Reservation<'b> {
    /// `bytes` have just been charged to `budget`.
    #[inline]
    pub(super) fn new(budget: &'b Budget, bytes: u64) -> Self {
        Self { budget, bytes }
    }

    /// The bytes charged.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Charges `more` bytes.
    ///
    /// # Errors
    /// [`OverBudget`] when they do not fit; the reservation stays as it is then.
    #[inline]
    pub fn grow(&mut self, more: u64) -> Result<(), OverBudget> {
        // Both are charged to one budget at a time, so the sum is at most its limit.
        self.bytes += self.budget.charge(more, more)?;
        Ok(())
    }

    /// Gives back what is more than `bytes`, when the thing has turned out smaller.
    #[inline]
    pub fn shrink_to(&mut self, bytes: u64) {
        if let Some(rest) = self.split(self.bytes.saturating_sub(bytes)) {
            rest.cancel();
        }
    }

    /// Parts with `bytes`, which become a reservation of their own: for one charge that
    /// several things are made under. `None` when fewer are charged. What is in use does
    /// not change.
    #[inline]
    pub fn split(&mut self, bytes: u64) -> Option<Self> {
        let rest = self.bytes.checked_sub(bytes)?;
        self.bytes = rest;
        Some(Self::new(self.budget, bytes))
    }

    /// The thing exists: its bytes stay charged until [`Budget::release`] is called with
    /// the number returned here.
    #[must_use = "the bytes stay charged until they are released"]
    #[inline]
    pub fn commit(self) -> u64 {
        ManuallyDrop::new(self).bytes
    }

    /// The thing was not created: gives the bytes back. The same as dropping.
    #[inline]
    pub fn cancel(self) {}
}

impl Drop for Reservation<'_> {
    #[inline]
    fn drop(&mut self) {
        // Our bytes are part of what is in use, so this fails only when somebody released
        // more than was theirs; `release` has nothing to tell them here.
        let _ = self.budget.release(self.bytes);
    }
}

impl fmt::Debug for Reservation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reservation").field(&self.bytes).finish()
    }
}
