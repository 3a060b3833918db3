//! `SpinLock`: a spin lock that yields.
//!
//! Sections are tens of nanoseconds long and make no call of the driver. (Off the common way some
//! are longer: linear in the pieces and pages of a heap, and some of these allocate on the host.)
//!
//! Locking is one exchange and unlocking a plain store; the standard mutex unlocks with an
//! exchange too, which is half of what a miss of the magazines would cost. A thread that has
//! waited for longer than such a section takes yields the processor, because the owner of the lock
//! may have lost its own.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::sync::{AtomicBool, Ordering, UnsafeCell};

/// Looks at the lock before the waiting thread yields.
#[cfg(not(loom))]
const SPINS: u32 = 64;

pub(crate) struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives the value to one thread at a time, so sharing it needs `T: Send` alone.
unsafe impl<T: Send> Sync for SpinLock<T> {}

pub(crate) struct SpinLockGuard<'a, T>(&'a SpinLock<T>, PhantomData<&'a mut T>);

impl<T> fmt::Debug for SpinLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpinLock")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<T> SpinLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks. A thread that has the lock already would wait for itself.
    #[inline]
    pub(crate) fn lock(&self) -> SpinLockGuard<'_, T> {
        if self.try_take() {
            return SpinLockGuard(self, PhantomData);
        }
        self.wait()
    }

    /// Locks, and tells whether another thread had the lock.
    #[inline]
    pub(crate) fn lock_contended(&self) -> (SpinLockGuard<'_, T>, bool) {
        if self.try_take() {
            return (SpinLockGuard(self, PhantomData), false);
        }
        (self.wait(), true)
    }

    /// Locks, unless another thread has the lock for so many looks.
    #[inline]
    pub(crate) fn try_lock(&self, looks: u32) -> Option<SpinLockGuard<'_, T>> {
        if self.try_take() || self.try_take_again(looks) {
            return Some(SpinLockGuard(self, PhantomData));
        }
        None
    }

    #[cold]
    fn try_take_again(&self, looks: u32) -> bool {
        (1..looks).any(|_| {
            std::hint::spin_loop();
            self.try_take()
        })
    }

    #[inline]
    fn try_take(&self) -> bool {
        if mutant!("spin_lock_is_shared") {
            self.taken.store(true, Ordering::Relaxed);
            return true;
        }
        self.taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn wait(&self) -> SpinLockGuard<'_, T> {
        let mut looks = 0;
        loop {
            if !self.taken.load(Ordering::Relaxed) && self.try_take() {
                return SpinLockGuard(self, PhantomData);
            }
            pause(looks);
            looks += 1;
        }
    }
}

impl<T> Deref for SpinLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for SpinLockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock, and is borrowed alone.
        self.0.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for SpinLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Pairs with the Acquire in `try_take`.
        self.0.taken.store(false, Ordering::Release);
    }
}

/// Between two looks.
fn pause(looks: u32) {
    #[cfg(not(loom))]
    if looks < SPINS {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
    #[cfg(loom)]
    {
        let _ = looks;
        loom::thread::yield_now();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    // Without exclusion counts would be lost.
    #[test]
    fn one_thread_at_a_time_has_the_value() {
        let counter = SpinLock::new(0_u64);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = counter.lock();
                        let before = *count;
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*counter.lock(), 80_000);
    }
}
