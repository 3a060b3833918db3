//! All graphs of a machine, their nodes, and what was instantiated.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock, Weak};

use cupola_sys::driver::{CUgraphEdgeData, CUresult};

use crate::device::calls::args::Reply;
use crate::device::graphs::capture::{Capture, Captures};
use crate::device::graphs::condition::{Condition, check_body};
use crate::device::graphs::exec::Exec;
use crate::device::graphs::graph::{Graph, Home, Owner};
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::user_object::{Held, copy};
use crate::device::machine::get;
use crate::device::strict::{Map, Origin};
use crate::device::sync::{lock, read, write};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The graphs of a machine.
#[derive(Debug)]
pub(in crate::device) struct Graphs {
    /// The machine's next handle.
    handles: Arc<AtomicU64>,
    graphs: RwLock<HashMap<u64, Arc<Graph>>>,
    /// The graph of each node.
    nodes: RwLock<HashMap<u64, Arc<Graph>>>,
    execs: RwLock<HashMap<u64, Arc<Exec>>>,
    /// The values of conditional nodes: graphs, executables and launches keep them.
    conditions: RwLock<HashMap<u64, Weak<Condition>>>,
    pub(in crate::device) captures: Captures,
    /// Objects that the program holds.
    pub(in crate::device) objects: Held,
}

