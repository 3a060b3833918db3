//! Stream capture. Codes are those of an H200.

use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::graphs::edges::check_full;
use crate::device::api::graphs::handles;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{Capture, GLOBAL, Graph, Owner, RELAXED};
use crate::device::streams::stream::{Kind, Stream};
use crate::device::sync::lock;

const MODES: u32 = RELAXED.0;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const STATE: CUresult = CUresult::CUDA_ERROR_ILLEGAL_STATE;

/// A stream that may be asked whether it is captured: not the legacy one while it would have to
/// wait for a stream that is. Other than work there, the question disturbs no capture.
fn asked(call: &Call<'_>, stream: CUstream) -> Reply<Arc<Stream>> {
    let (_, stream) = call.stream(stream)?;
    let captures = &call.machine.graphs.captures;
    match stream.kind == Kind::Legacy && !captures.implied(&stream).is_empty() {
        true => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
        false => Ok(stream),
    }
}

fn status_of(capture: Option<&Arc<Capture>>) -> CUstreamCaptureStatus {
    use CUstreamCaptureStatus as S;
    match capture {
        None => S::CU_STREAM_CAPTURE_STATUS_NONE,
        Some(capture) if capture.is_invalid() => S::CU_STREAM_CAPTURE_STATUS_INVALIDATED,
        Some(_) => S::CU_STREAM_CAPTURE_STATUS_ACTIVE,
    }
}

fn is_capturing(call: &Call<'_>, stream: CUstream, status: Out<CUstreamCaptureStatus>) -> Reply {
    let stream = asked(call, stream)?;
    status.set(status_of(stream.capture.capture().as_ref()))
}

fn begin_in_global_mode(call: &Call<'_>, stream: CUstream) -> Reply {
    begin(call, stream, GLOBAL)
}

fn begin(call: &Call<'_>, stream: CUstream, mode: CUstreamCaptureMode) -> Reply {
    let stream = ready(call, stream, mode)?;
    let graphs = &call.machine.graphs;
    let graph = graphs.create(Owner::Program, call.machine.strict.origin());
    start(call, &stream, mode, graph, (false, Vec::new()));
    Ok(())
}

