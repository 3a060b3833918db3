//! `BufferTable`: the handles of device buffers, given when a caller asks.
//!
//! Giving each buffer a handle at its allocation would take several exchanges on words that
//! all threads share, more than the rest of the allocation. So a buffer has a handle from the first
//! time on that a caller wants it: its owner, or a caller that asks for all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, iter};

use cupola_core::tag;

use super::entry::{BufferEntry, BufferHandle, BufferInfo};
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::handle::ManagedHandle;
use crate::lists;
use crate::pool::{BlockHeader, Member};
use crate::registry::Registry;
use crate::stats::ManagerStats;
use crate::stream::StreamsConfig;
use crate::sync::capacity::Permit;
use crate::sync::event_count::EventCount;
use crate::sync::lazy_arc::LazyArc;
use crate::sync::rundown::{RundownGuard, RundownWeak};
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// There are as many buffers to be had as the table has room for.
const OPEN: u32 = 0;
/// There may be fewer: each takes a permit.
const LIMITED: u32 = 1;
/// None are to be had any more.
const SHUT: u32 = 2;

/// Whether so many buffers are to be had without a permit.
fn access(capacity: usize) -> u32 {
    if capacity < StreamsConfig::MOST {
        LIMITED
    } else {
        OPEN
    }
}

/// The handles of the buffers of a context.
pub(crate) struct BufferTable {
    core: Arc<ContextCore>,
    names: Registry<BufferEntry, tag::Buffer>,
    pools: Mutex<Vec<RundownWeak<dyn Member>>>,
    /// Pools that may have memory: a pool that ends is among them until it has given it back.
    there: EventCount,
    /// [`OPEN`], [`LIMITED`] or [`SHUT`].
    access: AtomicU32,
    peak: AtomicUsize,
    /// Buffers that pools which have ended have made.
    made: AtomicU64,
    /// The most buffers that a call has reported as made: a pool that just ends is in neither sum.
    created: AtomicU64,
    capacity: AtomicUsize,
}

/// A handle that never names an object: no place has so many lives.
fn no_stream<G>() -> ManagedHandle<G> {
    ManagedHandle::NONE
}

impl BufferTable {
    pub(super) fn new(core: &Arc<ContextCore>, capacity: usize) -> Self {
        Self {
            core: Arc::clone(core),
            names: Registry::new(capacity).of_owned(),
            pools: Mutex::default(),
            there: EventCount::default(),
            access: AtomicU32::new(access(capacity)),
            peak: AtomicUsize::new(0),
            made: AtomicU64::new(0),
            created: AtomicU64::new(0),
            capacity: AtomicUsize::new(capacity),
        }
    }

