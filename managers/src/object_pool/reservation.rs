//! `Reservation`: room for one more object, under the capacity.

use std::mem::ManuallyDrop;

use super::idle::IdleObjects;
use crate::sync::{AtomicUsize, Ordering};

/// The account of an object that is about to be made; taken back when it is not kept.
pub(super) struct Reservation<'d> {
    existing: &'d AtomicUsize,
    now: usize,
}

impl<'d> Reservation<'d> {
    pub(super) fn take(idle: &'d IdleObjects, capacity: usize) -> Option<Self> {
        let existing = &idle.existing;
        if mutant!("object_pool_count_then_look") {
            let before = existing.load(Ordering::Relaxed);
            existing.fetch_add(1, Ordering::Relaxed);
            let now = before + 1;
            return (before < capacity).then_some(Self { existing, now });
        }
        let more = |count: usize| (count < capacity).then_some(count + 1);
        // Release, and Acquire where there is none: a thread that finds no room sees what those who
        // have it had given back before.
        existing
            .fetch_update(Ordering::Release, Ordering::Acquire, more)
            .ok()
            .map(|before| Self {
                existing,
                now: before + 1,
            })
    }

    /// Keeps the account, and returns how many objects exist with this one.
    pub(super) fn keep(self) -> usize {
        ManuallyDrop::new(self).now
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.existing.fetch_sub(1, Ordering::Relaxed);
    }
}
