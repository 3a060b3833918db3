//! What a graph uses stays until no launch of it can run any more, and not longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::{Error, ops};

use crate::common::{Bench, eventually};
use crate::with_memory;

// Without it a launch could write to memory that another buffer has by then.
#[test]
fn a_buffer_that_is_dropped_stays_as_long_as_its_graph() {
    let bench = Bench::open();
    const LEN: usize = 1 << 18;
    let mut inner = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    let mut out = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    let address = inner.as_raw();
    let capture = |inner: &mut _, out: &mut _, value: u32| {
        Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
            ops::fill(&mut *inner, value, capture.stream())?;
            ops::copy(&*inner, &mut *out, capture.stream())
        })
        .unwrap()
        .0
    };
    let (one, two) = (
        capture(&mut inner, &mut out, 5),
        capture(&mut inner, &mut out, 6),
    );
    drop(inner);
    let live = || bench.pool.usage().unwrap().live;
    let held = live();
    let mut executable = one.instantiate().unwrap();
    drop(one);
    let mut others: Vec<_> = (0..4)
        .map(|_| bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap())
        .collect();
    assert!(others.iter().all(|other| other.as_raw() != address));
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), vec![5; LEN]);
    for other in &others {
        assert_eq!(other.to_vec(&bench.stream).unwrap(), vec![0; LEN]);
    }
    drop(executable);
    // The second graph uses it still.
    let mut executable = two.instantiate().unwrap();
    others.push(bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap());
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), vec![6; LEN]);
    drop((others, two, executable));
    eventually("the buffer is freed", || live() < held);
    bench.finish_after(out);
}

// Without it memory of launches that run could be freed under them when their executable is dropped.
#[test]
fn launches_outlive_their_executable() {
    let bench = Bench::open();
    const LEN: usize = 1 << 20;
    let mut out = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    for round in 0..10 {
        let gate = Arc::new(AtomicBool::new(false));
        let (graph, ()) = Graph::capture(&bench.context, with_memory(&bench), |capture| {
            let (stream, gate) = (capture.stream().clone(), Arc::clone(&gate));
            let mut scratch = bench.pool.allocate::<u32>(LEN, &stream)?;
            capture.host(
                move || {
                    while !gate.load(Ordering::Acquire) {
                        std::thread::sleep(Duration::from_micros(100));
                    }
                },
                &stream,
            )?;
            ops::fill(&mut scratch, round, &stream)?;
            ops::copy(&scratch, &mut out, &stream)
        })
        .unwrap();
        let mut executable = graph.instantiate().unwrap();
        executable.launch(&bench.stream).unwrap();
        drop((graph, executable));
        // Others get none of its memory.
        let other = bench.another_stream();
        let noise = bench.pool.zeros::<u32>(LEN, &other).unwrap();
        gate.store(true, Ordering::Release);
        assert_eq!(out.to_vec(&bench.stream).unwrap(), vec![round; LEN]);
        assert_eq!(noise.to_vec(&other).unwrap(), vec![0; LEN]);
    }
    bench.finish_after(out);
}

// Without it a capture that fails would leave its stream captured, its memory held or its objects alive.
#[test]
fn a_capture_that_fails_leaves_nothing() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(100, &bench.stream).unwrap();
    let streams = bench.context.streams().live();
    for round in 0..6 {
        let mut gone = bench.pool.zeros::<u32>(100, &bench.stream).unwrap();
        let mut work = |capture: &mut cupola_managers::graph::Capture<'_>| {
            let branch = capture.branch()?;
            let mut scratch = bench.pool.allocate::<u32>(100, capture.stream())?;
            ops::fill(&mut scratch, 1, capture.stream())?;
            ops::fill(&mut gone, 1, &branch)?;
            match round % 3 {
                0 => Err(Error::ShutDown { kind: "a test" }),
                1 => panic!("in a capture"),
                _ => ops::write(&mut out, &[1; 100], capture.stream()),
            }
        };
        let captured = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Graph::capture(&bench.context, with_memory(&bench), &mut work)
        }));
        match round % 3 {
            0 => assert!(matches!(captured, Ok(Err(Error::ShutDown { .. })))),
            1 => assert!(captured.is_err()),
            _ => assert!(matches!(captured, Ok(Err(Error::Capturing { .. })))),
        }
        drop(gone);
    }
    assert_eq!(bench.context.streams().live(), streams);
    assert_eq!(bench.execution.live().graphs, 0);
    bench.finish_after(out);
}
