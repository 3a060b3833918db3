//! Nodes that launch a kernel.

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, with_kind};
use crate::device::api::kernels::launch::node_launch;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{KernelNode, NodeKind};

/// The parameters of the first form, which names neither a `CUkernel` nor a context.
pub(super) fn newer(params: &CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func: params.func,
        gridDimX: params.gridDimX,
        gridDimY: params.gridDimY,
        gridDimZ: params.gridDimZ,
        blockDimX: params.blockDimX,
        blockDimY: params.blockDimY,
        blockDimZ: params.blockDimZ,
        sharedMemBytes: params.sharedMemBytes,
        kernelParams: params.kernelParams,
        extra: params.extra,
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    }
}

/// The values of the parameters are taken now.
pub(super) fn node(call: &Call<'_>, params: &CUDA_KERNEL_NODE_PARAMS) -> Reply<NodeKind> {
    let launch = node_launch(call, params)?;
    Ok(NodeKind::Kernel(Box::new(KernelNode::new(launch))))
}

fn add_kernel(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_KERNEL_NODE_PARAMS>,
) -> Reply {
    let params = params.get()?;
    add(call, place, graph, (before, count), || node(call, &params))
}

fn add_kernel_v1(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: In<CUDA_KERNEL_NODE_PARAMS_v1>,
) -> Reply {
    let params = newer(&params.get()?);
    add(call, place, graph, (before, count), || node(call, &params))
}

pub(super) fn told(node: &mut KernelNode) -> CUDA_KERNEL_NODE_PARAMS {
    let pointers = node.pointers();
    let launch = &node.launch;
    let ([grid_x, grid_y, grid_z], block) = (launch.config.grid, launch.config.block);
    CUDA_KERNEL_NODE_PARAMS {
        func: pointer(launch.function.handle),
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: block[0],
        blockDimY: block[1],
        blockDimZ: block[2],
        sharedMemBytes: launch.config.dynamic_shared,
        kernelParams: pointers,
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: pointer(launch.function.context),
    }
}

fn params(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_KERNEL_NODE_PARAMS>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Kernel(node) => Ok(told(node)),
        _ => Err(INVALID),
    })?)
}

fn params_v1(call: &Call<'_>, node: CUgraphNode, place: Out<CUDA_KERNEL_NODE_PARAMS_v1>) -> Reply {
    let told = with_kind(call, node, |kind| match kind {
        NodeKind::Kernel(node) => Ok(told(node)),
        _ => Err(INVALID),
    })?;
    place.set(CUDA_KERNEL_NODE_PARAMS_v1 {
        func: told.func,
        gridDimX: told.gridDimX,
        gridDimY: told.gridDimY,
        gridDimZ: told.gridDimZ,
        blockDimX: told.blockDimX,
        blockDimY: told.blockDimY,
        blockDimZ: told.blockDimZ,
        sharedMemBytes: told.sharedMemBytes,
        kernelParams: told.kernelParams,
        extra: told.extra,
    })
}

/// Gives a node the attributes of another.
pub(super) fn keep_attributes(from: &KernelNode, to: &mut KernelNode) {
    to.launch.cooperative = from.launch.cooperative;
    to.launch.priority = from.launch.priority;
    to.hints.clone_from(&from.hints);
}

/// Takes a new launch over; attributes stay.
pub(super) fn replace(kind: &mut NodeKind, wanted: NodeKind) -> Reply {
    let (NodeKind::Kernel(node), NodeKind::Kernel(mut wanted)) = (kind, wanted) else {
        return Err(INVALID);
    };
    keep_attributes(node, &mut wanted);
    *node = wanted;
    Ok(())
}

fn set(call: &Call<'_>, handle: CUgraphNode, params: &CUDA_KERNEL_NODE_PARAMS) -> Reply {
    let wanted = node(call, params)?;
    with_kind(call, handle, |kind| replace(kind, wanted))
}

fn set_params(call: &Call<'_>, node: CUgraphNode, params: In<CUDA_KERNEL_NODE_PARAMS>) -> Reply {
    set(call, node, &params.get()?)
}

fn set_params_v1(
    call: &Call<'_>,
    node: CUgraphNode,
    params: In<CUDA_KERNEL_NODE_PARAMS_v1>,
) -> Reply {
    set(call, node, &newer(&params.get()?))
}

functions! {
    Initialized {
        cuGraphAddKernelNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize,
            params: *const CUDA_KERNEL_NODE_PARAMS_v1) = add_kernel_v1;
        cuGraphAddKernelNode_v2: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize,
            params: *const CUDA_KERNEL_NODE_PARAMS) = add_kernel;
        cuGraphKernelNodeGetParams: (node: CUgraphNode, place: *mut CUDA_KERNEL_NODE_PARAMS_v1)
            = params_v1;
        cuGraphKernelNodeGetParams_v2: (node: CUgraphNode, place: *mut CUDA_KERNEL_NODE_PARAMS)
            = params;
        cuGraphKernelNodeSetParams: (node: CUgraphNode,
            params: *const CUDA_KERNEL_NODE_PARAMS_v1) = set_params_v1;
        cuGraphKernelNodeSetParams_v2: (node: CUgraphNode,
            params: *const CUDA_KERNEL_NODE_PARAMS) = set_params;
    }
}
