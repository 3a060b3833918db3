//! The order between nodes. Every edge is a full one: its end comes after all of its start.

use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::graph::tell;
use crate::device::api::graphs::{INVALID, get, handles, refuse_memory};
use crate::device::calls::args::{In, Out, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::sync::lock;

/// Refuses edges that would let a node begin before another has ended: there are none here.
pub(in crate::device::api) fn check_data(
    call: &Call<'_>,
    data: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    if data.is_null() {
        return Ok(());
    }
    for index in 0..count {
        let edge = data.at(index)?;
        let programmatic = CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        if u32::from(edge.type_) > programmatic.0 || edge.reserved != [0; 5] {
            return Err(INVALID);
        }
        if (edge.type_, edge.from_port, edge.to_port) != (0, 0, 0) {
            let text = "an edge from within a kernel is asked for: not supported";
            call.machine.messages.add(text.into());
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
    }
    Ok(())
}

fn pairs(from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize) -> Reply<Vec<(u64, u64)>> {
    let (from, to) = (handles(from, count)?, handles(to, count)?);
    Ok(from.into_iter().zip(to).collect())
}

fn connect(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Reply {
    let (graph, edges) = (get(call, graph)?, pairs(from, to, count)?);
    lock(&graph.dag).connect(&edges)
}

fn connect_v2(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    check_data(call, data, count)?;
    connect(call, graph, from, to, count)
}

fn disconnect(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Reply {
    let (graph, edges) = (get(call, graph)?, pairs(from, to, count)?);
    if graph.captured.load(Ordering::Acquire) {
        return Err(INVALID);
    }
    refuse_memory(call, &graph)?;
    lock(&graph.dag).disconnect(&edges)
}

fn disconnect_v2(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    check_data(call, data, count)?;
    disconnect(call, graph, from, to, count)
}

/// Writes what full edges have for data.
fn tell_data(data: Slots<CUgraphEdgeData>, count: usize) -> Reply {
    if data.is_null() {
        return Ok(());
    }
    (0..count).try_for_each(|index| data.put(index, CUgraphEdgeData::default()))
}

fn edges_v2(
    call: &Call<'_>,
    graph: CUgraph,
    from: Slots<CUgraphNode>,
    to: Slots<CUgraphNode>,
    data: Slots<CUgraphEdgeData>,
    count: Out<usize>,
) -> Reply {
    let graph = get(call, graph)?;
    let edges: Vec<_> = lock(&graph.dag).edges().collect();
    let room = count.get()?;
    match (from.is_null(), to.is_null()) {
        (true, true) => return count.set(edges.len()),
        (false, false) => {}
        _ => return Err(INVALID),
    }
    for index in 0..room {
        let (start, end) = edges.get(index).copied().unwrap_or((0, 0));
        from.put(index, pointer(start))?;
        to.put(index, pointer(end))?;
    }
    tell_data(data, room.min(edges.len()))?;
    count.set(room.min(edges.len()))
}

fn edges(
    call: &Call<'_>,
    graph: CUgraph,
    from: Slots<CUgraphNode>,
    to: Slots<CUgraphNode>,
    count: Out<usize>,
) -> Reply {
    edges_v2(call, graph, from, to, Slots::none(), count)
}

/// Which neighbours of a node.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

fn neighbours(
    call: &Call<'_>,
    node: CUgraphNode,
    side: Side,
    (places, data, count): (Slots<CUgraphNode>, Slots<CUgraphEdgeData>, Out<usize>),
) -> Reply {
    let handle = node.addr() as u64;
    let graph = call.machine.graphs.owner(handle)?;
    let handles = {
        let dag = lock(&graph.dag);
        let node = dag.node(handle)?;
        match side {
            Side::Before => node.before.clone(),
            Side::After => node.after.clone(),
        }
    };
    let room = count.get()?.min(handles.len());
    tell(places, count, &handles)?;
    match places.is_null() {
        true => Ok(()),
        false => tell_data(data, room),
    }
}

fn before(
    call: &Call<'_>,
    node: CUgraphNode,
    places: Slots<CUgraphNode>,
    count: Out<usize>,
) -> Reply {
    neighbours(call, node, Side::Before, (places, Slots::none(), count))
}

fn before_v2(
    call: &Call<'_>,
    node: CUgraphNode,
    places: Slots<CUgraphNode>,
    data: Slots<CUgraphEdgeData>,
    count: Out<usize>,
) -> Reply {
    neighbours(call, node, Side::Before, (places, data, count))
}

fn after(
    call: &Call<'_>,
    node: CUgraphNode,
    places: Slots<CUgraphNode>,
    count: Out<usize>,
) -> Reply {
    neighbours(call, node, Side::After, (places, Slots::none(), count))
}

fn after_v2(
    call: &Call<'_>,
    node: CUgraphNode,
    places: Slots<CUgraphNode>,
    data: Slots<CUgraphEdgeData>,
    count: Out<usize>,
) -> Reply {
    neighbours(call, node, Side::After, (places, data, count))
}

functions! {
    Initialized {
        cuGraphAddDependencies: (graph: CUgraph, from: *const CUgraphNode,
            to: *const CUgraphNode, count: usize) = connect;
        cuGraphAddDependencies_v2: (graph: CUgraph, from: *const CUgraphNode,
            to: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize) = connect_v2;
        cuGraphRemoveDependencies: (graph: CUgraph, from: *const CUgraphNode,
            to: *const CUgraphNode, count: usize) = disconnect;
        cuGraphRemoveDependencies_v2: (graph: CUgraph, from: *const CUgraphNode,
            to: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize) = disconnect_v2;
        cuGraphGetEdges: (graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode,
            count: *mut usize) = edges;
        cuGraphGetEdges_v2: (graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode,
            data: *mut CUgraphEdgeData, count: *mut usize) = edges_v2;
        cuGraphNodeGetDependencies: (node: CUgraphNode, places: *mut CUgraphNode,
            count: *mut usize) = before;
        cuGraphNodeGetDependencies_v2: (node: CUgraphNode, places: *mut CUgraphNode,
            data: *mut CUgraphEdgeData, count: *mut usize) = before_v2;
        cuGraphNodeGetDependentNodes: (node: CUgraphNode, places: *mut CUgraphNode,
            count: *mut usize) = after;
        cuGraphNodeGetDependentNodes_v2: (node: CUgraphNode, places: *mut CUgraphNode,
            data: *mut CUgraphEdgeData, count: *mut usize) = after_v2;
    }
}
