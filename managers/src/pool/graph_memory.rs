//! `GraphMemory`: memory that only the replays of a captured graph use.
//!
//! Captured work runs again and again, each time at the addresses of the capture. So no other user
//! may have those for as long as the graph may run, though for the program they were freed long
//! ago. While it is open, a stream's requests go to a pool of their own, which shares the limit,
//! and is never asked to give up or move a page; frees find that pool by the piece. Blocks of the
//! surrounding pool that the stream frees meanwhile are held back.
//!
//! A hit pays nothing: a flag in the caches of the stream keeps their owners off the hit path.

mod arena;

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) use arena::GraphArena;

use super::MemoryPool;
use crate::error::{Error, Result};
use crate::pool::cache::thread_cache::ROUTED;
use crate::pool::heap::block_header::{BlockHeader, Withheld};
use crate::pool::inspect::history::Action;
use crate::pool::inspect::history::CallSite;
use crate::pool::inspect::layout::Layout;
use crate::pool::state::Pool;
use crate::pool::streams::open_graphs::Graph;
use crate::pool::streams::stream_state::StreamState;
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
    /// With its last share the memory is the surrounding pool's again.
    arena: Arc<GraphArena>,
    /// The surrounding pool, which the arena keeps open.
    outer: Arc<Pool>,
}

impl GraphMemory {
    /// The capture has ended: the stream allocates from the pool again, and blocks of the pool that
    /// it frees are free. Blocks of this memory that are alive go back here when they are freed.
    /// Ending twice does nothing.
    pub fn end(&self) {
        self.outer.close_graph(&self.graph);
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
        self.arena.mapped()
    }

    /// Bytes of the pool's blocks that are held back because the stream has freed them while
    /// this was open; 0 in the child of a fork.
    #[must_use]
    pub fn held(&self) -> u64 {
        // There another thread may have left the lock taken.
        if self.outer.core.not_forked().is_err() {
            return 0;
        }
        self.graph.held().bytes()
    }

    /// The stream that its blocks are those of, if that is not the one that is captured.
    pub(crate) fn home(&self) -> Option<&Stream> {
        self.graph.home()
    }

    /// The number of the pool that it is.
    pub(crate) fn number(&self) -> u64 {
        self.graph.memory().number
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
        let pool = &self.outer;
        if pool.core.not_forked().is_err() {
            // Another thread may have left a lock taken.
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
        let state = self.state_of_captured(stream)?;
        let arena = GraphArena::new(self, pool.keep_open())?;
        self.open_graph(state, arena)
    }

    /// The memory of this arena for a graph that the work of `stream` is about to be captured into.
    #[track_caller]
    pub(crate) fn graph_memory_in(
        self: &Arc<Self>,
        arena: &Arc<GraphArena>,
        stream: &Stream,
    ) -> Result<GraphMemory> {
        let state = self.state_of_captured(stream)?;
        self.open_graph(state, Arc::clone(arena))
    }

    /// Before a pool is built for nothing: two at the same time are told apart later.
    #[track_caller]
    fn state_of_captured(&self, stream: &Stream) -> Result<Arc<StreamState>> {
        self.core.healthy()?;
        let state = self.state_of(stream)?;
        match self.streams.graphs().of(state.serial(), |_| ()) {
            Some(()) => Err(is_open_already()),
            None => Ok(state),
        }
    }

    /// Sends the requests of a graph's stream to its memory.
    fn open_graph(
        self: &Arc<Self>,
        state: Arc<StreamState>,
        arena: Arc<GraphArena>,
    ) -> Result<GraphMemory> {
        let memory = Arc::clone(arena.memory());
        let graph = Arc::new(Graph::new(state, memory, arena.home().cloned()));
        let caches = self.caches.lock();
        if !self.streams.graphs().insert(&graph) {
            drop(caches);
            return Err(is_open_already());
        }
        for cache in caches.of_stream(graph.state().serial()) {
            cache.set_flags(ROUTED);
        }
        drop(caches);
        let outer = Arc::clone(self);
        Ok(GraphMemory {
            graph,
            arena,
            outer,
        })
    }

    /// The memory of a stream's graph, for a request, which may outlast the graph's value: it
    /// counts as a piece until it leaves. With the stream that the request is for there, if that is
    /// another one.
    pub(crate) fn enter_graph(&self, stream: &Stream) -> Option<(Arc<Self>, Option<Stream>)> {
        self.streams.graphs().of(stream.serial(), |graph| {
            graph.memory().orphan.begin_request();
            (Arc::clone(graph.memory()), graph.home().cloned())
        })
    }

    /// Of an arena's memory: the stream that a block is freed on which `stream` frees, because it
    /// was allocated for a graph that is captured there.
    pub(crate) fn home_of_captured(&self, stream: &Stream) -> Option<Stream> {
        let home = |graph: &Graph<Self>| match std::ptr::eq(Arc::as_ptr(graph.memory()), self) {
            true => graph.home().cloned(),
            false => None,
        };
        self.parent
            .as_ref()?
            .streams
            .graphs()
            .of(stream.serial(), home)?
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
