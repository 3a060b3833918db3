//! Captures: streams whose work goes into a graph. What calls answer, and which of them end a
//! capture, was seen on an H200.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use cupola_sys::driver::{CUgraphEdgeData, CUresult, CUstreamCaptureMode};

use crate::device::calls::args::Reply;
use crate::device::contexts::health::Health;
use crate::device::graphs::graph::Graph;
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::registry::Graphs;
use crate::device::streams::stream::{Kind, Stream};
use crate::device::strict::Map;
use crate::device::sync::lock;

pub(in crate::device) const GLOBAL: CUstreamCaptureMode =
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
pub(in crate::device) const RELAXED: CUstreamCaptureMode =
    CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;

/// One capture, from its begin to its end.
#[derive(Debug)]
pub(in crate::device) struct Capture {
    /// Never used again.
    pub(in crate::device) id: u64,
    pub(in crate::device) mode: CUstreamCaptureMode,
    pub(in crate::device) thread: ThreadId,
    pub(in crate::device) graph: Arc<Graph>,
    /// The graph is the program's, which the capture adds to.
    pub(in crate::device) adds: bool,
    /// The id of the stream that it began in.
    pub(in crate::device) origin: u64,
    invalid: AtomicBool,
    ended: AtomicBool,
    /// All that are in it.
    streams: Mutex<Vec<Weak<Stream>>>,
}

impl Capture {
    pub(in crate::device) fn invalidate(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    pub(in crate::device) fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Acquire)
    }

    pub(in crate::device) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether nodes can be added.
    pub(in crate::device) fn check(&self) -> Reply {
        match self.is_invalid() {
            true => Err(INVALIDATED),
            false => Ok(()),
        }
    }

    fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams)
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Takes a stream in, whose next work comes after these nodes.
    fn join(self: &Arc<Self>, stream: &Arc<Stream>, nodes: Vec<u64>) {
        lock(&self.streams).push(Arc::downgrade(stream));
        stream.capture.set(Some(Place {
            capture: Arc::clone(self),
            frontier: nodes,
            told: Vec::new(),
            edges: Vec::new(),
        }));
    }

    /// A stream waits for what was recorded in the capture: it takes part in it.
    pub(in crate::device) fn admit(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        nodes: Vec<u64>,
    ) -> Reply {
        if self.has_ended() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        if stream.kind == Kind::Legacy {
            self.invalidate();
            return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        match stream.capture.capture() {
            None => {
                self.check()?;
                self.join(stream, nodes);
            }
            Some(own) if Arc::ptr_eq(&own, self) => {
                self.check()?;
                stream.capture.follow(&nodes);
            }
            Some(own) => {
                own.invalidate();
                self.invalidate();
                return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE);
            }
        }
        Ok(())
    }

    /// Whether the work of every stream comes before what the first one's next work would come
    /// after.
    fn is_joined(&self) -> bool {
        let places = self.streams().into_iter();
        let places = places.filter_map(|stream| Some((stream.id, stream.capture.frontier()?)));
        let (own, others): (Vec<_>, Vec<_>) = places.partition(|(id, _)| *id == self.origin);
        let heads: Vec<_> = own.into_iter().flat_map(|(_, nodes)| nodes).collect();
        let ends: Vec<_> = others.into_iter().flat_map(|(_, nodes)| nodes).collect();
        lock(&self.graph.dag).reach(&heads, &ends)
    }
}

/// A stream's part in a capture.
#[derive(Debug)]
struct Place {
    capture: Arc<Capture>,
    /// What the next node comes after.
    frontier: Vec<u64>,
    /// The arrays that the program was last given.
    told: Vec<u64>,
    edges: Vec<CUgraphEdgeData>,
}

/// What a stream knows of its capture, if it is in one.
#[derive(Debug, Default)]
pub(in crate::device) struct CaptureSlot {
    taken: AtomicBool,
    place: Mutex<Option<Place>>,
}

