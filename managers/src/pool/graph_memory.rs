//! `GraphMemory`: memory that only the replays of a captured graph use.
//!
//! Captured work runs again and again, each time at the addresses of the capture. So no other user
//! may have those for as long as the graph may run, though for the program they were freed long
//! ago. While it is open, a stream's requests go to a pool of their own, which shares the limit,
//! and is never asked to give up or move a page; frees find that pool by the piece. Blocks of the
//! surrounding pool that the stream frees meanwhile are held back.
//!
//! A hit pays nothing: a flag in the caches of the stream keeps their owners off the hit path.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::MemoryPool;
use crate::error::{Error, Result};
use crate::pool::cache::thread_cache::ROUTED;
use crate::pool::heap::block_header::{BlockHeader, Withheld};
use crate::pool::inspect::history::Action;
use crate::pool::inspect::history::CallSite;
use crate::pool::inspect::layout::{Layout, RunState};
use crate::pool::state::Pool;
use crate::pool::streams::open_graphs::Graph;
use crate::stream::Stream;

/// Memory for the graph that a stream's work is captured into.
///
/// From [`MemoryPool::graph_memory`] to [`end`](Self::end) the stream's allocations from the pool,
/// by any thread, come from memory that no other stream gets, and its frees of that go back there,
/// for the rest of the capture. Blocks of the pool that are from before, and that the stream frees
/// meanwhile, are kept from all users as well: the graph may use them.
///
/// As long as this value lives the graph may run: nothing of it is handed out, moved or
/// unmapped. All of it counts for the pool's limit. Its blocks and pages are in no recording
/// or history of the pool, nor in the pool's usage, but for the mapped bytes: ask
/// [`mapped`](Self::mapped), [`held`](Self::held) and [`layout`](Self::layout).
///
/// # Contract
///
/// - Begin before the capture begins, and end after the capture has ended. The capture itself
///   (`cuStreamBeginCapture`, `cuStreamEndCapture`) is the caller's.
/// - **Drop this after every executable of the graph is destroyed, and their launches are
///   over.** The pool cannot see launches.
/// - Other blocks that the graph uses, those that were never freed on the stream between
///   begin and end, must be kept by their owners for as long.
/// - Streams that join the capture (through events) may use the blocks. *Their* allocations
///   come from the pool as ever; open one for each stream that allocates.
///
/// Before a request of the stream is refused, the pool's callback is asked
/// ([`MemoryPool::on_refusal`]); it may drop this.
///
/// Allocating and freeing makes no call that a capture forbids: addresses and pages are got in
/// relaxed mode, and no event is recorded on, or asked for, a stream that is captured.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use cupola_managers::{ExecutionManager, PoolConfig, StreamConfig};
/// # let execution = ExecutionManager::new(cupola_sys::driver::Driver::load()?)?;
/// # let context = execution.devices().get(0)?.primary()?;
/// # let stream = context.streams().create(StreamConfig::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(1 << 30))?;
/// let memory = pool.graph_memory(&stream)?;
/// // ... begin the capture ...
/// let scratch = pool.allocate::<f32>(1 << 20, &stream)?;
/// // ... launch kernels that use it ...
/// drop(scratch);
/// // ... end the capture ...
/// memory.end();
/// // ... instantiate, launch as often as needed, wait, destroy the executable ...
/// drop(memory);
/// # Ok(()) }
/// ```
#[must_use = "the graph's memory is the graph's only as long as this lives"]
pub struct GraphMemory {
    graph: Arc<Graph<Pool>>,
    /// Keeps the surrounding pool open.
    pool: MemoryPool,
}

impl GraphMemory {
    /// The capture has ended: the stream allocates from the pool again, and blocks of the pool that
    /// it frees are free. Blocks of this memory that are alive go back here when they are freed.
    /// Ending twice does nothing.
    pub fn end(&self) {
        self.pool.pool().close_graph(&self.graph);
    }

