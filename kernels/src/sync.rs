//! The standard library's locks and threads, or loom's under the models.

use std::sync::PoisonError;

#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread;

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread;

/// Locks a mutex whose holders leave the value whole at every step, so that a panic of one of them
/// does no harm.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps until `condition` is told; the lock is free meanwhile.
pub(crate) fn wait<'l, T>(condition: &Condvar, held: MutexGuard<'l, T>) -> MutexGuard<'l, T> {
    condition.wait(held).unwrap_or_else(PoisonError::into_inner)
}
