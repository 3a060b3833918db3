//! Nodes that record an event, or wait for what it is the latest record of when they are launched.

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::{INVALID, add, with_kind};
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::NodeKind;

/// The handle of an event that is one.
pub(super) fn handle(call: &Call<'_>, event: CUevent) -> Reply<u64> {
    let handle = event.addr() as u64;
    call.machine.event(handle).map(|_| handle)
}

fn add_record(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    event: CUevent,
) -> Reply {
    let make = || handle(call, event).map(NodeKind::Record);
    add(call, place, graph, (before, count), make)
}

fn add_wait(
    call: &Call<'_>,
    place: Out<CUgraphNode>,
    graph: CUgraph,
    before: In<CUgraphNode>,
    count: usize,
    event: CUevent,
) -> Reply {
    let make = || handle(call, event).map(NodeKind::Wait);
    add(call, place, graph, (before, count), make)
}

fn recorded(call: &Call<'_>, node: CUgraphNode, place: Out<CUevent>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Record(event) => Ok(pointer(*event)),
        _ => Err(INVALID),
    })?)
}

fn waited(call: &Call<'_>, node: CUgraphNode, place: Out<CUevent>) -> Reply {
    place.set(with_kind(call, node, |kind| match kind {
        NodeKind::Wait(event) => Ok(pointer(*event)),
        _ => Err(INVALID),
    })?)
}

fn set_recorded(call: &Call<'_>, node: CUgraphNode, event: CUevent) -> Reply {
    let wanted = handle(call, event)?;
    with_kind(call, node, |kind| match kind {
        NodeKind::Record(event) => {
            *event = wanted;
            Ok(())
        }
        _ => Err(INVALID),
    })
}

fn set_waited(call: &Call<'_>, node: CUgraphNode, event: CUevent) -> Reply {
    let wanted = handle(call, event)?;
    with_kind(call, node, |kind| match kind {
        NodeKind::Wait(event) => {
            *event = wanted;
            Ok(())
        }
        _ => Err(INVALID),
    })
}

functions! {
    Initialized {
        cuGraphAddEventRecordNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, event: CUevent) = add_record;
        cuGraphAddEventWaitNode: (place: *mut CUgraphNode, graph: CUgraph,
            before: *const CUgraphNode, count: usize, event: CUevent) = add_wait;
        cuGraphEventRecordNodeGetEvent: (node: CUgraphNode, place: *mut CUevent) = recorded;
        cuGraphEventWaitNodeGetEvent: (node: CUgraphNode, place: *mut CUevent) = waited;
        cuGraphEventRecordNodeSetEvent: (node: CUgraphNode, event: CUevent) = set_recorded;
        cuGraphEventWaitNodeSetEvent: (node: CUgraphNode, event: CUevent) = set_waited;
    }
}
