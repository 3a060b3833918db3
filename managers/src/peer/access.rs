//! `PeerAccess`: the right of one context to use the memory of another, counted.

use std::fmt;
use std::sync::Arc;

use cupola_sys::driver::{CUresult, DriverError};

use super::check;
use super::error::PeerError;
use crate::driver::{
    ContextCore, Enabler, GrantEnd, PeerUse, Peers, check_between, forgive_shutdown,
};
use crate::error::{Cause, Error, Result, Site};
use crate::stream::submit;
use crate::sync::deferred::DeferCallbacks;

/// Lets the work of one context use memory of another context, on another device
/// (`cuCtxEnablePeerAccess`); made by
/// [`Context::peer_access`](crate::Context::peer_access).
///
/// It covers memory of `cuMemAlloc` and its kin, present and future, whichever code has allocated it in the
/// other context; memory of virtual memory management is opened by itself, see [`peer`](crate::peer).
/// It goes one way.
///
/// It is counted: any number of them for one pair, of any number of execution managers, is one
/// enable, and the drop of the last one disables the access, unless other code had enabled it before.
/// That drop **waits on the host** for the work of the context that has the access, because a kernel
/// that loses it while it runs is a fault of the device. To keep an access, keep the value.
///
/// Both contexts stay as long as this does. In a context that is lost there is nothing to disable.
#[doc(alias = "cuCtxDisablePeerAccess")]
#[must_use = "the access ends with this value"]
pub struct PeerAccess {
    own: Arc<ContextCore>,
    peer: Arc<ContextCore>,
    /// Given back.
    ended: bool,
}

impl PeerAccess {
    #[track_caller]
    pub(crate) fn new(own: &Arc<ContextCore>, peer: &Arc<ContextCore>) -> Result<Self> {
        check_pair(own, peer)?;
        let _defer = DeferCallbacks::new();
        let mut peers = own.peers().lock();
        if !peers.take(peer.current_identity()) {
            let origin = enable(own, peer)?;
            peers.add(peer.current_identity(), origin);
        }
        let access = Self {
            own: Arc::clone(own),
            peer: Arc::clone(peer),
            ended: false,
        };
        let checked = check::check_access(own, peer, &mut peers);
        // An access that is refused is given back, which takes the lock.
        drop(peers);
        checked.map(|()| access)
    }

    /// Ordinal of the device whose work has the access.
    #[must_use]
    pub fn device(&self) -> u32 {
        self.own.ordinal()
    }

    /// Ordinal of the device whose memory it is to.
    #[must_use]
    pub fn peer(&self) -> u32 {
        self.peer.ordinal()
    }

    /// Ends it, as its drop does, and says what came of that.
    ///
    /// # Errors
    /// [`Error::Forked`]; what the driver returned when it was to wait for the context's work or to
    /// disable the access, which then stays enabled until the context ends.
    #[doc(alias = "cuCtxDisablePeerAccess")]
    pub fn end(mut self) -> Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.own.not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut waited = Ok(());
        let is_lost = || !(self.own.is_healthy() && self.peer.is_healthy());
        let (peers, end) = self.own.peers().end(self.peer.current_identity(), || {
            if !is_lost() {
                waited = self.wait();
            }
            waited.is_ok() && !is_lost()
        });
        // Until the access is disabled: a thread that asks for it then enables it again.
        let _peers = (!mutant!("peer_access_disabled_unlocked")).then_some(peers);
        match end {
            GrantEnd::Disable if !is_lost() => waited.and_then(|()| self.disable()),
            // A lost context has no access to anything, and gives none.
            GrantEnd::Disable | GrantEnd::Nothing => Ok(()),
        }
    }

    /// Waits for the work that may use the access.
    fn wait(&self) -> Result<()> {
        if submit::settle_context(&self.own, Site::here()) {
            return Ok(());
        }
        self.own.synchronize(Site::here())
    }

    fn disable(&self) -> Result<()> {
        let driver = self.own.enter()?;
        // SAFETY: the peer is kept by this value; work that used the access is over.
        let disabled = unsafe { driver.cuCtxDisablePeerAccess(self.peer.current_raw()) };
        match forgive_shutdown(disabled) {
            // Other code has disabled it, or reset the peer's primary context.
            Err(call) if is_disabled(call) => Ok(()),
            disabled => check_between(&self.own, &self.peer, disabled),
        }
    }
}

/// Whether the answer says that there is no such access any more.
fn is_disabled(call: DriverError) -> bool {
    matches!(
        call.status(),
        Some(
            CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
                | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        )
    )
}

impl Drop for PeerAccess {
    fn drop(&mut self) {
        let _ = self.put_back();
    }
}

impl fmt::Debug for PeerAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerAccess")
            .field("device", &self.device())
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}

/// Refuses contexts between which there can be no access.
fn check_pair(own: &ContextCore, peer: &ContextCore) -> Result<()> {
    own.healthy()?;
    peer.healthy()?;
    if !own.shares_driver(peer) {
        return Err(Error::WrongContext { what: "the peer" });
    }
    if own.device() == peer.device() {
        let device = own.ordinal();
        return Err(Error::Peer(Box::new(PeerError::SameDevice { device })));
    }
    Ok(())
}

fn no_link(own: &ContextCore, peer: &ContextCore) -> Error {
    Error::Peer(Box::new(PeerError::NoLink {
        device: own.ordinal(),
        peer: peer.ordinal(),
    }))
}

#[track_caller]
fn enable(own: &ContextCore, peer: &ContextCore) -> Result<Enabler> {
    require_link(own, peer)?;
    let driver = own.enter()?;
    // SAFETY: the peer is a live context, and there are no flags.
    let call = match unsafe { driver.cuCtxEnablePeerAccess(peer.current_raw(), 0) } {
        Ok(()) => return Ok(Enabler::Here),
        Err(call) => call,
    };
    match call.status() {
        Some(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) => Ok(Enabler::Elsewhere),
        Some(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) => Err(no_link(own, peer)),
        Some(CUresult::CUDA_ERROR_TOO_MANY_PEERS) => {
            let cause = Cause::new(call, own.site());
            Err(Error::Peer(Box::new(PeerError::TooMany { cause })))
        }
        _ => check_between(own, peer, Err(call)),
    }
}

/// Refuses devices without a link.
#[track_caller]
fn require_link(own: &ContextCore, peer: &ContextCore) -> Result<()> {
    let driver = own.enter()?;
    let mut can = 0;
    // SAFETY: `can` outlives the call.
    own.check(unsafe { driver.cuDeviceCanAccessPeer(&raw mut can, own.device(), peer.device()) })?;
    match can {
        0 => Err(no_link(own, peer)),
        _ => Ok(()),
    }
}

/// Refuses an access of `own` to memory of the peer that is not given by a [`PeerAccess`]: the devices
/// have a link, and the first use of it is checked. For the check the access is enabled.
#[track_caller]
pub(crate) fn require_access(own: &Arc<ContextCore>, peer: &Arc<ContextCore>) -> Result<()> {
    check_pair(own, peer)?;
    require_link(own, peer)?;
    let known = {
        let peers = own.peers().lock();
        is_known(&peers, peer)
    };
    if known || !check::is_wanted(own, peer) {
        let peers = own.peers().lock();
        return check::outcome(&peers, peer, PeerUse::Access);
    }
    PeerAccess::new(own, peer)?.end()
}

fn is_known(peers: &Peers, peer: &ContextCore) -> bool {
    peers.checked(peer.device(), PeerUse::Access).is_some()
}
