//! What a capture permits, which code says that it does not, and what becomes of it then: as seen
//! on an H200 with driver 13.0.

use cupola_sys::driver::*;

use crate::raw::{
    FOLD, INVALID, begin, destroy, destroy_exec, end, graph, instantiate, nodes, status,
};
use crate::support::{Code, TestBench, code};

const OK: Code = CUresult::CUDA_SUCCESS;
const STATE: Code = CUresult::CUDA_ERROR_ILLEGAL_STATE;
const UNSUPPORTED: Code = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const INVALIDATED: Code = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
const ISOLATION: Code = CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
const IMPLICIT: Code = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const LEGACY: CUstream = std::ptr::null_mut();

use CUstreamCaptureMode as Mode;
const GLOBAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const THREAD_LOCAL: Mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const RELAXED: Mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// A captured stream and one beside it, and what calls need.
struct Scene {
    bench: TestBench,
    stream: CUstream,
    other: CUstream,
    /// Recorded before the capture, in no capture.
    event: CUevent,
    memory: CUdeviceptr,
    exec: CUgraphExec,
    graph: CUgraph,
}

impl Scene {
    fn new() -> Self {
        let bench = TestBench::new();
        let (stream, other) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
        let (event, memory, graph) = (bench.event(), bench.alloc(64), graph(&bench));
        let exec = instantiate(&bench, graph);
        // SAFETY: live handles.
        unsafe { bench.driver.cuEventRecord(event, other) }.unwrap();
        bench.wait(other);
        Self {
            bench,
            stream,
            other,
            event,
            memory,
            exec,
            graph,
        }
    }

    /// One node.
    fn begin(&self, stream: CUstream, mode: Mode) {
        assert_eq!(begin(&self.bench, stream, mode), OK);
        assert_eq!(self.work(stream), OK);
    }

    fn work(&self, stream: CUstream) -> Code {
        // SAFETY: live memory; the handle is checked.
        code(unsafe {
            self.bench
                .driver
                .cuMemsetD32Async(self.memory, 1, 1, stream)
        })
    }

    fn record(&self, event: CUevent, stream: CUstream) -> Code {
        // SAFETY: handles, checked by the driver.
        code(unsafe { self.bench.driver.cuEventRecord(event, stream) })
    }

    fn wait(&self, stream: CUstream, event: CUevent) -> Code {
        // SAFETY: handles, checked by the driver.
        code(unsafe { self.bench.driver.cuStreamWaitEvent(stream, event, 0) })
    }

    fn query(&self, event: CUevent) -> Code {
        // SAFETY: a handle, checked by the driver.
        code(unsafe { self.bench.driver.cuEventQuery(event) })
    }

    /// How many nodes the graph has, or why there is none.
    fn end(&self, stream: CUstream) -> Result<usize, Code> {
        let graph = end(&self.bench, stream)?;
        let count = nodes(&self.bench, graph).len();
        destroy(&self.bench, graph);
        Ok(count)
    }

    fn finish(self) {
        let Self { bench, .. } = self;
        destroy_exec(&bench, self.exec);
        destroy(&bench, self.graph);
        // SAFETY: a live handle.
        unsafe { bench.driver.cuEventDestroy_v2(self.event) }.unwrap();
        bench.destroy(&[self.stream, self.other]);
        bench.free(self.memory);
        bench.finish();
    }
}

/// What a call answers, and what becomes of the capture.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    /// It succeeds, and the graph has so many nodes.
    Nodes(usize),
    /// It is refused with this code, and the capture goes on.
    Refused(Code),
    /// It is refused, and the capture is of no use any more.
    Ends(Code),
    /// That, unless the capture or the thread is relaxed: then there is one node.
    Disturbs,
}
use Then::{Disturbs, Ends, Nodes, Refused};

