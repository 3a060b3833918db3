//! New parameters for single nodes of executable graphs. Launches that are under way keep theirs.

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, copy, event, host, kernel, values};
use crate::device::calls::args::{In, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::NodeKind;
use crate::device::sync::lock;

/// Nodes are named as in the graph that was instantiated. A kernel keeps its attributes.
pub(in crate::device::api::graphs) fn set(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    mut wanted: NodeKind,
) -> Reply {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    let mut state = lock(&exec.state);
    let step = state.step(node.addr() as u64)?;
    if let (NodeKind::Kernel(old), NodeKind::Kernel(new)) = (&step.kind, &mut wanted) {
        kernel::keep_attributes(old, new);
    }
    let becomes = step.kind.may_become(&wanted, false);
    becomes.map_err(|_| INVALID)?;
    // The program names memory that it has now.
    (step.kind, step.blocks) = (wanted, None);
    Ok(())
}

fn set_kernel(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_KERNEL_NODE_PARAMS>,
) -> Reply {
    set(call, exec, node, kernel::node(call, &params.get()?)?)
}

fn set_kernel_v1(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_KERNEL_NODE_PARAMS_v1>,
) -> Reply {
    let params = kernel::newer(&params.get()?);
    set(call, exec, node, kernel::node(call, &params)?)
}

fn set_copy(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_MEMCPY3D>,
    context: CUcontext,
) -> Reply {
    set(call, exec, node, copy::copy(call, &params.get()?, context)?)
}

fn set_fill(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_MEMSET_NODE_PARAMS>,
    context: CUcontext,
) -> Reply {
    set(call, exec, node, copy::fill(call, &params.get()?, context)?)
}

fn set_host(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_HOST_NODE_PARAMS>,
) -> Reply {
    let params = params.get()?;
    let wanted = host::node(params.fn_, params.userData)?;
    set(call, exec, node, NodeKind::Host(wanted))
}

fn set_record(call: &Call<'_>, exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Reply {
    let wanted = event::handle(call, event)?;
    set(call, exec, node, NodeKind::Record(wanted))
}

fn set_wait(call: &Call<'_>, exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Reply {
    let wanted = event::handle(call, event)?;
    set(call, exec, node, NodeKind::Wait(wanted))
}

fn set_values(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    params: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Reply {
    let wanted = values::node(call, &params.get()?)?;
    set(call, exec, node, NodeKind::Values(wanted))
}

functions! {
    Initialized {
        cuGraphExecKernelNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_KERNEL_NODE_PARAMS_v1) = set_kernel_v1;
        cuGraphExecKernelNodeSetParams_v2: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_KERNEL_NODE_PARAMS) = set_kernel;
        cuGraphExecMemcpyNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_MEMCPY3D, context: CUcontext) = set_copy;
        cuGraphExecMemsetNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_MEMSET_NODE_PARAMS, context: CUcontext) = set_fill;
        cuGraphExecHostNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_HOST_NODE_PARAMS) = set_host;
        cuGraphExecEventRecordNodeSetEvent: (exec: CUgraphExec, node: CUgraphNode,
            event: CUevent) = set_record;
        cuGraphExecEventWaitNodeSetEvent: (exec: CUgraphExec, node: CUgraphNode,
            event: CUevent) = set_wait;
        cuGraphExecBatchMemOpNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            params: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) = set_values;
    }
}
