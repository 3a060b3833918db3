//! `Ledger`: counts the objects that an execution manager's user holds, and knows its contexts and
//! the process that it was made in.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};

use cupola_sys::driver::{CUcontext, CUdevice};

use super::ContextCore;
use super::fork::Origin;
use super::ownership::ContextKind;
use super::reactor::Reactor;
use crate::error::{Cause, PoisonPolicy};
use crate::lists;
use crate::sync::rundown::RundownWeak;
use crate::sync::{Mutex, MutexGuard, OnceLock};

/// A kind of object that is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Context,
    Stream,
    Event,
    Module,
    Graph,
    GraphExec,
    Pool,
    Pinned,
    PinnedBytes,
    /// Regions that pinned pools have page-locked.
    PinnedRegion,
    /// Managed buffers.
    Managed,
    /// Page-locked memory that is given back when its context ends.
    Buried,
    /// Objects whose destruction failed: they are counted here and no longer elsewhere.
    Abandoned,
    AbandonedBytes,
}

const KINDS: usize = Kind::AbandonedBytes as usize + 1;

/// A context, its address and its device.
#[derive(Debug)]
struct Known {
    at: usize,
    device: CUdevice,
    is_primary: bool,
    core: Weak<ContextCore>,
}

/// A pool, which counts its buffers itself: a count that all threads share would cost each
/// allocation more than the rest of it.
pub(crate) trait Holds: Send + Sync {
    /// Buffers that are alive, and their bytes.
    fn buffers(&self) -> (u64, u64);
}

/// The executables of graphs in one context, and the memory that some of them were seen to take.
#[derive(Debug, Default)]
pub(crate) struct ExecutableCounts {
    alive: AtomicU64,
    measured: AtomicU64,
    bytes: AtomicU64,
}

impl ExecutableCounts {
    pub(crate) fn add(&self) {
        self.alive.fetch_add(1, Ordering::Relaxed);
    }

    /// One of them took so many bytes.
    pub(crate) fn add_measured(&self, bytes: u64) {
        self.measured.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// One is gone, that took so many bytes if it was measured.
    pub(crate) fn remove(&self, measured: Option<u64>) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
        if let Some(bytes) = measured {
            self.measured.fetch_sub(1, Ordering::Relaxed);
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn alive(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    pub(crate) fn measured(&self) -> u64 {
        self.measured.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Counts of driver objects that are alive.
pub(crate) struct Ledger {
    counts: [AtomicU64; KINDS],
    pools: Mutex<Vec<RundownWeak<dyn Holds>>>,
    /// The contexts that are alive, by the address of the driver's.
    contexts: Mutex<Vec<Known>>,
    /// The policy when one of them is lost, unless it has one of its own.
    policy: Mutex<PoisonPolicy>,
    /// The first error after which the driver can do no more work in this process.
    lost: OnceLock<Arc<Cause>>,
    /// The reactor of each device that a caller has waited for.
    reactors: Mutex<Vec<(CUdevice, Arc<Reactor>)>>,
    /// The process that initialised CUDA: in a fork of it no call may be made.
    origin: Origin,
}

/// Counts of the objects that are alive under one [`ExecutionManager`](crate::ExecutionManager).
/// All zero after all were dropped, unless one leaked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Live {
    /// Contexts of every kind.
    pub contexts: u64,
    /// Streams.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Modules.
    pub modules: u64,
    /// Graphs.
    pub graphs: u64,
    /// Executable graphs.
    pub executables: u64,
    /// Memory pools.
    pub pools: u64,
    /// Device buffers.
    pub buffers: u64,
    /// Bytes in device buffers.
    pub bytes: u64,
    /// Pinned host buffers, those of registered memory among them.
    pub pinned: u64,
    /// Bytes in pinned host buffers.
    pub pinned_bytes: u64,
    /// Regions of host memory that pinned pools have page-locked.
    pub pinned_regions: u64,
    /// Managed buffers.
    pub managed: u64,
    /// Page-locked host memory that is given back when its context ends: pinned buffers that were
    /// dropped when a context of this crate's making was lost, and memory of the crate's own.
    pub buried: u64,
    /// Driver objects whose destruction the driver refused, or that were left alone because
    /// work may still use them.
    pub abandoned: u64,
    /// Bytes of device memory that stay with abandoned blocks of pools: their own while the pool
    /// is there, then all that the driver can only take back together with them. Bytes of a pool
    /// with a shared limit stay charged to that limit.
    pub abandoned_bytes: u64,
}

impl Live {
    /// Nothing is alive and nothing was abandoned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger")
            .field("counts", &self.counts)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; KINDS],
            pools: Mutex::new(Vec::new()),
            contexts: Mutex::new(Vec::new()),
            policy: Mutex::new(PoisonPolicy::Keep),
            lost: OnceLock::default(),
            reactors: Mutex::new(Vec::new()),
            origin: Origin::here(),
        }
    }

    /// Counts the buffers of this one, as long as it is there.
    pub(crate) fn watch(&self, pool: RundownWeak<dyn Holds>) {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        lists::retain(&mut pools, RundownWeak::is_alive);
        pools.push(pool);
    }

    fn buffers(&self) -> (u64, u64) {
        if self.is_forked() {
            // Another thread may have held a lock at the fork.
            return (0, 0);
        }
        let pools = {
            let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            pools.clone()
        };
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        // Pools that end have none.
        let there = pools.iter().filter_map(RundownWeak::acquire);
        there.map(|pool| pool.buffers()).fold((0, 0), sum)
    }

    pub(crate) fn add(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, kind: Kind, count: u64) {
        self.counts[kind as usize].fetch_sub(count, Ordering::Relaxed);
    }

    /// The process that initialised CUDA.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether this is a fork of the process that initialised CUDA.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.origin.is_elsewhere()
    }

