//! `Seat`: one object's share of a capacity, given back when the object goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::lifecycle::ManagerStats;

/// How many objects of a kind there are, and may be.
#[derive(Debug)]
pub(super) struct Seats {
    taken: AtomicUsize,
    capacity: AtomicUsize,
    peak: AtomicUsize,
    created: AtomicU64,
}

/// Held by an object as long as it exists, named or not.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Seats>);

impl Seats {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            capacity: AtomicUsize::new(capacity),
            peak: AtomicUsize::new(0),
            created: AtomicU64::new(0),
        }
    }

    pub(super) fn take(seats: &Arc<Self>) -> Option<Seat> {
        let capacity = seats.capacity.load(Ordering::Relaxed);
        let more = |taken: usize| (taken < capacity).then_some(taken + 1);
        seats
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Seat(Arc::clone(seats)))
    }

    pub(super) fn set_capacity(&self, capacity: usize) {
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    /// The maker of a seat's object has succeeded.
    pub(super) fn note_created(&self) {
        self.created.fetch_add(1, Ordering::Relaxed);
        self.peak
            .fetch_max(self.taken.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Nobody has a seat.
    pub(super) fn is_free(&self) -> bool {
        self.taken.load(Ordering::Relaxed) == 0
    }

    pub(super) fn stats(&self, named: usize) -> ManagerStats {
        ManagerStats {
            created: self.created.load(Ordering::Relaxed),
            live: self.taken.load(Ordering::Relaxed),
            named,
            peak: self.peak.load(Ordering::Relaxed),
            capacity: self.capacity.load(Ordering::Relaxed),
        }
    }
}

impl Seat {
    pub(super) fn is_of(&self, seats: &Arc<Seats>) -> bool {
        Arc::ptr_eq(&self.0, seats)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
