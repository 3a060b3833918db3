//! Nodes of an executable graph that are left out for a while.

use std::ffi::c_uint;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::INVALID;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::NodeKind;
use crate::device::sync::lock;

/// Whether a node can be left out: its order stays.
fn can_rest(kind: &NodeKind) -> Reply {
    match kind {
        NodeKind::Kernel(_) | NodeKind::Copy(_) | NodeKind::Fill(_) => Ok(()),
        _ => Err(INVALID),
    }
}

fn set(call: &Call<'_>, exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Reply {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    let mut state = lock(&exec.state);
    let step = state.step(node.addr() as u64)?;
    can_rest(&step.kind)?;
    step.enabled = enabled != 0;
    Ok(())
}

fn get(call: &Call<'_>, exec: CUgraphExec, node: CUgraphNode, place: Out<c_uint>) -> Reply {
    let exec = call.machine.graphs.exec(exec.addr() as u64)?;
    let mut state = lock(&exec.state);
    let step = state.step(node.addr() as u64)?;
    can_rest(&step.kind)?;
    place.set(step.enabled.into())
}

functions! {
    Initialized {
        cuGraphNodeSetEnabled: (exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) = set;
        cuGraphNodeGetEnabled: (exec: CUgraphExec, node: CUgraphNode, place: *mut c_uint) = get;
    }
}
