//! The object pool's seam without std: a shared box and a lock that the sanitizer sees through.

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::PoisonError;
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

#[path = "../../src/sync/thread_number.rs"]
#[allow(dead_code)]
pub(crate) mod thread_number;

/// As `std::sync::Arc`, whose last drop has a fence, which the sanitizer does not know.
pub(crate) struct Arc<T>(NonNull<(AtomicUsize, T)>);

// SAFETY: as std's.
unsafe impl<T: Send + Sync> Send for Arc<T> {}
// SAFETY: as std's.
unsafe impl<T: Send + Sync> Sync for Arc<T> {}

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new((
            AtomicUsize::new(1),
            value,
        )))))
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: alive as long as the count is not zero, and `self` counts.
        unsafe { &self.0.as_ref().1 }
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        // SAFETY: as above.
        unsafe { &self.0.as_ref().0 }.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        // SAFETY: as above.
        let before = unsafe { &self.0.as_ref().0 }.fetch_sub(1, Ordering::AcqRel);
        if before == 1 {
            // SAFETY: from `new`, and that was the last one.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

/// A lock of the C library's.
pub(crate) struct Mutex<T> {
    lock: std::cell::UnsafeCell<libc::pthread_mutex_t>,
    value: std::cell::UnsafeCell<T>,
}

// SAFETY: the value is reached under the lock only.
unsafe impl<T: Send> Sync for Mutex<T> {}
// SAFETY: the lock is moved only while no thread holds it, before its first use.
unsafe impl<T: Send> Send for Mutex<T> {}

pub(crate) struct MutexGuard<'m, T>(&'m Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            lock: std::cell::UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            value: std::cell::UnsafeCell::new(value),
        }
    }

    /// Never poisoned; returns what std's does.
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, T>, PoisonError<MutexGuard<'_, T>>> {
        // SAFETY: initialised, and it stays where it is once it is shared.
        assert_eq!(unsafe { libc::pthread_mutex_lock(self.lock.get()) }, 0);
        Ok(MutexGuard(self))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: we have the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> std::ops::DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: locked by this thread.
        unsafe { libc::pthread_mutex_unlock(self.0.lock.get()) };
    }
}

/// `std::cell::UnsafeCell` behind the closure interface that the crate's seam has.
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Callbacks of the user, of which there are none here.
pub(crate) mod deferred {
    pub(crate) struct DeferCallbacks;

    impl DeferCallbacks {
        pub(crate) fn new() -> Self {
            Self
        }
    }
}
