//! `Keep`: what keeps a closed pool while somebody has a piece of it.
//!
//! Pieces do not count their pool: a free would have to touch a word that all threads share.
//! A pool whose last handle is gone holds itself instead, until the last piece is back.

use std::sync::PoisonError;

use crate::sync::{AtomicBool, Mutex, Ordering};

pub(crate) struct Keep<T> {
    closed: AtomicBool,
    kept: Mutex<Option<T>>,
}

impl<T> Keep<T> {
    pub(crate) fn new() -> Self {
        Self {
            closed: AtomicBool::new(false),
            kept: Mutex::new(None),
        }
    }

    /// The last handle is gone.
    pub(crate) fn close(&self) {
        // Relaxed: the locks of the lanes and of the pieces order it.
        self.closed.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// After `close`: holds the owner unless all pieces are back, as `is_over` finds under the
    /// lock under which pieces come back.
    pub(crate) fn hold(&self, owner: T, is_over: impl Fn() -> bool) {
        if is_over() {
            return;
        }
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(owner);
        // The last one may have come back just before, and have found nothing to let go.
        if !mutant!("keep_looks_once") && is_over() {
            drop(self.take());
        }
    }

    /// After a piece was taken by somebody who is no handle, and whom `close` did not wait for: as
    /// `hold`, if it is closed by now. Pieces are taken under the lock that `is_over` looks under,
    /// so either `hold` has seen the piece or this sees that it is closed.
    pub(crate) fn hold_late(&self, owner: &T, is_over: impl Fn() -> bool)
    where
        T: Clone,
    {
        if self.is_closed() && !mutant!("keep_forgets_who_is_late") {
            self.hold(owner.clone(), is_over);
        }
    }

    /// After a piece came back: the owner, if that was the last. For the caller to drop when it
    /// has done with the owner, and has no locks.
    #[must_use]
    pub(crate) fn let_go(&self, is_over: impl Fn() -> bool) -> Option<T> {
        (self.is_closed() && is_over()).then(|| self.take())?
    }

    fn take(&self) -> Option<T> {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
