//! `Visits`: what keeps threads that end out of what ends.
//!
//! A thread that ends gives back what it kept. Its destructors may run after its scope has ended
//! (`std::thread::scope` waits for the closures only), so what they hold meanwhile nobody leases:
//! whoever ends a thing, or counts its leases, waits for those who are at it, and the others find
//! that it is over.

use std::sync::{Arc, PoisonError, Weak};

use crate::sync::{Mutex, MutexGuard};

#[derive(Clone)]
pub(crate) struct Visits(Arc<State>);

struct State {
    is_over: Mutex<bool>,
    process: u32,
}

impl Visits {
    pub(crate) fn new() -> Self {
        Self(Arc::new(State {
            is_over: Mutex::new(false),
            process: std::process::id(),
        }))
    }

    /// Of a thread that ends: what it takes hold of it lets go of before it drops this. `None`
    /// when nothing is there any more, and in the child of a fork, where another thread may have
    /// left the lock taken.
    pub(crate) fn visit(&self) -> Option<MutexGuard<'_, bool>> {
        if self.0.process != std::process::id() {
            return None;
        }
        Some(self.pause()).filter(|is_over| !**is_over)
    }

    /// Of a thread that ends: does something with what it visits, if that is there. What ends
    /// with this ends after the visit: that may run anybody's code, which may wait for other
    /// threads that end.
    pub(crate) fn pay<T>(&self, place: &Weak<T>, work: impl FnOnce(&T)) {
        let Some(visit) = self.visit() else {
            return;
        };
        let Some(there) = place.upgrade() else {
            return;
        };
        work(&there);
        let last = Arc::into_inner(there);
        if !mutant!("visits_end_what_they_visit") {
            drop(visit);
        }
        drop(last);
    }

    /// Those who are there now have gone when this returns. Not for the child of a fork.
    pub(crate) fn wait(&self) {
        if !mutant!("visits_are_not_waited_for") {
            drop(self.pause());
        }
    }

    /// Nobody is there until this is dropped. Not for the child of a fork.
    pub(crate) fn pause(&self) -> MutexGuard<'_, bool> {
        self.0
            .is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody is there when this returns, nor will be. Not for the child of a fork.
    pub(crate) fn end(&self) {
        if !mutant!("visits_do_not_end") {
            *self.pause() = true;
        }
    }
}
