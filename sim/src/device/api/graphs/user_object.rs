//! Objects that graphs keep alive.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, get};
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::UserObject;
use crate::device::operations::op::UserData;
use crate::device::sync::lock;

/// No destructor is waited for by a call, and the flag that says so must be there.
fn create(
    call: &Call<'_>,
    place: Out<CUuserObject>,
    data: *mut c_void,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Reply {
    place.check()?;
    let no_wait = CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC.0;
    if destroy.is_none() || count == 0 || count > i32::MAX as u32 || flags != no_wait {
        return Err(INVALID);
    }
    let object = UserObject::new(destroy, UserData(data), call.machine.id);
    let graphs = &call.machine.graphs;
    let handle = graphs.new_handle();
    lock(&graphs.objects).add(handle, &Arc::new(object), count.into());
    place.set(pointer(handle))
}

fn retain(call: &Call<'_>, object: CUuserObject, count: c_uint) -> Reply {
    let handle = object.addr() as u64;
    let mut held = lock(&call.machine.graphs.objects);
    let object = held.get(handle)?;
    held.add(handle, &object, count.into());
    Ok(())
}

fn release(call: &Call<'_>, object: CUuserObject, count: c_uint) -> Reply {
    let held = &call.machine.graphs.objects;
    let released = lock(held).give_up(object.addr() as u64, count.into());
    released.map(drop)
}

/// The program's own references become the graph's, or the graph gets others.
fn keep(
    call: &Call<'_>,
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> Reply {
    let moves = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
    if count == 0 || flags & !moves != 0 {
        return Err(INVALID);
    }
    let (graph, handle) = (get(call, graph)?, object.addr() as u64);
    let held = &call.machine.graphs.objects;
    let object = match flags == moves {
        true => lock(held).give_up(handle, count.into())?,
        false => lock(held).get(handle)?,
    };
    lock(&graph.objects).add(handle, &object, count.into());
    Ok(())
}

fn give_up(call: &Call<'_>, graph: CUgraph, object: CUuserObject, count: c_uint) -> Reply {
    let graph = get(call, graph)?;
    let released = lock(&graph.objects).give_up(object.addr() as u64, count.into());
    released.map(drop)
}

functions! {
    Initialized {
        cuUserObjectCreate: (place: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn,
            count: c_uint, flags: c_uint) = create;
        cuUserObjectRetain: (object: CUuserObject, count: c_uint) = retain;
        cuUserObjectRelease: (object: CUuserObject, count: c_uint) = release;
        cuGraphRetainUserObject: (graph: CUgraph, object: CUuserObject, count: c_uint,
            flags: c_uint) = keep;
        cuGraphReleaseUserObject: (graph: CUgraph, object: CUuserObject, count: c_uint)
            = give_up;
    }
}
