//! `Orphan`: keeps a closed pool while a piece of it is out.
//!
//! Pieces do not count their pool: a free would have to touch a word that all threads share.
//! A pool whose last handle is gone holds itself instead, until the last piece is back.

use std::sync::PoisonError;

use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering};

pub(crate) struct Orphan<T> {
    closed: AtomicBool,
    held: Mutex<Held<T>>,
}

struct Held<T> {
    owner: Option<T>,
    /// Requests under way that no handle keeps the pool for.
    requests: usize,
}

impl<T> Orphan<T> {
    pub(crate) fn new() -> Self {
        Self {
            closed: AtomicBool::new(false),
            held: Mutex::new(Held {
                owner: None,
                requests: 0,
            }),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last handle is gone.
    pub(crate) fn close(&self) {
        // Relaxed: the locks of the caches, of the pieces and of the held owner order it.
        self.closed.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Before `close`: a request that has no handle of the pool, so that `close` does not wait for
    /// it. Until `end_request` it counts as a piece: it may get one, or fail with one in hand.
    pub(crate) fn begin_request(&self) {
        if !mutant!("orphan_forgets_late_requests") {
            self.held().requests += 1;
        }
    }

    /// After `begin_request`, and after the piece that came of it, if any, is out: the owner, if
    /// nothing else keeps it. For the caller to drop when it has done with the owner, and has no
    /// locks.
    #[must_use]
    pub(crate) fn end_request(&self, is_over: impl Fn() -> bool) -> Option<T> {
        let mut held = self.held();
        held.requests = held.requests.saturating_sub(1);
        drop(held);
        if mutant!("orphan_ends_no_request") {
            return None;
        }
        self.try_reclaim(is_over)
    }

    /// After `close`: holds the owner unless all pieces are back, as `is_over` finds under the
    /// lock under which pieces come back. Else drops it.
    pub(crate) fn hold(&self, owner: T, is_over: impl Fn() -> bool) {
        if self.is_drained(&is_over) {
            return;
        }
        self.held().owner = Some(owner);
        // The last one may have come back just before, and have found nothing to let go.
        if !mutant!("orphan_looks_once") && self.is_drained(&is_over) {
            drop(self.take());
        }
    }

    /// After a piece came back: the owner, if that was the last. For the caller to drop when it
    /// has done with the owner, and has no locks.
    #[must_use]
    pub(crate) fn try_reclaim(&self, is_over: impl Fn() -> bool) -> Option<T> {
        (self.is_closed() && self.is_drained(&is_over)).then(|| self.take())?
    }

    /// In this order: a request may leave a piece, and no other caller takes one any more.
    fn is_drained(&self, is_over: impl Fn() -> bool) -> bool {
        let requests = self.held().requests;
        requests == 0 && is_over()
    }

    fn take(&self) -> Option<T> {
        self.held().owner.take()
    }
}
