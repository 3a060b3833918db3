//! The standard library's locks, or loom's under the models.

use std::sync::PoisonError;

#[cfg(not(loom))]
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

#[cfg(loom)]
pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Locks a mutex whose holders leave the value whole at every step, so that a panic of one of them
/// does no harm.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps until `condition` is told; the lock is free meanwhile.
pub(super) fn wait<'l, T>(condition: &Condvar, held: MutexGuard<'l, T>) -> MutexGuard<'l, T> {
    condition.wait(held).unwrap_or_else(PoisonError::into_inner)
}
