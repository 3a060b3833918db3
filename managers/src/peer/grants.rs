//! How a context is given access: to another context's memory, and to a pool.

use super::access::PeerAccess;
use crate::context::Context;
use crate::error::Result;
use crate::pool::MemoryPool;

impl Context {
    /// Lets the work of this context use memory of `peer`. The first time of two devices their link is
    /// checked, as [`ContextsConfig::peers`](crate::ContextsConfig::peers) says, which takes some
    /// milliseconds and 4 MiB of each.
    ///
    /// # Errors
    /// [`Error::Peer`] with [`NoLink`], [`SameDevice`], [`TooMany`] or [`Corrupt`];
    /// [`Error::WrongContext`] when they are of two drivers; [`Error::Poisoned`] when one of them is
    /// lost, [`Error::Forked`]; what the driver returned.
    ///
    /// [`NoLink`]: crate::peer::PeerError::NoLink
    /// [`SameDevice`]: crate::peer::PeerError::SameDevice
    /// [`TooMany`]: crate::peer::PeerError::TooMany
    /// [`Corrupt`]: crate::peer::PeerError::Corrupt
    /// [`Error::Peer`]: crate::Error::Peer
    /// [`Error::WrongContext`]: crate::Error::WrongContext
    /// [`Error::Poisoned`]: crate::Error::Poisoned
    /// [`Error::Forked`]: crate::Error::Forked
    #[doc(alias = "cuCtxEnablePeerAccess")]
    #[track_caller]
    pub fn peer_access(&self, peer: &Self) -> Result<PeerAccess> {
        PeerAccess::new(self.core(), peer.core())
    }
}

impl MemoryPool {
    /// Lets the work of a context on another device use all memory of the pool, present and future:
    /// its buffers may be given to launches, copies and fills on streams of that context, as to those of
    /// the pool's own. Until the pool's end: an access that work may use is not taken away.
    ///
    /// Pages are opened by `cuMemSetAccess`, which costs some 20 us for each run of them that is mapped
    /// now and hardly more for each later one; chunks by a [`PeerAccess`](crate::PeerAccess) that the
    /// pool keeps, and both contexts with it. The first time of two devices checks their link, as
    /// [`Context::peer_access`], for which the access is enabled and disabled again: that waits for the
    /// work of `peer` on the host. Memory of a [`GraphMemory`](crate::pool::GraphMemory) is not opened. A
    /// context that the pool is open to, and the pool's own, may be named again, for nothing.
    ///
    /// Copies between devices need no access, but are direct with it:
    /// [`ops::copy_between`](crate::ops::copy_between).
    ///
    /// # Errors
    /// As [`Context::peer_access`]. The pool is as open as before then.
    #[doc(alias = "cuMemSetAccess")]
    #[doc(alias = "cuMemPoolSetAccess")]
    #[track_caller]
    pub fn open_to(&self, peer: &Context) -> Result<()> {
        self.pool().open_to(peer.core())
    }
}
