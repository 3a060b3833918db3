//! Single nodes of an executable are changed, left out and given attributes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::graph::{CaptureConfig, Graph, GraphBuilder, NodeKind, Update};
use cupola_managers::ops::{self, LaunchAttributes, LaunchConfig};
use cupola_managers::{Buffer, Error, EventConfig};
use cupola_sys::driver::CUresult;

use crate::common::{Bench, eventually};

const LEN: usize = 5000;

fn buffer(bench: &Bench, value: f32) -> Buffer<f32> {
    let mut buffer = bench.pool.zeros::<f32>(LEN, &bench.stream).unwrap();
    ops::fill(&mut buffer, value, &bench.stream).unwrap();
    buffer
}

fn invalid<T: std::fmt::Debug>(field: &str, done: Result<T, Error>) {
    match done {
        Err(Error::Invalid { field: found, .. }) => assert_eq!(found, field),
        other => panic!("{other:?}"),
    }
}

// Without it a change could be lost, hit another node or a launch that runs, or name memory and functions
// that are gone by the next launch.
#[test]
fn a_changed_node_uses_the_new_things_and_keeps_them() {
    let bench = Bench::open();
    let (x, mut y, mut out) = (
        buffer(&bench, 1.0),
        buffer(&bench, 0.0),
        buffer(&bench, 0.0),
    );
    let config = LaunchConfig::for_elements(LEN as u64, 256);
    let event = || {
        bench
            .context
            .events()
            .create(EventConfig::default())
            .unwrap()
    };
    let calls = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let counts = |index: usize| {
        let calls = Arc::clone(&calls[index]);
        move || {
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    let kernel = bench.kernel("cupola_saxpy");
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let filled = builder.fill(&[], &mut y, 1.0_f32).unwrap();
    let arguments = (LEN as u64, 2.0_f32, &x, &mut y);
    // SAFETY: the kernel reads the elements of `x` and changes those of `y`.
    let added = unsafe { builder.kernel(&[filled], &kernel, config, arguments) }.unwrap();
    let copied = builder.copy(&[added], &y, &mut out).unwrap();
    let called = builder.host(&[copied], counts(0)).unwrap();
    let first = event();
    let recorded = builder.record(&[called], &first).unwrap();
    let mut executable = builder.finish().instantiate().unwrap();
    drop((x, y, kernel, first));
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), [3.0; LEN]);

    let mut other_out = buffer(&bench, 0.0);
    for round in 1..=10 {
        let value = round as f32;
        let (x, mut y) = (buffer(&bench, value), buffer(&bench, 0.0));
        executable.set_fill(filled, &mut y, value).unwrap();
        let kernel = bench.kernel("cupola_saxpy");
        let arguments = (LEN as u64, 3.0_f32, &x, &mut y);
        // SAFETY: as above.
        unsafe { executable.set_kernel(added, &kernel, config, arguments) }.unwrap();
        executable.set_copy(copied, &y, &mut other_out).unwrap();
        executable.set_host(called, counts(1)).unwrap();
        let event = event();
        executable.set_event(recorded, &event).unwrap();
        // The graph has them: others get no memory of theirs.
        drop((x, y, kernel));
        let noise = [buffer(&bench, -1.0), buffer(&bench, -1.0)];
        executable.launch(&bench.stream).unwrap();
        ops::synchronize_event(&event).unwrap();
        assert_eq!(calls[1].load(Ordering::Relaxed), round);
        assert_eq!(other_out.to_vec(&bench.stream).unwrap(), [4.0 * value; LEN]);
        for noise in noise {
            assert_eq!(noise.to_vec(&bench.stream).unwrap(), [-1.0; LEN]);
        }
    }
    assert_eq!(calls[0].load(Ordering::Relaxed), 1);
    assert_eq!(out.to_vec(&bench.stream).unwrap(), [3.0; LEN]);
    bench.finish_after((executable, out, other_out));
}

