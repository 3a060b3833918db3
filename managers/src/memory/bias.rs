//! `Bias`: a lock that costs its owner next to nothing.
//!
//! One thread, the owner, enters and leaves with plain loads and stores. Any other thread may
//! seize the lock, which takes microseconds. The owner says that it is inside and then looks
//! whether somebody wants the lock; who wants it says so and then looks whether the owner is
//! inside. The [barriers](Barrier) in between make sure that at least one sees the other, and
//! it is the owner that gives way.
//!
//! In the child of a fork the owner may be inside for ever, or another thread have the gate:
//! there nobody must seize a lock of the parent's. As before any lock, ask
//! [`not_forked`](crate::context::ContextCore::not_forked) first.

use std::sync::PoisonError;

use super::barrier::Barrier;
use crate::sync::{AtomicBool, AtomicU32, Mutex, MutexGuard, Ordering};

/// In `wanted`: somebody has the gate, and wants the owner out.
const SEIZED: u32 = 1 << 31;

/// An owner-biased lock, with flags that keep the owner out.
pub(crate) struct Bias {
    /// The owner is inside, or looks whether it may be. Written by the owner alone.
    inside: AtomicBool,
    barrier: Barrier,
    /// [`SEIZED`], and the flags. While it is not 0 the owner does not enter.
    wanted: AtomicU32,
    /// Held by the one who seizes.
    gate: Mutex<()>,
}

impl Bias {
    /// A lock that nobody has.
    pub(crate) fn new() -> Self {
        Self::with(Barrier::of_process())
    }

    pub(super) fn with(barrier: Barrier) -> Self {
        Self {
            inside: AtomicBool::new(false),
            barrier,
            wanted: AtomicU32::new(0),
            gate: Mutex::new(()),
        }
    }

    /// Enters: true when the caller is inside, until it [leaves](Self::leave). False when
    /// somebody seizes the lock or a flag is set: then it is outside, and has seen nothing.
    ///
    /// # Safety
    /// The caller is the lock's owner: there is one at a time, and what an earlier one did
    /// comes before. It is not inside.
    #[inline(always)]
    pub(crate) unsafe fn enter(&self) -> bool {
        self.inside.store(true, Ordering::Relaxed);
        if !mutant!("bias_enter_without_barrier") {
            self.barrier.light();
        }
        let order = if mutant!("bias_relaxed_enter") {
            Ordering::Relaxed
        } else {
            // What was done in a seizure comes before this section.
            Ordering::Acquire
        };
        if self.wanted.load(order) == 0 {
            return true;
        }
        self.refuse();
        false
    }

    #[cold]
    fn refuse(&self) {
        // Whoever sees this, and not the store before, comes after that section too.
        self.inside.store(false, Ordering::Release);
    }

    /// Leaves.
    ///
    /// # Safety
    /// The caller is the owner, and inside.
    #[inline(always)]
    pub(crate) unsafe fn leave(&self) {
        let order = if mutant!("bias_relaxed_leave") {
            Ordering::Relaxed
        } else {
            // The section comes before whatever is done in a seizure.
            Ordering::Release
        };
        self.inside.store(false, order);
    }

    /// Keeps the owner and everybody else out until the value is dropped. Waits for them:
    /// the owner's sections must be short. Not for who is inside or has a seizure: it would
    /// wait for itself.
    pub(crate) fn seize(&self) -> Seizure<'_> {
        let seizure = self.want();
        if !mutant!("bias_seize_without_barrier") {
            self.barrier.heavy();
        }
        seizure.wait();
        seizure
    }

    /// Seizes all of these at the price of one: who else seizes several at once must do so in the
    /// same order, or under one lock.
    pub(crate) fn seize_all<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Seizure<'a>> {
        let mut all = all.into_iter().peekable();
        let first = all.peek().copied();
        if let Some(first) = first
            && mutant!("bias_barrier_before_all_are_wanted")
        {
            first.barrier.heavy();
        }
        let seizures: Vec<_> = all.map(Self::want).collect();
        // The barrier is the process's, and makes no difference between locks: each is wanted
        // before it, and each owner is looked for after it.
        if let Some(first) = first
            && !mutant!("bias_barrier_before_all_are_wanted")
        {
            first.barrier.heavy();
        }
        seizures.iter().for_each(Seizure::wait);
        seizures
    }

    /// Keeps all others out, and says to the owner that it is to stay out.
    fn want(&self) -> Seizure<'_> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.fetch_or(SEIZED, Ordering::Relaxed);
        Seizure {
            bias: self,
            _gate: gate,
        }
    }

    /// Keeps everybody else out until the value is dropped, for an owner that may not enter:
    /// waits for who has a seizure, and not for flags. It takes no barrier: nobody but the
    /// owner is ever inside, and others seize the lock with the gate that this takes.
    ///
    /// # Safety
    /// As [`enter`](Self::enter).
    pub(crate) unsafe fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets flags. The owner is out when this returns, and does not enter as long as there
    /// is one. As [`seize`](Self::seize), not for who is inside.
    pub(crate) fn set_flags(&self, bits: u32) {
        if mutant!("bias_flags_do_not_wait") {
            self.wanted.fetch_or(bits, Ordering::Release);
            return;
        }
        self.seize().set_flags(bits);
    }

    /// As [`set_flags`](Self::set_flags), for an owner that [holds](Self::hold) the lock: it is
    /// out, so it waits for no thread.
    pub(crate) fn set_own_flags(&self, bits: u32) {
        debug_assert_eq!(bits & SEIZED, 0);
        self.wanted.fetch_or(bits & !SEIZED, Ordering::Relaxed);
    }

    /// Clears flags. What was done before comes before the owner's next section.
    pub(crate) fn clear_flags(&self, bits: u32) {
        self.wanted.fetch_and(!bits | SEIZED, Ordering::Release);
    }

    /// The flags that are set.
    pub(crate) fn flags(&self) -> u32 {
        self.wanted.load(Ordering::Acquire) & !SEIZED
    }
}

/// The lock, seized. Dropping it lets the owner in again.
pub(crate) struct Seizure<'a> {
    bias: &'a Bias,
    _gate: MutexGuard<'a, ()>,
}

impl Seizure<'_> {
    /// Sets flags, which stay when the seizure ends.
    pub(crate) fn set_flags(&self, bits: u32) {
        debug_assert_eq!(bits & SEIZED, 0);
        self.bias.wanted.fetch_or(bits & !SEIZED, Ordering::Relaxed);
    }

    /// Waits for the owner, after a barrier.
    fn wait(&self) {
        let mut turns = 0;
        while self.bias.inside.load(Ordering::Acquire) {
            pause(turns);
            turns += 1;
        }
    }
}

impl Drop for Seizure<'_> {
    fn drop(&mut self) {
        let order = if mutant!("bias_relaxed_release") {
            Ordering::Relaxed
        } else {
            // Whatever changes `wanted` after this goes on its release: all are exchanges.
            Ordering::Release
        };
        self.bias.wanted.fetch_and(!SEIZED, order);
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
