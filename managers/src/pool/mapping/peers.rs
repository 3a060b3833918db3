//! A pool that is open to other devices: all of its memory, present and future, is theirs to access.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use cupola_sys::driver::CUdeviceptr;

use crate::driver::{ContextCore, Identity};
use crate::error::Result;
use crate::peer::{PeerAccess, require_access};
use crate::pool::pages::page_table::PageTable;
use crate::pool::state::Pool;

/// The contexts that a pool is open to. They are never taken out: a kernel may use the access as long
/// as there is memory of the pool.
#[derive(Default)]
pub(crate) struct PoolPeers(RwLock<Vec<PoolPeer>>);

struct PoolPeer {
    context: Identity,
    /// Of a pool of chunks, whose memory is the driver's own.
    _access: Option<PeerAccess>,
}

impl PoolPeers {
    fn has(&self, context: Identity) -> bool {
        let peers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        peers.iter().any(|peer| peer.context == context)
    }

    fn add(&self, context: Identity, access: Option<PeerAccess>) {
        let peer = PoolPeer {
            context,
            _access: access,
        };
        let mut peers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        peers.push(peer);
    }
}

impl Pool {
    /// Whether work of this context may access the pool's memory, though it is another context's.
    #[cold]
    pub(crate) fn is_open_to(&self, context: &ContextCore) -> bool {
        !self.is_of_graph() && self.peers.has(context.current_identity())
    }

    /// Lets the work of a context on another device access all memory that the pool has, and will have.
    #[track_caller]
    pub(crate) fn open_to(&self, peer: &Arc<ContextCore>) -> Result<()> {
        self.core.healthy()?;
        if peer.shares_objects(&self.core) {
            return Ok(());
        }
        let context = peer.current_identity();
        let Some(vmm) = self.pages.vmm() else {
            let access = PeerAccess::new(peer, &self.core)?;
            // Two threads may get here at once: two grants of one access.
            self.peers.add(context, Some(access));
            return Ok(());
        };
        require_access(peer, &self.core)?;
        // While the lock is held no page gets memory or loses it.
        let mut mapper = self.pages.lock();
        if self.peers.has(context) {
            return Ok(());
        }
        let device = peer.device();
        if !mapper.peers().contains(&device) {
            let runs: Vec<_> = {
                let central = self.central.lock();
                let regions = central.rules().regions().iter();
                regions.flat_map(PageTable::open_runs).collect()
            };
            let _relaxed = (!runs.is_empty()).then(|| vmm.relaxed());
            for Range { start, end } in runs {
                // SAFETY: the pages are mapped, and stay so under the lock.
                unsafe { vmm.open_to(start, end - start, device) }?;
            }
            mapper.add_peer(device);
        }
        self.peers.add(context, None);
        Ok(())
    }
}

impl PageTable {
    /// Ranges of addresses whose pages are mapped and open, as long as they are.
    fn open_runs(&self) -> Vec<Range<CUdeviceptr>> {
        let mut runs: Vec<Range<CUdeviceptr>> = Vec::new();
        for page in (0..self.len()).filter(|&page| self.is_mapped(page)) {
            let (start, end) = (self.address(page), self.address(page + 1));
            match runs.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => runs.push(start..end),
            }
        }
        runs
    }
}
