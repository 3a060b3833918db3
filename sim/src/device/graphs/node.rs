//! What a node of a graph does.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;

use cupola_sys::driver::{
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraphNodeType, CUhostFn, CUlaunchAttributeValue,
    CUstreamBatchMemOpParams,
};

use crate::device::api::Plan;
use crate::device::graphs::condition::ConditionalNode;
use crate::device::graphs::graph::Graph;
use crate::device::memory::{Fill, Seat};
use crate::device::operations::launch::Launch;
use crate::device::operations::op::UserData;
use crate::device::operations::value::Step;

/// What a node does when its turn comes, with the parameters that a program may ask for.
#[derive(Clone, Debug)]
pub(in crate::device) enum NodeKind {
    Kernel(Box<KernelNode>),
    Copy(Box<CopyNode>),
    Fill(Box<FillNode>),
    Host(HostNode),
    /// A graph of its own, copied when the node was added.
    Child(Arc<Graph>),
    Empty,
    /// Records an event, by handle.
    Record(u64),
    /// Waits for the latest record of an event, by handle.
    Wait(u64),
    Values(ValuesNode),
    /// Allocates memory at these addresses.
    Alloc(Arc<Seat>),
    /// Frees the memory at an address.
    Free(u64),
    /// Graphs of its own, of which a value chooses.
    Conditional(Arc<ConditionalNode>),
}

impl NodeKind {
    pub(in crate::device) fn type_of(&self) -> CUgraphNodeType {
        use CUgraphNodeType as T;
        match self {
            Self::Kernel(_) => T::CU_GRAPH_NODE_TYPE_KERNEL,
            Self::Copy(_) => T::CU_GRAPH_NODE_TYPE_MEMCPY,
            Self::Fill(_) => T::CU_GRAPH_NODE_TYPE_MEMSET,
            Self::Host(_) => T::CU_GRAPH_NODE_TYPE_HOST,
            Self::Child(_) => T::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Empty => T::CU_GRAPH_NODE_TYPE_EMPTY,
            Self::Record(_) => T::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Self::Wait(_) => T::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Self::Values(_) => T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
            Self::Alloc(_) => T::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Self::Free(_) => T::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Self::Conditional(_) => T::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }

    /// Whether it allocates or frees memory.
    pub(in crate::device) fn is_memory(&self) -> bool {
        matches!(self, Self::Alloc(_) | Self::Free(_))
    }

    /// The graphs that belong to it.
    pub(in crate::device) fn graphs(&self) -> &[Arc<Graph>] {
        match self {
            Self::Child(graph) => std::slice::from_ref(graph),
            Self::Conditional(node) => &node.bodies,
            _ => &[],
        }
    }

    /// The context that it works in, if it must be in a certain one.
    pub(in crate::device) fn context(&self) -> Option<u64> {
        match self {
            Self::Kernel(kernel) => Some(kernel.launch.function.context),
            Self::Copy(copy) => Some(copy.context),
            Self::Fill(fill) => Some(fill.context),
            Self::Values(values) => Some(values.context),
            Self::Alloc(seat) => Some(seat.context),
            Self::Conditional(node) => Some(node.condition.context),
            Self::Free(_) => None,
            Self::Host(_) | Self::Child(_) | Self::Empty | Self::Record(_) | Self::Wait(_) => None,
        }
    }
}

/// A launch of a kernel.
#[derive(Debug)]
pub(in crate::device) struct KernelNode {
    pub(in crate::device) launch: Launch,
    /// Where the parameters are, for a program that has asked; they stay as long as the node has
    /// these parameters.
    told: Vec<*mut c_void>,
    /// Attributes that change nothing here, by number: the program may ask for them.
    pub(in crate::device) hints: BTreeMap<u32, CUlaunchAttributeValue>,
}

// SAFETY: the pointers point into the node's own parameters, and are given to the program alone.
unsafe impl Send for KernelNode {}

impl Clone for KernelNode {
    fn clone(&self) -> Self {
        Self {
            hints: self.hints.clone(),
            ..Self::new(self.launch.clone())
        }
    }
}

impl KernelNode {
    pub(in crate::device) fn new(launch: Launch) -> Self {
        Self {
            launch,
            told: Vec::new(),
            hints: BTreeMap::new(),
        }
    }

    /// One pointer for each parameter.
    pub(in crate::device) fn pointers(&mut self) -> *mut *mut c_void {
        let start = self.launch.params.as_mut_ptr();
        let params = self.launch.function.kernel.params.iter();
        let places = params.map(|param| start.wrapping_add(param.offset as usize).cast());
        if self.told.is_empty() {
            self.told = places.collect();
        }
        match self.told.is_empty() {
            true => std::ptr::null_mut(),
            false => self.told.as_mut_ptr(),
        }
    }
}

/// A copy. Its memory is looked for at each launch.
#[derive(Clone, Debug)]
pub(in crate::device) struct CopyNode {
    pub(in crate::device) params: CUDA_MEMCPY3D,
    /// `None` for a copy of nothing.
    pub(in crate::device) plan: Option<Plan>,
    pub(in crate::device) context: u64,
}

// SAFETY: the host pointers are used by the copy of a launch, under the contract of that launch,
// and from whichever thread executes it.
unsafe impl Send for CopyNode {}

/// A memset.
#[derive(Clone, Debug)]
pub(in crate::device) struct FillNode {
    pub(in crate::device) params: CUDA_MEMSET_NODE_PARAMS,
    /// `None` for a memset of nothing.
    pub(in crate::device) fill: Option<Fill>,
    pub(in crate::device) context: u64,
}

/// Values that are written to memory or waited for, in order.
#[derive(Clone, Debug)]
pub(in crate::device) struct ValuesNode {
    /// As the program gave them, or would have.
    pub(in crate::device) params: Vec<CUstreamBatchMemOpParams>,
    pub(in crate::device) steps: Vec<Step>,
    pub(in crate::device) context: u64,
}

/// A call of the program's function.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct HostNode {
    pub(in crate::device) function: CUhostFn,
    pub(in crate::device) data: UserData,
}
