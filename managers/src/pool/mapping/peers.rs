//! A pool that is open to other devices: all of its memory, present and future, is theirs to access.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use cupola_sys::driver::{CUdevice, CUdeviceptr, CUmemAccess_flags as Flags};

use crate::driver::{ContextCore, Identity};
use crate::error::{Error, Result};
use crate::peer::{PeerAccess, PeerError, require_access};
use crate::pool::heap::peer_uses::{InUse, PeerUse, PeerUses};
use crate::pool::pages::page_table::PageTable;
use crate::pool::pages::vmm::Vmm;
use crate::pool::state::Pool;
use crate::sync::deferred::DeferCallbacks;
use crate::sync::{Mutex, MutexGuard};

/// The contexts that a pool is open to.
#[derive(Default)]
pub(crate) struct PoolPeers(Mutex<Vec<PoolPeer>>);

struct PoolPeer {
    context: Identity,
    device: CUdevice,
    /// False where the access could not be taken away: it is not used, and taken away by the next try.
    is_open: bool,
    uses: Arc<PeerUses>,
    /// Of a pool of chunks, whose memory is the driver's own.
    access: Option<PeerAccess>,
}

impl PoolPeers {
    fn lock(&self) -> MutexGuard<'_, Vec<PoolPeer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, context: Identity) -> bool {
        let peers = self.lock();
        peers
            .iter()
            .any(|peer| peer.context == context && peer.is_open)
    }

    /// Whether it is open to any context of this device.
    fn has_device(&self, device: CUdevice) -> bool {
        let peers = self.lock();
        peers
            .iter()
            .any(|peer| peer.device == device && peer.is_open)
    }

    /// Opens it to the context, which has the access by now. An access that it has already, because two
    /// threads got here at once, is given back.
    pub(crate) fn open(
        &self,
        context: Identity,
        device: CUdevice,
        access: Option<PeerAccess>,
    ) -> Option<PeerAccess> {
        let mut peers = self.lock();
        if let Some(peer) = peers.iter_mut().find(|peer| peer.context == context) {
            peer.is_open = true;
            return access;
        }
        peers.push(PoolPeer {
            context,
            device,
            is_open: true,
            uses: Arc::default(),
            access,
        });
        None
    }

    /// Before a use by the context: the pool stays open to it until that is ended. `None` if it is not open.
    pub(crate) fn begin_use(&self, context: Identity) -> Option<PeerUse> {
        let peers = self.lock();
        let mut open = peers.iter().filter(|peer| peer.is_open);
        let peer = open.find(|peer| peer.context == context)?;
        // Within the lock: no close comes between.
        Some(peer.uses.begin(context))
    }

    /// Admits no more uses by the context, and there are none. Whether there is an access to take away
    /// then, which [`remove`](Self::remove) is told of.
    ///
    /// # Errors
    /// Uses that may not be over: it is as open as before. What the driver returned.
    #[track_caller]
    pub(crate) fn close(&self, context: Identity) -> Result<Result<bool, InUse>> {
        let find = |peers: &[PoolPeer]| {
            let mut peers = peers.iter();
            peers
                .find(|peer| peer.context == context)
                .map(|peer| Arc::clone(&peer.uses))
        };
        let Some(uses) = find(&self.lock()) else {
            return Ok(Ok(false));
        };
        // Without the lock, which uses wait for.
        uses.poll()?;
        let in_use = uses.in_use();
        let mut peers = self.lock();
        let in_use = match mutant!("peer_close_looks_too_early") {
            true => in_use,
            false => uses.in_use(),
        };
        if let Some(in_use) = in_use {
            return Ok(Err(in_use));
        }
        let closed = peers.iter_mut().find(|peer| peer.context == context);
        Ok(Ok(closed.map(|peer| peer.is_open = false).is_some()))
    }

    /// The access of a context that it is closed to was taken away, or is to be by the end of this.
    pub(crate) fn remove(&self, context: Identity) -> Option<PeerAccess> {
        let mut peers = self.lock();
        let closed = |peer: &PoolPeer| peer.context == context && !peer.is_open;
        let at = peers.iter().position(closed)?;
        peers.swap_remove(at).access
    }
}

