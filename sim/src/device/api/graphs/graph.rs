//! Graphs and their nodes, whatever these do.

use std::ffi::c_uint;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, get, refuse_copy, refuse_memory, with_kind};
use crate::device::calls::args::{In, Out, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::graphs::{NodeKind, Owner};
use crate::device::sync::lock;

fn create(call: &Call<'_>, graph: Out<CUgraph>, flags: c_uint) -> Reply {
    graph.check()?;
    if flags != 0 {
        return Err(INVALID);
    }
    let made = call.machine.strict.origin();
    graph.set(pointer(
        call.machine.graphs.create(Owner::Program, made).handle,
    ))
}

/// What was instantiated from it stays.
fn destroy(call: &Call<'_>, graph: CUgraph) -> Reply {
    let graph = get(call, graph)?;
    if graph.owner == Owner::Node || graph.captured.load(Ordering::Acquire) {
        return Err(INVALID);
    }
    call.machine.graphs.remove(&graph);
    Ok(())
}

fn clone(call: &Call<'_>, place: Out<CUgraph>, graph: CUgraph) -> Reply {
    place.check()?;
    let graph = get(call, graph)?;
    refuse_copy(call, &graph)?;
    let made = call.machine.strict.origin();
    let copy = call.machine.graphs.copy(&graph, Owner::Program, &made);
    place.set(pointer(copy.handle))
}

fn find_in_clone(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    original: CUgraphNode,
    graph: CUgraph,
) -> Reply {
    place.check()?;
    let found = lock(&get(call, graph)?.dag).clone_of(original.addr() as u64);
    place.set(pointer(found.ok_or(INVALID)?))
}

fn type_of(call: &Call<'_>, node: CUgraphNode, place: Out<CUgraphNodeType>) -> Reply {
    place.set(with_kind(call, node, |kind| Ok(kind.type_of()))?)
}

/// Takes the node's edges along.
fn destroy_node(call: &Call<'_>, node: CUgraphNode) -> Reply {
    let handle = node.addr() as u64;
    let graph = call.machine.graphs.owner(handle)?;
    if graph.captured.load(Ordering::Acquire) {
        return Err(INVALID);
    }
    refuse_memory(call, &graph)?;
    call.machine.graphs.remove_node(&graph, handle)
}

/// Fills an array of the program's, or says how long it has to be. Places that are left over are
/// set to null.
pub(super) fn tell(places: Slots<CUgraphNode>, count: Out<usize>, handles: &[u64]) -> Reply {
    let room = count.get()?;
    if places.is_null() {
        return count.set(handles.len());
    }
    for index in 0..room {
        let handle = handles.get(index).copied().unwrap_or(0);
        places.put(index, pointer(handle))?;
    }
    count.set(room.min(handles.len()))
}

fn nodes(call: &Call<'_>, graph: CUgraph, places: Slots<CUgraphNode>, count: Out<usize>) -> Reply {
    let handles = lock(&get(call, graph)?.dag).handles();
    tell(places, count, &handles)
}

fn roots(call: &Call<'_>, graph: CUgraph, places: Slots<CUgraphNode>, count: Out<usize>) -> Reply {
    let graph = get(call, graph)?;
    let handles: Vec<_> = {
        let dag = lock(&graph.dag);
        let roots = dag.nodes().filter(|(_, node)| node.before.is_empty());
        roots.map(|(handle, _)| handle).collect()
    };
    tell(places, count, &handles)
}

fn add_empty(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
) -> Reply {
    add(call, place, graph, (before, count), || Ok(NodeKind::Empty))
}

functions! {
    Initialized {
        cuGraphCreate: (graph: *mut CUgraph, flags: c_uint) = create;
        cuGraphDestroy: (graph: CUgraph) = destroy;
        cuGraphClone: (place: *mut CUgraph, graph: CUgraph) = clone;
        cuGraphNodeFindInClone: (place: *mut CUgraphNode, original: CUgraphNode,
            graph: CUgraph) = find_in_clone;
        cuGraphNodeGetType: (node: CUgraphNode, place: *mut CUgraphNodeType) = type_of;
        cuGraphDestroyNode: (node: CUgraphNode) = destroy_node;
        cuGraphGetNodes: (graph: CUgraph, places: *mut CUgraphNode, count: *mut usize) = nodes;
        cuGraphGetRootNodes: (graph: CUgraph, places: *mut CUgraphNode, count: *mut usize)
            = roots;
        cuGraphAddEmptyNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize) = add_empty;
    }
}
