//! What is captured into a graph keeps its memory. A GPU's affair: the software device captures
//! nothing.
//!
//! The capture is in the mode that forbids most, to all threads: so this is alone in its process.

#[path = "common/mod.rs"]
mod common;

use std::ptr;

use cupola_managers::ops;
use cupola_sys::driver::{CUgraph, CUgraphExec, CUresult, CUstreamCaptureMode, Driver};

use common::{Bench, on_gpu};

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

// Without it a replay could write to memory that others have by then, or the pool end a capture
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
    if !on_gpu() {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // SAFETY: the stream is alive.
        let begun = unsafe { driver.cuStreamBeginCapture_v2(bench.stream.as_raw(), mode) };
        let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
        assert_eq!(begun.unwrap_err().status(), Some(unsupported));
        drop(out);
        return bench.finish();
    }
    let mut before = bench.pool.allocate::<u32>(LEN, &bench.stream).unwrap();
    let memory = bench.pool.graph_memory(&bench.stream).unwrap();
    let graph = Graph::capture(&bench, &driver, || {
        ops::fill(&mut before, 5, &bench.stream).unwrap();
        drop(before);
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
    drop((memory, out));
    ops::synchronize(&other).unwrap();
    bench.pool.trim().unwrap();
    assert_eq!(bench.pool.mapped(), 0);
    drop(other);
    bench.finish();
}
