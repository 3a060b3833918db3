//! Nodes that call a function of the program.

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, with_kind};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{HostNode, NodeKind};
use crate::device::operations::op::UserData;

pub(super) fn node(function: CUhostFn, data: *mut std::ffi::c_void) -> Reply<HostNode> {
    if function.is_none() {
        return Err(INVALID);
    }
    let data = UserData(data);
    Ok(HostNode { function, data })
}

fn add_host(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_HOST_NODE_PARAMS>,
) -> Reply {
    let params = params.get()?;
    let make = || node(params.fn_, params.userData).map(NodeKind::Host);
    add(call, place, graph, (before, count), make)
}

fn params(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_HOST_NODE_PARAMS>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Host(node) => Ok(CUDA_HOST_NODE_PARAMS {
            fn_: node.function,
            userData: node.data.0,
        }),
        _ => Err(INVALID),
    })?)
}

fn set_params(call: &Call<'_>, handle: CUgraphNode, params: In<CUDA_HOST_NODE_PARAMS>) -> Reply {
    let params = params.get()?;
    let wanted = node(params.fn_, params.userData)?;
    with_kind(call, handle, |kind| match kind {
        NodeKind::Host(node) => {
            *node = wanted;
            Ok(())
        }
        _ => Err(INVALID),
    })
}

functions! {
    Initialized {
        cuGraphAddHostNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, params: *const CUDA_HOST_NODE_PARAMS)
            = add_host;
        cuGraphHostNodeGetParams: (node: CUgraphNode, place: *mut CUDA_HOST_NODE_PARAMS)
            = params;
        cuGraphHostNodeSetParams: (node: CUgraphNode, params: *const CUDA_HOST_NODE_PARAMS)
            = set_params;
    }
}
