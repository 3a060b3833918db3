//! Graphs: what they are made of, and what is made of them.

pub(super) mod attributes;
pub(super) mod child;
pub(super) mod conditional;
pub(super) mod copy;
pub(super) mod edges;
pub(super) mod event;
pub(super) mod executables;
pub(super) mod generic;
pub(super) mod graph;
pub(super) mod host;
pub(super) mod kernel;
pub(super) mod memory;
pub(super) mod picture;
pub(super) mod user_object;
pub(super) mod values;

use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{Graph, NodeKind};
use crate::device::sync::lock;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn get(call: &Call<'_>, graph: CUgraph) -> Reply<Arc<Graph>> {
    call.machine.graphs.graph(graph.addr() as u64)
}

/// The handles of an array.
pub(in crate::device::api) fn handles(nodes: In<CUgraphNode>, count: usize) -> Reply<Vec<u64>> {
    let handle = |index| nodes.at(index).map(|node| node.addr() as u64);
    (0..count).map(handle).collect()
}

/// Adds a node after others.
fn add(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: (In<CUgraphNode>, usize),
    make: impl FnOnce() -> Reply<NodeKind>,
) -> Reply {
    place.check()?;
    let graph = get(call, graph)?;
    let before = handles(before.0, before.1)?;
    // Before what the node needs is made.
    lock(&graph.dag).check_set(&before)?;
    place.set(pointer(call.machine.graphs.add(&graph, make()?, before)?))
}

/// Reads or changes what a node does.
fn with_kind<T>(
    call: &Call<'_>,
    node: CUgraphNode,
    f: impl FnOnce(&mut NodeKind) -> Reply<T>,
) -> Reply<T> {
    let handle = node.addr() as u64;
    let graph = call.machine.graphs.owner(handle)?;
    let mut dag = lock(&graph.dag);
    f(&mut dag.node_mut(handle)?.kind)
}

/// Graphs with memory or conditional nodes are not copied.
fn refuse_copy(call: &Call<'_>, graph: &Graph) -> Reply {
    refuse_memory(call, graph)?;
    if graph.has_conditions() {
        let text = "a graph with conditional nodes is to be copied";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(())
}

/// Graphs that allocate or free memory are not copied, and nothing is taken out of them.
fn refuse_memory(call: &Call<'_>, graph: &Graph) -> Reply {
    if graph.has_memory() {
        let text = "a graph with memory of its own is to be copied, or to lose a node or an edge";
        call.machine.messages.add(text.into());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(())
}
