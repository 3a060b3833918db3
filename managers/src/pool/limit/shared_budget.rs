//! `SharedBudget`: an account of bytes that other processes charge too.

use std::fmt;

use cupola_core::OverBudget;

/// An account of bytes that is kept outside of this process's managers, as one that several processes
/// have in common. A limit of [`DeviceLimit::within`](crate::pool::DeviceLimit::within) charges it together
/// with its own bytes, always both or neither.
///
/// The crate `cupola-sharing` has one, `Ledger`, in shared memory.
pub trait SharedBudget: fmt::Debug + Send + Sync {
    /// Charges `bytes`. It is called with a spin lock taken, so it waits for nothing and makes no call
    /// of the system that may block.
    ///
    /// # Errors
    /// [`OverBudget`] when the bytes do not fit; nothing is charged then.
    fn charge(&self, bytes: u64) -> Result<(), OverBudget>;

    /// Ends the charge of `bytes`, which this process has charged.
    fn release(&self, bytes: u64);

    /// Bytes that all have charged.
    fn used(&self) -> u64;

    /// The limit of all in bytes. It may change.
    fn limit(&self) -> u64;

    /// Takes back what is charged to those that no longer exist: processes that have ended. How many
    /// bytes came back, 0 where there was nothing to take. It is called where a charge was refused, with no
    /// lock taken, and the charge is tried again until this returns 0, and once more then: others may have taken
    /// back meanwhile what was refused for.
    fn reclaim(&self) -> u64;
}
