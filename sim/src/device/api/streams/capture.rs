//! Stream capture, which there is none of: no stream is ever captured. To begin a capture is
//! not supported, as all functions of graphs are.
//!
//! Codes of functions that want a captured stream are those of an H200.

use std::ffi::c_uint;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::streams::stream::Kind;
use crate::device::sync::lock;

const MODES: u32 = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0;

fn is_capturing(call: &Call<'_>, stream: CUstream, status: Out<CUstreamCaptureStatus>) -> Reply {
    call.stream(stream)?;
    status.set(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

fn begin_in_global_mode(call: &Call<'_>, stream: CUstream) -> Reply {
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    begin(call, stream, mode)
}

fn begin(call: &Call<'_>, stream: CUstream, mode: CUstreamCaptureMode) -> Reply {
    let (_, stream) = call.stream(stream)?;
    if mode.0 > MODES {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // The legacy stream cannot be captured anywhere.
    if stream.kind == Kind::Legacy {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    let text = "a stream is to be captured: not supported";
    call.machine.messages.add(text.into());
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

fn begin_to_graph(
    call: &Call<'_>,
    stream: CUstream,
    _: CUgraph,
    _: In<CUgraphNode>,
    _: In<CUgraphEdgeData>,
    _: usize,
    mode: CUstreamCaptureMode,
) -> Reply {
    begin(call, stream, mode)
}

fn end(call: &Call<'_>, stream: CUstream, graph: Out<CUgraph>) -> Reply {
    call.stream(stream)?;
    graph.set(std::ptr::null_mut())?;
    Err(CUresult::CUDA_ERROR_ILLEGAL_STATE)
}

/// Only the status is told of a stream that is not captured.
fn info(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    _: Out<cuuint64_t>,
) -> Reply {
    is_capturing(call, stream, status)
}

fn info_v2(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    _: Out<cuuint64_t>,
    _: Out<CUgraph>,
    _: Out<*const CUgraphNode>,
    _: Out<usize>,
) -> Reply {
    is_capturing(call, stream, status)
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn info_v3(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    _: Out<cuuint64_t>,
    _: Out<CUgraph>,
    _: Out<*const CUgraphNode>,
    _: Out<*const CUgraphEdgeData>,
    _: Out<usize>,
) -> Reply {
    is_capturing(call, stream, status)
}

fn update(call: &Call<'_>, stream: CUstream, _: In<CUgraphNode>, _: usize, _: c_uint) -> Reply {
    call.stream(stream)?;
    Err(CUresult::CUDA_ERROR_ILLEGAL_STATE)
}

fn update_v2(
    call: &Call<'_>,
    stream: CUstream,
    nodes: In<CUgraphNode>,
    _: In<CUgraphEdgeData>,
    count: usize,
    flags: c_uint,
) -> Reply {
    update(call, stream, nodes, count, flags)
}

/// The calling thread's mode, which the program may keep although it means nothing here.
fn exchange_mode(call: &Call<'_>, place: Out<CUstreamCaptureMode>) -> Reply {
    let wanted = place.get()?;
    if wanted.0 > MODES {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let thread = std::thread::current().id();
    let mut modes = lock(&call.machine.capture_modes);
    let global = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    // A thread that is not listed has the mode that it started with.
    let before = if wanted == global {
        modes.remove(&thread)
    } else {
        modes.insert(thread, wanted)
    };
    place.set(before.unwrap_or(global))
}

functions! {
    Initialized {
        cuStreamIsCapturing, cuStreamIsCapturing_ptsz: (stream: CUstream,
            status: *mut CUstreamCaptureStatus) = is_capturing;
        cuStreamBeginCapture, cuStreamBeginCapture_ptsz: (stream: CUstream)
            = begin_in_global_mode;
        cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz: (stream: CUstream,
            mode: CUstreamCaptureMode) = begin;
        cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz: (stream: CUstream,
            graph: CUgraph, nodes: *const CUgraphNode, edges: *const CUgraphEdgeData,
            count: usize, mode: CUstreamCaptureMode) = begin_to_graph;
        cuStreamEndCapture, cuStreamEndCapture_ptsz: (stream: CUstream, graph: *mut CUgraph)
            = end;
        cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz: (stream: CUstream,
            status: *mut CUstreamCaptureStatus, id: *mut cuuint64_t) = info;
        cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz: (stream: CUstream,
            status: *mut CUstreamCaptureStatus, id: *mut cuuint64_t, graph: *mut CUgraph,
            nodes: *mut *const CUgraphNode, count: *mut usize) = info_v2;
        cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz: (stream: CUstream,
            status: *mut CUstreamCaptureStatus, id: *mut cuuint64_t, graph: *mut CUgraph,
            nodes: *mut *const CUgraphNode, edges: *mut *const CUgraphEdgeData,
            count: *mut usize) = info_v3;
        cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz: (
            stream: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) = update;
        cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz: (
            stream: CUstream, nodes: *mut CUgraphNode, edges: *const CUgraphEdgeData,
            count: usize, flags: c_uint) = update_v2;
        cuThreadExchangeStreamCaptureMode: (mode: *mut CUstreamCaptureMode) = exchange_mode;
    }
}
