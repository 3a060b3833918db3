//! `Visits`: what keeps threads that end out of what ends.
//!
//! A thread that ends gives back what it kept. Its destructors may run after its scope has ended
//! (`std::thread::scope` waits for the closures only), so what they hold meanwhile nobody leases:
//! whoever ends a thing, or counts its leases, waits for those who are at it, and the others find
//! that it is over.

use std::sync::{Arc, PoisonError};

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
