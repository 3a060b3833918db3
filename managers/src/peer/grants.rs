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
    /// the pool's own. Until the pool's end, or [`close_to`](Self::close_to).
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

    /// Takes the access away again that [`open_to`](Self::open_to) has given. Buffers of the pool are
    /// refused on streams of that context then, as before. Closing a pool that is not open does nothing.
    ///
    /// An access that work may use is not taken away, which would be a fault of that device: the pool
    /// stays open, and the error says what still uses it. A buffer uses it from the first operation on a
    /// stream of that context until it is freed, and after that until the device has come so far; this
    /// asks for that (`cuEventQuery`) and does not wait. What the pool does not know must be over: work that
    /// was given the memory by its address.
    ///
    /// The access to pages is the device's, and taken away by `cuMemSetAccess` with the last context of
    /// the device that the pool is open to. That to chunks is a [`PeerAccess`](crate::PeerAccess), whose last
    /// end waits on the host for the work of `peer`.
    ///
    /// # Errors
    /// [`Error::Peer`] with [`InUse`]: the pool is as open as before. [`Error::Invalid`] for the pool's
    /// own context; [`Error::Poisoned`], [`Error::Forked`]. What the driver returned: of a question about
    /// the work, and the pool is as open as before; or of the call that takes the access away, and the
    /// pool is closed to operations, but the device may have access to its memory until the call is made
    /// again, by closing the pool again.
    ///
    /// [`InUse`]: crate::peer::PeerError::InUse
    /// [`Error::Peer`]: crate::Error::Peer
    /// [`Error::Invalid`]: crate::Error::Invalid
    /// [`Error::Poisoned`]: crate::Error::Poisoned
    /// [`Error::Forked`]: crate::Error::Forked
    #[doc(alias = "cuMemSetAccess")]
    #[track_caller]
    pub fn close_to(&self, peer: &Context) -> Result<()> {
        self.pool().close_to(peer.core())
    }
}
