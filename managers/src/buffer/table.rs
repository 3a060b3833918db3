//! `BufferTable`: the handles of device buffers, given when a caller asks.
//!
//! Giving each buffer a handle at its allocation would take several exchanges on words that
//! all threads share, more than the rest of the allocation. So a buffer has a handle from the first
//! time on that a caller wants it: its owner, or a caller that asks for all.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_core::tag;

use super::entry::{BufferEntry, BufferHandle, BufferInfo};
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::handle::ManagedHandle;
use crate::pool::{BlockHeader, Member};
use crate::registry::Registry;
use crate::stats::ManagerStats;
use crate::stream::StreamsConfig;
use crate::sync::capacity::Permit;
use crate::sync::rundown::{RundownGuard, RundownWeak};

/// The handles of the buffers of a context.
pub(crate) struct BufferTable {
    core: Arc<ContextCore>,
    names: Registry<BufferEntry, tag::Buffer>,
    pools: Mutex<Vec<RundownWeak<dyn Member>>>,
    /// Pools that may have memory: a pool that ends is among them until it has given it back.
    there: AtomicUsize,
    /// No buffers are to be had any more.
    closing: AtomicBool,
    /// There may be fewer buffers than the table has room for: each takes a permit.
    limited: AtomicBool,
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
            there: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            limited: AtomicBool::new(capacity < StreamsConfig::MOST),
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
        self.check_open()?;
        if self.limited.load(Ordering::Relaxed) {
            return self.names.permit().map(Some);
        }
        Ok(None)
    }

    /// Adds a pool whose buffers are of this context.
    pub(crate) fn register(&self, pool: RundownWeak<dyn Member>) {
        self.there.fetch_add(1, Ordering::Relaxed);
        let mut pools = self.lock();
        pools.retain(RundownWeak::is_alive);
        pools.push(pool);
    }

    /// A pool ends that has made so many buffers.
    pub(crate) fn leave(&self, made: u64) {
        self.made.fetch_add(made, Ordering::Relaxed);
    }

    /// Notes that a pool has given back all memory that it ever will.
    pub(crate) fn note_empty(&self) {
        // The memory that it gave back comes before it.
        self.there.fetch_sub(1, Ordering::Release);
    }

    /// Whether there is no pool in the context but one, neither one that ends.
    pub(crate) fn has_one_pool(&self) -> bool {
        self.there.load(Ordering::Acquire) == 1
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RundownWeak<dyn Member>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pools one after the other, but for those that end. None in a fork: another thread may
    /// have left this lock taken, or a pool's.
    fn pools(&self) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        let is_here = self.core.not_forked().is_ok();
        let pools = is_here.then(|| self.lock().clone());
        let pools = pools.into_iter().flatten();
        pools.filter_map(|pool| pool.acquire())
    }

    /// The pools of the context but for the one with this number.
    pub(crate) fn others(
        &self,
        number: u64,
    ) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        self.pools().filter(move |other| other.number() != number)
    }

    /// The handle of a buffer that is alive; one that is stale when the manager was shut down
    /// before the buffer got one.
    pub(super) fn name(&self, header: &BlockHeader) -> BufferHandle {
        let known = header.entry().load(Ordering::Acquire);
        // SAFETY: the header has a share of the entry for as long as the buffer is alive.
        if let Some(entry) = unsafe { known.as_ref() } {
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
        let ours = Arc::into_raw(entry).cast_mut();
        let set = header.entry().compare_exchange(
            ptr::null_mut(),
            ours,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        match set {
            Ok(_) => handle,
            Err(first) => {
                // SAFETY: from `into_raw` above, and no other thread has it.
                drop(unsafe { Arc::from_raw(ours) });
                let _ = self.names.take(handle);
                // SAFETY: the header has a share of the entry for as long as the buffer is alive.
                unsafe { &*first }.handle
            }
        }
    }

    /// Ends a name: the buffer is about to be freed.
    #[cold]
    pub(crate) fn forget(&self, entry: &AtomicPtr<BufferEntry>) {
        let named = entry.swap(ptr::null_mut(), Ordering::AcqRel);
        if !named.is_null() {
            // SAFETY: from `into_raw` in `name`; the exchange took the header's share.
            let entry = unsafe { Arc::from_raw(named) };
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
        let made: u64 = self.pools().map(|pool| pool.buffers_made()).sum();
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
    pub(super) fn is_shut(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Hands out nothing from now on, and ends every name: those of the buffers that are alive.
    pub(super) fn shut(&self) -> Vec<(BufferHandle, Arc<BufferEntry>)> {
        // Before the names are given: a block that is alive only after that sees it.
        self.closing.store(true, Ordering::Release);
        if !self.names.is_shut() {
            self.name_all();
        }
        self.live();
        self.names.shut()
    }

    pub(super) fn open(&self, capacity: usize) {
        self.names.open(capacity);
        self.closing.store(false, Ordering::Release);
        self.capacity.store(capacity, Ordering::Relaxed);
        let limited = capacity < StreamsConfig::MOST;
        self.limited.store(limited, Ordering::Relaxed);
    }
}

impl fmt::Debug for BufferTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.names, f)
    }
}
