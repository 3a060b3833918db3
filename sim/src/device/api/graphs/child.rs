//! Nodes that are graphs.

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, get, refuse_copy, with_kind};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{NodeKind, Owner};

/// The node has a copy of the graph, which belongs to it.
pub(super) fn node(call: &Call<'_>, child: CUgraph) -> Reply<NodeKind> {
    let child = get(call, child)?;
    refuse_copy(call, &child)?;
    let made = call.machine.strict.origin();
    let copy = call.machine.graphs.copy(&child, Owner::Node, &made);
    Ok(NodeKind::Child(copy))
}

fn add_child(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    child: CUgraph,
) -> Reply {
    add(call, place, graph, (before, count), || node(call, child))
}

/// The program may change it, but not destroy it.
fn graph(call: &Call<'_>, node: CUgraphNode, place: Out<CUgraph>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Child(graph) => Ok(pointer(graph.handle)),
        _ => Err(INVALID),
    })?)
}

functions! {
    Initialized {
        cuGraphAddChildGraphNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, child: CUgraph) = add_child;
        cuGraphChildGraphNodeGetGraph: (node: CUgraphNode, place: *mut CUgraph) = graph;
    }
}