impl Graphs {
    pub(in crate::device) fn new(handles: &Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self {
            handles: Arc::clone(handles),
            graphs: RwLock::default(),
            nodes: RwLock::default(),
            execs: RwLock::default(),
            conditions: RwLock::default(),
            captures: Captures::default(),
            objects: Held::default(),
        })
    }

    pub(in crate::device) fn new_handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// How many graphs and executables a program holds.
    pub(in crate::device) fn counts(&self) -> (usize, usize) {
        let graphs = read(&self.graphs);
        let own = graphs
            .values()
            .filter(|graph| graph.owner == Owner::Program);
        (own.count(), read(&self.execs).len())
    }

    /// Where what a program holds was made, each with its name.
    pub(in crate::device) fn made(&self) -> Vec<(&'static str, Origin)> {
        let graphs = read(&self.graphs);
        let own = graphs
            .values()
            .filter(|graph| graph.owner == Owner::Program);
        let own = own.map(|graph| ("a graph", graph.made.clone()));
        let execs = read(&self.execs);
        let execs = execs
            .values()
            .map(|exec| ("an executable graph", exec.made.clone()));
        own.chain(execs).collect()
    }

    pub(in crate::device) fn create(&self, owner: Owner, made: Origin) -> Arc<Graph> {
        self.create_with(owner, made, Held::default())
    }

    fn create_with(&self, owner: Owner, made: Origin, objects: Held) -> Arc<Graph> {
        let handle = self.new_handle();
        let graph = Arc::new(Graph {
            handle,
            owner,
            made,
            captured: AtomicBool::new(false),
            dag: Default::default(),
            objects,
            exec: Default::default(),
            conditions: Default::default(),
            home: Default::default(),
        });
        write(&self.graphs).insert(handle, Arc::clone(&graph));
        graph
    }

    /// A graph for a conditional node of another.
    pub(in crate::device) fn create_body(
        &self,
        parent: &Graph,
        context: u64,
        made: Origin,
    ) -> Arc<Graph> {
        let graph = self.create(Owner::Node, made);
        // A new graph has no home.
        let _ = graph.home.set(Home {
            parent: parent.handle,
            body: Some(context),
        });
        graph
    }

    /// Makes a value for a conditional node of a graph, or of one in it.
    pub(in crate::device) fn add_condition(
        &self,
        graph: &Graph,
        context: u64,
        default: Option<u32>,
    ) -> u64 {
        let handle = self.new_handle();
        let condition = Arc::new(Condition::new(handle, graph.handle, context, default));
        let mut conditions = write(&self.conditions);
        conditions.retain(|_, condition| condition.strong_count() > 0);
        conditions.insert(handle, Arc::downgrade(&condition));
        drop(conditions);
        lock(&graph.conditions).push(condition);
        handle
    }

    pub(in crate::device) fn condition(&self, handle: u64) -> Option<Arc<Condition>> {
        read(&self.conditions).get(&handle)?.upgrade()
    }

    /// Whether a graph is another, by handle, or in it.
    pub(in crate::device) fn is_within(&self, graph: &Graph, outer: u64) -> bool {
        if graph.handle == outer {
            return true;
        }
        let parent = graph.home.get().map(|home| home.parent);
        let parent = parent.and_then(|parent| self.graph(parent).ok());
        parent.is_some_and(|parent| self.is_within(&parent, outer))
    }

    pub(in crate::device) fn graph(&self, handle: u64) -> Reply<Arc<Graph>> {
        get(&self.graphs, &handle).ok_or(INVALID)
    }

    /// The graph of a node.
    pub(in crate::device) fn owner(&self, node: u64) -> Reply<Arc<Graph>> {
        get(&self.nodes, &node).ok_or(INVALID)
    }

    /// Adds a node after others.
    ///
    /// # Errors
    /// One of these is no node of the graph, or is named twice.
    pub(in crate::device) fn add(
        &self,
        graph: &Arc<Graph>,
        kind: NodeKind,
        before: Vec<u64>,
    ) -> Reply<u64> {
        self.add_captured(graph, (kind, None), before)
    }

    /// Tells a child graph, and those in it, where they belong.
    fn settle(&self, child: &Graph, parent: &Graph) {
        // A copy that was made for the node has no home yet.
        let _ = child.home.set(Home {
            parent: parent.handle,
            body: parent.body(),
        });
        for (_, node) in lock(&child.dag).nodes() {
            node.kind
                .graphs()
                .iter()
                .for_each(|inner| self.settle(inner, child));
        }
    }

    /// Adds a node of captured work, which may use these blocks of allocators.
    ///
    /// # Errors
    /// As [`Graphs::add`].
    pub(super) fn add_captured(
        &self,
        graph: &Arc<Graph>,
        what: (NodeKind, Option<Arc<Map>>),
        before: Vec<u64>,
    ) -> Reply<u64> {
        if let Some(context) = graph.body() {
            check_body(&what.0, context).inspect_err(|_| self.forget(&what.0))?;
        }
        let handle = self.new_handle();
        if let NodeKind::Child(child) = &what.0 {
            self.settle(child, graph);
        }
        lock(&graph.dag).insert(handle, what, before)?;
        write(&self.nodes).insert(handle, Arc::clone(graph));
        Ok(handle)
    }

    pub(in crate::device) fn remove_node(&self, graph: &Graph, node: u64) -> Reply {
        let removed = lock(&graph.dag).remove(node)?;
        write(&self.nodes).remove(&node);
        self.forget(&removed.kind);
        Ok(())
    }

    /// Takes away the graphs that a node had.
    pub(in crate::device) fn forget(&self, kind: &NodeKind) {
        if let NodeKind::Conditional(node) = kind {
            node.condition.release();
        }
        kind.graphs().iter().for_each(|graph| self.remove(graph));
    }

    /// Takes a graph away, with its nodes and theirs.
    pub(in crate::device) fn remove(&self, graph: &Graph) {
        write(&self.graphs).remove(&graph.handle);
        let (handles, children) = {
            let dag = lock(&graph.dag);
            let children = dag.nodes().flat_map(|(_, node)| node.kind.graphs());
            (dag.handles(), children.cloned().collect::<Vec<_>>())
        };
        let mut nodes = write(&self.nodes);
        handles.iter().for_each(|handle| drop(nodes.remove(handle)));
        drop(nodes);
        children.iter().for_each(|child| self.remove(child));
    }

    /// A copy with nodes of its own.
    pub(in crate::device) fn copy(&self, from: &Graph, owner: Owner, made: &Origin) -> Arc<Graph> {
        let (nodes, edges) = {
            let dag = lock(&from.dag);
            let nodes = dag.nodes();
            let early = |edge: &(u64, u64)| dag.data(*edge);
            let edges: Vec<_> = dag.edges().map(|edge| (edge, early(&edge))).collect();
            let nodes: Vec<_> = nodes
                .map(|(handle, node)| {
                    let what = (node.kind.clone(), node.blocks.clone());
                    (handle, what)
                })
                .collect();
            (nodes, edges)
        };
        let graph = self.create_with(owner, made.clone(), copy(&from.objects));
        let clones: HashMap<_, _> = nodes
            .iter()
            .map(|(handle, _)| (*handle, self.new_handle()))
            .collect();
        let clone = |handle: &u64| clones.get(handle).copied();
        let mut dag = lock(&graph.dag);
        // Without edges first: a node may come after one that was made later.
        for (handle, (kind, blocks)) in &nodes {
            let Some(own) = clone(handle) else { continue };
            let kind = match kind {
                NodeKind::Child(child) => NodeKind::Child(self.copy(child, Owner::Node, made)),
                kind => kind.clone(),
            };
            // New handles differ, and there is nothing before.
            let _ = dag.insert(own, (kind, blocks.clone()), Vec::new());
            dag.set_clone(*handle, own);
        }
        let copied = |((from, to), data): &((u64, u64), CUgraphEdgeData)| {
            Some(((clone(from)?, clone(to)?), *data))
        };
        let (edges, data): (Vec<_>, Vec<_>) = edges.iter().filter_map(copied).unzip();
        // The edges of a graph are good in its copy.
        let _ = dag.connect(&edges, &data);
        drop(dag);
        let mut all = write(&self.nodes);
        all.extend(clones.values().map(|own| (*own, Arc::clone(&graph))));
        drop(all);
        graph
    }

    /// Ends a capture of which nothing is wanted any more.
    pub(in crate::device) fn discard(&self, capture: &Arc<Capture>) {
        self.captures.end(capture);
        if !capture.adds {
            self.remove(&capture.graph);
        }
    }

    pub(in crate::device) fn add_exec(&self, make: impl FnOnce(u64) -> Exec) -> Arc<Exec> {
        let handle = self.new_handle();
        let exec = Arc::new(make(handle));
        write(&self.execs).insert(handle, Arc::clone(&exec));
        exec
    }

    pub(in crate::device) fn exec(&self, handle: u64) -> Reply<Arc<Exec>> {
        get(&self.execs, &handle).ok_or(INVALID)
    }

    pub(in crate::device) fn remove_exec(&self, handle: u64) -> Reply<Arc<Exec>> {
        write(&self.execs).remove(&handle).ok_or(INVALID)
    }
}
