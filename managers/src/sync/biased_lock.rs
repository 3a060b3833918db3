//! `BiasedLock`: a lock that costs its owner next to nothing.
//!
//! One thread, the owner, enters and leaves with plain loads and stores. Any other thread may
//! revoke the bias, which takes microseconds. The owner writes that it is inside and then reads
//! whether a revocation is wanted; the revoking thread writes that it wants one and then reads
//! whether the owner is inside. The [asymmetric fence](AsymmetricFence) in between makes sure that
//! at least one sees the other, and it is the owner that gives way.
//!
//! In the child of a fork the owner may be inside for ever, or a thread of the parent may have the
//! gate, so a child must not revoke a bias of its parent's: as before any lock, a caller asks
//! whether the process has forked first.

use std::sync::PoisonError;

use crate::sync::asymmetric_fence::AsymmetricFence;
use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, Ordering};

/// In `wanted`: a thread has the gate, and wants the owner out.
const REVOKED: u32 = 1 << 31;

/// An owner-biased lock, with flags that keep the owner out.
pub(crate) struct BiasedLock {
    /// The owner is inside, or looks whether it may be. Written by the owner alone.
    inside: AtomicBool,
    barrier: AsymmetricFence,
    /// [`REVOKED`], and the flags. While it is not 0 the owner does not enter.
    wanted: AtomicU32,
    /// Held by the thread that revokes.
    gate: Mutex<()>,
}

impl BiasedLock {
    /// A lock that no thread has.
    pub(crate) fn new() -> Self {
        Self::with(AsymmetricFence::of_process())
    }

    pub(super) fn with(barrier: AsymmetricFence) -> Self {
        Self {
            inside: AtomicBool::new(false),
            barrier,
            wanted: AtomicU32::new(0),
            gate: Mutex::new(()),
        }
    }

    /// Enters: true when the caller is inside, until it [leaves](Self::leave_as_owner). False when
    /// another thread revokes the bias or a flag is set: then it is outside, and has seen nothing.
    ///
    /// # Safety
    /// The caller is the lock's owner: there is one at a time, and what an earlier one did
    /// comes before. It is not inside.
    #[inline(always)]
    pub(crate) unsafe fn enter_as_owner(&self) -> bool {
        self.inside.store(true, Ordering::Relaxed);
        if !mutant!("biased_lock_enter_without_barrier") {
            self.barrier.light();
        }
        // Writes of a revocation come before this section.
        if self.wanted.load(Ordering::Acquire) == 0 {
            return true;
        }
        self.refuse();
        false
    }

    #[cold]
    fn refuse(&self) {
        // A thread that sees this store, and not the one of `enter`, comes after that section too.
        self.inside.store(false, Ordering::Release);
    }

    /// Leaves.
    ///
    /// # Safety
    /// The caller is the owner, and inside.
    #[inline(always)]
    pub(crate) unsafe fn leave_as_owner(&self) {
        // The section comes before a revocation that sees this store.
        self.inside.store(false, Ordering::Release);
    }

    /// Keeps the owner and all other threads out until the value is dropped. Waits for them:
    /// the owner's sections must be short. A thread that is inside or has a revocation would
    /// wait for itself.
    pub(crate) fn revoke(&self) -> Revocation<'_> {
        let revocation = self.request();
        if !mutant!("biased_lock_revoke_without_barrier") {
            self.barrier.heavy();
        }
        revocation.wait();
        revocation
    }

    /// Revokes all of these at the price of one. Threads that revoke several at once do so in the
    /// same order, or under one lock.
    pub(crate) fn revoke_all<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Revocation<'a>> {
        let mut revocations = Vec::new();
        for lock in all {
            if revocations.is_empty() && mutant!("biased_lock_barrier_before_all_are_wanted") {
                lock.barrier.heavy();
            }
            revocations.push(lock.request());
        }
        // The barrier is the process's, and makes no difference between locks: each is wanted
        // before it, and each owner is looked for after it.
        if let Some(first) = revocations.first()
            && !mutant!("biased_lock_barrier_before_all_are_wanted")
        {
            first.lock.barrier.heavy();
        }
        for revocation in &revocations {
            revocation.wait();
        }
        revocations
    }

    /// Keeps all others out, and says to the owner that it is to stay out.
    fn request(&self) -> Revocation<'_> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.fetch_or(REVOKED, Ordering::Relaxed);
        Revocation {
            lock: self,
            _gate: gate,
        }
    }

    /// Keeps all other threads out until the value is dropped, for an owner that may not enter:
    /// waits for the thread that has a revocation, and not for flags. It needs no fence: the owner
    /// alone is ever inside, and other threads revoke under the gate that this takes.
    ///
    /// # Safety
    /// As [`enter_as_owner`](Self::enter_as_owner).
    pub(crate) unsafe fn lock_as_owner(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets flags. The owner is out when this returns, and does not enter as long as there
    /// is one. As with [`revoke`](Self::revoke), a thread that is inside would wait for itself.
    pub(crate) fn set_flags(&self, bits: u32) {
        if mutant!("biased_lock_flags_do_not_wait") {
            self.wanted.fetch_or(bits, Ordering::Release);
            return;
        }
        self.revoke().set_flags(bits);
    }

    /// As [`set_flags`](Self::set_flags), for an owner that [holds](Self::lock_as_owner) the lock: it is
    /// out, so it waits for no thread.
    pub(crate) fn set_own_flags(&self, bits: u32) {
        debug_assert_eq!(bits & REVOKED, 0);
        self.wanted.fetch_or(bits & !REVOKED, Ordering::Relaxed);
    }

    /// Clears flags. What was done before comes before the owner's next section.
    pub(crate) fn clear_flags(&self, bits: u32) {
        self.wanted.fetch_and(!bits | REVOKED, Ordering::Release);
    }

    /// The flags that are set. They order nothing: the owner looks at them where it is inside, or
    /// holds the lock.
    pub(crate) fn flags(&self) -> u32 {
        self.wanted.load(Ordering::Relaxed) & !REVOKED
    }
}

/// A revoked bias: the thread that has it is inside. Dropping it lets the owner in again.
pub(crate) struct Revocation<'a> {
    lock: &'a BiasedLock,
    _gate: MutexGuard<'a, ()>,
}

impl Revocation<'_> {
    /// Sets flags, which stay when the revocation ends.
    pub(crate) fn set_flags(&self, bits: u32) {
        debug_assert_eq!(bits & REVOKED, 0);
        self.lock
            .wanted
            .fetch_or(bits & !REVOKED, Ordering::Relaxed);
    }

    /// Waits for the owner, after a barrier.
    fn wait(&self) {
        let mut turns = 0;
        while self.lock.inside.load(Ordering::Acquire) {
            pause(turns);
            turns += 1;
        }
    }
}

impl Drop for Revocation<'_> {
    fn drop(&mut self) {
        // Whatever changes `wanted` after this goes on its release: all are exchanges.
        self.lock.wanted.fetch_and(!REVOKED, Ordering::Release);
    }
}

/// Between two looks: the owner is out in nanoseconds, unless it is not running.
fn pause(turns: u32) {
    #[cfg(not(loom))]
    if turns < 128 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
    #[cfg(loom)]
    {
        let _ = turns;
        loom::thread::yield_now();
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
