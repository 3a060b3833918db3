//! The standard library's locks, or loom's under the models.

use std::sync::PoisonError;
use std::time::Duration;

#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

/// Locks a mutex whose holders leave the value whole at every step, so that a panic of one of them
/// does no harm.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sleeps until `condition` is told, or so long; the lock is free meanwhile. Loom knows no time: a thread
/// that is not told sleeps for ever there.
pub(crate) fn wait<'l, T>(
    condition: &Condvar,
    held: MutexGuard<'l, T>,
    timeout: Duration,
) -> MutexGuard<'l, T> {
    let woken = condition.wait_timeout(held, timeout);
    woken.unwrap_or_else(PoisonError::into_inner).0
}
