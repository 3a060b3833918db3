//! `Capacity`: a limit on how many objects of a kind exist; each object holds a [`Permit`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many objects of a kind exist, and may exist.
#[derive(Debug)]
pub(crate) struct Capacity {
    taken: AtomicUsize,
    limit: AtomicUsize,
    peak: AtomicUsize,
    created: AtomicU64,
}

/// One object's share of a capacity: the object holds it as long as it exists, named or not, and
/// gives it back when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Capacity>);

impl Capacity {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            limit: AtomicUsize::new(limit),
            peak: AtomicUsize::new(0),
            created: AtomicU64::new(0),
        }
    }

    /// A permit for one more object, or `None` at the limit.
    pub(crate) fn acquire(capacity: &Arc<Self>) -> Option<Permit> {
        let limit = capacity.limit();
        let more = |taken: usize| (taken < limit).then_some(taken + 1);
        capacity
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Permit(Arc::clone(capacity)))
    }

    /// Permits that are out stay out when the limit is lowered below them.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Counts an object that was made for a permit.
    pub(crate) fn note_created(&self) {
        self.created.fetch_add(1, Ordering::Relaxed);
        self.peak.fetch_max(self.taken(), Ordering::Relaxed);
    }

    /// Permits that are out.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// The most permits that were out when an object had been made.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Objects made so far.
    pub(crate) fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }
}

impl Permit {
    /// Whether `capacity` gave this permit.
    pub(crate) fn is_of(&self, capacity: &Arc<Capacity>) -> bool {
        Arc::ptr_eq(&self.0, capacity)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
