//! `Ledger`: counts what an execution manager's user holds, and knows the process that it
//! was made in.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Context,
    Stream,
    Event,
    Module,
    Pool,
    Buffer,
    BufferBytes,
    Pinned,
    PinnedBytes,
    /// Objects whose destruction failed: they are counted here and no longer elsewhere.
    Abandoned,
}

const KINDS: usize = Kind::Abandoned as usize + 1;

/// Counts of driver objects that are alive.
#[derive(Debug)]
pub(crate) struct Ledger {
    counts: [AtomicU64; KINDS],
    /// The process that initialised CUDA: in a fork of it no call may be made.
    process: u32,
}

/// What is alive under one [`ExecutionManager`](crate::ExecutionManager). All zero after
/// everything was dropped, unless something leaked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// Contexts, primary and created.
    pub contexts: u64,
    /// Streams.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Modules.
    pub modules: u64,
    /// Memory pools.
    pub pools: u64,
    /// Device buffers.
    pub buffers: u64,
    /// Bytes in device buffers.
    pub bytes: u64,
    /// Pinned host buffers.
    pub pinned: u64,
    /// Bytes in pinned host buffers.
    pub pinned_bytes: u64,
    /// Driver objects whose destruction the driver refused, or that were left alone because
    /// work may still use them.
    pub abandoned: u64,
}

impl Live {
    /// Nothing is alive and nothing was abandoned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; KINDS],
            process: std::process::id(),
        }
    }

    pub(crate) fn add(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_sub(count, Ordering::Relaxed);
    }

    /// Whether this is a fork of the process that initialised CUDA.
    pub(crate) fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    pub(crate) fn live(&self) -> Live {
        let count = |kind: Kind| self.counts[kind as usize].load(Ordering::Relaxed);
        Live {
            contexts: count(Kind::Context),
            streams: count(Kind::Stream),
            events: count(Kind::Event),
            modules: count(Kind::Module),
            pools: count(Kind::Pool),
            buffers: count(Kind::Buffer),
            bytes: count(Kind::BufferBytes),
            pinned: count(Kind::Pinned),
            pinned_bytes: count(Kind::PinnedBytes),
            abandoned: count(Kind::Abandoned),
        }
    }
}