    fn contexts(&self) -> MutexGuard<'_, Vec<Known>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter_context(&self, core: &Arc<ContextCore>) {
        let known = Known {
            at: core.raw().addr(),
            device: core.device(),
            is_primary: core.kind() == ContextKind::Primary,
            core: Arc::downgrade(core),
        };
        self.contexts().push(known);
    }

    /// Takes contexts that are gone, or going, off the list.
    pub(crate) fn forget_contexts(&self) {
        lists::retain(&mut self.contexts(), |known| known.core.strong_count() > 0);
    }

    /// The context of this address, if it is one of ours.
    pub(crate) fn context(&self, raw: CUcontext) -> Option<Arc<ContextCore>> {
        self.find(|known| known.at == raw.addr())
    }

    /// The primary context of this device, if an object or a lease still holds it.
    pub(crate) fn primary(&self, device: CUdevice) -> Option<Arc<ContextCore>> {
        self.find(|known| known.is_primary && known.device == device)
    }

    /// The contexts of this device. A caller that lets one go may be its last owner, and end it.
    pub(crate) fn contexts_of(&self, device: CUdevice) -> Vec<Arc<ContextCore>> {
        let mut of_it = Vec::new();
        for known in self.contexts().iter() {
            if known.device == device
                && let Some(core) = known.core.upgrade()
            {
                of_it.push(core);
            }
        }
        of_it
    }

    fn find(&self, meant: impl Fn(&Known) -> bool) -> Option<Arc<ContextCore>> {
        // No other is upgraded: it could be the last of its kind by the time it is let go, and
        // its end takes the lock and runs code of others.
        let contexts = self.contexts();
        let mut meant = contexts.iter().filter(|known| meant(known));
        meant.find_map(|known| known.core.upgrade())
    }

    /// The reactor of a device, for all its contexts. Not for the child of a fork.
    pub(super) fn reactor(&self, device: CUdevice) -> Arc<Reactor> {
        let mut reactors = self.reactors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reactor)) = reactors.iter().find(|(of, _)| *of == device) {
            return Arc::clone(reactor);
        }
        let reactor = Arc::<Reactor>::default();
        reactors.push((device, Arc::clone(&reactor)));
        reactor
    }

    /// The error of one context that others have too, if there was one.
    pub(crate) fn lost(&self) -> Option<&Arc<Cause>> {
        self.lost.get()
    }

    /// A context was lost to an error of the process or the hardware. The first one counts.
    #[cold]
    pub(crate) fn lose(&self, first: &Arc<Cause>) {
        let _ = self.lost.set(Arc::clone(first));
    }

    pub(crate) fn poison_policy(&self) -> PoisonPolicy {
        self.policy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_poison_policy(&self, policy: PoisonPolicy) {
        let mut place = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *place, policy);
        // The policy from before is dropped after the lock: it may be a user's closure.
        drop(place);
        drop(before);
    }

    pub(crate) fn live(&self) -> Live {
        let count = |kind: Kind| self.counts[kind as usize].load(Ordering::Relaxed);
        let (buffers, bytes) = self.buffers();
        Live {
            contexts: count(Kind::Context),
            streams: count(Kind::Stream),
            events: count(Kind::Event),
            modules: count(Kind::Module),
            graphs: count(Kind::Graph),
            executables: count(Kind::GraphExec),
            pools: count(Kind::Pool),
            buffers,
            bytes,
            pinned: count(Kind::Pinned),
            pinned_bytes: count(Kind::PinnedBytes),
            pinned_regions: count(Kind::PinnedRegion),
            managed: count(Kind::Managed),
            buried: count(Kind::Buried),
            abandoned: count(Kind::Abandoned),
            abandoned_bytes: count(Kind::AbandonedBytes),
        }
    }
}
