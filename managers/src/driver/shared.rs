//! `SharedContext`: the state of a driver context that all execution managers have in common.

use std::sync::Arc;

use cupola_sys::driver::CUcontext;

use super::current::Identity;
use crate::error::{Latch, Launches};
use crate::pool::live_blocks::LiveBlocks;

/// What is true of the driver's context, whichever execution manager asks: its identity, the error
/// that it was lost to with the subscribers to that, and the kernels that may still run in it. The
/// [intern table](super::intern) has one for each context that an execution manager holds.
pub(crate) struct SharedContext {
    raw: CUcontext,
    identity: Identity,
    latch: Latch,
    launches: Launches,
    live_blocks: Arc<LiveBlocks>,
}

// SAFETY: a CUcontext may be used from any thread; the rest is Send and Sync.
unsafe impl Send for SharedContext {}
// SAFETY: a CUcontext may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for SharedContext {}

impl SharedContext {
    pub(super) fn new(raw: CUcontext) -> Self {
        Self {
            raw,
            identity: Identity::of(raw),
            latch: Latch::default(),
            launches: Launches::default(),
            live_blocks: Arc::default(),
        }
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    // With every request of a pool.
    #[inline]
    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }

    pub(super) fn launches(&self) -> &Launches {
        &self.launches
    }

    pub(super) fn live_blocks(&self) -> &Arc<LiveBlocks> {
        &self.live_blocks
    }
}
