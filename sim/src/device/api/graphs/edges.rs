//! The order between nodes. Edges between kernels may begin before the first has ended, and say
//! so when they are asked; a launch has them wait all the same.

use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::graph::tell;
use crate::device::api::graphs::{INVALID, get, handles, refuse_memory};
use crate::device::calls::args::{In, Out, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::sync::lock;

/// What the program says of edges; full ones if it says nothing.
///
/// # Errors
/// There are no such edges.
pub(super) fn data(data: In<CUgraphEdgeData>, count: usize) -> Reply<Vec<CUgraphEdgeData>> {
    if data.is_null() {
        return Ok(vec![CUgraphEdgeData::default(); count]);
    }
    let programmatic = CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    let [ended, triggered, begun] = [
        CU_GRAPH_KERNEL_NODE_PORT_DEFAULT,
        CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
        CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
    ];
    let check = |index| {
        let edge = data.at(index)?;
        let port = u32::from(edge.from_port);
        let is_known = match u32::from(edge.type_) {
            0 => port == ended || port == begun,
            kind => kind == programmatic.0 && (port == triggered || port == begun),
        };
        match is_known && edge.to_port == 0 && edge.reserved == [0; 5] {
            true => Ok(edge),
            false => Err(INVALID),
        }
    };
    (0..count).map(check).collect()
}

/// Refuses edges that would let captured work begin before a kernel has ended.
pub(in crate::device::api) fn check_full(
    call: &Call<'_>,
    given: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    let is_full = |edge: &CUgraphEdgeData| *edge == CUgraphEdgeData::default();
    if !data(given, count)?.iter().all(is_full) {
        let text = "an edge from within a kernel is asked for in a capture: not supported";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
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
    connect_v2(call, graph, from, to, In::of(std::ptr::null()), count)
}

fn connect_v2(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    given: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    let data = data(given, count)?;
    let (graph, edges) = (get(call, graph)?, pairs(from, to, count)?);
    lock(&graph.dag).connect(&edges, &data)
}

fn disconnect(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Reply {
    disconnect_v2(call, graph, from, to, In::of(std::ptr::null()), count)
}

fn disconnect_v2(
    call: &Call<'_>,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    given: In<CUgraphEdgeData>,
    count: usize,
) -> Reply {
    let data = data(given, count)?;
    let (graph, edges) = (get(call, graph)?, pairs(from, to, count)?);
    if graph.captured.load(Ordering::Acquire) {
        return Err(INVALID);
    }
    refuse_memory(call, &graph)?;
    lock(&graph.dag).disconnect(&edges, &data)
}

/// Whether a question without a place for what edges say has an answer.
///
/// # Errors
/// One of these begins early.
fn check_lossless(places: Slots<CUgraphEdgeData>, data: &[CUgraphEdgeData]) -> Reply {
    let is_full = |edge: &CUgraphEdgeData| *edge == CUgraphEdgeData::default();
    match places.is_null() && !data.iter().all(is_full) {
        true => Err(CUresult::CUDA_ERROR_LOSSY_QUERY),
        false => Ok(()),
    }
}

fn tell_data(places: Slots<CUgraphEdgeData>, data: &[CUgraphEdgeData], room: usize) -> Reply {
    if places.is_null() {
        return Ok(());
    }
    let mut told = data.iter().take(room).enumerate();
    told.try_for_each(|(index, data)| places.put(index, *data))
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
    let (edges, told): (Vec<_>, Vec<_>) = {
        let dag = lock(&graph.dag);
        dag.edges().map(|edge| (edge, dag.data(edge))).unzip()
    };
    let room = count.get()?;
    match (from.is_null(), to.is_null()) {
        (true, true) => return count.set(edges.len()),
        (false, false) => {}
        _ => return Err(INVALID),
    }
    check_lossless(data, &told)?;
    for index in 0..room {
        let (start, end) = edges.get(index).copied().unwrap_or((0, 0));
        from.put(index, pointer(start))?;
        to.put(index, pointer(end))?;
    }
    tell_data(data, &told, room)?;
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
    let (handles, told): (Vec<_>, Vec<_>) = {
        let dag = lock(&graph.dag);
        let node = dag.node(handle)?;
        let with = |edge, other: &u64| (*other, dag.data(edge));
        match side {
            Side::Before => node
                .before
                .iter()
                .map(|from| with((*from, handle), from))
                .unzip(),
            Side::After => node.after.iter().map(|to| with((handle, *to), to)).unzip(),
        }
    };
    let room = count.get()?;
    if places.is_null() {
        return tell(places, count, &handles);
    }
    check_lossless(data, &told)?;
    tell(places, count, &handles)?;
    tell_data(data, &told, room)
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
