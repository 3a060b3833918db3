//! Conditional nodes: graphs that run if a value says so, and the values.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cupola_sys::driver::{CUgraphConditionalNodeType, CUresult};

use crate::device::calls::args::Reply;
use crate::device::graphs::graph::Graph;
use crate::device::graphs::node::NodeKind;
use crate::device::sync::lock;

/// What a `CUgraphConditionalHandle` names: a value that kernels set.
#[derive(Debug)]
pub(in crate::device) struct Condition {
    pub(in crate::device) handle: u64,
    /// The graph that it was made for, by handle.
    pub(in crate::device) graph: u64,
    /// The context that its node runs in, by handle.
    pub(in crate::device) context: u64,
    /// What it is when a launch begins; what it was before if there is none.
    default: Option<u32>,
    value: AtomicU32,
    /// It has a node.
    used: AtomicBool,
}

impl Condition {
    pub(super) fn new(handle: u64, graph: u64, context: u64, default: Option<u32>) -> Self {
        Self {
            handle,
            graph,
            context,
            default,
            value: AtomicU32::new(0),
            used: AtomicBool::new(false),
        }
    }

    /// A launch begins.
    pub(in crate::device) fn reset(&self) {
        if let Some(default) = self.default {
            self.set(default);
        }
    }

    pub(in crate::device) fn set(&self, value: u32) {
        self.value.store(value, Ordering::Release);
    }

    pub(in crate::device) fn value(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    /// Takes it for a node.
    ///
    /// # Errors
    /// Another node has it.
    pub(in crate::device) fn claim(&self) -> Reply {
        match self.used.swap(true, Ordering::AcqRel) {
            true => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Its node is gone.
    pub(in crate::device) fn release(&self) {
        self.used.store(false, Ordering::Release);
    }

    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Acquire)
    }
}

/// Which of its graphs a conditional node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Choice {
    /// The first if the value is not 0, the second, if there is one, if it is.
    If,
    /// The first, again and again, as long as the value is not 0.
    While,
    /// The one of that number.
    Switch,
}

impl Choice {
    /// A type of conditional nodes with so many graphs.
    ///
    /// # Errors
    /// There is no such type, or it has another number of graphs.
    pub(in crate::device) fn new(kind: CUgraphConditionalNodeType, graphs: u32) -> Reply<Self> {
        use CUgraphConditionalNodeType as T;
        match (kind, graphs) {
            (T::CU_GRAPH_COND_TYPE_IF, 1 | 2) => Ok(Self::If),
            (T::CU_GRAPH_COND_TYPE_WHILE, 1) => Ok(Self::While),
            (T::CU_GRAPH_COND_TYPE_SWITCH, 1..) => Ok(Self::Switch),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }

    /// The number of the graph that runs next.
    pub(in crate::device) fn of(self, value: u32) -> Option<usize> {
        match (self, value) {
            (Self::If, 0) => Some(1),
            (Self::If, _) => Some(0),
            (Self::While, 0) => None,
            (Self::While, _) => Some(0),
            (Self::Switch, value) => usize::try_from(value).ok(),
        }
    }
}

/// Graphs of which a value chooses one.
#[derive(Debug)]
pub(in crate::device) struct ConditionalNode {
    pub(in crate::device) condition: Arc<Condition>,
    pub(in crate::device) choice: Choice,
    pub(in crate::device) bodies: Vec<Arc<Graph>>,
    /// Their handles, for the program: they stay where they are as long as the node.
    told: Box<[u64]>,
}

impl ConditionalNode {
    pub(in crate::device) fn new(
        condition: Arc<Condition>,
        choice: Choice,
        bodies: Vec<Arc<Graph>>,
    ) -> Self {
        Self {
            condition,
            choice,
            told: bodies.iter().map(|body| body.handle).collect(),
            bodies,
        }
    }

    /// The array of the graphs' handles.
    pub(in crate::device) fn handles(&self) -> *const u64 {
        self.told.as_ptr()
    }
}

/// Whether a node may be added to a graph that a conditional node runs, with all that is in it.
///
/// # Errors
/// It is of another context.
pub(super) fn check_body(kind: &NodeKind, context: u64) -> Reply {
    match kind {
        NodeKind::Kernel(_) | NodeKind::Copy(_) | NodeKind::Fill(_) | NodeKind::Conditional(_) => {
            match kind.context() == Some(context) {
                true => Ok(()),
                false => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            }
        }
        NodeKind::Child(child) => {
            let dag = lock(&child.dag);
            dag.nodes()
                .try_for_each(|(_, node)| check_body(&node.kind, context))
        }
        _ => Ok(()),
    }
}

/// A node of a kind that a graph which a conditional node runs must not have: it is added, and refused
/// when the whole is to be executable.
pub(super) fn unfit(body: &Graph) -> Option<u64> {
    let dag = lock(&body.dag);
    dag.nodes().find_map(|(handle, node)| match &node.kind {
        NodeKind::Host(_)
        | NodeKind::Record(_)
        | NodeKind::Wait(_)
        | NodeKind::Values(_)
        | NodeKind::Alloc(_)
        | NodeKind::Free(_) => Some(handle),
        NodeKind::Child(child) => unfit(child).map(|_| handle),
        NodeKind::Kernel(_)
        | NodeKind::Copy(_)
        | NodeKind::Fill(_)
        | NodeKind::Conditional(_)
        | NodeKind::Empty => None,
    })
}
