//! What is instantiated from graphs, and launched.

use std::ffi::{c_char, c_ulonglong};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, get};
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{BadGraph, Exec, launch as launch_exec};
use crate::device::sync::lock;

use CUgraphInstantiate_flags as Flags;

/// Why a graph cannot be instantiated: the code, what else is said, and the node.
struct Refused {
    code: CUresult,
    result: CUgraphInstantiateResult,
    node: u64,
}

impl From<CUresult> for Refused {
    fn from(code: CUresult) -> Self {
        Self {
            code,
            result: CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
            node: 0,
        }
    }
}

fn make(
    call: &Call<'_>,
    place: Out<CUgraphExec>,
    graph: CUgraph,
    flags: u64,
) -> Result<(), Refused> {
    place.check()?;
    let graph = get(call, graph)?;
    let known = Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.0
        | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0
        | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0
        | Flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0;
    if flags & !u64::from(known) != 0 {
        return Err(INVALID.into());
    }
    if flags & u64::from(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0) != 0 {
        let text = "a graph is to be launched by kernels: not supported";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED.into());
    }
    let state = Exec::plan(&graph).map_err(|BadGraph(node)| Refused {
        code: INVALID,
        result: CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
        node,
    })?;
    if graph.has_unused_condition() {
        return Err(Refused {
            code: INVALID,
            result: CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED,
            node: 0,
        });
    }
    let objects = graph.kept();
    let made = call.machine.strict.origin();
    let one = graph.has_memory() || graph.has_conditions();
    if one && lock(&graph.exec).upgrade().is_some() {
        let text = "a graph with memory of its own, or with conditional nodes, has an executable: not \
                    supported";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED.into());
    }
    let exec = call.machine.graphs.add_exec(|handle| Exec {
        handle,
        flags,
        made,
        objects,
        state: state.into(),
    });
    if one {
        *lock(&graph.exec) = Arc::downgrade(&exec);
    }
    Ok(place.set(pointer(exec.handle))?)
}

fn instantiate(
    call: &Call<'_>,
    place: Out<CUgraphExec>,
    graph: CUgraph,
    flags: c_ulonglong,
) -> Reply {
    // Without the parameters there is no stream to upload in.
    if flags & u64::from(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0) != 0 {
        return Err(INVALID);
    }
    make(call, place, graph, flags).map_err(|refused| refused.code)
}

/// What is wrong is told by the node and the messages; there is no text.
fn instantiate_v2(
    call: &Call<'_>,
    place: Out<CUgraphExec>,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    log: Out<c_char>,
    len: usize,
) -> Reply {
    if let Ok(len) = i32::try_from(len)
        && len > 0
        && !log.is_null()
    {
        log.set_text(len, "")?;
    }
    let made = make(call, place, graph, 0);
    let bad = made.as_ref().err().map_or(0, |refused| refused.node);
    node.set_if(pointer(bad));
    made.map_err(|refused| refused.code)
}

fn instantiate_with_params(
    call: &Call<'_>,
    place: Out<CUgraphExec>,
    graph: CUgraph,
    params: Out<CUDA_GRAPH_INSTANTIATE_PARAMS>,
) -> Reply {
    let mut told = params.get()?;
    let upload = u64::from(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0);
    if told.flags & upload != 0 {
        call.stream(told.hUploadStream)?;
    }
    let made = make(call, place, graph, told.flags);
    let success = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS;
    let refused = made.as_ref().err();
    told.result_out = refused.map_or(success, |refused| refused.result);
    told.hErrNode_out = pointer(refused.map_or(0, |refused| refused.node));
    params.set(told)?;
    made.map_err(|refused| refused.code)
}

/// There is nothing to upload: a launch takes all from the executable itself.
fn upload(call: &Call<'_>, exec: CUgraphExec, stream: CUstream) -> Reply {
    call.machine.graphs.exec(exec.addr() as u64)?;
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)
}

fn launch(call: &Call<'_>, exec: CUgraphExec, stream: CUstream) -> Reply {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)?;
    launch_exec(call, &exec, &(context, stream))
}

/// Launches that are under way go on.
fn destroy(call: &Call<'_>, exec: CUgraphExec) -> Reply {
    let exec = call.machine.graphs.remove_exec(exec.addr() as u64)?;
    exec.close();
    Ok(())
}

fn flags(call: &Call<'_>, exec: CUgraphExec, place: Out<cuuint64_t>) -> Reply {
    place.set(call.machine.graphs.exec(exec.addr() as u64)?.flags)
}

functions! {
    Initialized {
        cuGraphInstantiate: (place: *mut CUgraphExec, graph: CUgraph, node: *mut CUgraphNode,
            log: *mut c_char, len: usize) = instantiate_v2;
        cuGraphInstantiate_v2: (place: *mut CUgraphExec, graph: CUgraph,
            node: *mut CUgraphNode, log: *mut c_char, len: usize) = instantiate_v2;
        cuGraphInstantiateWithFlags: (place: *mut CUgraphExec, graph: CUgraph,
            flags: c_ulonglong) = instantiate;
        cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz: (
            place: *mut CUgraphExec, graph: CUgraph,
            params: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) = instantiate_with_params;
        cuGraphUpload, cuGraphUpload_ptsz: (exec: CUgraphExec, stream: CUstream) = upload;
        cuGraphLaunch, cuGraphLaunch_ptsz: (exec: CUgraphExec, stream: CUstream) = launch;
        cuGraphExecDestroy: (exec: CUgraphExec) = destroy;
        cuGraphExecGetFlags: (exec: CUgraphExec, place: *mut cuuint64_t) = flags;
    }
}
