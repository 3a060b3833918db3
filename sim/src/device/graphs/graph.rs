//! Graphs as a program builds them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use cupola_sys::driver::{CUgraphEdgeData, CUresult};

use crate::device::calls::args::Reply;
use crate::device::graphs::condition::Condition;
use crate::device::graphs::exec::Exec;
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::user_object::{Held, UserObject};
use crate::device::strict::{Map, Origin};
use crate::device::sync::lock;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// A node and its edges, both ways.
#[derive(Debug)]
pub(in crate::device) struct Node {
    pub(in crate::device) kind: NodeKind,
    /// The blocks of allocators when it was captured, if there were any.
    pub(in crate::device) blocks: Option<Arc<Map>>,
    pub(in crate::device) before: Vec<u64>,
    pub(in crate::device) after: Vec<u64>,
}

/// Nodes by handle, which is the order in which they were made, and the edges between them.
#[derive(Debug, Default)]
pub(in crate::device) struct Dag {
    nodes: BTreeMap<u64, Node>,
    /// Edges that begin before the end of their first node. All wait for it here.
    early: HashMap<Edge, CUgraphEdgeData>,
    /// For a copy of another graph: the node here for each node there.
    clones: HashMap<u64, u64>,
}

/// Edges from each of the first to the second.
pub(in crate::device) type Edge = (u64, u64);

impl Dag {
    pub(in crate::device) fn node(&self, handle: u64) -> Reply<&Node> {
        self.nodes.get(&handle).ok_or(INVALID)
    }

    pub(in crate::device) fn node_mut(&mut self, handle: u64) -> Reply<&mut Node> {
        self.nodes.get_mut(&handle).ok_or(INVALID)
    }

    pub(in crate::device) fn nodes(&self) -> impl Iterator<Item = (u64, &Node)> {
        self.nodes.iter().map(|(handle, node)| (*handle, node))
    }

    pub(in crate::device) fn handles(&self) -> Vec<u64> {
        self.nodes.keys().copied().collect()
    }

    /// Every edge, by the node that it leads to.
    pub(in crate::device) fn edges(&self) -> impl Iterator<Item = Edge> {
        let into = |(to, node): (&u64, &Node)| {
            let to = *to;
            let before: Vec<_> = node.before.iter().map(|from| (*from, to)).collect();
            before
        };
        self.nodes.iter().flat_map(into)
    }

    /// Whether these are different nodes of this graph.
    pub(in crate::device) fn check_set(&self, handles: &[u64]) -> Reply {
        let different: BTreeSet<_> = handles.iter().collect();
        let known = handles.iter().all(|handle| self.nodes.contains_key(handle));
        match known && different.len() == handles.len() {
            true => Ok(()),
            false => Err(INVALID),
        }
    }

    /// Adds a node after others.
    ///
    /// # Errors
    /// One of these is no node of the graph, or is named twice.
    pub(super) fn insert(
        &mut self,
        handle: u64,
        (kind, blocks): (NodeKind, Option<Arc<Map>>),
        before: Vec<u64>,
    ) -> Reply {
        self.check_set(&before)?;
        for from in &before {
            self.node_mut(*from)?.after.push(handle);
        }
        let after = Vec::new();
        let node = Node {
            kind,
            blocks,
            before,
            after,
        };
        self.nodes.insert(handle, node);
        Ok(())
    }

    pub(super) fn remove(&mut self, handle: u64) -> Reply<Node> {
        let node = self.nodes.remove(&handle).ok_or(INVALID)?;
        self.early
            .retain(|(from, to), _| *from != handle && *to != handle);
        for from in &node.before {
            self.node_mut(*from)?.after.retain(|to| *to != handle);
        }
        for to in &node.after {
            self.node_mut(*to)?.before.retain(|from| *from != handle);
        }
        Ok(node)
    }

    /// What the program has said of an edge.
    pub(in crate::device) fn data(&self, edge: Edge) -> CUgraphEdgeData {
        self.early.get(&edge).copied().unwrap_or_default()
    }

    /// Says it of an edge between kernels.
    pub(in crate::device) fn set_data(&mut self, edge: Edge, data: CUgraphEdgeData) {
        if data != CUgraphEdgeData::default() {
            self.early.insert(edge, data);
        }
    }

    /// Whether an edge from this node may begin before the node has ended.
    ///
    /// # Errors
    /// The node is no kernel, or is not of the graph.
    pub(in crate::device) fn check_early(&self, from: u64, data: CUgraphEdgeData) -> Reply {
        let is_kernel = matches!(self.node(from)?.kind, NodeKind::Kernel(_));
        match is_kernel || data == CUgraphEdgeData::default() {
            true => Ok(()),
            false => Err(INVALID),
        }
    }

