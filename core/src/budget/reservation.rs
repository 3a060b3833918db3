//! `Reservation`: bytes that are charged while the object that needs them is created.

use core::fmt;
use core::mem::ManuallyDrop;

use super::Budget;

/// Bytes charged for an object that is being created. Dropping it gives them back, as when the
/// object was not created.
#[must_use = "a dropped reservation gives its bytes back"]
pub struct Reservation<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl<'b> Reservation<'b> {
    /// Takes over `bytes` that have just been charged to `budget`.
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

    /// Keeps the bytes charged, for an object that exists, until [`Budget::release`] is called
    /// with the number returned here.
    #[must_use = "the bytes stay charged until they are released"]
    #[inline]
    pub fn commit(self) -> u64 {
        ManuallyDrop::new(self).bytes
    }
}

impl Drop for Reservation<'_> {
    #[inline]
    fn drop(&mut self) {
        // These bytes are part of those in use, so `release` fails only when other code
        // released more than it had charged, and a destructor cannot report that.
        let _ = self.budget.release(self.bytes);
    }
}

impl fmt::Debug for Reservation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reservation").field(&self.bytes).finish()
    }
}