type Case = (&'static str, fn(&Scene) -> Code, Then);

/// Calls a function of the driver with a scene's handles.
macro_rules! case {
    ($then:expr, |$d:ident, $s:ident| $call:expr) => {
        (
            stringify!($call),
            |$s: &Scene| {
                let $d = &$s.bench.driver;
                // SAFETY: what the call takes is alive, and places outlive it.
                code(unsafe { $call })
            },
            $then,
        )
    };
}

const CASES: &[Case] = &[
    case!(Disturbs, |d, s| d.cuMemAlloc_v2(&mut 0, 8)),
    case!(Disturbs, |d, s| d.cuMemHostAlloc(
        &mut std::ptr::null_mut(),
        8,
        0
    )),
    case!(Nodes(1), |d, s| d.cuMemGetInfo_v2(&mut 0, &mut 0)),
    case!(Disturbs, |d, s| d.cuMemAllocAsync(&mut 0, 8, s.other)),
    case!(Nodes(2), |d, s| d.cuMemAllocAsync(&mut 0, 8, s.stream)),
    // The capture of memory that is no graph's goes on.
    case!(Refused(INVALID), |d, s| d
        .cuMemFreeAsync(s.memory, s.stream)),
    case!(Disturbs, |d, s| d.cuEventQuery(s.event)),
    case!(Disturbs, |d, s| d.cuEventSynchronize(s.event)),
    case!(Nodes(1), |d, s| d.cuEventRecord(s.event, s.other)),
    case!(Ends(ISOLATION), |d, s| d
        .cuStreamWaitEvent(s.stream, s.event, 0)),
    case!(Ends(UNSUPPORTED), |d, s| d.cuStreamQuery(s.stream)),
    case!(Disturbs, |d, s| d.cuStreamQuery(s.other)),
    case!(Ends(UNSUPPORTED), |d, s| d.cuStreamSynchronize(s.stream)),
    case!(Disturbs, |d, s| d.cuStreamSynchronize(s.other)),
    case!(Disturbs, |d, s| d.cuStreamQuery(LEGACY)),
    case!(Ends(UNSUPPORTED), |d, s| d.cuCtxSynchronize()),
    case!(Nodes(1), |d, s| d.cuMemsetD32Async(s.memory, 0, 1, LEGACY)),
    case!(Nodes(1), |d, s| d.cuMemsetD32Async(s.memory, 0, 1, s.other)),
    case!(Nodes(2), |d, s| d
        .cuMemsetD32Async(s.memory, 0, 1, s.stream)),
    case!(Nodes(1), |d, s| d.cuMemcpyHtoD_v2(
        s.memory,
        (&raw const *s).cast(),
        8
    )),
    case!(Nodes(1), |d, s| d.cuMemcpyDtoD_v2(
        s.memory,
        s.memory + 8,
        8
    )),
    case!(Nodes(1), |d, s| d.cuMemsetD8_v2(s.memory, 0, 8)),
    case!(Nodes(2), |d, s| d.cuMemcpyHtoDAsync_v2(
        s.memory,
        (&raw const *s).cast(),
        8,
        s.stream
    )),
    case!(Nodes(2), |d, s| d
        .cuStreamWriteValue32_v2(s.stream, s.memory, 1, 0)),
    case!(Ends(UNSUPPORTED), |d, s| d.cuStreamAddCallback(
        s.stream,
        Some(nothing),
        std::ptr::null_mut(),
        0
    )),
    case!(Refused(STATE), |d, s| d
        .cuStreamBeginCapture_v2(s.stream, GLOBAL)),
    case!(Refused(UNSUPPORTED), |d, s| d
        .cuStreamBeginCapture_v2(LEGACY, GLOBAL)),
    case!(Refused(STATE), |d, s| d
        .cuStreamEndCapture(s.other, &mut std::ptr::null_mut())),
    case!(Nodes(1), |d, s| d.cuStreamGetPriority(s.stream, &mut 0)),
    case!(Nodes(1), |d, s| d.cuGraphLaunch(s.exec, s.other)),
    case!(Ends(UNSUPPORTED), |d, s| d.cuGraphLaunch(s.exec, s.stream)),
    case!(Disturbs, |d, s| {
        let mut exec = std::ptr::null_mut();
        let made = d.cuGraphInstantiateWithFlags(&raw mut exec, s.graph, 0);
        if made.is_ok() {
            d.cuGraphExecDestroy(exec).unwrap();
        }
        made
    }),
];

unsafe extern "C" fn nothing(_: CUstream, _: CUresult, _: *mut std::ffi::c_void) {}

/// Makes one call while a stream is captured, and looks at what became of the capture.
fn check(case: &Case, capture: Mode, thread: Mode, then: Then) {
    let (name, call, _) = case;
    let scene = Scene::new();
    scene.begin(scene.stream, capture);
    let mut mode = thread;
    // SAFETY: the place outlives the call.
    unsafe {
        scene
            .bench
            .driver
            .cuThreadExchangeStreamCaptureMode(&raw mut mode)
    }
    .unwrap();
    let answer = call(&scene);
    // SAFETY: as above.
    unsafe {
        scene
            .bench
            .driver
            .cuThreadExchangeStreamCaptureMode(&raw mut mode)
    }
    .unwrap();
    let after = status(&scene.bench, scene.stream);
    let end = scene.end(scene.stream);
    let (wanted, good) = match then {
        Nodes(count) => (OK, (1, Ok(count))),
        Refused(code) => (code, (1, Ok(1))),
        Ends(code) => (code, (2, Err(INVALIDATED))),
        Disturbs => unreachable!("told by the mode"),
    };
    assert_eq!(
        (answer, (after, end)),
        (wanted, good),
        "{capture:?} {thread:?}: {name}"
    );
    // What the call has made goes with the machine.
}

/// Without it, a program that captures could be refused what it may do, or get a graph that a GPU
/// would not have given.
#[test]
fn calls_of_the_capturing_thread_do_what_they_do_on_a_gpu() {
    for case in CASES {
        for capture in [GLOBAL, THREAD_LOCAL, RELAXED] {
            for thread in [GLOBAL, RELAXED] {
                let relaxed = capture == RELAXED || thread == RELAXED;
                let then = match case.2 {
                    Disturbs if relaxed => Nodes(1),
                    Disturbs => Ends(UNSUPPORTED),
                    then => then,
                };
                check(case, capture, thread, then);
            }
        }
    }
}

/// Without it, a thread that knows nothing of a capture could end it, or one that should could not.
#[test]
fn calls_of_another_thread_disturb_global_captures_alone() {
    for capture in [GLOBAL, THREAD_LOCAL, RELAXED] {
        for thread in [GLOBAL, THREAD_LOCAL, RELAXED] {
            let scene = Scene::new();
            scene.begin(scene.stream, capture);
            let answers = std::thread::scope(|scope| {
                let bench = &scene.bench;
                let event = scene.event.addr();
                let ask = move || {
                    bench.attach();
                    let (d, mut mode) = (&bench.driver, thread);
                    // SAFETY: the place outlives the call; the handle is alive.
                    unsafe {
                        d.cuThreadExchangeStreamCaptureMode(&raw mut mode).unwrap();
                        code(d.cuEventQuery(std::ptr::without_provenance_mut(event)))
                    }
                };
                scope.spawn(ask).join().unwrap()
            });
            let (wanted, end) = match (capture, thread) {
                (GLOBAL, GLOBAL) => (UNSUPPORTED, Err(INVALIDATED)),
                _ => (OK, Ok(1)),
            };
            let told = (answers, scene.end(scene.stream));
            assert_eq!(told, (wanted, end), "{capture:?} {thread:?}");
            scene.finish();
        }
    }
}

/// Without it, the legacy stream would run what should wait for a stream that does not run.
#[test]
fn the_legacy_stream_cannot_wait_for_a_captured_one() {
    let scene = Scene::new();
    let bench = &scene.bench;
    let blocking = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let mut status = CUstreamCaptureStatus(9);
    type Call = fn(&Scene) -> Code;
    let uses: [(Call, bool); 4] = [
        (|s| s.work(LEGACY), true),
        (|s| s.bench.query(LEGACY), true),
        (|s| s.record(s.event, LEGACY), true),
        (|s| s.record(s.event, s.other), false),
    ];
    for mode in [GLOBAL, RELAXED] {
        for (used, ends) in uses {
            scene.begin(blocking, mode);
            let answer = used(&scene);
            assert_eq!(answer, if ends { IMPLICIT } else { OK });
            assert_eq!(
                scene.end(blocking),
                if ends { Err(INVALIDATED) } else { Ok(1) }
            );
        }
        scene.begin(blocking, mode);
        // The question alone disturbs nothing.
        // SAFETY: the place outlives the call.
        let asked = unsafe { bench.driver.cuStreamIsCapturing(LEGACY, &raw mut status) };
        assert_eq!((code(asked), scene.end(blocking)), (IMPLICIT, Ok(1)));
    }
    bench.destroy(&[blocking]);
    scene.finish();
}

/// Without it, a capture could be ended twice, by the wrong stream, or by a thread that did not
/// begin it.
#[test]
fn a_capture_ends_where_it_began() {
    let scene = Scene::new();
    let bench = &scene.bench;
    let (s, t) = (scene.stream, scene.other);
    assert_eq!(scene.end(s), Err(STATE));
    for (mode, wanted) in [
        (
            GLOBAL,
            Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
        ),
        (
            THREAD_LOCAL,
            Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
        ),
        (RELAXED, Ok(())),
    ] {
        scene.begin(s, mode);
        let ended = std::thread::scope(|scope| {
            let stream = s.addr();
            let ended = move || {
                bench.attach();
                let graph = end(bench, std::ptr::without_provenance_mut(stream))?;
                destroy(bench, graph);
                Ok(())
            };
            scope.spawn(ended).join().unwrap()
        });
        assert_eq!(ended, wanted);
        assert_eq!((status(bench, s), scene.end(s)), (0, Err(STATE)));
    }
    // In a stream that came in later, the end is the end of its use.
    let event = bench.event();
    scene.begin(s, RELAXED);
    assert_eq!((scene.record(event, s), scene.wait(t, event)), (OK, OK));
    let unmatched = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    assert_eq!(scene.end(t), Err(unmatched));
    assert_eq!((status(bench, s), status(bench, t)), (2, 2));
    assert_eq!((scene.end(s), status(bench, t)), (Err(INVALIDATED), 0));
    // Without its first stream there is no capture.
    let gone = bench.stream(NON_BLOCKING);
    scene.begin(gone, GLOBAL);
    bench.destroy(&[gone]);
    assert_eq!(bench.query(t), OK);
    // Nor without its context: what it leaves is not a leak.
    let mut second = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuCtxCreate_v2(&raw mut second, 0, 0) }.unwrap();
    assert_eq!(begin(bench, bench.stream(NON_BLOCKING), GLOBAL), OK);
    // SAFETY: the context lives.
    unsafe { bench.driver.cuCtxDestroy_v2(second) }.unwrap();
    bench.attach();
    assert_eq!(bench.query(t), OK);
    // SAFETY: a live handle.
    unsafe { bench.driver.cuEventDestroy_v2(event) }.unwrap();
    scene.finish();
}

