//! Graphs made node by node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::graph::GraphBuilder;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Error, EventConfig};

use crate::common::Bench;

// Without it a node could come before those that it is to come after, or do something else.
#[test]
fn nodes_of_all_kinds_run_in_their_order() {
    let bench = Bench::open();
    const LEN: usize = 10_000;
    let buffer = || bench.pool.zeros::<f32>(LEN, &bench.stream).unwrap();
    let (mut x, mut y, mut z) = (buffer(), buffer(), buffer());
    let mut bytes = bench.pool.zeros::<[u8; 3]>(10, &bench.stream).unwrap();
    let mut shorts = bench.pool.zeros::<u16>(10, &bench.stream).unwrap();
    let pinned = || bench.context.buffers().pinned::<f32>(LEN).unwrap();
    let event = bench
        .context
        .events()
        .create(EventConfig::default())
        .unwrap();
    let saxpy = bench.kernel("cupola_saxpy");
    let calls = Arc::new(AtomicU32::new(0));

    let mut inner = GraphBuilder::new(&bench.context).unwrap();
    let ones = inner.fill(&[], &mut y, 1.0).unwrap();
    let count = Arc::clone(&calls);
    let called = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    inner.host(&[ones], called).unwrap();
    let inner = inner.finish();

    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let (up, input) = builder.upload(&[], pinned(), &mut x).unwrap();
    let child = builder.child(&[], &inner).unwrap();
    let both = builder.empty(&[up, child]).unwrap();
    let config = LaunchConfig::for_elements(LEN as u64, 256);
    let arguments = (LEN as u64, 2.0_f32, &x, &mut y);
    // SAFETY: the kernel reads as many elements of `x` and changes those of `y`.
    let kernel = unsafe { builder.kernel(&[both], &saxpy, config, arguments) }.unwrap();
    let copied = builder.copy(&[kernel], &y, &mut z).unwrap();
    let (down, output) = builder.download(&[copied], &z, pinned()).unwrap();
    builder.record(&[down], &event).unwrap();
    builder.fill(&[], &mut bytes, [9; 3]).unwrap();
    builder.fill(&[], &mut shorts, 0x1234).unwrap();
    let graph = builder.finish();
    assert_eq!(graph.nodes().unwrap(), 9);

    let mut executable = graph.instantiate().unwrap();
    drop((graph, inner, saxpy, x, y));
    for round in 1..=10 {
        executable.input(input).unwrap().fill(round as f32);
        executable.launch(&bench.stream).unwrap();
        // The event is reached when the copy is over.
        ops::synchronize_event(&event).unwrap();
        let expected = 2.0 * round as f32 + 1.0;
        assert_eq!(executable.output(output).unwrap(), [expected; LEN]);
        assert_eq!(calls.load(Ordering::Relaxed), round);
    }
    assert_eq!(z.to_vec(&bench.stream).unwrap(), [21.0; LEN]);
    assert_eq!(bytes.to_vec(&bench.stream).unwrap(), [[9; 3]; 10]);
    assert_eq!(shorts.to_vec(&bench.stream).unwrap(), [0x1234; 10]);
    bench.finish_after((executable, z, bytes, shorts, event));
}

// Without it a launch would run beside the work that it is to wait for.
#[test]
fn a_graph_waits_for_an_event_of_the_outside() {
    let bench = Bench::open();
    const LEN: usize = 1 << 20;
    let mut from = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    let mut to = bench.pool.zeros::<u32>(LEN, &bench.stream).unwrap();
    let event = bench
        .context
        .events()
        .create(EventConfig::default())
        .unwrap();
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    let reached = builder.wait(&[], &event).unwrap();
    builder.copy(&[reached], &from, &mut to).unwrap();
    let mut executable = builder.finish().instantiate().unwrap();
    let other = bench.another_stream();
    ops::order(&bench.stream, &other).unwrap();
    for round in 1..10 {
        ops::fill(&mut from, round, &other).unwrap();
        ops::record(&event, &other).unwrap();
        executable.launch(&bench.stream).unwrap();
        assert_eq!(to.to_vec(&bench.stream).unwrap(), vec![round; LEN]);
    }
    bench.finish_after((executable, from, to, event, other));
}

// Without it a node of one graph could be put behind one of another, which drivers do not check.
#[test]
fn wrong_nodes_are_refused() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u64>(10, &bench.stream).unwrap();
    let none = bench.pool.zeros::<u64>(0, &bench.stream).unwrap();
    let mut one = GraphBuilder::new(&bench.context).unwrap();
    let mut two = GraphBuilder::new(&bench.context).unwrap();
    let strange = two.empty(&[]).unwrap();
    let invalid = |field, done: Result<_, Error>| match done {
        Err(Error::Invalid { field: found, .. }) => assert_eq!(field, found),
        other => panic!("{other:?}"),
    };
    invalid("after", one.empty(&[strange]));
    invalid("value", one.fill(&[], &mut out, 1));
    invalid("copy", one.copy(&[], &none, &mut out));
    let mut nothing = bench.pool.zeros::<u64>(0, &bench.stream).unwrap();
    invalid("copy", one.copy(&[], &none, &mut nothing));
    // What was refused is in no graph.
    assert_eq!(one.finish().nodes().unwrap(), 0);
    bench.finish_after((two, out, none, nothing));
}
