//! Access to the memory of other devices, and copies between contexts.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::{Endpoint, Plan};
use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::machine::OwnedStream;

fn can_access(call: &Call<'_>, answer: Out<c_int>, device: CUdevice, peer: CUdevice) -> Reply {
    let machine = call.machine;
    let (device, peer) = (machine.device(device)?, machine.device(peer)?);
    answer.set(c_int::from(machine.can_access(device, peer)))
}

/// The links differ in nothing but whether they are there. Atomic operations work over all
/// of them; there are no arrays.
fn link(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUdevice_P2PAttribute,
    from: CUdevice,
    to: CUdevice,
) -> Reply {
    use CUdevice_P2PAttribute as A;
    value.check()?;
    let machine = call.machine;
    let (from, to) = (machine.device(from)?, machine.device(to)?);
    if from.ordinal == to.ordinal {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    value.set(match attribute {
        A::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
        | A::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED => {
            c_int::from(machine.can_access(from, to))
        }
        A::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK
        | A::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED
        | A::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    })
}

/// A context that a call names; null is none.
pub(super) fn context(call: &Call<'_>, context: CUcontext) -> Reply<Arc<Context>> {
    match context.addr() as u64 {
        0 => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        handle => call.context_or_current(handle),
    }
}

fn enable(call: &Call<'_>, peer: CUcontext, flags: c_uint) -> Reply {
    let own = call.context()?;
    let peer = context(call, peer)?;
    if flags != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if !call.machine.can_access(&own.device, &peer.device) {
        return Err(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    }
    if !own.health.peers.add(peer.handle) {
        return Err(CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
    // A context that is destroyed now takes its handle out of the registry first and then
    // out of all peers, perhaps before it was added.
    if call.machine.context(peer.handle).is_none() {
        own.health.peers.remove(peer.handle);
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    Ok(())
}

/// Waits for the work of the current context, which was queued when it had the access.
fn disable(call: &Call<'_>, peer: CUcontext) -> Reply {
    let own = call.context()?;
    let peer = context(call, peer)?;
    own.wait_idle();
    if own.health.peers.remove(peer.handle) {
        Ok(())
    } else {
        Err(CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    }
}

/// The contexts of a copy's ends, as far as they have one.
pub(super) type Contexts = [Option<Arc<Context>>; 2];

/// A copy between contexts comes after all that is pending in any of them.
pub(super) fn run(call: &Call<'_>, plan: Plan, ends: &Contexts, target: OwnedStream) -> Reply {
    for context in ends.iter().flatten() {
        context.wait_idle();
        context.health.check()?;
    }
    naming(plan, ends).run_and_wait(call, target)
}

/// In stream order and no other.
pub(super) fn run_async(
    call: &Call<'_>,
    plan: Plan,
    ends: &Contexts,
    target: OwnedStream,
) -> Reply {
    naming(plan, ends).run_async(call, target)
}

/// Each end is reached from the device of its context.
fn naming(plan: Plan, ends: &Contexts) -> Plan {
    let device = |context: &Arc<Context>| context.device.ordinal;
    Plan {
        named: Some(ends.each_ref().map(|end| end.as_ref().map(device))),
        ..plan
    }
}

fn copy(
    call: &Call<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    len: usize,
) -> Reply {
    let target = call.default_stream()?;
    let ends = [context(call, to_context)?, context(call, from_context)?].map(Some);
    let plan = Plan::flat(Endpoint::Device(to), Endpoint::Device(from), len);
    plan.map_or(Ok(()), |plan| run(call, plan, &ends, target))
}

fn copy_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    to_context: CUcontext,
    from: CUdeviceptr,
    from_context: CUcontext,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    let ends = [context(call, to_context)?, context(call, from_context)?].map(Some);
    let plan = Plan::flat(Endpoint::Device(to), Endpoint::Device(from), len);
    plan.map_or(Ok(()), |plan| run_async(call, plan, &ends, target))
}

functions! {
    Initialized {
        cuDeviceCanAccessPeer: (answer: *mut c_int, device: CUdevice, peer: CUdevice)
            = can_access;
        cuDeviceGetP2PAttribute: (value: *mut c_int, attribute: CUdevice_P2PAttribute,
            from: CUdevice, to: CUdevice) = link;
        cuCtxEnablePeerAccess: (peer: CUcontext, flags: c_uint) = enable;
        cuCtxDisablePeerAccess: (peer: CUcontext) = disable;
        cuMemcpyPeer, cuMemcpyPeer_ptds: (to: CUdeviceptr, to_context: CUcontext,
            from: CUdeviceptr, from_context: CUcontext, len: usize) = copy;
        cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz: (to: CUdeviceptr, to_context: CUcontext,
            from: CUdeviceptr, from_context: CUcontext, len: usize, stream: CUstream)
            = copy_async;
    }
}
