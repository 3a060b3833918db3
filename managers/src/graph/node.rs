//! `Node`: the name of a node, and what it takes to change one in an executable.

use std::sync::{Arc, Mutex, MutexGuard};

use cupola_sys::driver::{CUgraphNode, CUgraphNodeType};

use super::raw::RawGraph;
use crate::error::{Error, Result};
use crate::stream::{GraphResources, Stream};
use crate::sync;
use crate::sync::deferred::DeferCallbacks;

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeKind {
    /// Nothing.
    Empty,
    /// Launches a kernel.
    Kernel,
    /// Copies.
    Copy,
    /// Sets every element.
    Fill,
    /// Calls a function on the host.
    Host,
    /// All work of another graph.
    Child,
    /// Records an event.
    Record,
    /// Waits for an event.
    Wait,
    /// Graphs that run if a number says so.
    Conditional,
    /// Something else that was captured.
    Other,
}

impl NodeKind {
    pub(super) fn of(raw: CUgraphNodeType) -> Self {
        use CUgraphNodeType as T;
        match raw {
            T::CU_GRAPH_NODE_TYPE_EMPTY => Self::Empty,
            T::CU_GRAPH_NODE_TYPE_KERNEL => Self::Kernel,
            T::CU_GRAPH_NODE_TYPE_MEMCPY => Self::Copy,
            T::CU_GRAPH_NODE_TYPE_MEMSET => Self::Fill,
            T::CU_GRAPH_NODE_TYPE_HOST => Self::Host,
            T::CU_GRAPH_NODE_TYPE_GRAPH => Self::Child,
            T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => Self::Record,
            T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => Self::Wait,
            T::CU_GRAPH_NODE_TYPE_CONDITIONAL => Self::Conditional,
            _ => Self::Other,
        }
    }
}

/// A node of one graph: of a [`GraphBuilder`](super::GraphBuilder), or of a
/// [capture](super::Capture::last_node).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    raw: CUgraphNode,
    /// The serial of its graph.
    graph: u64,
    kind: NodeKind,
}

// SAFETY: a CUgraphNode is bound to no thread, and is looked at with its graph locked.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    pub(super) fn new(raw: CUgraphNode, graph: u64, kind: NodeKind) -> Self {
        Self { raw, graph, kind }
    }

    pub(super) fn raw(&self) -> CUgraphNode {
        self.raw
    }

    /// What it does.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        self.kind
    }

    /// Refuses a node of another graph than that of this serial.
    pub(super) fn check_graph(&self, serial: u64, field: &'static str) -> Result<()> {
        match self.graph == serial {
            true => Ok(()),
            false => Err(Error::invalid(field, "a node is another graph's")),
        }
    }

    /// Refuses a node that does none of these.
    pub(super) fn check_kind(&self, kinds: &[NodeKind]) -> Result<()> {
        if kinds.contains(&self.kind) {
            return Ok(());
        }
        let problem = format!("it is of the kind {:?}, and not of {kinds:?}", self.kind);
        Err(Error::invalid("node", problem))
    }
}

/// The graph whose nodes have names, and so stays as long as the names may be used.
pub(super) struct NamedNodes {
    raw: Arc<RawGraph>,
    /// Never has work, and no caller has it: with its mark, buffers that are used on it are those of the
    /// change under way. One at a time.
    stream: Mutex<Stream>,
}

impl NamedNodes {
    /// Of this graph, with a stream that no caller has.
    pub(super) fn new(raw: &Arc<RawGraph>, stream: Stream) -> Arc<Self> {
        Arc::new(Self {
            raw: Arc::clone(raw),
            stream: Mutex::new(stream),
        })
    }

    pub(super) fn graph(&self) -> &RawGraph {
        &self.raw
    }

    /// Begins to change a node.
    pub(super) fn change(&self) -> NodeChange<'_> {
        let callbacks = DeferCallbacks::new();
        let stream = sync::lock(&self.stream);
        let resources = Arc::new(GraphResources::default());
        stream.mark_captured(Some(Arc::clone(&resources)));
        NodeChange {
            stream,
            resources,
            _callbacks: callbacks,
        }
    }
}

/// A node that is being changed: what it will use.
pub(super) struct NodeChange<'n> {
    stream: MutexGuard<'n, Stream>,
    resources: Arc<GraphResources>,
    // After the lock.
    _callbacks: DeferCallbacks,
}

impl NodeChange<'_> {
    /// Buffers that are used on it are kept by [`resources`](Self::resources).
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn resources(&self) -> &Arc<GraphResources> {
        &self.resources
    }
}

impl Drop for NodeChange<'_> {
    fn drop(&mut self) {
        self.stream.mark_captured(None);
    }
}

/// A stream that is marked as captured for as long as this lives.
pub(super) struct Marked(Stream);

impl Marked {
    pub(super) fn new(stream: Stream, resources: &Arc<GraphResources>) -> Self {
        stream.mark_captured(Some(Arc::clone(resources)));
        Self(stream)
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.0
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        self.0.mark_captured(None);
    }
}
