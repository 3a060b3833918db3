//! `DeviceLimit`: a limit in bytes that several pools share.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_core::{Budget, Pressure};

use crate::lists;
use crate::pool::member::Member;
use crate::sync::event_count::EventCount;
use crate::sync::rundown::RundownWeak;

/// A limit in bytes that several pools have in common. Clones are the same limit.
///
/// A pool that finds it used up asks the others to give back the memory that they keep for reuse.
#[derive(Clone)]
pub struct DeviceLimit(Arc<Shared>);

struct Shared {
    budget: Budget,
    /// How often there was more room than before.
    changes: EventCount,
    /// Pools that give all back, and can be asked for nothing any more.
    ending: EventCount,
    pools: Mutex<Vec<RundownWeak<dyn Member>>>,
}

impl DeviceLimit {
    /// A limit of `bytes`.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(Arc::new(Shared {
            budget: Budget::new(bytes),
            changes: EventCount::default(),
            ending: EventCount::default(),
            pools: Mutex::default(),
        }))
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.budget.limit()
    }

    /// Changes it. The pools' memory stays theirs, that which they keep for reuse too until one of
    /// them asks or [`MemoryPool::trim`](crate::pool::MemoryPool::trim) is called; nothing more is
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

    /// The most bytes that were ever charged at a time: those of the pools, and those that were
    /// just asked of the driver.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.budget.peak()
    }

    /// How full it is, with all memory of the pools: that which they keep for reuse too.
    #[must_use]
    pub fn pressure_level(&self) -> Pressure {
        self.0.budget.pressure()
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// There may be more room than before.
    pub(crate) fn note_room(&self) {
        self.0.changes.note();
    }

    pub(crate) fn changes(&self) -> u64 {
        self.0.changes.get()
    }

    /// Adds a pool that is charged to it.
    pub(crate) fn register(&self, pool: RundownWeak<dyn Member>) {
        let mut pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        lists::retain(&mut pools, RundownWeak::is_alive);
        pools.push(pool);
    }

    /// The pools that share it, but for the one at this address.
    pub(crate) fn others(&self, pool: *const ()) -> Vec<RundownWeak<dyn Member>> {
        let pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = Vec::new();
        for other in pools.iter() {
            if !other.points_to(pool) {
                others.push(other.clone());
            }
        }
        others
    }

    pub(crate) fn ending(&self) -> &EventCount {
        &self.0.ending
    }
}

impl fmt::Debug for DeviceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.budget, f)
    }
}
