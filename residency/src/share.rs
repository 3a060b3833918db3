//! Memory that a residency and others have in turn.

use std::sync::Arc;

use cupola_managers::{Error, MemoryPool};

use crate::error::Result;
use crate::evict::WorkWaits;
use crate::residency::{Inner, Residency};

impl Residency {
    /// Lets a pool that is [charged to the same limit](cupola_managers::PoolConfig::within) and this residency have each
    /// other's memory: working memory beside weights. Where the pool would refuse a request, slots that
    /// nothing holds give as much up; where a slot cannot be loaded otherwise, the pool gives up what it
    /// keeps for reuse ([`MemoryPool::trim`]).
    ///
    /// It takes the pool's place for a [callback on refusals](MemoryPool::on_refusal): a program that has one
    /// calls [`give_up`](Self::give_up) there instead. Neither keeps the other.
    pub fn share_with(&self, pool: &MemoryPool) {
        self.0.pools().push(pool.downgrade());
        let inner = Arc::downgrade(&self.0);
        pool.on_refusal(move |refusal| {
            let (Error::OverLimit(account) | Error::OutOfMemory { account, .. }) = refusal else {
                return false;
            };
            let Some(inner) = inner.upgrade() else {
                return false;
            };
            // What is left already is not lacking. Should that not be in one piece, the pool asks again.
            let limits = [account.shared, account.processes].into_iter().flatten();
            let left = limits.map(|(used, limit)| limit.saturating_sub(used));
            let left = left.min().unwrap_or(0);
            let lacking = account.requested.saturating_sub(left + account.ready);
            inner.give_up(lacking.max(1)).is_ok_and(|given| given > 0)
        });
    }

    /// Slots that nothing holds give at least `bytes` bytes up, as far as they have them, and the driver gets those back with
    /// what is kept for reuse: how many bytes that were. Work that uses such a slot is waited for.
    ///
    /// # Errors
    /// [`ResidencyError::InUse`](crate::ResidencyError::InUse),
    /// [`ResidencyError::Device`](crate::ResidencyError::Device): less was given up.
    #[track_caller]
    pub fn give_up(&self, bytes: u64) -> Result<u64> {
        self.0.give_up(bytes)
    }
}

impl Inner {
    #[track_caller]
    fn give_up(&self, bytes: u64) -> Result<u64> {
        let mut engine = self.engine();
        self.sweep(&mut engine);
        let _ = engine.unmap_all_left();
        let before = self.memory.bytes();
        engine.stock.clear();
        let given = || before.saturating_sub(self.memory.bytes());
        let mut waits = WorkWaits::at_most(self.wait);
        while given() < bytes && self.evict_piece(&mut engine, None, &mut waits)?.is_some() {
            engine.stock.clear();
        }
        Ok(given())
    }

    /// What pools keep for reuse goes back to the driver: whether that was any.
    pub(crate) fn trim_pools(&self) -> bool {
        let mut has_room = false;
        self.pools().retain(|pool| match pool.upgrade() {
            Some(pool) => {
                // An error of its context is for its own callers.
                has_room |= pool.trim().is_ok_and(|bytes| bytes > 0);
                true
            }
            None => false,
        });
        has_room
    }
}
