//! Updating an executable.

use cupola_managers::graph::{CaptureConfig, Graph, Update};
use cupola_managers::{Buffer, Error, ops};
use cupola_sys::driver::CUgraphExecUpdateResult;

use crate::common::Bench;

/// Fills a new buffer `times` times, the last one with `value`, and copies it.
fn filling(bench: &Bench, out: &mut Buffer<u32>, value: u32, times: u32) -> Graph {
    let mut scratch = bench.pool.zeros::<u32>(out.len(), &bench.stream).unwrap();
    let captured = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        for time in 1..=times {
            ops::fill(&mut scratch, value + times - time, capture.stream())?;
        }
        ops::copy(&scratch, out, capture.stream())
    });
    captured.unwrap().0
}

// Without it an updated executable could launch what it launched before, or use memory of a graph that
// is gone.
#[test]
fn an_executable_launches_the_graph_that_it_was_updated_to() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(1 << 16, &bench.stream).unwrap();
    let mut executable = filling(&bench, &mut out, 100, 3).instantiate().unwrap();
    for value in 0..10 {
        let graph = filling(&bench, &mut out, value, 3);
        assert_eq!(executable.update(&graph).unwrap(), Update::Done);
        drop(graph);
        let _noise = bench.pool.zeros::<u32>(1 << 16, &bench.stream).unwrap();
        executable.launch(&bench.stream).unwrap();
        assert_eq!(out.to_vec(&bench.stream).unwrap(), [value; 1 << 16]);
    }
    bench.finish_after((executable, out));
}

// Without it a caller could not tell that it must instantiate, or would launch half of either graph.
#[test]
fn a_graph_of_another_shape_is_refused_with_the_reason() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(1000, &bench.stream).unwrap();
    let mut executable = filling(&bench, &mut out, 7, 3).instantiate().unwrap();
    let longer = filling(&bench, &mut out, 9, 4);
    match executable.update(&longer).unwrap() {
        Update::Refused(refusal) => {
            let topology = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
            assert_eq!(refusal.result, topology);
            assert!(refusal.to_string().contains("nodes"), "{refusal}");
        }
        Update::Done => panic!("four nodes became five"),
    }
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), [7; 1000]);
    bench.finish_after((executable, longer, out));
}

// Without it the pinned memory of a graph could be dropped under the launches of another one's executable.
#[test]
fn a_graph_with_pinned_memory_is_not_updated_to() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let pinned = bench.context.buffers().pinned::<u32>(10).unwrap();
    let (graph, _) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let stream = capture.stream().clone();
        capture.upload(pinned, &mut out, &stream)
    })
    .unwrap();
    let mut executable = filling(&bench, &mut out, 7, 1).instantiate().unwrap();
    let refused = executable.update(&graph);
    assert!(matches!(
        refused,
        Err(Error::Invalid { field: "graph", .. })
    ));
    bench.finish_after((executable, graph, out));
}
