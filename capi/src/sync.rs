//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it. What a thread has left that panicked within is whole: nothing under these locks is done by halves.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
