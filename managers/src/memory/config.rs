//! How a pool is made, and the limit that several pools may share.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cupola_core::{Budget, Pressure};

use super::pool::Pool;
use crate::sync::rundown::RundownWeak;

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Most bytes that the pool may have from the driver at a time, in whole pages: memory in
    /// use, and memory that it keeps for reuse.
    pub limit: u64,
    /// A limit that the pool has in common with others, besides its own.
    pub within: Option<DeviceLimit>,
    /// How long an allocation that finds no memory waits on the host for work that still uses
    /// what was freed: all its waits together, but for those after an answer of
    /// [`on_refusal`](super::MemoryPool::on_refusal), which begins anew. Any duration will do;
    /// `Duration::MAX` waits for as long as work is under way. What no completion can give is not
    /// waited for: a request that what is alive leaves no room for, or that could be had only if
    /// blocks moved, is refused at once. On a full device that is known only where no other pool of
    /// the context, and none under a common limit, could make room.
    ///
    /// Where one stream uses the pool, a request at the limit waits for whole pages, five seconds
    /// and half of this at most, rather than take what would leave fewer of them to all that come
    /// later; without a wait, or after it, it takes that. So with zero it never waits: for hosts that a device may
    /// wait for, such as one thread that launches the parts of a collective on several devices.
    pub wait: Duration,
    /// How many of the last operations the pool remembers; 0 for none. Remembering takes two
    /// locks and a look at the clock for each operation, and 120 bytes of the host.
    pub history: usize,
    /// Where the memory comes from.
    pub source: Source,
}

/// Where a pool's memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Virtual memory management where the device has it, else chunks.
    #[default]
    Best,
    /// Chunks of `cuMemAlloc`, on any device: what is in a chunk cannot be given back before
    /// all of it is free, and giving it back (`cuMemFree`) waits for all work of the context. For
    /// memory that other libraries register, and for comparison.
    Chunks,
}

impl PoolConfig {
    /// How long an allocation waits if not said otherwise. A host that is a thousand launches ahead
    /// of its device, as many as a queue takes, may be seconds ahead.
    pub const WAIT: Duration = Duration::from_secs(10);

    /// A pool of at most `bytes`.
    #[must_use]
    pub const fn limit(bytes: u64) -> Self {
        Self {
            limit: bytes,
            within: None,
            wait: Self::WAIT,
            history: 0,
            source: Source::Best,
        }
    }

    /// Remembers the last `events` operations, for [`MemoryPool::history`].
    ///
    /// [`MemoryPool::history`]: super::MemoryPool::history
    #[must_use]
    pub const fn history(mut self, events: usize) -> Self {
        self.history = events;
        self
    }

    /// Waits no longer than this for work that still uses what was freed.
    #[must_use]
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Shares a limit with other pools.
    #[must_use]
    pub fn within(mut self, limit: &DeviceLimit) -> Self {
        self.within = Some(limit.clone());
        self
    }
}

/// A limit in bytes that several pools have in common. Clones are the same limit.
///
/// A pool that finds it used up asks the others to give back what they keep for reuse.
#[derive(Clone)]
pub struct DeviceLimit(Arc<Shared>);

struct Shared {
    budget: Budget,
    /// How often there was more room than before.
    changes: AtomicU64,
    /// Pools that give all back, and can be asked for nothing any more.
    ending: AtomicU64,
    pools: Mutex<Vec<RundownWeak<Pool>>>,
}

impl DeviceLimit {
    /// A limit of `bytes`.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Shared {
            budget: Budget::new(bytes),
            changes: AtomicU64::new(0),
            ending: AtomicU64::new(0),
            pools: Mutex::default(),
        }))
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.budget.limit()
    }

    /// Changes it. What the pools have stays theirs, what they keep for reuse too until one of
    /// them asks or [`MemoryPool::trim`](super::MemoryPool::trim) is called; nothing more is
    /// granted until it fits.
    pub fn set_limit(&self, bytes: u64) {
        self.0.budget.set_limit(bytes);
        self.note_room();
    }

    /// Bytes that the pools have from the driver.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.budget.used()
    }

    /// The most that was ever charged at a time: what they had, and what was asked of the driver.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.budget.peak()
    }

    /// How full it is, with all that the pools have: what they keep for reuse too.
    #[must_use]
    pub fn pressure_level(&self) -> Pressure {
        self.0.budget.pressure()
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// There may be more room than before.
    pub(super) fn note_room(&self) {
        // What it counts comes before it.
        self.0.changes.fetch_add(1, Ordering::Release);
    }

    pub(super) fn changes(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }

    pub(super) fn enter(&self, pool: &Arc<Pool>) {
        let mut pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(RundownWeak::is_alive);
        pools.push(pool.host());
    }

    /// The pools that share it, but for one.
    pub(super) fn others(&self, pool: &Pool) -> Vec<RundownWeak<Pool>> {
        let pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let others = pools.iter().filter(|other| !other.points_to(pool));
        others.cloned().collect()
    }

    pub(super) fn ending(&self) -> &AtomicU64 {
        &self.0.ending
    }
}

impl fmt::Debug for DeviceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.budget, f)
    }
}
