//! `RawGraph`: a driver's graph, destroyed with its owner.

use std::sync::Arc;

use cupola_sys::driver::CUgraph;

use crate::driver::{ContextCore, Kind};

/// A driver's graph. Graphs are not synchronised by the driver: one thread at a time has it.
pub(super) struct RawGraph {
    raw: CUgraph,
    core: Arc<ContextCore>,
}

// SAFETY: a CUgraph is bound to no thread.
unsafe impl Send for RawGraph {}

impl RawGraph {
    /// Of a graph that is the caller's.
    pub(super) fn new(raw: CUgraph, core: &Arc<ContextCore>) -> Self {
        core.ledger().add(Kind::Graph, 1);
        Self {
            raw,
            core: Arc::clone(core),
        }
    }

    pub(super) fn get(&self) -> CUgraph {
        self.raw
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: made by the driver for this owner, and used no more. Executables do not need it.
        let _ = self
            .core
            .dispose(Kind::Graph, |driver| unsafe { driver.cuGraphDestroy(raw) });
    }
}
