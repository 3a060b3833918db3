//! Streams and the functions that they call on the host.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::{LEAST_PRIORITY, pointer};
use crate::device::api::functions;
use crate::device::api::streams::attributes::clamp;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::contexts::green::Green;
use crate::device::graphs::NodeKind;
use crate::device::operations::op::{Op, UserData};
use crate::device::sync::{read, write};

fn create(call: &Call<'_>, stream: Out<CUstream>, flags: c_uint) -> Reply {
    create_with_priority(call, stream, flags, LEAST_PRIORITY)
}

fn create_with_priority(
    call: &Call<'_>,
    stream: Out<CUstream>,
    flags: c_uint,
    priority: c_int,
) -> Reply {
    stream.check()?;
    if flags & !CUstream_flags::CU_STREAM_NON_BLOCKING.0 != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = call.context()?;
    let green = call.green()?;
    let created = add(call, (&context, green.as_deref()), flags, priority)?;
    stream.set(created)
}

/// A new stream of a context, or of a green context in it.
pub(in crate::device::api) fn add(
    call: &Call<'_>,
    (context, green): (&Arc<Context>, Option<&Green>),
    flags: c_uint,
    priority: c_int,
) -> Reply<CUstream> {
    let part = green.map(|green| Arc::clone(&green.part));
    let closed = || part.as_ref().is_some_and(|part| part.is_closed());
    let shape = (flags, clamp(priority));
    let created = context.create_stream(call.machine.new_ids(), part.clone(), shape)?;
    let handle = created.handle;
    write(&call.machine.streams).insert(handle, (Arc::clone(context), created));
    // The context took along only the streams that were there when it was destroyed.
    if context.is_closed() || closed() {
        write(&call.machine.streams).remove(&handle);
        // A green context's stream is the primary context's too, which goes on.
        let _ = context.destroy_stream(handle);
        return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    Ok(pointer(handle))
}

fn destroy(call: &Call<'_>, stream: CUstream) -> Reply {
    if stream.addr() <= 2 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let handle = stream.addr() as u64;
    let found = read(&call.machine.streams).get(&handle).cloned();
    if let Some((context, detached)) = found
        && detached.part.as_ref().is_some_and(|part| part.is_closed())
    {
        write(&call.machine.streams).remove(&handle);
        context.destroy_stream(handle)?;
        // Documented to succeed; up to 13.0 it does not (seen on an H200).
        return match call.detached() {
            CUresult::CUDA_ERROR_STREAM_DETACHED => Ok(()),
            code => Err(code),
        };
    }
    let (context, stream) = call.stream(stream)?;
    call.machine.strict.destroys_stream(&stream);
    if let Some(capture) = stream.capture.capture() {
        // Without its first stream no call can end it.
        match capture.origin == stream.id {
            true => call.machine.graphs.discard(&capture),
            false => capture.invalidate(),
        }
    }
    write(&call.machine.streams).remove(&stream.handle);
    context.destroy_stream(stream.handle)
}

fn synchronize(call: &Call<'_>, stream: CUstream) -> Reply {
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)?;
    call.check_undisturbed()?;
    context.synchronize_stream(&stream)
}

fn query(call: &Call<'_>, stream: CUstream) -> Reply {
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)?;
    call.check_undisturbed()?;
    context.query_stream(&stream)
}

/// Waits for the latest record at this moment; an event that was never recorded is
/// nothing to wait for. The event may be of another context, which must not have faulted.
fn wait_event(call: &Call<'_>, stream: CUstream, event: CUevent, flags: c_uint) -> Reply {
    let external = super::event::is_external(call, stream, flags)?;
    let (context, stream) = call.stream(stream)?;
    let handle = event.addr() as u64;
    let event = super::event::get(call, event)?;
    if external {
        return context.capture(&stream, NodeKind::Wait(handle));
    }
    if let Some((capture, nodes)) = event.captured() {
        return capture.admit(&stream, nodes);
    }
    let Some(record) = event.latest() else {
        return Ok(());
    };
    match stream.capture.capture() {
        None => context.submit(&stream, Op::Wait(record)),
        Some(capture) => {
            capture.check()?;
            capture.invalidate();
            Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
        }
    }
}

