//! What graphs have of the device beside all pools is told.

use std::ptr;

use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::{Error, ops};
use cupola_sys::driver::flags::GraphInstantiateFlags;

use crate::common::Bench;

// Without it a program that is refused memory could not see that graphs have it, or would see some that is
// gone.
#[test]
fn memory_of_executables_is_told_beside_the_limit() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(1000, &bench.stream).unwrap();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        (0..500).try_for_each(|value| ops::fill(&mut out, value, capture.stream()))
    })
    .unwrap();
    let none = GraphInstantiateFlags::empty();
    let plain = graph.instantiate().unwrap();
    assert_eq!(plain.device_memory(), None);
    let measured: Vec<_> = (0..20)
        .map(|_| graph.instantiate_measured(none, &bench.stream).unwrap())
        .collect();
    let sum = measured
        .iter()
        .map(|it| it.device_memory().unwrap())
        .sum::<u64>();
    let usage = bench.context.graph_usage().unwrap();
    println!("{usage}");
    assert_eq!((usage.executables, usage.measured), (21, 20));
    assert_eq!(usage.measured_bytes, sum);
    assert_eq!(bench.pool.usage().unwrap().executables, sum);
    assert!(
        usage
            .to_string()
            .contains("21 executables of graphs, 20 of them measured")
    );
    drop((measured, plain));
    let usage = bench.context.graph_usage().unwrap();
    assert_eq!(
        (usage.executables, usage.measured, usage.measured_bytes),
        (0, 0, 0)
    );
    bench.finish_after((graph, out));
}

// Without it memory that code allocates in a capture by the driver's own calls would be in no figure.
#[test]
fn memory_of_nodes_is_told() {
    const BYTES: usize = 8 << 20;
    let bench = Bench::open();
    let driver = bench.execution.driver().clone();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let stream = capture.stream().as_raw();
        let mut address = 0;
        // SAFETY: the stream is alive, and what is allocated is freed behind the fill.
        unsafe {
            driver
                .cuMemAllocAsync(ptr::from_mut(&mut address), BYTES, stream)
                .unwrap();
            driver.cuMemsetD8Async(address, 1, BYTES, stream).unwrap();
            driver.cuMemFreeAsync(address, stream).unwrap();
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    let before = bench.context.graph_usage().unwrap();
    let mut executable = graph.instantiate().unwrap();
    executable.launch(&bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let usage = bench.context.graph_usage().unwrap();
    assert!(usage.reserved >= before.reserved + BYTES as u64, "{usage}");
    assert!(
        usage.used_peak >= BYTES as u64 && usage.reserved_peak >= usage.reserved,
        "{usage}"
    );
    drop((executable, graph));
    ops::synchronize(&bench.stream).unwrap();
    // SAFETY: it takes a number.
    unsafe { driver.cuDeviceGraphMemTrim(bench.device.as_raw()) }.unwrap();
    bench.finish_later();
}