/// A stream whose capture can begin.
fn ready(call: &Call<'_>, stream: CUstream, mode: CUstreamCaptureMode) -> Reply<Arc<Stream>> {
    let (_, stream) = call.stream(stream)?;
    if mode.0 > MODES {
        return Err(INVALID);
    }
    // The legacy stream cannot be captured anywhere.
    if stream.kind == Kind::Legacy {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    match stream.capture.is_taken() {
        true => Err(STATE),
        false => Ok(stream),
    }
}

fn start(
    call: &Call<'_>,
    stream: &Arc<Stream>,
    mode: CUstreamCaptureMode,
    graph: Arc<Graph>,
    what: (bool, Vec<u64>),
) {
    let graphs = &call.machine.graphs;
    let id = graphs.new_handle();
    graphs.captures.begin((id, stream), mode, graph, what);
}

fn begin_to_graph(
    call: &Call<'_>,
    stream: CUstream,
    graph: CUgraph,
    nodes: In<CUgraphNode>,
    edges: In<CUgraphEdgeData>,
    count: usize,
    mode: CUstreamCaptureMode,
) -> Reply {
    let graph = call.machine.graphs.graph(graph.addr() as u64)?;
    if graph.captured.load(Ordering::Acquire) {
        return Err(INVALID);
    }
    let stream = ready(call, stream, mode)?;
    check_full(call, edges, count)?;
    let nodes = handles(nodes, count)?;
    lock(&graph.dag).check_set(&nodes)?;
    start(call, &stream, mode, graph, (true, nodes));
    Ok(())
}

/// Whatever is wrong, the capture is over, unless the stream is not the one where it began.
fn end(call: &Call<'_>, stream: CUstream, place: Out<CUgraph>) -> Reply {
    let (_, stream) = call.stream(stream)?;
    place.set(std::ptr::null_mut())?;
    let capture = stream.capture.capture().ok_or(STATE)?;
    if capture.origin != stream.id {
        capture.invalidate();
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    let graphs = &call.machine.graphs;
    let joined = graphs.captures.end(&capture);
    let elsewhere = capture.thread != std::thread::current().id();
    let result = if elsewhere && capture.mode != RELAXED {
        Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    } else if capture.is_invalid() {
        Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    } else if !joined {
        Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
    } else {
        Ok(())
    };
    match result {
        Ok(()) => place.set(pointer(capture.graph.handle)),
        Err(code) => {
            if !capture.adds {
                graphs.remove(&capture.graph);
            }
            Err(code)
        }
    }
}

/// Where the program wants to be told of a capture.
struct Told {
    graph: Out<CUgraph>,
    nodes: Out<*const CUgraphNode>,
    edges: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
}

/// Only the status is told of a stream that is not captured. The arrays stay until the next call
/// for the stream.
fn tell(
    call: &Call<'_>,
    stream: CUstream,
    (status, id): (Out<CUstreamCaptureStatus>, Out<cuuint64_t>),
    told: Option<Told>,
) -> Reply {
    let stream = asked(call, stream)?;
    let capture = stream.capture.capture();
    status.set(status_of(capture.as_ref()))?;
    let Some(capture) = capture.filter(|capture| !capture.is_invalid()) else {
        return Ok(());
    };
    id.set_if(capture.id);
    if let Some(told) = told {
        let (nodes, edges, count) = stream.capture.tell();
        told.graph.set_if(pointer(capture.graph.handle));
        // A handle is a pointer that names nothing.
        told.nodes.set_if(nodes.cast());
        told.edges.set_if(edges);
        told.count.set_if(count);
    }
    Ok(())
}

fn info(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<cuuint64_t>,
) -> Reply {
    tell(call, stream, (status, id), None)
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn info_v3(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<cuuint64_t>,
    graph: Out<CUgraph>,
    nodes: Out<*const CUgraphNode>,
    edges: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
) -> Reply {
    let told = Told {
        graph,
        nodes,
        edges,
        count,
    };
    tell(call, stream, (status, id), Some(told))
}

fn info_v2(
    call: &Call<'_>,
    stream: CUstream,
    status: Out<CUstreamCaptureStatus>,
    id: Out<cuuint64_t>,
    graph: Out<CUgraph>,
    nodes: Out<*const CUgraphNode>,
    count: Out<usize>,
) -> Reply {
    let none = Out::none();
    info_v3(call, stream, status, id, graph, nodes, none, count)
}

fn update(
    call: &Call<'_>,
    stream: CUstream,
    nodes: In<CUgraphNode>,
    count: usize,
    flags: c_uint,
) -> Reply {
    use CUstreamUpdateCaptureDependencies_flags as F;
    let (_, stream) = call.stream(stream)?;
    let capture = stream.capture.capture().ok_or(STATE)?;
    capture.check()?;
    let nodes = handles(nodes, count)?;
    lock(&capture.graph.dag).check_set(&nodes)?;
    match F(flags) {
        F::CU_STREAM_SET_CAPTURE_DEPENDENCIES => stream.capture.move_to(nodes),
        F::CU_STREAM_ADD_CAPTURE_DEPENDENCIES => stream.capture.follow(&nodes),
        _ => return Err(INVALID),
    }
    Ok(())
}

fn update_v2(
    call: &Call<'_>,
    stream: CUstream,
    nodes: In<CUgraphNode>,
    edges: In<CUgraphEdgeData>,
    count: usize,
    flags: c_uint,
) -> Reply {
    check_full(call, edges, count)?;
    update(call, stream, nodes, count, flags)
}

/// The calling thread's mode, which says how many captures its calls disturb.
fn exchange_mode(call: &Call<'_>, place: Out<CUstreamCaptureMode>) -> Reply {
    let wanted = place.get()?;
    if wanted.0 > MODES {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let thread = std::thread::current().id();
    let mut modes = lock(&call.machine.capture_modes);
    // A thread that is not listed has the mode that it started with.
    let before = if wanted == GLOBAL {
        modes.remove(&thread)
    } else {
        modes.insert(thread, wanted)
    };
    place.set(before.unwrap_or(GLOBAL))
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
