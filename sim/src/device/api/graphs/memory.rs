//! Nodes that allocate and free memory, and what a device keeps of it.

use std::ffi::c_void;
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, get, with_kind};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::NodeKind;
use crate::device::memory::{Access, PoolAccess, Seat};
use crate::device::sync::lock;

/// The addresses of a node's memory, which other devices may access as the descriptions say.
fn seat(call: &Call<'_>, params: &CUDA_MEM_ALLOC_NODE_PARAMS) -> Reply<Arc<Seat>> {
    use CUmemAllocationType as T;
    let props = &params.poolProps;
    let on_device = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    if props.allocType != T::CU_MEM_ALLOCATION_TYPE_PINNED || props.location.type_ != on_device {
        return Err(INVALID);
    }
    if props.handleTypes != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE {
        let text = "a graph asks for memory for other processes: not supported";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    // SAFETY: every bit pattern of the union is an `id`, and the location is a device.
    let id = |location: CUmemLocation| unsafe { location.__bindgen_anon_1.id };
    let device = call.machine.device(id(props.location))?;
    let access = PoolAccess::default();
    for index in 0..params.accessDescCount {
        let wanted = In::of(params.accessDescs).at(index)?;
        let peer = call.machine.device(id(wanted.location))?;
        let may = match wanted.flags {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Access::Write,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Access::Read,
            _ => return Err(INVALID),
        };
        if wanted.location.type_ != on_device {
            return Err(INVALID);
        }
        if peer.ordinal != device.ordinal {
            if !call.machine.can_access(peer, device) {
                return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
            }
            access.set(peer.ordinal, may);
        }
    }
    let owner = (device.ordinal, call.context()?.handle);
    call.machine
        .space
        .take_seat(params.bytesize, owner, Arc::new(access))
}

/// The address is good from now on, for the parameters of other nodes; memory is there when a
/// launch gets to the node.
fn add_alloc(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    params: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
) -> Reply {
    let mut given = params.get()?;
    let mut address = 0;
    add(call, place, graph, (before, count), || {
        let seat = seat(call, &given)?;
        address = seat.address;
        Ok(NodeKind::Alloc(seat))
    })?;
    given.dptr = address;
    params.set(given)
}

fn add_free(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    address: CUdeviceptr,
) -> Reply {
    let target = get(call, graph)?;
    add(call, place, graph, (before, count), || {
        lock(&target.dag).check_free(call, address)?;
        Ok(NodeKind::Free(address))
    })
}

/// Which other devices may access it is not told.
fn alloc_params(
    call: &Call<'_>,
    node: CUgraphNode,
    place: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Alloc(seat) => {
            let mut told = CUDA_MEM_ALLOC_NODE_PARAMS::default();
            told.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
            told.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            told.poolProps.location.__bindgen_anon_1.id = seat.device as i32;
            told.bytesize = usize::try_from(seat.len).unwrap_or(usize::MAX);
            told.dptr = seat.address;
            Ok(told)
        }
        _ => Err(INVALID),
    })?)
}

fn free_params(call: &Call<'_>, node: CUgraphNode, place: Out<CUdeviceptr>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Free(address) => Ok(*address),
        _ => Err(INVALID),
    })?)
}

fn attribute(
    call: &Call<'_>,
    device: CUdevice,
    attribute: CUgraphMem_attribute,
    value: Out<c_void>,
) -> Reply {
    use CUgraphMem_attribute as A;
    let told = call.machine.device(device)?.account.graph();
    value.set_as::<cuuint64_t>(match attribute {
        A::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT => told.used,
        A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => told.used_high,
        A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => told.reserved,
        A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => told.reserved_high,
        _ => return Err(INVALID),
    })
}

/// The peaks can only be set back.
fn set_attribute(
    call: &Call<'_>,
    device: CUdevice,
    attribute: CUgraphMem_attribute,
    value: Out<c_void>,
) -> Reply {
    use CUgraphMem_attribute as A;
    let account = &call.machine.device(device)?.account;
    match (attribute, value.get_as::<cuuint64_t>()?) {
        (A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0) => {
            account.change_graph(|graph| graph.used_high = graph.used);
        }
        (A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, 0) => {
            account.change_graph(|graph| graph.reserved_high = graph.reserved);
        }
        _ => return Err(INVALID),
    }
    Ok(())
}

fn trim(call: &Call<'_>, device: CUdevice) -> Reply {
    let account = &call.machine.device(device)?.account;
    account.change_graph(|graph| graph.reserved = graph.used);
    Ok(())
}

/// The node of a function that takes any, and its address.
pub(super) fn any(call: &Call<'_>, given: &CUDA_MEM_ALLOC_NODE_PARAMS_v2) -> Reply<NodeKind> {
    let params = CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: given.poolProps,
        accessDescs: given.accessDescs,
        accessDescCount: given.accessDescCount,
        bytesize: given.bytesize,
        dptr: 0,
    };
    seat(call, &params).map(NodeKind::Alloc)
}

functions! {
    Initialized {
        cuGraphAddMemAllocNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize,
            params: *mut CUDA_MEM_ALLOC_NODE_PARAMS) = add_alloc;
        cuGraphAddMemFreeNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, address: CUdeviceptr) = add_free;
        cuGraphMemAllocNodeGetParams: (node: CUgraphNode,
            place: *mut CUDA_MEM_ALLOC_NODE_PARAMS) = alloc_params;
        cuGraphMemFreeNodeGetParams: (node: CUgraphNode, place: *mut CUdeviceptr) = free_params;
        cuDeviceGetGraphMemAttribute: (device: CUdevice, attribute: CUgraphMem_attribute,
            value: *mut c_void) = attribute;
        cuDeviceSetGraphMemAttribute: (device: CUdevice, attribute: CUgraphMem_attribute,
            value: *mut c_void) = set_attribute;
        cuDeviceGraphMemTrim: (device: CUdevice) = trim;
    }
}
