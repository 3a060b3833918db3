//! The one place that knows about loom: what threads share is the standard library's, or
//! loom's under the models. What no model looks at (counters, statics) is used as it is.

#[cfg(loom)]
mod once;

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};
#[cfg(loom)]
pub(crate) use once::OnceLock;

/// Declares variables that each thread has of its own.
#[cfg(not(loom))]
macro_rules! per_thread {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $first:expr;)*) => {
        std::thread_local! {
            $($(#[$doc])* static $name: $type = const { $first };)*
        }
    };
}
/// The same, of loom's threads.
#[cfg(loom)]
macro_rules! per_thread {
    ($($(#[$doc:meta])* static $name:ident: $type:ty = $first:expr;)*) => {
        loom::thread_local! {
            $($(#[$doc])* static $name: $type = $first;)*
        }
    };
}
pub(crate) use per_thread;

/// `std::cell::UnsafeCell` behind the closure interface that loom's cell has.
#[cfg(not(loom))]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Lends a pointer to read through. Whether reading is allowed is the caller's proof.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Lends a pointer to write through. Whether writing is allowed is the caller's proof.
    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
