//! New parameters for executable graphs.

use cupola_sys::driver::{CUgraphExecUpdateResult, CUgraphInstantiate_flags};

use crate::device::graphs::exec::Exec;
use crate::device::graphs::graph::Graph;
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::plan::{Step, steps};
use crate::device::operations::value;
use crate::device::sync::lock;

use CUgraphExecUpdateResult as Why;

/// How a graph differs from what an executable was made of, in a way that no update can be, and
/// at which of its nodes: 0 if they have another number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Unlike {
    pub(in crate::device) why: Why,
    pub(in crate::device) node: u64,
    /// The node that it was to take the place of.
    pub(in crate::device) from: u64,
}

impl NodeKind {
    /// Whether an executable's node can become another one.
    ///
    /// # Errors
    /// What differs that must not.
    pub(in crate::device) fn may_become(
        &self,
        other: &Self,
        has_priority: bool,
    ) -> Result<(), Why> {
        let alike = match (self, other) {
            (Self::Kernel(one), Self::Kernel(two)) => {
                let (one, two) = (&one.launch, &two.launch);
                if one.function.context != two.function.context {
                    return Err(Why::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
                }
                let priority = one.priority == two.priority || !has_priority;
                if one.cooperative != two.cooperative || !priority {
                    return Err(Why::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
                }
                true
            }
            (Self::Copy(one), Self::Copy(two)) => {
                let (old, new) = (&one.params, &two.params);
                one.context == two.context
                    && old.srcMemoryType == new.srcMemoryType
                    && old.dstMemoryType == new.dstMemoryType
            }
            (Self::Fill(one), Self::Fill(two)) => {
                let shape = |params: &cupola_sys::driver::CUDA_MEMSET_NODE_PARAMS| {
                    let size = (params.elementSize, params.width);
                    (size, params.height, params.pitch)
                };
                let (old, new) = (&one.params, &two.params);
                let in_rows = old.height > 1 || new.height > 1;
                one.context == two.context && (!in_rows || shape(old) == shape(new))
            }
            (Self::Values(one), Self::Values(two)) => {
                let kinds = |steps: &[value::Step]| {
                    let kinds = steps.iter().map(value::Step::is_write);
                    kinds.collect::<Vec<_>>()
                };
                one.context == two.context && kinds(&one.steps) == kinds(&two.steps)
            }
            (Self::Conditional(one), Self::Conditional(two)) => {
                one.condition.context == two.condition.context
                    && one.choice == two.choice
                    && one.bodies.len() == two.bodies.len()
            }
            (one, two) if one.is_memory() && two.is_memory() => {
                return Err(Why::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
            }
            (one, two) if one.type_of() == two.type_of() => true,
            _ => return Err(Why::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED),
        };
        match alike {
            true => Ok(()),
            false => Err(Why::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED),
        }
    }
}

impl Exec {
    fn has_priority(&self) -> bool {
        let flag = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
        self.flags & u64::from(flag.0) != 0
    }

    /// Takes the parameters of a graph of the same shape over, all or none. Launches that are under
    /// way keep theirs.
    ///
    /// # Errors
    /// Where the graph differs.
    pub(in crate::device) fn update(&self, graph: &Graph) -> Result<(), Unlike> {
        let circle = |_| topology(0, 0);
        let new = steps(graph, Vec::new()).map_err(circle)?;
        let state = &mut *lock(&self.state);
        replace(&mut state.steps, new, self.has_priority())
    }

    /// The same for a child graph; `None` if the node has none.
    ///
    /// # Errors
    /// Where the graph differs.
    pub(in crate::device) fn update_child(
        &self,
        node: u64,
        graph: &Graph,
    ) -> Option<Result<(), Unlike>> {
        let state = &mut *lock(&self.state);
        let index = *state.index.get(&node)?;
        let step = state.steps.get(index)?;
        if !matches!(step.kind, NodeKind::Child(_)) {
            return None;
        }
        let old = index + 1..index + 1 + step.inner;
        let Ok(mut new) = steps(graph, state.steps[..=index].to_vec()) else {
            return Some(Err(topology(0, 0)));
        };
        let new = new.split_off(index + 1);
        let own = state.steps.get_mut(old)?;
        Some(replace(own, new, self.has_priority()))
    }
}

fn topology(node: u64, from: u64) -> Unlike {
    let why = Why::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    Unlike { why, node, from }
}

fn replace(old: &mut [Step], new: Vec<Step>, has_priority: bool) -> Result<(), Unlike> {
    if old.len() != new.len() {
        return Err(topology(0, 0));
    }
    for (old, new) in old.iter().zip(&new) {
        let unlike = |why| Unlike {
            why,
            node: new.node,
            from: old.node,
        };
        old.kind
            .may_become(&new.kind, has_priority)
            .map_err(unlike)?;
        if old.before != new.before {
            return Err(topology(new.node, old.node));
        }
    }
    for (old, new) in old.iter_mut().zip(new) {
        (old.kind, old.blocks) = (new.kind, new.blocks);
    }
    Ok(())
}