/// Without it, work of a fork could be lost from the graph without a word.
#[test]
fn forks_must_join_and_captures_do_not_mix() {
    let scene = Scene::new();
    let bench = &scene.bench;
    let (s, t) = (scene.stream, scene.other);
    let (event, back) = (bench.event(), bench.event());
    let unjoined = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    let fork = || {
        scene.begin(s, GLOBAL);
        assert_eq!((scene.record(event, s), scene.wait(t, event)), (OK, OK));
        assert_eq!(status(bench, t), 1);
    };
    // Without work, with work that does not come back, with work that does, and with more then.
    fork();
    assert_eq!((scene.end(s), status(bench, t)), (Ok(1), 0));
    fork();
    assert_eq!(scene.work(t), OK);
    assert_eq!((scene.end(s), status(bench, t)), (Err(unjoined), 0));
    assert_eq!((scene.work(t), scene.end(t)), (OK, Err(STATE)));
    fork();
    assert_eq!(
        (scene.work(t), scene.record(back, t), scene.wait(s, back)),
        (OK, OK, OK)
    );
    assert_eq!(scene.end(s), Ok(2));
    fork();
    assert_eq!(
        (scene.work(t), scene.record(back, t), scene.wait(s, back)),
        (OK, OK, OK)
    );
    assert_eq!((scene.work(t), scene.end(s)), (OK, Err(unjoined)));
    // Two captures.
    scene.begin(s, GLOBAL);
    scene.begin(t, GLOBAL);
    assert_eq!(scene.record(event, s), OK);
    let merge = CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE;
    assert_eq!(scene.wait(t, event), merge);
    assert_eq!(
        (scene.end(s), scene.end(t)),
        (Err(INVALIDATED), Err(INVALIDATED))
    );
    // The legacy stream joins none.
    scene.begin(s, GLOBAL);
    assert_eq!(
        (scene.record(event, s), scene.wait(LEGACY, event)),
        (OK, IMPLICIT)
    );
    assert_eq!(scene.end(s), Err(INVALIDATED));
    for event in [event, back] {
        // SAFETY: a live handle.
        unsafe { bench.driver.cuEventDestroy_v2(event) }.unwrap();
    }
    scene.finish();
}

