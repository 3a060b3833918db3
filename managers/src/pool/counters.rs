//! Counts of events off the hit path.

use std::sync::atomic::{AtomicU64, Ordering};

/// The events off the hit path.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests that the limit refused.
    pub(crate) refused: AtomicU64,
    /// Requests that the device refused.
    pub(crate) exhausted: AtomicU64,
    pub(crate) trims: AtomicU64,
    /// The most bytes that were ever mapped, those of graphs included.
    pub(crate) peak_mapped: AtomicU64,
    /// Requests that had to map pages.
    pub(crate) grown: AtomicU64,
    /// Pages that were unmapped to be used elsewhere.
    pub(crate) remapped: AtomicU64,
    /// Times that all caches were revoked.
    pub(crate) drains: AtomicU64,
    /// Times that a request waited on the host.
    pub(crate) host_waits: AtomicU64,
    /// Times that a request's stream was made to wait for another.
    pub(crate) device_waits: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