fn priority(call: &Call<'_>, stream: CUstream, priority: Out<c_int>) -> Reply {
    priority.set(call.stream(stream)?.1.priority())
}

fn flags(call: &Call<'_>, stream: CUstream, flags: Out<c_uint>) -> Reply {
    flags.set(call.stream(stream)?.1.flags)
}

/// Refused of a captured stream, whose capture that ends, in every mode (seen on driver 580).
fn id(call: &Call<'_>, stream: CUstream, id: Out<c_ulonglong>) -> Reply {
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)?;
    id.set(stream.id)
}

/// The context that the stream was made in, which may be a green one.
fn context(call: &Call<'_>, stream: CUstream, context: Out<CUcontext>) -> Reply {
    let (owner, stream) = call.stream(stream)?;
    let green = stream.part.as_ref().map(|part| part.handle);
    context.set(pointer(green.unwrap_or(owner.handle)))
}

/// The context whose memory the stream works on, and the green context that it was made in.
fn context_v2(
    call: &Call<'_>,
    stream: CUstream,
    place: Out<CUcontext>,
    green: Out<CUgreenCtx>,
) -> Reply {
    let (owner, stream) = call.stream(stream)?;
    // As on an H200: either may be left out, both may not.
    if green.is_null() {
        place.check()?;
    }
    place.set_if(pointer(owner.handle));
    green.set_if(pointer(stream.group()));
    Ok(())
}

fn green_context(call: &Call<'_>, stream: CUstream, green: Out<CUgreenCtx>) -> Reply {
    green.set(pointer(call.stream(stream)?.1.group()))
}

fn device(call: &Call<'_>, stream: CUstream, device: Out<CUdevice>) -> Reply {
    device.set(call.stream(stream)?.0.device.ordinal as CUdevice)
}

fn host_function(
    call: &Call<'_>,
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> Reply {
    let (context, stream) = call.stream(stream)?;
    if function.is_none() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    context.submit(&stream, Op::Host(function, UserData(data)))
}

fn add_callback(
    call: &Call<'_>,
    handle: CUstream,
    function: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> Reply {
    let (context, stream) = call.stream(handle)?;
    if function.is_none() || flags != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    context.submit(
        &stream,
        Op::Callback(function, handle.addr() as u64, UserData(data)),
    )
}

functions! {
    Initialized {
        cuStreamCreate: (stream: *mut CUstream, flags: c_uint) = create;
        cuStreamCreateWithPriority: (stream: *mut CUstream, flags: c_uint, priority: c_int)
            = create_with_priority;
        cuStreamDestroy: (stream: CUstream) = destroy;
        cuStreamDestroy_v2: (stream: CUstream) = destroy;
        cuStreamSynchronize, cuStreamSynchronize_ptsz: (stream: CUstream) = synchronize;
        cuStreamQuery, cuStreamQuery_ptsz: (stream: CUstream) = query;
        cuStreamWaitEvent, cuStreamWaitEvent_ptsz: (stream: CUstream, event: CUevent,
            flags: c_uint) = wait_event;
        cuStreamGetPriority, cuStreamGetPriority_ptsz: (stream: CUstream, priority: *mut c_int)
            = priority;
        cuStreamGetFlags, cuStreamGetFlags_ptsz: (stream: CUstream, flags: *mut c_uint) = flags;
        cuStreamGetId, cuStreamGetId_ptsz: (stream: CUstream, id: *mut c_ulonglong) = id;
        cuStreamGetCtx, cuStreamGetCtx_ptsz: (stream: CUstream, context: *mut CUcontext) = context;
        cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz: (stream: CUstream, context: *mut CUcontext,
            green: *mut CUgreenCtx) = context_v2;
        cuStreamGetGreenCtx: (stream: CUstream, green: *mut CUgreenCtx) = green_context;
        cuStreamGetDevice, cuStreamGetDevice_ptsz: (stream: CUstream, device: *mut CUdevice)
            = device;
        cuLaunchHostFunc, cuLaunchHostFunc_ptsz: (stream: CUstream, function: CUhostFn,
            data: *mut c_void) = host_function;
        cuStreamAddCallback, cuStreamAddCallback_ptsz: (stream: CUstream,
            function: CUstreamCallback, data: *mut c_void, flags: c_uint) = add_callback;
    }
}
