//! A captured graph, replayed after each time that its model comes back.

use cupola_managers::buffer::DeviceSlice;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops;

use super::common::Bench;
use super::{MIB, Model, register, residency, times};

// Without it a graph could read memory that its model has no more, or each cycle cost some memory of the
// device or pinned memory of the host.
#[test]
fn a_captured_graph_is_right_after_every_reload() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let residency = residency(&bench, 8 * MIB);
    let bytes = 6 * MIB;
    let model = register(&residency, 1, bytes);
    let other = register(&residency, 2, 4 * MIB);
    // A piece of each page, to where the host sees it.
    let mut wanted = vec![0; 64];
    Model { seed: 1, bytes }.fill(bytes - 64, &mut wanted);
    let mut out = bench.pool.zeros::<u8>(64, stream).unwrap();
    // The driver wants to see memory there.
    let lease = residency.lease(&model, stream).unwrap();
    let (captured, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        // SAFETY: the model's bytes, which are there whenever the graph is launched: with a lease.
        let end = unsafe { DeviceSlice::<u8>::from_raw(model.address() + bytes - 64, 64) };
        ops::copy(end, &mut out, capture.stream())
    })
    .unwrap();
    let mut graph = captured.instantiate().unwrap();
    drop(captured);
    drop(lease);
    let mut cycle = |number: u64| {
        let lease = residency.lease(&model, stream).unwrap();
        ops::zero(&mut out, stream).unwrap();
        graph.launch(stream).unwrap();
        drop(lease);
        assert_eq!(out.to_vec(stream).unwrap(), wanted, "cycle {number}");
        // Takes the end of the model, or all of it.
        drop(residency.lease(&other, stream).unwrap());
        assert!(model.resident() < bytes);
        if number.is_multiple_of(2) {
            residency.evict(&model).unwrap();
        }
    };
    (0..20).for_each(&mut cycle);
    ops::synchronize(stream).unwrap();
    let free = || bench.context.memory_info().unwrap().free;
    let before = (residency.usage(), free());
    (20..20 + times(60, 10_000)).for_each(&mut cycle);
    ops::synchronize(stream).unwrap();
    let after = (residency.usage(), free());
    assert_eq!(before.0, after.0);
    assert_eq!(before.1, after.1, "device memory in use");
    println!("{:?}", residency.metrics());
    drop((graph, out, model, other, residency));
    bench.finish_later();
}
