//! `Place`: room for one more object, under the capacity.

use std::mem::ManuallyDrop;

use super::Depot;
use crate::sync::{AtomicUsize, Ordering};

/// The account of an object that is about to be made; taken back when it is not kept.
pub(super) struct Place<'d> {
    existing: &'d AtomicUsize,
    now: usize,
}

impl<'d> Place<'d> {
    pub(super) fn take(depot: &'d Depot, capacity: usize) -> Option<Self> {
        let existing = &depot.existing;
        if mutant!("recycle_count_then_look") {
            let before = existing.load(Ordering::Relaxed);
            existing.fetch_add(1, Ordering::Relaxed);
            let now = before + 1;
            return (before < capacity).then_some(Self { existing, now });
        }
        let more = |count: usize| (count < capacity).then_some(count + 1);
        existing
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|before| Self {
                existing,
                now: before + 1,
            })
    }

    /// Keeps the account, and says how many objects exist with this one.
    pub(super) fn keep(self) -> usize {
        ManuallyDrop::new(self).now
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.existing.fetch_sub(1, Ordering::Relaxed);
    }
}