/// Without it, a program could wait for ever for an event that stands for nodes.
#[test]
fn an_event_of_a_capture_is_no_event_of_a_stream() {
    let scene = Scene::new();
    let bench = &scene.bench;
    let event = bench.event();
    scene.begin(scene.stream, RELAXED);
    assert_eq!(scene.record(event, scene.stream), OK);
    assert_eq!(scene.query(event), CUresult::CUDA_ERROR_CAPTURED_EVENT);
    assert_eq!(scene.end(scene.stream), Ok(1));
    assert_eq!(
        (scene.query(event), scene.wait(scene.other, event)),
        (INVALID, INVALID)
    );
    assert_eq!(scene.record(event, scene.other), OK);
    bench.wait(scene.other);
    assert_eq!(scene.query(event), OK);
    // One that is gone leaves its capture alone.
    scene.begin(scene.stream, RELAXED);
    assert_eq!(scene.record(event, scene.stream), OK);
    // SAFETY: a live handle.
    unsafe { bench.driver.cuEventDestroy_v2(event) }.unwrap();
    assert_eq!(scene.end(scene.stream), Ok(1));
    scene.finish();
}

/// Without it, a capture that has failed could give half a graph, or its stream be of no use.
#[test]
fn a_capture_that_is_of_no_use_ends_as_one() {
    let scene = Scene::new();
    let bench = &scene.bench;
    let (s, d) = (scene.stream, &bench.driver);
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    scene.begin(s, GLOBAL);
    // A launch that is wrong.
    assert_eq!(
        bench.launch(function, 0, 1, s, &[scene.memory, 0, 0, 0]),
        INVALID
    );
    assert_eq!(status(bench, s), 2);
    assert_eq!(
        (scene.work(s), scene.record(scene.event, s)),
        (INVALIDATED, INVALIDATED)
    );
    assert_eq!(
        (begin(bench, s, GLOBAL), bench.query(s)),
        (STATE, UNSUPPORTED)
    );
    // SAFETY: the place outlives the call.
    let again = unsafe { d.cuMemAlloc_v2(&mut 0, 8) };
    assert_eq!(code(again), UNSUPPORTED);
    assert_eq!(scene.end(s), Err(INVALIDATED));
    assert_eq!((scene.work(s), status(bench, s)), (OK, 0));
    bench.wait(s);
    bench.unload(module);
    scene.finish();
}

