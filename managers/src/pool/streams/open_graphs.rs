//! `OpenGraphs`: the streams of a pool whose requests go to the memory of a graph.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::lists;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;
use crate::sync::lock;

/// A piece that its user has freed, and that a graph may use.
struct Held(NonNull<BlockHeader>);

// SAFETY: the piece belongs to the owner of this value, whichever thread that is on.
unsafe impl Send for Held {}

/// The pieces of the surrounding pool that a graph may use, from when their users free them until
/// the graph ends.
pub(crate) struct HeldPieces {
    /// `None` once they have gone back.
    pieces: Mutex<Option<Vec<Held>>>,
}

impl HeldPieces {
    fn new() -> Self {
        Self {
            pieces: Mutex::new(Some(Vec::new())),
        }
    }

    /// Keeps a piece whose life `end` ends. False, without a call of that, once all have gone back:
    /// a piece that is put in after the last look would never come back.
    pub(crate) fn keep(&self, piece: NonNull<BlockHeader>, end: impl FnOnce()) -> bool {
        let mut pieces = lock(&self.pieces);
        let Some(pieces) = pieces.as_mut() else {
            return false;
        };
        end();
        pieces.push(Held(piece));
        true
    }

    /// Bytes of all of them.
    pub(crate) fn bytes(&self) -> u64 {
        let pieces = lock(&self.pieces);
        // SAFETY: a held piece is the graph's, and its header stays where it is.
        let bytes = |piece: &Held| unsafe { piece.0.as_ref() }.bytes();
        pieces
            .as_ref()
            .map_or(0, |pieces| lists::sum(pieces, bytes))
    }

    /// Gives the pieces to the caller: a thread that frees from now on finds that none is held any
    /// more.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = NonNull<BlockHeader>> {
        let pieces = lock(&self.pieces).take();
        pieces.into_iter().flatten().map(|Held(piece)| piece)
    }
}

/// A graph's memory, as the surrounding pool knows it. `P` is a pool.
pub(crate) struct Graph<P> {
    /// The stream in the surrounding pool.
    state: Arc<StreamState>,
    /// Where its requests go.
    memory: Arc<P>,
    /// The stream that they are for there, if it is another one.
    home: Option<Stream>,
    held: Arc<HeldPieces>,
    open: AtomicBool,
}

impl<P> Graph<P> {
    /// The graph of a stream, whose requests go to `memory`, as those of `home` if there is one: it
    /// is open.
    pub(crate) fn new(state: Arc<StreamState>, memory: Arc<P>, home: Option<Stream>) -> Self {
        Self {
            state,
            memory,
            home,
            held: Arc::new(HeldPieces::new()),
            open: AtomicBool::new(true),
        }
    }

    /// The stream in the surrounding pool.
    pub(crate) fn state(&self) -> &Arc<StreamState> {
        &self.state
    }

    /// Where its requests go.
    pub(crate) fn memory(&self) -> &Arc<P> {
        &self.memory
    }

    /// The stream that its requests are for there, if it is another one.
    pub(crate) fn home(&self) -> Option<&Stream> {
        self.home.as_ref()
    }

    /// Pieces of the surrounding pool that it may use.
    pub(crate) fn held(&self) -> &Arc<HeldPieces> {
        &self.held
    }

    /// Whether the capture goes on.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Ends the capture. False when that was done before.
    pub(crate) fn close(&self) -> bool {
        self.open.swap(false, Ordering::Relaxed)
    }
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
        lists::retain(&mut open, |other| !Arc::ptr_eq(other, graph));
        self.count.store(open.len(), Ordering::Relaxed);
    }
}
