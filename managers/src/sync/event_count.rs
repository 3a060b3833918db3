//! `EventCount`: a count of what has happened, for threads that look whether it has changed.

use crate::sync::{AtomicU64, Ordering};

/// A thread that sees the count sees what it counts.
#[derive(Debug, Default)]
pub(crate) struct EventCount(AtomicU64);

impl EventCount {
    /// Counts something that has happened.
    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Counts it no more: what was under way has ended.
    pub(crate) fn note_end(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