// Without it an executable whose nodes are changed in a loop would keep all that they ever used.
#[test]
fn what_a_node_used_before_is_let_go() {
    let bench = Bench::open();
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let mut first = buffer(&bench, 0.0);
    let filled = builder.fill(&[], &mut first, 1.0_f32).unwrap();
    let mut executable = builder.finish().instantiate().unwrap();
    drop(first);
    for round in 0..1000 {
        let mut next = buffer(&bench, 0.0);
        executable
            .set_fill(filled, &mut next, round as f32)
            .unwrap();
        executable.launch(&bench.stream).unwrap();
        drop(next);
        if round % 100 == 99 {
            executable.synchronize().unwrap();
        }
    }
    // The first one and the last one.
    let most = 2 * (4 * LEN) as u64;
    eventually("what was used before goes", || {
        bench.pool.usage().unwrap().live <= most
    });
    bench.finish_after(executable);
}

// Without it a node could be taken for one of another graph at its address, or a call be made that the
// node is of the wrong kind for.
#[test]
fn nodes_are_those_of_the_executables_graph() {
    let bench = Bench::open();
    let mut out = buffer(&bench, 0.0);
    let build = |out: &mut Buffer<f32>| {
        let mut builder = GraphBuilder::new(&bench.context).unwrap();
        let filled = builder.fill(&[], &mut *out, 1.0_f32).unwrap();
        let empty = builder.empty(&[filled]).unwrap();
        (builder.finish(), filled, empty)
    };
    let (one, filled, empty) = build(&mut out);
    let (two, strange, _) = build(&mut out);
    assert_eq!(
        (filled.kind(), empty.kind()),
        (NodeKind::Fill, NodeKind::Empty)
    );
    let mut executable = one.instantiate().unwrap();
    invalid("node", executable.set_fill(strange, &mut out, 2.0));
    invalid("node", executable.set_enabled(strange, false));
    invalid("node", executable.set_enabled(empty, false));
    invalid("node", executable.set_host(filled, || ()));
    invalid("node", executable.is_enabled(empty));
    let other = bench.context.streams().create(Default::default()).unwrap();
    let mut of_clone = one.try_clone().unwrap().instantiate().unwrap();
    invalid("node", of_clone.set_fill(filled, &mut out, 2.0));
    // After an update they are still those of the first graph.
    assert_eq!(executable.update(&two).unwrap(), Update::Done);
    drop((one, two));
    invalid("node", executable.set_fill(strange, &mut out, 2.0));
    executable.set_fill(filled, &mut out, 3.0).unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(out.to_vec(&bench.stream).unwrap(), [3.0; LEN]);
    bench.finish_after((executable, of_clone, other, out));
}

// Without it a node could be left out for good, or its successors with it.
#[test]
fn a_node_is_left_out_and_comes_back() {
    let bench = Bench::open();
    let (mut a, mut b) = (buffer(&bench, 0.0), buffer(&bench, 0.0));
    let config = CaptureConfig::default();
    let (graph, (filled, copied)) = Graph::capture(&bench.context, config, |capture| {
        let stream = capture.stream().clone();
        assert_eq!(capture.last_node(&stream)?, None);
        ops::fill(&mut a, 5.0, &stream)?;
        let filled = capture.last_node(&stream)?.expect("the fill");
        ops::copy(&a, &mut b, &stream)?;
        let copied = capture.last_node(&stream)?.expect("the copy");
        Ok::<_, Error>((filled, copied))
    })
    .unwrap();
    assert_eq!(
        (filled.kind(), copied.kind()),
        (NodeKind::Fill, NodeKind::Copy)
    );
    let mut executable = graph.instantiate().unwrap();
    drop(graph);
    let mut launched = |value: f32, enabled: bool| {
        executable.set_enabled(filled, enabled).unwrap();
        assert_eq!(executable.is_enabled(filled).unwrap(), enabled);
        assert!(executable.is_enabled(copied).unwrap());
        ops::fill(&mut a, value, &bench.stream).unwrap();
        executable.launch(&bench.stream).unwrap();
        b.to_vec(&bench.stream).unwrap()[0]
    };
    assert_eq!(launched(1.0, true), 5.0);
    assert_eq!(launched(2.0, false), 2.0);
    assert_eq!(launched(3.0, true), 5.0);
    // A captured node is changed as others are.
    executable.set_fill(filled, &mut a, 6.0).unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(b.to_vec(&bench.stream).unwrap(), [6.0; LEN]);
    bench.finish_after((executable, a, b));
}