impl Pool {
    /// Whether work of this context may access the pool's memory, though it is another context's.
    #[cold]
    pub(crate) fn is_open_to(&self, context: &ContextCore) -> bool {
        !self.is_of_graph() && self.peers.has(context.current_identity())
    }

    /// Before a block is used by another context; `None` if the pool is not open to that.
    pub(crate) fn begin_peer_use(&self, context: Identity) -> Option<PeerUse> {
        match self.is_of_graph() {
            true => None,
            false => self.peers.begin_use(context),
        }
    }

    /// Lets the work of a context on another device access all memory that the pool has, and will have.
    #[track_caller]
    pub(crate) fn open_to(&self, peer: &Arc<ContextCore>) -> Result<()> {
        self.core.healthy()?;
        if peer.shares_objects(&self.core) {
            return Ok(());
        }
        let (context, device) = (peer.current_identity(), peer.device());
        let Some(vmm) = self.pages.vmm() else {
            let access = PeerAccess::new(peer, &self.core)?;
            // Its end takes a lock, so it comes after that of the peers.
            drop(self.peers.open(context, device, Some(access)));
            return Ok(());
        };
        require_access(peer, &self.core)?;
        // While the lock is held no page gets memory or loses it.
        let mut mapper = self.pages.lock();
        if self.peers.has(context) {
            return Ok(());
        }
        if !mapper.peers().contains(&device) {
            self.set_access_of(device, Flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE, vmm)?;
            mapper.add_peer(device);
        }
        drop(self.peers.open(context, device, None));
        Ok(())
    }

    /// Takes the access away again that [`open_to`](Self::open_to) has given.
    #[track_caller]
    pub(crate) fn close_to(&self, peer: &ContextCore) -> Result<()> {
        self.core.healthy()?;
        if peer.shares_objects(&self.core) {
            return Err(Error::invalid("peer", "it is the pool's own context"));
        }
        let (context, device) = (peer.current_identity(), peer.device());
        let _defer = DeferCallbacks::new();
        let Some(vmm) = self.pages.vmm() else {
            self.admit_no_more(peer)?;
            return self.peers.remove(context).map_or(Ok(()), PeerAccess::end);
        };
        // While the lock is held no page gets memory or loses it.
        let mut mapper = self.pages.lock();
        if !self.admit_no_more(peer)? {
            return Ok(());
        }
        // The access is the device's: another context may have it too.
        if !self.peers.has_device(device) {
            // What is mapped from now on is not opened, whatever comes of the calls.
            mapper.remove_peer(device);
            self.set_access_of(device, Flags::CU_MEM_ACCESS_FLAGS_PROT_NONE, vmm)?;
        }
        drop(self.peers.remove(context));
        Ok(())
    }

    /// Admits no more uses by the context, unless some may not be over. Whether it had access.
    #[track_caller]
    fn admit_no_more(&self, peer: &ContextCore) -> Result<bool> {
        match self.peers.close(peer.current_identity())? {
            Ok(had_access) => Ok(had_access),
            Err(in_use) => Err(Error::Peer(Box::new(PeerError::InUse {
                device: peer.ordinal(),
                peer: self.core.ordinal(),
                buffers: in_use.blocks(),
                freed: in_use.freed(),
            }))),
        }
    }

    /// Says what another device may do with all that is mapped. The caller has the mapper's lock.
    #[track_caller]
    fn set_access_of(&self, device: CUdevice, flags: Flags, vmm: &Vmm) -> Result<()> {
        let runs: Vec<_> = {
            let central = self.central.lock();
            let regions = central.rules().regions().iter();
            regions.flat_map(PageTable::open_runs).collect()
        };
        let _relaxed = (!runs.is_empty()).then(|| vmm.relaxed());
        for Range { start, end } in runs {
            // SAFETY: the pages are mapped, and stay so under the lock.
            unsafe { vmm.set_peer_access(start, end - start, device, flags) }?;
        }
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
