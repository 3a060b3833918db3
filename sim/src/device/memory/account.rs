//! How much of a device's memory is used, by whom, and how much pools keep.
//!
//! Stream-ordered frees are accounted when they are called, not when the stream gets
//! there: the real pool too lets the next allocation reuse the memory in stream order.
//! So the account, its peaks and its out-of-memory answers depend on the order of calls
//! alone. Pools keep no memory in truth: `reserved` says what a real one would hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::memory::access::PoolAccess;
use crate::device::strict::Origin;
use crate::device::sync::lock;

/// Steps in which pools reserve, as far as the device has room; seen on an H200.
const RESERVE_STEP: u64 = 32 << 20;

/// Settings of a pool, from its properties and attributes.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct PoolLimits {
    /// Most bytes it may hold; 0 for no limit.
    pub(in crate::device) max_size: u64,
    /// Unused bytes that it keeps over a synchronisation.
    pub(in crate::device) threshold: u64,
    /// The three `REUSE` attributes, in the order of their numbers.
    pub(in crate::device) reuse: [i32; 3],
}

/// The account of one pool.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Pool {
    pub(in crate::device) limits: PoolLimits,
    /// What other devices may do with its memory.
    pub(in crate::device) access: Arc<PoolAccess>,
    pub(in crate::device) used: u64,
    pub(in crate::device) used_high: u64,
    pub(in crate::device) reserved: u64,
    pub(in crate::device) reserved_high: u64,
    /// The call that made it.
    pub(in crate::device) made: Origin,
    /// Destroyed, and gone as soon as nothing of it is in use.
    closing: bool,
}

/// What graphs' launches have, and what they had: it is kept for the next ones.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::device) struct GraphMemory {
    pub(in crate::device) used: u64,
    pub(in crate::device) used_high: u64,
    pub(in crate::device) reserved: u64,
    pub(in crate::device) reserved_high: u64,
}

#[derive(Debug, Default)]
struct State {
    graph: GraphMemory,
    /// Bytes outside of pools.
    plain: u64,
    pools: BTreeMap<u64, Pool>,
}

impl State {
    fn taken(&self) -> u64 {
        self.plain
            + self.graph.reserved
            + self.pools.values().map(|pool| pool.reserved).sum::<u64>()
    }
}

/// The memory account of one device.
#[derive(Debug)]
pub(in crate::device) struct Account {
    total: u64,
    state: Mutex<State>,
}

impl Account {
    pub(in crate::device) fn new(total: u64) -> Self {
        Self {
            total,
            state: Mutex::default(),
        }
    }

    pub(in crate::device) fn total(&self) -> u64 {
        self.total
    }

    pub(in crate::device) fn free(&self) -> u64 {
        self.total - lock(&self.state).taken().min(self.total)
    }

