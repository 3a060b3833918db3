//! Executable graphs take the parameters of other graphs over.

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, get};
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::Unlike;

const FAILED: CUresult = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;

fn update(call: &Call<'_>, exec: CUgraphExec, graph: CUgraph) -> Reply<Result<(), Unlike>> {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    Ok(exec.update(&*get(call, graph)?))
}

fn told(unlike: Option<Unlike>) -> CUgraphExecUpdateResultInfo {
    CUgraphExecUpdateResultInfo {
        result: unlike.map_or(
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
            |unlike| unlike.why,
        ),
        errorNode: pointer(unlike.map_or(0, |unlike| unlike.node)),
        errorFromNode: pointer(unlike.map_or(0, |unlike| unlike.from)),
    }
}

fn update_v2(
    call: &Call<'_>,
    exec: CUgraphExec,
    graph: CUgraph,
    info: Out<CUgraphExecUpdateResultInfo>,
) -> Reply {
    info.check()?;
    let unlike = update(call, exec, graph)?.err();
    info.set(told(unlike))?;
    unlike.map_or(Ok(()), |_| Err(FAILED))
}

fn update_v1(
    call: &Call<'_>,
    exec: CUgraphExec,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    result: Out<CUgraphExecUpdateResult>,
) -> Reply {
    result.check()?;
    let unlike = update(call, exec, graph)?.err();
    let told = told(unlike);
    node.set_if(told.errorNode);
    result.set(told.result)?;
    unlike.map_or(Ok(()), |_| Err(FAILED))
}

pub(in crate::device::api::graphs) fn set_child(
    call: &Call<'_>,
    exec: CUgraphExec,
    node: CUgraphNode,
    child: CUgraph,
) -> Reply {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    let child = get(call, child)?;
    match exec.update_child(node.addr() as u64, &child) {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) | None => Err(INVALID),
    }
}

functions! {
    Initialized {
        cuGraphExecUpdate: (exec: CUgraphExec, graph: CUgraph, node: *mut CUgraphNode,
            result: *mut CUgraphExecUpdateResult) = update_v1;
        cuGraphExecUpdate_v2: (exec: CUgraphExec, graph: CUgraph,
            info: *mut CUgraphExecUpdateResultInfo) = update_v2;
        cuGraphExecChildGraphNodeSetParams: (exec: CUgraphExec, node: CUgraphNode,
            child: CUgraph) = set_child;
    }
}
