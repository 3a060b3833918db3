//! `Short`: a lock for sections of tens of nanoseconds, in which no call of the driver is made. (Off
//! the common way some are longer: linear in the pieces and pages of a heap, and some of these have
//! memory of the host allocated.)
//!
//! Taking it is one exchange and leaving it a plain store; the standard mutex leaves with an
//! exchange too, which is half of what a miss of the magazines would cost. Who has waited for
//! longer than such a section takes gives up the processor: the owner may have lost it.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::sync::{AtomicBool, Ordering, UnsafeCell};

/// Looks at the lock before the waiter yields.
#[cfg(not(loom))]
const SPINS: u32 = 64;

pub(crate) struct Short<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the value.
unsafe impl<T: Send> Sync for Short<T> {}

pub(crate) struct ShortGuard<'a, T>(&'a Short<T>, PhantomData<&'a mut T>);

impl<T> Short<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Never within another section of the same lock.
    #[inline]
    pub(crate) fn lock(&self) -> ShortGuard<'_, T> {
        if self.try_take() {
            return ShortGuard(self, PhantomData);
        }
        self.wait()
    }

    #[inline]
    fn try_take(&self) -> bool {
        self.taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn wait(&self) -> ShortGuard<'_, T> {
        let mut looks = 0;
        loop {
            if !self.taken.load(Ordering::Relaxed) && self.try_take() {
                return ShortGuard(self, PhantomData);
            }
            pause(looks);
            looks += 1;
        }
    }
}

impl<T> Deref for ShortGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        self.0.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for ShortGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard has the lock, and is borrowed alone.
        self.0.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for ShortGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let order = if mutant!("short_relaxed_leave") {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        self.0.taken.store(false, order);
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
        let counter = Short::new(0_u64);
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