    /// Charges an allocation outside of pools.
    pub(in crate::device) fn take(&self, bytes: u64) -> Reply {
        let mut state = lock(&self.state);
        if self.room(&mut state, None, bytes) < bytes {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        state.plain += bytes;
        Ok(())
    }

    /// Ends the charge of an allocation.
    pub(in crate::device) fn give(&self, pool: Option<u64>, bytes: u64) {
        let mut state = lock(&self.state);
        let Some(handle) = pool else {
            state.plain = state.plain.saturating_sub(bytes);
            return;
        };
        if let Some(pool) = state.pools.get_mut(&handle) {
            pool.used = pool.used.saturating_sub(bytes);
            if pool.closing && pool.used == 0 {
                state.pools.remove(&handle);
            }
        }
    }

    /// Charges an allocation of a graph's launch.
    pub(in crate::device) fn take_graph(&self, bytes: u64) -> Reply {
        let mut state = lock(&self.state);
        let used = state.graph.used.checked_add(bytes);
        let used = used.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        let missing = used.saturating_sub(state.graph.reserved);
        if self.room(&mut state, None, missing) < missing {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        let graph = &mut state.graph;
        graph.used = used;
        graph.used_high = graph.used_high.max(used);
        graph.reserved += missing;
        graph.reserved_high = graph.reserved_high.max(graph.reserved);
        Ok(())
    }

    /// Ends the charge of an allocation of a graph's launch; the bytes stay reserved.
    pub(in crate::device) fn give_graph(&self, bytes: u64) {
        self.change_graph(|graph| graph.used = graph.used.saturating_sub(bytes));
    }

    pub(in crate::device) fn graph(&self) -> GraphMemory {
        lock(&self.state).graph
    }

    pub(in crate::device) fn change_graph(&self, change: impl FnOnce(&mut GraphMemory)) {
        change(&mut lock(&self.state).graph);
    }

    /// Charges an allocation from a pool; says who may access it.
    pub(in crate::device) fn take_pooled(&self, handle: u64, bytes: u64) -> Reply<Arc<PoolAccess>> {
        let mut state = lock(&self.state);
        let pool = state.pools.get(&handle).filter(|pool| !pool.closing);
        let pool = pool.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let used = pool
            .used
            .checked_add(bytes)
            .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        let limit = match pool.limits.max_size {
            0 => u64::MAX,
            limit => limit,
        };
        if used > limit {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        let access = Arc::clone(&pool.access);
        let missing = used.saturating_sub(pool.reserved);
        let reserved = pool.reserved;
        let room = self.room(&mut state, Some(handle), missing);
        if room < missing {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        if let Some(pool) = state.pools.get_mut(&handle) {
            pool.used = used;
            pool.used_high = pool.used_high.max(used);
            if missing > 0 {
                let step = used.next_multiple_of(RESERVE_STEP).min(limit);
                pool.reserved = step.min(reserved + room).max(used);
                pool.reserved_high = pool.reserved_high.max(pool.reserved);
            }
        }
        Ok(access)
    }

    /// Free bytes; other pools give up what they do not use if `wanted` would not fit.
    fn room(&self, state: &mut State, but: Option<u64>, wanted: u64) -> u64 {
        if self.total - state.taken().min(self.total) < wanted {
            for (_, pool) in state
                .pools
                .iter_mut()
                .filter(|(handle, _)| Some(**handle) != but)
            {
                pool.reserved = pool.used;
            }
        }
        self.total - state.taken().min(self.total)
    }

    pub(in crate::device) fn add_pool(&self, handle: u64, limits: PoolLimits) {
        lock(&self.state).pools.insert(
            handle,
            Pool {
                limits,
                ..Pool::default()
            },
        );
    }

    /// Ends a pool; its memory in use stays until it is freed. False if there is none.
    pub(in crate::device) fn close_pool(&self, handle: u64) -> bool {
        let mut state = lock(&self.state);
        let Some(pool) = state.pools.get_mut(&handle).filter(|pool| !pool.closing) else {
            return false;
        };
        pool.closing = true;
        pool.reserved = pool.used;
        if pool.used == 0 {
            state.pools.remove(&handle);
        }
        true
    }

    /// Reads or changes a pool; `None` if there is none.
    pub(in crate::device) fn pool<T>(
        &self,
        handle: u64,
        f: impl FnOnce(&mut Pool) -> T,
    ) -> Option<T> {
        lock(&self.state)
            .pools
            .get_mut(&handle)
            .filter(|pool| !pool.closing)
            .map(f)
    }

    /// The pools that are not destroyed, by handle.
    pub(in crate::device) fn pools(&self) -> Vec<(u64, Origin)> {
        let state = lock(&self.state);
        let open = state.pools.iter().filter(|(_, pool)| !pool.closing);
        open.map(|(handle, pool)| (*handle, pool.made.clone()))
            .collect()
    }

    /// Gives unused reserved memory back, down to `keep` bytes.
    pub(in crate::device) fn trim(&self, handle: u64, keep: u64) -> Option<()> {
        self.pool(handle, |pool| {
            pool.reserved = pool.used.max(pool.reserved.min(keep));
        })
    }

    /// What a synchronisation does: every pool gives back what is above its threshold.
    pub(in crate::device) fn synchronized(&self) {
        for pool in lock(&self.state).pools.values_mut() {
            pool.reserved = pool.used.max(pool.reserved.min(pool.limits.threshold));
        }
    }
}
