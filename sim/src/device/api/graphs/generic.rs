//! The functions that take nodes of any kind.

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::edges;
use crate::device::api::graphs::executables::{params, update};
use crate::device::api::graphs::{
    INVALID, add, child, conditional, copy, event, get, handles, host, kernel, memory, values,
    with_kind,
};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::NodeKind;
use crate::device::sync::lock;

/// What the parameters describe, for a node of that graph if it is a new one.
fn node(call: &Call<'_>, graph: Option<CUgraph>, params: &CUgraphNodeParams) -> Reply<NodeKind> {
    use CUgraphNodeType as T;
    let any = &params.__bindgen_anon_1;
    // SAFETY: the type says which member of the union is set. Each is made of numbers and
    // pointers, for which all bit patterns are values.
    unsafe {
        match params.type_ {
            T::CU_GRAPH_NODE_TYPE_KERNEL => {
                let given = any.kernel;
                let params = CUDA_KERNEL_NODE_PARAMS {
                    func: given.func,
                    gridDimX: given.gridDimX,
                    gridDimY: given.gridDimY,
                    gridDimZ: given.gridDimZ,
                    blockDimX: given.blockDimX,
                    blockDimY: given.blockDimY,
                    blockDimZ: given.blockDimZ,
                    sharedMemBytes: given.sharedMemBytes,
                    kernelParams: given.kernelParams,
                    extra: given.extra,
                    kern: given.kern,
                    ctx: given.ctx,
                };
                kernel::node(call, &params)
            }
            T::CU_GRAPH_NODE_TYPE_MEMCPY => {
                let given = any.memcpy;
                copy::copy(call, &given.copyParams, given.copyCtx)
            }
            T::CU_GRAPH_NODE_TYPE_MEMSET => {
                let given = any.memset;
                let params = CUDA_MEMSET_NODE_PARAMS {
                    dst: given.dst,
                    pitch: given.pitch,
                    value: given.value,
                    elementSize: given.elementSize,
                    width: given.width,
                    height: given.height,
                };
                copy::fill(call, &params, given.ctx)
            }
            T::CU_GRAPH_NODE_TYPE_HOST => {
                let given = any.host;
                host::node(given.fn_, given.userData).map(NodeKind::Host)
            }
            T::CU_GRAPH_NODE_TYPE_GRAPH => {
                let clone = CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
                match any.graph.ownership == clone {
                    true => child::node(call, any.graph.graph),
                    false => missing(call, "a child graph that is not copied"),
                }
            }
            T::CU_GRAPH_NODE_TYPE_EMPTY => Ok(NodeKind::Empty),
            T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
                event::handle(call, any.eventWait.event).map(NodeKind::Wait)
            }
            T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
                event::handle(call, any.eventRecord.event).map(NodeKind::Record)
            }
            T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => {
                let given = any.memOp;
                let params = CUDA_BATCH_MEM_OP_NODE_PARAMS {
                    ctx: given.ctx,
                    count: given.count,
                    paramArray: given.paramArray,
                    flags: given.flags,
                };
                values::node(call, &params).map(NodeKind::Values)
            }
            T::CU_GRAPH_NODE_TYPE_MEM_ALLOC => memory::any(call, &any.alloc),
            T::CU_GRAPH_NODE_TYPE_MEM_FREE => Ok(NodeKind::Free(any.free.dptr)),
            T::CU_GRAPH_NODE_TYPE_CONDITIONAL => match graph {
                Some(graph) => conditional::node(call, graph, &any.conditional),
                // No parameter of such a node can be changed.
                None => Err(INVALID),
            },
            T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL | T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => {
                missing(call, "a node of a kind that is not built")
            }
            _ => Err(INVALID),
        }
    }
}

fn missing(call: &Call<'_>, what: &str) -> Reply<NodeKind> {
    let text = format!("a graph asks for {what}: not supported");
    call.machine.messages.add(text);
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// The address of an allocation, and the graphs of a conditional node, are told in the parameters.
fn add_any_v2(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
    params: Out<CUgraphNodeParams>,
) -> Reply {
    let mut given = params.get()?;
    let data = edges::data(data, count)?;
    let from = handles(before, count)?;
    let target = get(call, graph)?;
    let (mut address, mut bodies) = (None, None);
    add(call, place, graph, (before, count), || {
        let is_early = |data: &CUgraphEdgeData| *data != CUgraphEdgeData::default();
        let is_kernel = given.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;
        if !is_kernel && data.iter().any(is_early) {
            return Err(INVALID);
        }
        let early = from.iter().zip(&data);
        early
            .clone()
            .try_for_each(|(from, data)| lock(&target.dag).check_early(*from, *data))?;
        let made = node(call, Some(graph), &given)?;
        match &made {
            NodeKind::Alloc(seat) => address = Some(seat.address),
            NodeKind::Conditional(node) => bodies = Some(node.handles()),
            NodeKind::Free(address) => lock(&target.dag).check_free(call, *address)?,
            _ => {}
        }
        Ok(made)
    })?;
    let added = place.get()?.addr() as u64;
    for (from, data) in from.iter().zip(data) {
        lock(&target.dag).set_data((*from, added), data);
    }
    if let Some(address) = address {
        given.__bindgen_anon_1.alloc.dptr = address;
        params.set(given)?;
    }
    if let Some(bodies) = bodies {
        // A handle is a pointer that names nothing.
        given.__bindgen_anon_1.conditional.phGraph_out = bodies.cast_mut().cast();
        params.set(given)?;
    }
    Ok(())
}

fn add_any(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: Out<CUgraphNodeParams>,
) -> Reply {
    let data = In::of(std::ptr::null());
    add_any_v2(call, place, graph, before, data, count, params)
}

/// The node keeps its kind, a kernel its attributes. A child graph is changed by itself.
fn set(call: &Call<'_>, handle: CUgraphNode, params: In<CUgraphNodeParams>) -> Reply {
    let params = params.get()?;
    if params.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH {
        return Err(INVALID);
    }
    let wanted = node(call, None, &params)?;
    with_kind(call, handle, |kind| match wanted {
        NodeKind::Kernel(_) => kernel::replace(kind, wanted),
        wanted if wanted.type_of() == kind.type_of() && !wanted.is_memory() => {
            *kind = wanted;
            Ok(())
        }
        _ => Err(INVALID),
    })
}

fn set_in_exec(
    call: &Call<'_>,
    exec: CUgraphExec,
    handle: CUgraphNode,
    params: In<CUgraphNodeParams>,
) -> Reply {
    let params = params.get()?;
    if params.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH {
        // SAFETY: the type says that this member of the union is set.
        let child = unsafe { params.__bindgen_anon_1.graph }.graph;
        return update::set_child(call, exec, handle, child);
    }
    params::set(call, exec, handle, node(call, None, &params)?)
}

functions! {
    Initialized {
        cuGraphAddNode: (place: *mut CUgraphNode, graph: CUgraph, before: *const CUgraphNode,
            count: usize, params: *mut CUgraphNodeParams) = add_any;
        cuGraphAddNode_v2: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, edges: *const CUgraphEdgeData, count: usize,
            params: *mut CUgraphNodeParams) = add_any_v2;
        cuGraphNodeSetParams: (handle: CUgraphNode, params: *mut CUgraphNodeParams) = set;
        cuGraphExecNodeSetParams: (exec: CUgraphExec, handle: CUgraphNode,
            params: *mut CUgraphNodeParams) = set_in_exec;
    }
}
