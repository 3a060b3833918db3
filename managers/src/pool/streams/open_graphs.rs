//! `OpenGraphs`: the streams of a pool whose requests go to the memory of a graph.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::pool::heap::block_header::BlockHeader;
use crate::pool::streams::stream_state::StreamState;
use crate::sync::lock;

/// A piece that its user has freed, and that a graph may use.
pub(crate) struct Held(pub(crate) NonNull<BlockHeader>);

// SAFETY: the piece belongs to the owner of this value, whichever thread that is on.
unsafe impl Send for Held {}

/// A graph's memory, as the surrounding pool knows it. `P` is a pool.
pub(crate) struct Graph<P> {
    /// The stream in the surrounding pool.
    pub(crate) state: Arc<StreamState>,
    /// Where its requests go.
    pub(crate) memory: Arc<P>,
    /// Pieces of the surrounding pool; `None` once they have gone back.
    pub(crate) held: Arc<Mutex<Option<Vec<Held>>>>,
    pub(crate) open: AtomicBool,
}

/// The graphs of a pool that are open. Changed under the lock of the pool's caches.
pub(crate) struct OpenGraphs<P> {
    count: AtomicUsize,
    open: Mutex<Vec<Arc<Graph<P>>>>,
}

impl<P> Default for OpenGraphs<P> {
    fn default() -> Self {
        Self {
            count: AtomicUsize::new(0),
            open: Mutex::default(),
        }
    }
}

impl<P> OpenGraphs<P> {
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// The result of `get` for the open graph of a stream. No caller gets a reference to the graph
    /// itself, because the graph's memory would end with the last one.
    #[cold]
    pub(crate) fn of<R>(&self, stream: u64, get: impl FnOnce(&Graph<P>) -> R) -> Option<R> {
        let open = lock(&self.open);
        let mut open = open.iter();
        open.find(|graph| graph.state.serial() == stream)
            .map(|graph| get(graph))
    }

    /// Opens a graph. False when its stream has one.
    #[must_use]
    pub(crate) fn insert(&self, graph: &Arc<Graph<P>>) -> bool {
        let mut open = lock(&self.open);
        let serial = graph.state.serial();
        if open.iter().any(|other| other.state.serial() == serial) {
            return false;
        }
        open.push(Arc::clone(graph));
        self.count.store(open.len(), Ordering::Relaxed);
        true
    }

    /// Closes a graph.
    pub(crate) fn remove(&self, graph: &Arc<Graph<P>>) {
        let mut open = lock(&self.open);
        open.retain(|other| !Arc::ptr_eq(other, graph));
        self.count.store(open.len(), Ordering::Relaxed);
    }
}
