//! Locks that outlive a panic: what they guard is consistent between any two statements
//! that can panic, so a poisoned lock is taken as it is.
//!
//! Lock order, outermost first: a device's primary slot, the machine's registries
//! (contexts, streams, events, modules, pools), an event's latest record, a context's
//! streams, the scheduler, a stream's queue, what a launch holds, the address space, the
//! table of mappings, a device's memory account, what a reservation shows, the pages of
//! the host. Then strict mode's: the history of freed memory, the order of work,
//! the findings; last a record's state. No lock is held while a kernel, a copy or a user's
//! function runs, except a primary slot while its context ends.

use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::Duration;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

/// Waits for at most that time; whether it is over comes back too.
pub(super) fn wait_timeout<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> (MutexGuard<'a, T>, bool) {
    let (guard, result) = condition
        .wait_timeout(guard, time)
        .unwrap_or_else(PoisonError::into_inner);
    (guard, result.timed_out())
}