// Without it a kernel's attributes could be lost on the way into a graph, or a refused one leave its node
// there.
#[test]
fn kernels_have_attributes_as_nodes_in_captures_and_alone() {
    let bench = Bench::open();
    let (x, mut y) = (buffer(&bench, 1.0), buffer(&bench, 0.0));
    let kernel = bench.kernel("cupola_saxpy");
    let config = LaunchConfig::linear(2, 256);
    let attributes = LaunchAttributes::new()
        .cooperative()
        .priority(0)
        .cluster([1, 1, 1]);
    let (n, stream) = (500_u64, bench.stream.clone());
    // SAFETY: here and below: the kernel reads 500 elements of `x` and changes those of `y`.
    unsafe {
        ops::launch_with(
            &kernel,
            config,
            attributes,
            (n, 1.0_f32, &x, &mut y),
            &stream,
        )
    }
    .unwrap();
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let arguments = (n, 1.0_f32, &x, &mut y);
    // SAFETY: as above.
    let node = unsafe { builder.kernel_with(&[], &kernel, config, attributes, arguments) };
    let node = node.unwrap();
    let uneven = LaunchAttributes::new().cluster([3, 1, 1]);
    let arguments = (n, 1.0_f32, &x, &mut y);
    // SAFETY: as above.
    invalid("cluster", unsafe {
        builder.kernel_with(&[node], &kernel, config, uneven, arguments)
    });
    // More blocks than there can be at the same time.
    let crowd = LaunchConfig::linear(1 << 20, 256);
    let arguments = (n, 1.0_f32, &x, &mut y);
    // SAFETY: as above.
    let refused = unsafe { builder.kernel_with(&[node], &kernel, crowd, attributes, arguments) };
    let too_large = CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    if !crate::common::on_gpu() {
        assert_eq!(refused.unwrap_err().status(), Some(too_large));
    }
    let graph = builder.finish();
    if !crate::common::on_gpu() {
        assert_eq!(graph.nodes().unwrap(), 1);
        graph.instantiate().unwrap().launch(&stream).unwrap();
        assert_eq!(
            y.to_vec(&stream).unwrap()[..501],
            [vec![2.0; 500], vec![0.0]].concat()
        );
    }
    let config = CaptureConfig::default();
    let (captured, ()) = Graph::capture(&bench.context, config, |capture| {
        let arguments = (n, 1.0_f32, &x, &mut y);
        let config = LaunchConfig::linear(2, 256);
        // SAFETY: as above.
        unsafe { ops::launch_with(&kernel, config, attributes, arguments, capture.stream()) }
    })
    .unwrap();
    let before = y.to_vec(&stream).unwrap()[0];
    captured.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap()[0], before + 1.0);
    bench.finish_after((graph, captured, kernel, x, y, stream));
}

// Without it a node could be taken for one that kernels may change where the driver has none.
#[test]
fn a_kernel_may_be_changed_on_the_device_where_the_driver_can() {
    let bench = Bench::open();
    let (x, mut y) = (buffer(&bench, 1.0), buffer(&bench, 0.0));
    let kernel = bench.kernel("cupola_saxpy");
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let filled = builder.fill(&[], &mut y, 0.0_f32).unwrap();
    let config = LaunchConfig::linear(1, 32);
    let arguments = (10_u64, 1.0_f32, &x, &mut y);
    // SAFETY: the kernel reads ten elements of `x` and changes those of `y`.
    let node = unsafe { builder.kernel(&[filled], &kernel, config, arguments) }.unwrap();
    invalid("node", builder.device_updatable(filled));
    match builder.device_updatable(node) {
        Ok(name) => assert_eq!(builder.device_updatable(node).unwrap(), name),
        Err(error) => {
            assert!(!crate::common::on_gpu(), "{error}");
            assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_NOT_SUPPORTED));
        }
    }
    let mut executable = builder.finish().instantiate().unwrap();
    executable.upload(&bench.stream).unwrap();
    executable.launch(&bench.stream).unwrap();
    assert_eq!(
        y.to_vec(&bench.stream).unwrap()[..11],
        [vec![1.0; 10], vec![0.0]].concat()
    );
    bench.finish_after((executable, kernel, x, y));
}
