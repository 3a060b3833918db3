//! Counts of events off the hit path.

use std::sync::atomic::{AtomicU64, Ordering};

/// An event off the hit path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happened {
    /// The limit refused a request.
    Refused,
    /// The device refused a request.
    Exhausted,
    /// A user gave unused memory back.
    Trimmed,
    /// A request had to map pages.
    Grown,
    /// A page was unmapped to be used elsewhere.
    Moved,
    /// All caches were revoked.
    Drained,
    /// A request waited on the host.
    WaitedOnHost,
    /// A request's stream was made to wait for another.
    WaitedOnDevice,
}

const KINDS: usize = Happened::WaitedOnDevice as usize + 1;

/// The events off the hit path, and the most bytes that were mapped.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    happened: [AtomicU64; KINDS],
    /// Those of graphs included.
    peak_mapped: AtomicU64,
}

impl Counters {
    /// Something has happened.
    pub(crate) fn note(&self, what: Happened) {
        self.note_times(what, 1);
    }

    /// Something has happened so many times.
    pub(crate) fn note_times(&self, what: Happened, times: u64) {
        self.happened[what as usize].fetch_add(times, Ordering::Relaxed);
    }

    /// How often something has happened.
    pub(crate) fn times(&self, what: Happened) -> u64 {
        self.happened[what as usize].load(Ordering::Relaxed)
    }

    /// So many bytes are mapped.
    pub(crate) fn note_mapped(&self, bytes: u64) {
        self.peak_mapped.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Begins the peak of the mapped bytes anew, with so many.
    pub(crate) fn reset_peak(&self, mapped: u64) {
        self.peak_mapped.store(mapped, Ordering::Relaxed);
    }

    /// The most bytes that were ever mapped, or since the reset.
    pub(crate) fn peak_mapped(&self) -> u64 {
        self.peak_mapped.load(Ordering::Relaxed)
    }
}
