//! Nodes that copy or set memory. Which memory there is at an address is looked at when they are
//! launched.

use cupola_sys::driver::*;

use crate::device::api::copies::copy3d::node_plan;
use crate::device::api::copies::fill::node_fill;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, with_kind};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{CopyNode, FillNode, NodeKind};

/// The context that a node names.
fn context(call: &Call<'_>, context: CUcontext) -> Reply<u64> {
    match context.addr() as u64 {
        0 => Err(INVALID),
        handle => Ok(call.context_or_current(handle)?.handle),
    }
}

pub(super) fn copy(call: &Call<'_>, params: &CUDA_MEMCPY3D, ctx: CUcontext) -> Reply<NodeKind> {
    Ok(NodeKind::Copy(Box::new(CopyNode {
        plan: node_plan(call, params)?,
        params: *params,
        context: context(call, ctx)?,
    })))
}

pub(super) fn fill(
    call: &Call<'_>,
    params: &CUDA_MEMSET_NODE_PARAMS,
    ctx: CUcontext,
) -> Reply<NodeKind> {
    Ok(NodeKind::Fill(Box::new(FillNode {
        fill: node_fill(params)?,
        params: *params,
        context: context(call, ctx)?,
    })))
}

fn add_copy(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_MEMCPY3D>,
    ctx: CUcontext,
) -> Reply {
    let params = params.get()?;
    add(call, place, graph, (before, count), || {
        copy(call, &params, ctx)
    })
}

fn add_fill(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_MEMSET_NODE_PARAMS>,
    ctx: CUcontext,
) -> Reply {
    let params = params.get()?;
    add(call, place, graph, (before, count), || {
        fill(call, &params, ctx)
    })
}

fn copy_params(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_MEMCPY3D>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Copy(node) => Ok(node.params),
        _ => Err(INVALID),
    })?)
}

fn fill_params(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_MEMSET_NODE_PARAMS>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Fill(node) => Ok(node.params),
        _ => Err(INVALID),
    })?)
}

/// The node keeps its context.
fn set_copy(call: &Call<'_>, node: CUgraphNode, params: In<CUDA_MEMCPY3D>) -> Reply {
    let params = params.get()?;
    let plan = node_plan(call, &params)?;
    with_kind(call, node, |kind| match kind {
        NodeKind::Copy(node) => {
            (node.params, node.plan) = (params, plan);
            Ok(())
        }
        _ => Err(INVALID),
    })
}

/// The node keeps its context.
fn set_fill(call: &Call<'_>, node: CUgraphNode, params: In<CUDA_MEMSET_NODE_PARAMS>) -> Reply {
    let params = params.get()?;
    let fill = node_fill(&params)?;
    with_kind(call, node, |kind| match kind {
        NodeKind::Fill(node) => {
            (node.params, node.fill) = (params, fill);
            Ok(())
        }
        _ => Err(INVALID),
    })
}

functions! {
    Initialized {
        cuGraphAddMemcpyNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, params: *const CUDA_MEMCPY3D,
            ctx: CUcontext) = add_copy;
        cuGraphAddMemsetNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, params: *const CUDA_MEMSET_NODE_PARAMS,
            ctx: CUcontext) = add_fill;
        cuGraphMemcpyNodeGetParams: (node: CUgraphNode, place: *mut CUDA_MEMCPY3D)
            = copy_params;
        cuGraphMemsetNodeGetParams: (node: CUgraphNode, place: *mut CUDA_MEMSET_NODE_PARAMS)
            = fill_params;
        cuGraphMemcpyNodeSetParams: (node: CUgraphNode, params: *const CUDA_MEMCPY3D)
            = set_copy;
        cuGraphMemsetNodeSetParams: (node: CUgraphNode,
            params: *const CUDA_MEMSET_NODE_PARAMS) = set_fill;
    }
}
