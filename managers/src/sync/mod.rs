//! Locks, fences and counts that know nothing of CUDA, and the choice between the standard library
//! and loom.
//!
//! * [`spin_lock`] for sections of tens of nanoseconds; [`biased_lock`] for a section that one
//!   thread enters nearly always, over an [`asymmetric_fence`].
//! * [`capacity`]: a limit on how many objects exist. [`shutdown_gate`]: whether a manager hands
//!   objects out.
//! * The end of an object waits for its borrowers ([`rundown`]) and for destructors of threads
//!   ([`thread_exit`]). [`deferred`] callbacks run when a thread holds no lock.
//! * [`event_count`]: a count that is seen after what it counts.
//! * [`once_wait`]: threads that wait for the thread that makes an object. [`lazy_box`], [`lazy_arc`]: a
//!   value that is made when it is first needed.
//!
//! Types that threads share are the standard library's, or loom's under the models. Counters and
//! statics that no model looks at are the standard library's everywhere.

pub(crate) mod asymmetric_fence;
pub(crate) mod biased_lock;
pub(crate) mod capacity;
pub(crate) mod deferred;
pub(crate) mod event_count;
pub(crate) mod lazy_arc;
pub(crate) mod lazy_box;
#[cfg(loom)]
mod once;
pub(crate) mod once_wait;
pub(crate) mod rundown;
pub(crate) mod shutdown_gate;
pub(crate) mod spin_lock;
pub(crate) mod thread_exit;
pub(crate) mod thread_number;

use std::sync::{Mutex as StdMutex, MutexGuard as StdMutexGuard};

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

/// Locks a mutex whose holders leave the value whole at every step, so that a panic of one of them
/// does no harm.
pub(crate) fn lock<T>(mutex: &StdMutex<T>) -> StdMutexGuard<'_, T> {
    // Not `unwrap_or_else`: three functions more for each type.
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

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