    /// Refuses when the manager was shut down.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_shut() {
            return Err(Error::ShutDown { kind: "Buffer" });
        }
        Ok(())
    }

    /// Room for one more buffer, before anything is allocated.
    #[inline]
    pub(super) fn enter_one(&self) -> Result<Option<Permit>> {
        match self.access.load(Ordering::Relaxed) {
            OPEN => Ok(None),
            LIMITED => self.names.permit().map(Some),
            _ => Err(Error::ShutDown { kind: "Buffer" }),
        }
    }

    /// Adds a pool whose buffers are of this context.
    pub(crate) fn register(&self, pool: RundownWeak<dyn Member>) {
        self.there.note();
        let mut pools = self.lock();
        lists::retain(&mut pools, RundownWeak::is_alive);
        pools.push(pool);
    }

    /// A pool ends that has made so many buffers.
    pub(crate) fn leave(&self, made: u64) {
        self.made.fetch_add(made, Ordering::Relaxed);
    }

    /// Notes that a pool has given back all memory that it ever will.
    pub(crate) fn note_empty(&self) {
        self.there.note_end();
    }

    /// Whether there is no pool in the context but one, neither one that ends.
    pub(crate) fn has_one_pool(&self) -> bool {
        self.there.get() == 1
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RundownWeak<dyn Member>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pools one after the other, but for those that end. None in a fork: another thread may
    /// have left this lock taken, or a pool's.
    fn pools(&self) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        let is_here = self.core.not_forked().is_ok();
        let mut pools = if is_here {
            self.lock().clone().into_iter()
        } else {
            Vec::new().into_iter()
        };
        iter::from_fn(move || {
            loop {
                let pool = pools.next()?.acquire();
                if pool.is_some() {
                    return pool;
                }
            }
        })
    }

    /// The pools of the context but for the one with this number.
    pub(crate) fn others(
        &self,
        number: u64,
    ) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        let mut pools = self.pools();
        iter::from_fn(move || {
            loop {
                let other = pools.next()?;
                if other.number() != number {
                    return Some(other);
                }
            }
        })
    }

    /// The handle of a buffer that is alive; one that is stale when the manager was shut down
    /// before the buffer got one.
    pub(super) fn name(&self, header: &BlockHeader) -> BufferHandle {
        // SAFETY: needs that the entry is not taken out: the buffer is alive.
        if let Some(entry) = unsafe { header.entry().get() } {
            return entry.handle;
        }
        let info = BufferInfo {
            address: header.address(),
            bytes: header.requested().unwrap_or_default(),
            stream: ManagedHandle::from_bits(header.stream()).unwrap_or_else(no_stream),
        };
        let make = |handle| Ok(BufferEntry { handle, info });
        let Ok(entry) = self.names.insert_permitted(make) else {
            return no_stream();
        };
        let handle = entry.handle;
        let Err(ours) = header.entry().put(entry) else {
            return handle;
        };
        drop(ours);
        let _ = self.names.take(handle);
        // SAFETY: needs that the entry is not taken out: the buffer is alive.
        let first = unsafe { header.entry().get() };
        first.map_or_else(no_stream, |first| first.handle)
    }

    /// Ends a name: the buffer is about to be freed.
    #[cold]
    pub(crate) fn forget(&self, entry: &LazyArc<BufferEntry>) {
        if let Some(entry) = entry.take() {
            // Stale only if its name ended before: there is nothing left to do then.
            let _ = self.names.take(entry.handle);
        }
    }

    /// Gives every buffer that is alive its name.
    fn name_all(&self) {
        for pool in self.pools() {
            pool.with_buffers(&mut |header| {
                let _named = self.name(header);
            });
        }
    }

    pub(super) fn info(&self, handle: BufferHandle) -> Result<BufferInfo> {
        self.names.lease(handle).map(|entry| entry.info)
    }

    pub(super) fn handles(&self) -> impl Iterator<Item = BufferHandle> + '_ {
        self.name_all();
        self.names.handles()
    }

    /// Buffers that are alive.
    pub(super) fn live(&self) -> usize {
        let alive = self.pools().map(|pool| pool.buffers_alive()).sum();
        self.peak.fetch_max(alive, Ordering::Relaxed);
        alive
    }

    /// Buffers that were made.
    fn created(&self) -> u64 {
        // Before the pools are looked at: one that ends meanwhile is not counted twice.
        let ended = self.made.load(Ordering::Relaxed);
        let made = lists::sum(self.pools(), |pool| pool.buffers_made());
        let created = self.created.fetch_max(ended + made, Ordering::Relaxed);
        created.max(ended + made)
    }

    pub(super) fn stats(&self) -> ManagerStats {
        let live = self.live();
        let mut stats = self.names.stats();
        stats.live = live;
        stats.created = self.created();
        stats.peak = self.peak.load(Ordering::Relaxed);
        stats.capacity = self.capacity.load(Ordering::Relaxed);
        stats
    }

    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        self.access.load(Ordering::Relaxed) == SHUT
    }

    /// Hands out nothing from now on, and ends every name: those of the buffers that are alive.
    pub(super) fn shut(&self) -> Vec<(BufferHandle, Arc<BufferEntry>)> {
        // Before the names are given. A caller that has come by before this gets a buffer, which may
        // be named or not.
        self.access.store(SHUT, Ordering::Relaxed);
        if !self.names.is_shut() {
            self.name_all();
        }
        self.live();
        self.names.shut()
    }

    pub(super) fn open(&self, capacity: usize) {
        self.names.open(capacity);
        self.capacity.store(capacity, Ordering::Relaxed);
        self.access.store(access(capacity), Ordering::Relaxed);
    }
}

impl fmt::Debug for BufferTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.names, f)
    }
}
