//! Nodes that write values to memory, or wait for them.

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, with_kind};
use crate::device::api::streams::memop;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{NodeKind, ValuesNode};

pub(super) fn node(call: &Call<'_>, params: &CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Reply<ValuesNode> {
    let context = call.context_or_current(params.ctx.addr() as u64)?;
    let operations = In::of(params.paramArray.cast_const());
    memop::node(call, &context, params.count, operations, params.flags)
}

fn add_values(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Reply {
    let params = params.get()?;
    let make = || node(call, &params).map(NodeKind::Values);
    add(call, place, graph, (before, count), make)
}

/// The array is the node's, and stays as long as the node has these parameters.
fn params(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_BATCH_MEM_OP_NODE_PARAMS>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Values(node) => Ok(CUDA_BATCH_MEM_OP_NODE_PARAMS {
            ctx: pointer(node.context),
            count: node.params.len() as u32,
            paramArray: node.params.as_mut_ptr(),
            flags: 0,
        }),
        _ => Err(INVALID),
    })?)
}

fn set_params(
    call: &Call<'_>,
    handle: CUgraphNode,
    params: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Reply {
    let wanted = node(call, &params.get()?)?;
    with_kind(call, handle, |kind| match kind {
        NodeKind::Values(node) => {
            *node = wanted;
            Ok(())
        }
        _ => Err(INVALID),
    })
}

functions! {
    Initialized {
        cuGraphAddBatchMemOpNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize,
            params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) = add_values;
        cuGraphBatchMemOpNodeGetParams: (node: CUgraphNode,
            place: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS) = params;
        cuGraphBatchMemOpNodeSetParams: (node: CUgraphNode,
            params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) = set_params;
    }
}
