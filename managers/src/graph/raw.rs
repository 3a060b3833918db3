//! `RawGraph`: a driver's graph, destroyed with its last owner.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use cupola_sys::driver::CUgraph;

use crate::driver::{ContextCore, Kind};
use crate::sync;

/// A driver's graph.
pub(super) struct RawGraph {
    raw: CUgraph,
    serial: u64,
    /// Graphs are not synchronised by the driver: one thread at a time makes calls with it.
    lock: Mutex<()>,
    end: End,
    core: Arc<ContextCore>,
}

/// How a graph ends.
enum End {
    /// It is destroyed.
    Destroy,
    /// With its node, which this graph has.
    Body { _of: Arc<RawGraph> },
}

// SAFETY: a CUgraph is bound to no thread.
unsafe impl Send for RawGraph {}
// SAFETY: the graph is looked at under the lock only.
unsafe impl Sync for RawGraph {}

impl RawGraph {
    /// Of a graph that is the caller's; its nodes are named by this number.
    pub(super) fn new(raw: CUgraph, serial: u64, core: &Arc<ContextCore>) -> Self {
        core.ledger().add(Kind::Graph, 1);
        Self {
            raw,
            serial,
            lock: Mutex::new(()),
            end: End::Destroy,
            core: Arc::clone(core),
        }
    }

    /// Of a graph that a node of this one has.
    pub(super) fn body(self: &Arc<Self>, raw: CUgraph) -> Self {
        Self {
            raw,
            serial: Self::number(),
            lock: Mutex::new(()),
            end: End::Body {
                _of: Arc::clone(self),
            },
            core: Arc::clone(&self.core),
        }
    }

    /// A number that no other graph of the process has.
    pub(super) fn number() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    pub(super) fn is_body(&self) -> bool {
        matches!(self.end, End::Body { .. })
    }

    /// The graph, for calls of this thread. Not for the child of a fork.
    pub(super) fn lock(&self) -> LockedGraph<'_> {
        LockedGraph {
            _lock: sync::lock(&self.lock),
            raw: self.raw,
        }
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        if self.is_body() {
            return;
        }
        let raw = self.raw;
        // SAFETY: made by the driver for this owner, and used no more. Executables do not need it.
        let _ = self
            .core
            .dispose(Kind::Graph, |driver| unsafe { driver.cuGraphDestroy(raw) });
    }
}

/// A graph that no other thread makes calls with.
pub(super) struct LockedGraph<'g> {
    _lock: MutexGuard<'g, ()>,
    raw: CUgraph,
}

impl LockedGraph<'_> {
    pub(super) fn get(&self) -> CUgraph {
        self.raw
    }
}