    /// Whether the stream's requests come here.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.graph.is_open()
    }

    /// Bytes of pages that are this memory's.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn mapped(&self) -> Result<u64> {
        let mut mapped = 0;
        for region in &self.layout()?.regions {
            for run in &region.runs {
                if run.state != RunState::Bare {
                    mapped += run.bytes;
                }
            }
        }
        Ok(mapped)
    }

    /// Bytes of the pool's blocks that are held back because the stream has freed them while
    /// this was open; 0 in the child of a fork.
    #[must_use]
    pub fn held(&self) -> u64 {
        // There another thread may have left the lock taken.
        if self.pool.pool().core.not_forked().is_err() {
            return 0;
        }
        self.graph.held().bytes()
    }

    /// Where everything is in this memory. Its limit and the bytes that are mapped of that are the
    /// surrounding pool's.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn layout(&self) -> Result<Layout> {
        self.graph.memory().layout()
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        let pool = self.pool.pool();
        if pool.core.not_forked().is_err() {
            // As in `Pool::close`, the child cannot see whether a piece is out.
            let _for_ever = Arc::into_raw(Arc::clone(self.graph.memory()));
            return;
        }
        pool.close_graph(&self.graph);
        for piece in self.graph.held().take_all() {
            let stamp = self.graph.state().stamp();
            let mut central = pool.central.lock();
            // SAFETY: a held piece is the graph's, which gives it away here.
            unsafe { piece.as_ref() }.withhold(None);
            central.put(piece, stamp);
        }
        // A request that waits for memory has not seen these as freed: they counted as that before.
        pool.observer.progress().note_room();
        self.graph.memory().close();
    }
}

impl fmt::Debug for GraphMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphMemory")
            .field("stream", &self.graph.state().serial())
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}

fn is_open_already() -> Error {
    Error::invalid("stream", "a graph memory is open for it already")
}

impl Pool {
    #[track_caller]
    pub(crate) fn graph_memory(
        self: &Arc<Self>,
        pool: &MemoryPool,
        stream: &Stream,
    ) -> Result<GraphMemory> {
        self.core.healthy()?;
        let state = self.state_of(stream)?;
        // Before a pool is built for nothing; two at the same time are told apart below.
        if self.streams.graphs().of(state.serial(), |_| ()).is_some() {
            return Err(is_open_already());
        }
        let memory = Self::within(self, pool.keep_open())?;
        let graph = Arc::new(Graph::new(state, memory));
        let caches = self.caches.lock();
        if !self.streams.graphs().insert(&graph) {
            drop(caches);
            graph.memory().close();
            return Err(is_open_already());
        }
        for cache in caches.of_stream(graph.state().serial()) {
            cache.set_flags(ROUTED);
        }
        drop(caches);
        let pool = pool.clone();
        Ok(GraphMemory { graph, pool })
    }

    /// The memory of a stream's graph, for a request, which may outlast the graph's value: it
    /// counts as a piece until it leaves.
    pub(crate) fn enter_graph(&self, stream: &Stream) -> Option<Arc<Self>> {
        self.streams.graphs().of(stream.serial(), |graph| {
            graph.memory().orphan.begin_request();
            Arc::clone(graph.memory())
        })
    }

    fn close_graph(&self, graph: &Arc<Graph<Pool>>) {
        if self.core.not_forked().is_err() || !graph.close() {
            return;
        }
        let caches = self.caches.lock();
        self.streams.graphs().remove(graph);
        for cache in caches.of_stream(graph.state().serial()) {
            cache.clear_flags(ROUTED);
        }
    }

    /// Keeps a piece that the stream of an open graph gives back. False when there is none.
    #[cold]
    pub(crate) fn hold_for_graph(
        &self,
        piece: NonNull<BlockHeader>,
        stream: &Stream,
        site: CallSite,
    ) -> bool {
        let get = |graph: &Graph<Self>| (Arc::clone(graph.held()), Arc::clone(graph.state()));
        let Some((held, state)) = self.streams.graphs().of(stream.serial(), get) else {
            return false;
        };
        held.keep(piece, || {
            // SAFETY: the header stays where it is, and the caller gives the piece away.
            let header = unsafe { piece.as_ref() };
            let from = (state.serial(), state.stamp());
            self.note_free(header, Action::Free, from, site);
            // A thread that names buffers holds the lock.
            let _central = self.central.lock();
            self.end(header);
            header.withhold(Some(Withheld::Held));
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