    /// Adds edges, all or none of them.
    ///
    /// # Errors
    /// An edge is there already, is named twice, leads from a node to itself, or an end of it is
    /// no node of the graph; or it begins early and leads not from a kernel to a kernel.
    pub(in crate::device) fn connect(&mut self, edges: &[Edge], data: &[CUgraphEdgeData]) -> Reply {
        let mut seen = BTreeSet::new();
        for (edge, data) in edges.iter().zip(data) {
            let (from, to) = *edge;
            self.check_early(from, *data)?;
            self.check_early(to, *data)?;
            let known = self.node(to)?.before.contains(&from);
            if known || from == to || !seen.insert(*edge) {
                return Err(INVALID);
            }
        }
        for (from, to) in edges {
            self.node_mut(*from)?.after.push(*to);
            self.node_mut(*to)?.before.push(*from);
        }
        for (edge, data) in edges.iter().zip(data) {
            self.set_data(*edge, *data);
        }
        Ok(())
    }

    /// Removes edges, all or none of them.
    ///
    /// # Errors
    /// There is no such edge.
    pub(in crate::device) fn disconnect(
        &mut self,
        edges: &[Edge],
        data: &[CUgraphEdgeData],
    ) -> Reply {
        let mut seen = BTreeSet::new();
        for (edge, data) in edges.iter().zip(data) {
            let (from, to) = *edge;
            let known = self.node(to)?.before.contains(&from) && self.data(*edge) == *data;
            if !known || !seen.insert(*edge) {
                return Err(INVALID);
            }
        }
        self.early.retain(|edge, _| !seen.contains(edge));
        for (from, to) in edges {
            self.node_mut(*from)?.after.retain(|other| other != to);
            self.node_mut(*to)?.before.retain(|other| other != from);
        }
        Ok(())
    }

    /// Whether each of `ends` is one of `heads` or comes before one of them.
    pub(in crate::device) fn reach(&self, heads: &[u64], ends: &[u64]) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), heads.to_vec());
        while let Some(handle) = next.pop() {
            if seen.insert(handle)
                && let Some(node) = self.nodes.get(&handle)
            {
                next.extend(&node.before);
            }
        }
        ends.iter().all(|end| seen.contains(end))
    }

    /// The copy of another graph's node.
    pub(in crate::device) fn clone_of(&self, original: u64) -> Option<u64> {
        let clone = self.clones.get(&original).copied();
        clone.filter(|clone| self.nodes.contains_key(clone))
    }

    /// Says that a node is the copy of another graph's node.
    pub(super) fn set_clone(&mut self, original: u64, clone: u64) {
        self.clones.insert(original, clone);
    }
}

/// Who may destroy a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Owner {
    Program,
    /// It is the graph of a node of another graph.
    Node,
}

/// What a `CUgraph` names.
#[derive(Debug)]
pub(in crate::device) struct Graph {
    pub(in crate::device) handle: u64,
    pub(in crate::device) owner: Owner,
    pub(in crate::device) made: Origin,
    /// A capture adds to it: the program must not destroy it, nor take anything out of it.
    pub(in crate::device) captured: AtomicBool,
    pub(in crate::device) dag: Mutex<Dag>,
    /// What it keeps alive.
    pub(in crate::device) objects: Held,
    /// What it was instantiated to, if it has memory or conditional nodes: one at a time.
    pub(in crate::device) exec: Mutex<Weak<Exec>>,
    /// The values of conditional nodes that were made for it.
    pub(in crate::device) conditions: Mutex<Vec<Arc<Condition>>>,
    /// Where it belongs, if it is the graph of a node.
    pub(in crate::device) home: OnceLock<Home>,
}

/// Where a node's graph belongs.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Home {
    /// The node's graph, by handle.
    pub(in crate::device) parent: u64,
    /// The context of all nodes, by handle, if a conditional node runs the graph, or one that it
    /// is in.
    pub(in crate::device) body: Option<u64>,
}

impl Graph {
    /// The context of its nodes, if a conditional node runs it.
    pub(in crate::device) fn body(&self) -> Option<u64> {
        self.home.get().and_then(|home| home.body)
    }

    /// Whether it has conditional nodes.
    pub(in crate::device) fn has_conditions(&self) -> bool {
        let dag = lock(&self.dag);
        let conditional = |kind: &NodeKind| matches!(kind, NodeKind::Conditional(_));
        dag.nodes().any(|(_, node)| conditional(&node.kind))
    }

    /// Whether a value was made for it that no node has.
    pub(in crate::device) fn has_unused_condition(&self) -> bool {
        let conditions = lock(&self.conditions);
        conditions.iter().any(|condition| !condition.is_used())
    }

    /// The objects that it keeps alive, and those that its child graphs do.
    pub(in crate::device) fn kept(&self) -> Vec<Arc<UserObject>> {
        let mut objects = lock(&self.objects).objects();
        for (_, node) in lock(&self.dag).nodes() {
            for graph in node.kind.graphs() {
                objects.extend(graph.kept());
            }
        }
        objects
    }
}
