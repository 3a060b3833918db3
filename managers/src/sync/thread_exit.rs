//! `ThreadExit`: a lock between destructors of thread-locals and the end of an object.
//!
//! A thread that exits gives its cached objects back. Its destructors may run after the scope that
//! spawned it has ended (`std::thread::scope` waits for closures only), so a reference that a
//! destructor holds must not count as a lease. A thread that ends an object, or counts its leases,
//! waits with [`ThreadExit::wait`] or [`ThreadExit::close`] for the destructors that use the
//! object; those that come later find it closed.

use std::sync::{Arc, PoisonError, Weak};

use crate::sync::{Mutex, MutexGuard};

/// The lock of one object. Clones share it.
#[derive(Clone)]
pub(crate) struct ThreadExit(Arc<State>);

struct State {
    is_over: Mutex<bool>,
    process: u32,
}

impl ThreadExit {
    pub(crate) fn new() -> Self {
        Self(Arc::new(State {
            is_over: Mutex::new(false),
            process: std::process::id(),
        }))
    }

    /// Takes the lock for a destructor, which must drop its references to the object before the
    /// guard. `None` when the object is closed, and in the child of a fork, where a thread of the
    /// parent may have left the lock taken.
    pub(crate) fn enter(&self) -> Option<MutexGuard<'_, bool>> {
        if self.0.process != std::process::id() {
            return None;
        }
        Some(self.lock()).filter(|is_over| !**is_over)
    }

    /// Runs `work` on the object for a destructor, if the object is there. If the destructor's
    /// reference is the last one, the object is dropped after the lock is given back: its drop may
    /// run code of the user, which may wait for other threads that exit.
    pub(crate) fn with<T>(&self, place: &Weak<T>, work: impl FnOnce(&T)) {
        let Some(visit) = self.enter() else {
            return;
        };
        let Some(there) = place.upgrade() else {
            return;
        };
        work(&there);
        let last = Arc::into_inner(there);
        if !mutant!("thread_exit_drops_under_the_lock") {
            drop(visit);
        }
        drop(last);
    }

    /// Waits for the destructor that uses the object now. Not for the child of a fork.
    pub(crate) fn wait(&self) {
        if !mutant!("thread_exit_is_not_waited_for") {
            drop(self.lock());
        }
    }

    /// Keeps destructors away from the object until the guard is dropped. Not for the child of a
    /// fork.
    pub(crate) fn lock(&self) -> MutexGuard<'_, bool> {
        self.0
            .is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the destructor that uses the object, and refuses all that come later. Not for the
    /// child of a fork.
    pub(crate) fn close(&self) {
        if !mutant!("thread_exit_does_not_close") {
            *self.lock() = true;
        }
    }
}
