//! Graphs: what is captured runs as it would have, as often as it is launched, and keeps what it uses.

#[path = "../common/mod.rs"]
mod common;

mod changes;
mod conditional;
mod groups;
mod lifetimes;
mod memory;
mod nodes;
mod refusals;
mod updates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Buffer, Error};

use common::{Bench, eventually};

/// What is captured with memory of the bench's pool.
fn with_memory(bench: &Bench) -> CaptureConfig {
    CaptureConfig::default().memory(&bench.pool)
}

/// `y = 2 * x + y` of this many elements.
fn saxpy(bench: &Bench, x: &Buffer<f32>, y: &mut Buffer<f32>, on: &cupola_managers::Stream) {
    let kernel = bench.kernel("cupola_saxpy");
    let n = x.len() as u64;
    let config = LaunchConfig::for_elements(n, 256);
    // SAFETY: the kernel reads `n` elements of `x` and changes those of `y`.
    unsafe { ops::launch(&kernel, config, (n, 2.0_f32, x, y), on) }.unwrap();
}

// Without it a launch could leave work out, do it twice or in another order than it was captured in.
#[test]
fn launches_do_what_was_captured_as_often_as_they_are_made() {
    let bench = Bench::open();
    let x = bench.pool.upload(&[1.5_f32; 1000], &bench.stream).unwrap();
    let mut y = bench.pool.zeros::<f32>(1000, &bench.stream).unwrap();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        saxpy(&bench, &x, &mut y, capture.stream());
        saxpy(&bench, &x, &mut y, capture.stream());
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(graph.nodes().unwrap(), 2);
    assert_eq!(y.to_vec(&bench.stream).unwrap(), [0.0; 1000]);
    let mut executable = graph.instantiate().unwrap();
    let mut another = graph.instantiate().unwrap();
    executable.upload(&bench.stream).unwrap();
    let other = bench.another_stream();
    for launches in 1..=20 {
        match launches % 3 {
            0 => executable.launch(&bench.stream).unwrap(),
            1 => another.launch(&bench.stream).unwrap(),
            _ => {
                // On another stream: it comes after the launch before because of the program's order.
                ops::order(&bench.stream, &other).unwrap();
                executable.launch(&other).unwrap();
                ops::order(&other, &bench.stream).unwrap();
            }
        }
        let expected = 6.0 * launches as f32;
        assert_eq!(y.to_vec(&bench.stream).unwrap(), [expected; 1000]);
    }
    bench.finish_after((graph, executable, another, x, y, other));
}

// Without it work on two branches could be lost, or the end of a launch come before theirs.
#[test]
fn branches_are_part_of_the_graph_and_joined_at_its_end() {
    let bench = Bench::open();
    let mut parts = [(); 3].map(|()| bench.pool.zeros::<u32>(5000, &bench.stream).unwrap());
    let mut sum = bench.pool.zeros::<u32>(5000, &bench.stream).unwrap();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let (one, two) = (capture.branch()?, capture.branch()?);
        let [a, b, c] = &mut parts;
        ops::fill(&mut *a, 11, &one)?;
        ops::fill(&mut *b, 22, &two)?;
        ops::fill(c, 33, capture.stream())?;
        capture.order(&two, &one)?;
        ops::copy(&*b, &mut sum, &one)?;
        Ok::<_, Error>(())
    })
    .unwrap();
    let mut executable = graph.instantiate().unwrap();
    for _ in 0..3 {
        for part in parts.iter_mut().chain([&mut sum]) {
            ops::fill(part, 0, &bench.stream).unwrap();
        }
        executable.launch(&bench.stream).unwrap();
        for (part, value) in parts.iter().chain([&sum]).zip([11, 22, 33, 22]) {
            assert_eq!(part.to_vec(&bench.stream).unwrap(), [value; 5000]);
        }
    }
    bench.finish_after((graph, executable, parts, sum));
}

// Without it a launch could read what the host has not written yet, or the host what no launch has
// written.
#[test]
fn pinned_memory_goes_up_and_down_with_each_launch() {
    let bench = Bench::open();
    let pinned = || bench.context.buffers().pinned::<f32>(777).unwrap();
    let (from, to) = (pinned(), pinned());
    let (graph, (input, output)) = Graph::capture(&bench.context, with_memory(&bench), |capture| {
        let stream = capture.stream().clone();
        let mut x = bench.pool.allocate::<f32>(777, &stream)?;
        let mut y = bench.pool.allocate::<f32>(777, &stream)?;
        let input = capture.upload(from, &mut x, &stream)?;
        ops::fill(&mut y, 1.0, &stream)?;
        saxpy(&bench, &x, &mut y, &stream);
        Ok::<_, Error>((input, capture.download(&y, to, &stream)?))
    })
    .unwrap();
    let mut executable = graph.instantiate().unwrap();
    // Two executables would write to one host memory.
    assert!(matches!(
        graph.instantiate(),
        Err(Error::Invalid { field: "graph", .. })
    ));
    for round in 0..20 {
        executable.input(input).unwrap().fill(round as f32);
        executable.launch(&bench.stream).unwrap();
        let expected = 2.0 * round as f32 + 1.0;
        assert_eq!(executable.output(output).unwrap(), [expected; 777]);
    }
    bench.finish_after((graph, executable));
}

// Without it a function could be called once and never again, or after it is gone.
#[test]
fn functions_on_the_host_are_called_by_each_launch() {
    let bench = Bench::open();
    let calls = Arc::new(AtomicU32::new(0));
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let (stream, calls) = (capture.stream().clone(), Arc::clone(&calls));
        capture.host(
            move || {
                calls.fetch_add(1, Ordering::Relaxed);
            },
            &stream,
        )
    })
    .unwrap();
    let mut executable = graph.instantiate().unwrap();
    for _ in 0..10 {
        executable.launch(&bench.stream).unwrap();
    }
    // Launches that run call it although the executable is gone.
    drop((graph, executable));
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 10);
    eventually("the function is dropped", || Arc::strong_count(&calls) == 1);
    bench.finish_later();
}

// Without it memory that was freed in a capture would not be used again in it, and a graph would need
// the sum of all that it ever allocates.
#[test]
fn a_graph_uses_its_memory_again() {
    let bench = Bench::open();
    const LEN: usize = 1 << 20;
    let mut out = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    let before = bench.pool.mapped();
    let (graph, addresses) = Graph::capture(&bench.context, with_memory(&bench), |capture| {
        let stream = capture.stream();
        let mut addresses = Vec::new();
        for value in 0..8 {
            let mut scratch = bench.pool.allocate::<u32>(LEN, stream)?;
            ops::fill(&mut scratch, value, stream)?;
            ops::copy(&scratch, &mut out, stream)?;
            addresses.push(scratch.as_raw());
        }
        Ok::<_, Error>(addresses)
    })
    .unwrap();
    assert!(addresses.iter().all(|address| *address == addresses[0]));
    assert!(bench.pool.mapped() - before <= 8 << 20);
    let mut executable = graph.instantiate().unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), vec![7; LEN]);
    bench.finish_after((graph, executable, out));
}

// Without it a graph could not be looked at.
#[test]
fn a_graph_is_written_as_dot() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        ops::fill(&mut out, 1, capture.stream())
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.dot");
    graph.write_dot(&path, Default::default()).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("digraph"), "{text}");
    bench.finish_after((graph, out));
}