impl CaptureSlot {
    /// Whether the stream is captured: one load, for streams that are not.
    pub(in crate::device) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Acquire)
    }

    fn set(&self, place: Option<Place>) {
        let mut slot = lock(&self.place);
        self.taken.store(place.is_some(), Ordering::Release);
        *slot = place;
    }

    pub(in crate::device) fn capture(&self) -> Option<Arc<Capture>> {
        if !self.is_taken() {
            return None;
        }
        let place = lock(&self.place);
        place.as_ref().map(|place| Arc::clone(&place.capture))
    }

    pub(in crate::device) fn frontier(&self) -> Option<Vec<u64>> {
        let place = lock(&self.place);
        place.as_ref().map(|place| place.frontier.clone())
    }

    /// The frontier as arrays for the program, which stay until the next question.
    pub(in crate::device) fn tell(&self) -> (*const u64, *const CUgraphEdgeData, usize) {
        let mut place = lock(&self.place);
        let Some(place) = &mut *place else {
            return (std::ptr::null(), std::ptr::null(), 0);
        };
        place.told.clone_from(&place.frontier);
        place.edges = vec![CUgraphEdgeData::default(); place.told.len()];
        (place.told.as_ptr(), place.edges.as_ptr(), place.told.len())
    }

    /// Has the next node come after these, and no others.
    pub(in crate::device) fn move_to(&self, nodes: Vec<u64>) {
        if let Some(place) = &mut *lock(&self.place) {
            place.frontier = nodes;
        }
    }

    /// Has the next node come after these too.
    pub(in crate::device) fn follow(&self, nodes: &[u64]) {
        if let Some(place) = &mut *lock(&self.place) {
            let frontier = &place.frontier;
            let new = nodes.iter().filter(|node| !frontier.contains(node));
            let new: Vec<_> = new.copied().collect();
            place.frontier.extend(new);
        }
    }

    /// Adds a node after those that came last.
    ///
    /// # Errors
    /// The capture is invalid, or over.
    pub(in crate::device) fn add(
        &self,
        graphs: &Graphs,
        what: (NodeKind, Option<Arc<Map>>),
    ) -> Reply<u64> {
        let mut place = lock(&self.place);
        let place = place.as_mut().ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
        place.capture.check()?;
        let before = place.frontier.clone();
        let node = graphs.add_captured(&place.capture.graph, what, before)?;
        place.frontier = vec![node];
        Ok(node)
    }

    /// Ends the capture's use, because a call was made that no captured stream permits; gives the
    /// code of that.
    pub(in crate::device) fn refuse(&self) -> CUresult {
        if let Some(capture) = self.capture() {
            capture.invalidate();
        }
        UNSUPPORTED
    }
}

/// The captures of a machine that have not ended.
#[derive(Debug, Default)]
pub(in crate::device) struct Captures {
    count: AtomicUsize,
    open: Mutex<Vec<Arc<Capture>>>,
}

impl Captures {
    /// Whether there is one: one load.
    pub(in crate::device) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Begins a capture in a stream that is in none.
    pub(in crate::device) fn begin(
        &self,
        (id, stream): (u64, &Arc<Stream>),
        mode: CUstreamCaptureMode,
        graph: Arc<Graph>,
        (adds, nodes): (bool, Vec<u64>),
    ) {
        graph.captured.store(true, Ordering::Release);
        let capture = Arc::new(Capture {
            id,
            mode,
            thread: std::thread::current().id(),
            graph,
            adds,
            origin: stream.id,
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            streams: Mutex::default(),
        });
        capture.join(stream, nodes);
        let mut open = lock(&self.open);
        open.push(capture);
        self.count.store(open.len(), Ordering::Release);
    }

    /// Ends a capture, however it went; whether all of its streams had joined the first one.
    pub(in crate::device) fn end(&self, capture: &Arc<Capture>) -> bool {
        let joined = capture.is_joined();
        capture.ended.store(true, Ordering::Release);
        for stream in capture.streams() {
            stream.capture.set(None);
        }
        capture.graph.captured.store(false, Ordering::Release);
        let mut open = lock(&self.open);
        open.retain(|other| !Arc::ptr_eq(other, capture));
        self.count.store(open.len(), Ordering::Release);
        joined
    }

    /// The captures with a stream that this is true of.
    pub(in crate::device) fn with(&self, is: impl Fn(&Stream) -> bool) -> Vec<Arc<Capture>> {
        if !self.any() {
            return Vec::new();
        }
        let mut found = lock(&self.open).clone();
        found.retain(|capture| capture.streams().iter().any(|stream| is(stream)));
        found
    }

    /// Ends the use of the captures that a call which could wait or change what they need disturbs,
    /// for a thread in that mode.
    ///
    /// # Errors
    /// There is one.
    pub(in crate::device) fn disturb(&self, mode: CUstreamCaptureMode) -> Reply {
        let here = std::thread::current().id();
        let open = lock(&self.open);
        let disturbed = open.iter().filter(|capture| match capture.thread == here {
            true => capture.mode != RELAXED && mode != RELAXED,
            false => capture.mode == GLOBAL && mode == GLOBAL,
        });
        let mut any = false;
        disturbed.for_each(|capture| {
            capture.invalidate();
            any = true;
        });
        match any {
            true => Err(UNSUPPORTED),
            false => Ok(()),
        }
    }

    /// Ends the use of all captures with a stream of a context, for a call that waits for it.
    ///
    /// # Errors
    /// There is one.
    pub(in crate::device) fn disturb_context(&self, health: &Arc<Health>) -> Reply {
        let found = self.with(|stream| Arc::ptr_eq(&stream.health, health));
        found.iter().for_each(|capture| capture.invalidate());
        match found.is_empty() {
            true => Ok(()),
            false => Err(UNSUPPORTED),
        }
    }

    /// The captures with a blocking stream that a legacy stream would have to wait for.
    pub(in crate::device) fn implied(&self, legacy: &Stream) -> Vec<Arc<Capture>> {
        let group = legacy.group();
        self.with(|stream| {
            stream.kind == Kind::Blocking
                && Arc::ptr_eq(&stream.health, &legacy.health)
                && (group == 0 || group == stream.group())
        })
    }
}
