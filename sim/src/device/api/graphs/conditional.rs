//! Nodes that run one of their graphs, or one again and again, as a value says that kernels set.

use std::ffi::c_uint;

use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, get};
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{Choice, ConditionalNode, NodeKind};

/// The driver that brought `ELSE` and `SWITCH`.
const CHOICES: Version = Version::new(12, 8);

fn create_handle(
    call: &Call<'_>,
    place: Out<CUgraphConditionalHandle>,
    graph: CUgraph,
    context: CUcontext,
    default: c_uint,
    flags: c_uint,
) -> Reply {
    place.check()?;
    let graph = get(call, graph)?;
    if flags & !CU_GRAPH_COND_ASSIGN_DEFAULT != 0 {
        return Err(INVALID);
    }
    if context.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    let context = call.context_or_current(context.addr() as u64)?;
    let default = (flags != 0).then_some(default);
    let graphs = &call.machine.graphs;
    place.set(graphs.add_condition(&graph, context.handle, default))
}

/// The node of a value, with new graphs. `graph` is the one that the node is to be in.
pub(super) fn node(
    call: &Call<'_>,
    graph: CUgraph,
    params: &CUDA_CONDITIONAL_NODE_PARAMS,
) -> Reply<NodeKind> {
    let graph = get(call, graph)?;
    let choice = Choice::new(params.type_, params.size)?;
    let is_newer = choice == Choice::Switch || params.size > 1;
    if is_newer && call.machine.version < CHOICES {
        return Err(INVALID);
    }
    let graphs = &call.machine.graphs;
    let condition = graphs.condition(params.handle).ok_or(INVALID)?;
    let own = params.ctx.addr() as u64;
    if own != 0 && call.context_or_current(own)?.handle != condition.context {
        return Err(INVALID);
    }
    // The value is of this graph, or of one that this is in.
    if !graphs.is_within(&graph, condition.graph) {
        return Err(INVALID);
    }
    condition.claim()?;
    let made = call.machine.strict.origin();
    let body = |_| graphs.create_body(&graph, condition.context, made.clone());
    let bodies = (0..params.size).map(body).collect();
    let node = ConditionalNode::new(condition, choice, bodies);
    Ok(NodeKind::Conditional(node.into()))
}

functions! {
    Initialized {
        cuGraphConditionalHandleCreate: (place: *mut CUgraphConditionalHandle, graph: CUgraph,
            context: CUcontext, default: c_uint, flags: c_uint) = create_handle;
    }
}