/// Without it, a library could not see where its work goes, nor put nodes of its own there.
#[test]
fn a_capture_tells_where_it_is_and_is_moved() {
    let scene = Scene::new();
    let (bench, s) = (&scene.bench, scene.stream);
    let d = &bench.driver;
    scene.begin(s, GLOBAL);
    let (mut told, mut id, mut graph) = (CUstreamCaptureStatus(9), 0, std::ptr::null_mut());
    let (mut list, mut data, mut count) = (std::ptr::null(), std::ptr::null(), 0);
    let mut own = std::ptr::null_mut();
    // SAFETY: the places outlive the calls, and the arrays last until the next one.
    unsafe {
        let (status, id) = (&raw mut told, &raw mut id);
        d.cuStreamGetCaptureInfo_v3(
            s,
            status,
            id,
            &raw mut graph,
            &raw mut list,
            &raw mut data,
            &raw mut count,
        )
        .unwrap();
        assert_eq!(count, 1);
        assert_eq!(*data, CUgraphEdgeData::default());
        let first = *list;
        d.cuGraphAddEmptyNode(&raw mut own, graph, &raw const first, 1)
            .unwrap();
        // The program must not take anything out of it now.
        assert_eq!(code(d.cuGraphDestroyNode(own)), INVALID);
        assert_eq!(code(d.cuGraphDestroy(graph)), INVALID);
        d.cuStreamUpdateCaptureDependencies(s, &raw mut own, 1, 1)
            .unwrap();
        assert_eq!(scene.work(s), OK);
        d.cuStreamUpdateCaptureDependencies_v2(s, &raw mut own, std::ptr::null(), 1, 0)
            .unwrap();
        d.cuStreamGetCaptureInfo_v2(s, status, id, &raw mut graph, &raw mut list, &raw mut count)
            .unwrap();
        assert_eq!((count, *list.add(1)), (2, own));
        d.cuStreamUpdateCaptureDependencies(s, std::ptr::null_mut(), 0, 1)
            .unwrap();
        assert_eq!(scene.work(s), OK);
        let mut foreign = crate::raw::empty(bench, scene.graph, &[]);
        let bad = d.cuStreamUpdateCaptureDependencies(s, &raw mut foreign, 1, 1);
        assert_eq!(code(bad), INVALID);
        d.cuGraphDestroyNode(foreign).unwrap();
    }
    assert!(told.0 == 1 && id != 0);
    let captured = end(bench, s).unwrap();
    assert_eq!(captured, graph);
    let (mut edges, mut roots) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let null = std::ptr::null_mut();
        d.cuGraphGetEdges(graph, null, null, &raw mut edges)
            .unwrap();
        d.cuGraphGetRootNodes(graph, null, &raw mut roots).unwrap();
    }
    assert_eq!((nodes(bench, graph).len(), edges, roots), (4, 2, 2));
    // More into the same graph, after its first node.
    let first = nodes(bench, graph)[0];
    let to_graph = |graph| {
        let data = std::ptr::null();
        // SAFETY: the place outlives the call.
        code(unsafe { d.cuStreamBeginCaptureToGraph(s, graph, &raw const first, data, 1, GLOBAL) })
    };
    assert_eq!(
        to_graph(scene.graph),
        INVALID,
        "the node is of another graph"
    );
    assert_eq!(to_graph(graph), OK);
    assert_eq!(to_graph(graph), INVALID);
    assert_eq!(scene.work(s), OK);
    assert_eq!(end(bench, s), Ok(graph));
    assert_eq!(nodes(bench, graph).len(), 5);
    // A failure leaves the program's graph.
    assert_eq!(to_graph(graph), OK);
    assert_eq!(bench.query(s), UNSUPPORTED);
    assert_eq!(end(bench, s), Err(INVALIDATED));
    assert_eq!(nodes(bench, graph).len(), 5);
    destroy(bench, graph);
    scene.finish();
}
