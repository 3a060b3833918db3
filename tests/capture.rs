//! What is captured into a graph keeps its memory.
//!
//! The capture is in the mode that forbids most, to all threads: so this is alone in its process.

#[path = "common/mod.rs"]
mod common;

use std::ptr;
use std::time::{Duration, Instant};

use cupola_managers::{Error, Event, Stream, ops};
use cupola_sys::driver::{CUgraph, CUgraphExec, CUstreamCaptureMode, Driver};

use common::Bench;

const LEN: usize = 3 << 20;

/// A graph that was captured, and its executable.
struct Graph<'d> {
    driver: &'d Driver,
    graph: CUgraph,
    executable: CUgraphExec,
}

impl<'d> Graph<'d> {
    /// Captures what `work` puts on the stream.
    fn capture(bench: &Bench, driver: &'d Driver, work: impl FnOnce()) -> Self {
        let stream = bench.stream.as_raw();
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // SAFETY: the stream is alive, and its context current after work on it.
        unsafe { driver.cuStreamBeginCapture_v2(stream, mode) }.unwrap();
        work();
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as above; `graph` outlives the call.
        unsafe { driver.cuStreamEndCapture(stream, &raw mut graph) }.unwrap();
        // SAFETY: `executable` outlives the call, and the graph is new.
        let made = unsafe { driver.cuGraphInstantiateWithFlags(&raw mut executable, graph, 0) };
        made.unwrap();
        Self {
            driver,
            graph,
            executable,
        }
    }

    fn launch(&self, bench: &Bench) {
        let stream = bench.stream.as_raw();
        // SAFETY: both are alive, and what the graph uses is kept for it.
        unsafe { self.driver.cuGraphLaunch(self.executable, stream) }.unwrap();
        ops::synchronize(&bench.stream).unwrap();
    }

    fn destroy(self) {
        // SAFETY: its launches are over.
        unsafe { self.driver.cuGraphExecDestroy(self.executable) }.unwrap();
        // SAFETY: it is used no more.
        unsafe { self.driver.cuGraphDestroy(self.graph) }.unwrap();
    }
}

/// What may be done beside a capture, with another stream and an event on it, and what is refused on
/// the stream that is captured. The end of the capture says whether that was so.
fn work_beside(bench: &Bench, (other, event): (&Stream, &Event)) {
    ops::synchronize(other).unwrap();
    ops::synchronize_event(event).unwrap();
    assert!(ops::query(other).unwrap() && ops::query_event(event).unwrap());
    let pinned = bench.context.buffers().pinned::<u32>(10).unwrap();
    let mut buffer = bench.pool.allocate::<u32>(10, other).unwrap();
    ops::copy_to_device(&pinned, &mut buffer, other).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [0; 10]);
    ops::write(&mut buffer, &[3; 10], other).unwrap();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }\n";
    let function = bench.context.modules().load_ptx(ptx).unwrap().function("k");
    let function = function.unwrap();
    let config = ops::LaunchConfig::linear(1, 1);
    // SAFETY: the kernel takes no arguments and touches no memory.
    unsafe { ops::launch(&function, config, (), other) }.unwrap();
    drop((function, pinned));

    let captured = &bench.stream;
    let refused = |done: Result<(), Error>| {
        assert!(matches!(done, Err(Error::Capturing { .. })), "{done:?}");
    };
    let mut pinned = bench.context.buffers().pinned::<u32>(10).unwrap();
    refused(ops::copy_to_device(&pinned, &mut buffer, captured));
    refused(ops::copy_to_host(&buffer, &mut pinned, captured));
    refused(ops::write(&mut buffer, &[4; 10], captured));
    refused(ops::read(&buffer, &mut [0; 10], captured));
    refused(ops::host_function(captured, || ()));
    assert_eq!(ops::health(captured), ops::StreamHealth::Capturing);
}

// Without it a replay could write to memory that others have by then, or an operation end a capture
// by a call that it forbids.
#[test]
fn replays_of_a_graph_touch_nobody_elses_memory() {
    let bench = Bench::open();
    let driver = bench.execution.driver().clone();
    let mut out = [(); 2].map(|()| bench.pool.allocate::<u32>(LEN, &bench.stream).unwrap());
    for out in &mut out {
        ops::fill(out, 0, &bench.stream).unwrap();
    }
    ops::synchronize(&bench.stream).unwrap();
    let mut before = bench.pool.allocate::<u32>(LEN, &bench.stream).unwrap();
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let beside = bench.another_stream();
    let event = bench.context.events().create(Default::default()).unwrap();
    ops::record(&event, &beside).unwrap();
    let graph = Graph::capture(&bench, &driver, || {
        ops::fill(&mut before, 5, &bench.stream).unwrap();
        drop(before);
        work_beside(&bench, (&beside, &event));
        let mut last = 0;
        for (out, value) in out.iter_mut().zip([7, 9]) {
            // The first one has its pages mapped, the second one is a hit.
            let mut scratch = bench.pool.allocate::<u32>(LEN, &bench.stream).unwrap();
            assert!(last == 0 || scratch.as_raw() == last);
            last = scratch.as_raw();
            ops::fill(&mut scratch, value, &bench.stream).unwrap();
            ops::copy(&scratch, out, &bench.stream).unwrap();
            let small = bench.pool.allocate::<u32>(10, &bench.stream).unwrap();
            drop((small, scratch));
        }
        // The whole ladder, to the refusal.
        assert!(
            bench
                .pool
                .allocate::<u32>((1 << 28) - 1, &bench.stream)
                .is_err()
        );
    });
    memory.end();

    let other = bench.another_stream();
    let mut others: Vec<_> = [&bench.stream, &other]
        .into_iter()
        .flat_map(|stream| [10, LEN, LEN / 2].map(|len| (stream, len)))
        .map(|(stream, len)| {
            let mut buffer = bench.pool.allocate::<u32>(len, stream).unwrap();
            ops::fill(&mut buffer, 1234, stream).unwrap();
            buffer
        })
        .collect();
    ops::synchronize(&other).unwrap();
    let mut seen = vec![0; LEN];
    for _ in 0..3 {
        for out in &mut out {
            ops::fill(out, 0, &bench.stream).unwrap();
        }
        graph.launch(&bench);
        for (out, value) in out.iter().zip([7, 9]) {
            ops::read(out, &mut seen, &bench.stream).unwrap();
            assert!(seen.iter().all(|&seen| seen == value));
        }
        for buffer in &others {
            let seen = &mut seen[..buffer.len()];
            ops::read(buffer, seen, &bench.stream).unwrap();
            assert!(seen.iter().all(|&seen| seen == 1234));
        }
    }
    others.clear();
    graph.destroy();
    drop((memory, out, event));
    ops::synchronize(&other).unwrap();
    ops::synchronize(&beside).unwrap();
    // The driver may need a moment to see that work is complete.
    let until = Instant::now() + Duration::from_secs(20);
    while bench.pool.mapped() > 0 {
        bench.pool.trim().unwrap();
        assert!(Instant::now() < until, "{:?}", bench.pool.usage());
    }
    drop((other, beside));
    bench.finish();
}
