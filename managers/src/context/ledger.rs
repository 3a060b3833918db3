//! `Ledger`: counts what an execution manager's user holds, and knows its contexts and the
//! process that it was made in.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cupola_sys::driver::CUcontext;

use super::ContextCore;
use super::fork::Origin;

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
    /// The contexts that are alive.
    contexts: Mutex<Vec<Weak<ContextCore>>>,
    /// The process that initialised CUDA: in a fork of it no call may be made.
    origin: Origin,
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
            contexts: Mutex::new(Vec::new()),
            origin: Origin::here(),
        }
    }

    pub(crate) fn add(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_sub(count, Ordering::Relaxed);
    }

    /// Whether this is a fork of the process that initialised CUDA.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.origin.is_elsewhere()
    }

    fn contexts(&self) -> MutexGuard<'_, Vec<Weak<ContextCore>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter_context(&self, core: &Arc<ContextCore>) {
        self.contexts().push(Arc::downgrade(core));
    }

    /// Takes contexts that are gone, or going, off the list.
    pub(crate) fn forget_contexts(&self) {
        self.contexts().retain(|context| context.strong_count() > 0);
    }

    /// The context of this address, if it is one of ours.
    pub(crate) fn context(&self, raw: CUcontext) -> Option<Arc<ContextCore>> {
        // What does not match is dropped only after the lock: it may be the last of its kind,
        // and its end takes the lock.
        let alive: Vec<_> = self.contexts().iter().filter_map(Weak::upgrade).collect();
        alive.into_iter().find(|context| context.raw() == raw)
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
