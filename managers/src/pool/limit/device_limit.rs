//! `DeviceLimit`: a limit in bytes that several pools share.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_core::Pressure;

use crate::lists;
use crate::pool::limit::limit_budget::{LimitBudget, LimitCharge, Refusal};
use crate::pool::limit::shared_budget::SharedBudget;
use crate::pool::member::Member;
use crate::sync::event_count::EventCount;
use crate::sync::rundown::RundownWeak;

/// A limit in bytes that several pools have in common. Clones are the same limit.
///
/// A pool that finds it used up asks the others to give back the memory that they keep for reuse.
///
/// It is a limit of this process. Several processes have an exact limit in common where each has
/// one [within](Self::within) the same [`SharedBudget`]: the crate `cupola-sharing` has a ledger for that.
#[derive(Clone)]
pub struct DeviceLimit(Arc<Shared>);

struct Shared {
    budget: LimitBudget,
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
        Self::of(LimitBudget::new(bytes))
    }

    /// A limit of `bytes`, all of whose bytes are charged to `account` too: memory is granted that fits
    /// both. What others have charged there is never waited for.
    #[must_use]
    pub fn within(bytes: u64, account: Arc<dyn SharedBudget>) -> Self {
        Self::of(LimitBudget::within(bytes, account))
    }

    fn of(budget: LimitBudget) -> Self {
        Self(Arc::new(Shared {
            budget,
            changes: EventCount::default(),
            ending: EventCount::default(),
            pools: Mutex::default(),
        }))
    }

    /// The limit in bytes: of this process.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.budget.limit()
    }

    /// Changes it, and not that of an account that it is [within](Self::within). The pools' memory stays theirs, that which they keep for reuse too until one of
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

    pub(crate) fn budget(&self) -> &LimitBudget {
        &self.0.budget
    }

    /// Charges bytes, where need be after those of processes that have ended were taken back. `None` when
    /// they do not fit.
    pub(crate) fn charge(&self, bytes: u64) -> Option<LimitCharge<'_>> {
        // Where there is nothing to take back, another process may have just done so.
        let mut is_last = false;
        loop {
            match self.0.budget.charge(bytes) {
                Ok(charge) => return Some(charge),
                Err(Refusal::Outer) if !is_last => is_last = !self.reclaim(),
                Err(Refusal::Own | Refusal::Outer) => return None,
            }
        }
    }

    /// Takes back what processes that have ended have charged to the account that it is within. Whether there
    /// was anything.
    pub(crate) fn reclaim(&self) -> bool {
        let is_more = self.0.budget.reclaim();
        if is_more {
            self.note_room();
        }
        is_more
    }

    /// There may be more room than before.
    pub(crate) fn note_room(&self) {
        self.0.changes.note();
    }

    pub(crate) fn changes(&self) -> u64 {
        self.0.changes.get()
    }

    /// Bytes in use and the limit, of the account of all processes.
    pub(crate) fn processes(&self) -> Option<(u64, u64)> {
        let outer = self.0.budget.outer_use()?;
        Some((outer.used, outer.limit))
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
