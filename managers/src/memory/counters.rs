//! Counts of what happens off the hit path.

use std::sync::atomic::{AtomicU64, Ordering};

/// What happened off the hit path.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Requests that the limit refused.
    pub(super) refused: AtomicU64,
    /// Requests that the device refused.
    pub(super) exhausted: AtomicU64,
    pub(super) trims: AtomicU64,
    /// The most bytes that were ever mapped, those of graphs included.
    pub(super) peak_mapped: AtomicU64,
    /// Requests that had to map pages.
    pub(super) grown: AtomicU64,
    /// Pages that were unmapped to be used elsewhere.
    pub(super) remapped: AtomicU64,
    /// Times that all lanes were seized.
    pub(super) drains: AtomicU64,
    /// Times that a request waited on the host.
    pub(super) host_waits: AtomicU64,
    /// Times that a request's stream was made to wait for another.
    pub(super) device_waits: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
