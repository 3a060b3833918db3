//! Private pools: memory that captured graphs use.
//!
//! PyTorch begins one before it captures a graph, says by a function which streams' requests are meant, and
//! releases it when the graph is destroyed. Each stream whose requests are meant gets a graph memory of the
//! device's pool, at its first request or free: nothing of it is handed out, moved or unmapped before the
//! pool is released.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cupola_managers::MemoryPool;
use cupola_managers::pool::GraphMemory;
use cupola_sys::driver::CUstream;

use crate::blocks::LiveBlock;
use crate::error::Failure;
use crate::pool_id::PoolId;
use crate::std_function::StreamFilter;
use crate::streams::KnownStream;
use crate::sync::lock;

/// The private pools of a device.
#[derive(Default)]
pub(crate) struct PrivatePools {
    /// Pools that take requests.
    open: AtomicUsize,
    pools: Mutex<Pools>,
}

#[derive(Default)]
struct Pools {
    by_id: HashMap<PoolId, PrivatePool>,
    /// Memory of pools that were released. Launches of their graphs may still run, on streams that no call
    /// has named.
    released: Vec<GraphMemory>,
    /// Blocks that were freed while a pool took requests, and that other streams had used: behind those
    /// they are freed when no capture can be drawn into that.
    deferred: Vec<LiveBlock>,
}

#[derive(Default)]
struct PrivatePool {
    /// How often it was begun more than it was released.
    uses: u32,
    filter: Option<StreamFilter>,
    memories: Vec<(Arc<KnownStream>, GraphMemory)>,
}

impl PrivatePools {
    /// Whether some pool takes requests: a capture may be under way.
    pub(crate) fn is_any_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// Sends the requests and frees of `stream` to the memory of a pool that wants them, from now on.
    ///
    /// A thread that captures has called `begin`, so it sees the count; other threads' requests are meant
    /// only if they were told by that thread.
    pub(crate) fn route(
        &self,
        pool: &MemoryPool,
        stream: &Arc<KnownStream>,
        raw: CUstream,
    ) -> Result<(), Failure> {
        if !self.is_any_open() {
            return Ok(());
        }
        let mut pools = lock(&self.pools);
        let is_sent = |private: &PrivatePool| {
            let mut memories = private.memories.iter();
            memories.any(|(known, memory)| Arc::ptr_eq(known, stream) && memory.is_open())
        };
        if pools.by_id.values().any(is_sent) {
            return Ok(());
        }
        let wants = |private: &&mut PrivatePool| {
            let filter = private.filter.as_ref();
            filter.is_some_and(|filter| filter.accepts(raw))
        };
        if let Some(private) = pools.by_id.values_mut().find(wants) {
            let memory = pool.graph_memory(stream.stream())?;
            private.memories.push((Arc::clone(stream), memory));
        }
        Ok(())
    }

    /// A pool takes the requests of the streams that the filter accepts, until [`end`](Self::end).
    pub(crate) fn begin(&self, id: PoolId, filter: StreamFilter) -> Result<(), Failure> {
        let mut pools = lock(&self.pools);
        let private = pools.by_id.entry(id).or_default();
        if private.filter.is_some() {
            return Err(Failure::PoolIsOpen(id));
        }
        private.filter = Some(filter);
        private.uses += 1;
        self.open.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// A pool takes no more requests. Its blocks come back to it as before.
    pub(crate) fn end(&self, id: PoolId) -> Result<(), Failure> {
        let mut pools = lock(&self.pools);
        let private = pools.by_id.get_mut(&id).ok_or(Failure::NoPool(id))?;
        let filter = private.filter.take();
        let filter = filter.ok_or(Failure::PoolIsClosed(id))?;
        for (_, memory) in &private.memories {
            memory.end();
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
        drop(pools);
        drop(filter);
        Ok(())
    }

    /// A graph of the pool was destroyed. With the last one its memory can be had again, once all work is
    /// over: see [`take_released`](Self::take_released).
    pub(crate) fn release(&self, id: PoolId) -> Result<(), Failure> {
        let mut pools = lock(&self.pools);
        let private = pools.by_id.get_mut(&id).ok_or(Failure::NoPool(id))?;
        private.uses -= 1;
        if private.uses > 0 {
            return Ok(());
        }
        if private.filter.is_some() {
            private.uses += 1;
            return Err(Failure::PoolIsOpen(id));
        }
        let private = pools.by_id.remove(&id);
        let memories = private.into_iter().flat_map(|private| private.memories);
        pools.released.extend(memories.map(|(_, memory)| memory));
        Ok(())
    }

    /// The memory of released pools, to be dropped after all work of the context.
    pub(crate) fn take_released(&self) -> Vec<GraphMemory> {
        std::mem::take(&mut lock(&self.pools).released)
    }

    /// Puts it back, where that work could not be waited for.
    pub(crate) fn put_released(&self, memories: Vec<GraphMemory>) {
        lock(&self.pools).released.extend(memories);
    }

    /// Frees a block that several streams have used: now, if no pool takes requests, else with
    /// [`free_deferred`](Self::free_deferred). While memory of a graph is open the device's pool would make
    /// the block's stream wait for the others, which may draw them into the capture: so no pool begins
    /// meanwhile.
    pub(crate) fn free_or_defer(
        &self,
        block: LiveBlock,
        free: impl FnOnce(LiveBlock) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut pools = lock(&self.pools);
        if self.is_any_open() {
            pools.deferred.push(block);
            return Ok(());
        }
        free(block)
    }

    /// Frees what was kept, if no pool takes requests.
    pub(crate) fn free_deferred(
        &self,
        free: impl FnOnce(Vec<LiveBlock>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut pools = lock(&self.pools);
        match self.is_any_open() {
            true => Ok(()),
            false => free(std::mem::take(&mut pools.deferred)),
        }
    }
}
