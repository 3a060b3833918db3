//! When the device library is loaded: before the first call that needs it, in a capture too.

use cupola_kernels::ops::KernelFamily;
use cupola_managers::Error;
use cupola_managers::graph::{CaptureConfig, CaptureMode, Graph};
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use super::{Bench, target};

const N: usize = 1000;

/// Captures `2 a + a`, of one family, and the sum of that, of another, and launches it twice.
fn capture_and_launch(bench: &Bench) {
    let a = bench.pool.upload(&[1.5_f32; N], &bench.stream).unwrap();
    let mut doubled = bench.pool.zeros::<f32>(N, &bench.stream).unwrap();
    let mut largest = bench.pool.zeros::<f32>(N, &bench.stream).unwrap();
    let config = CaptureConfig::default().mode(CaptureMode::ThreadLocal);
    let kernels = &bench.kernels;
    let (graph, ()) = Graph::capture(&bench.context, config, |capture| {
        let stream = capture.stream();
        kernels.mul(&a, 2.0, &mut doubled, stream)?;
        kernels.add_assign(&mut doubled, &a, stream)?;
        kernels.copy(&doubled, &mut largest, stream)?;
        Ok::<_, Error>(())
    })
    .unwrap();
    assert_eq!(graph.nodes().unwrap(), 3);
    let mut executable = graph.instantiate().unwrap();
    for _ in 0..2 {
        executable.launch(&bench.stream).unwrap();
        let found = largest.to_vec(&bench.stream).unwrap();
        assert_eq!(found, [4.5; N]);
    }
}

// Without it a capture, or the first item of a service, could wait for the driver's compiler although the
// program has asked for the kernels before.
#[test]
fn what_is_preloaded_is_not_loaded_by_its_first_call() {
    let faults = FaultTable::new(target::driver());
    let bench = Bench::over(faults.driver());
    let families = [KernelFamily::Memory, KernelFamily::ElementwiseFloat];
    faults.reset();
    bench.kernels.preload(families).unwrap();
    assert_eq!(faults.count(id::cuModuleLoadDataEx), 2);
    faults.reset();
    bench.kernels.preload(families).unwrap();
    capture_and_launch(&bench);
    for call in [id::cuModuleLoadDataEx, id::cuModuleGetFunction] {
        assert_eq!(faults.count(call), 0, "{call:?}");
    }
    // Others are loaded when they are called, and all can be.
    bench.kernels.preload(KernelFamily::ALL).unwrap();
    assert_eq!(faults.count(id::cuModuleLoadDataEx), 8);
}

// Without it a first call in a capture could end it, and the program be told so by the next operation.
#[test]
fn a_first_call_in_a_capture_does_not_end_it() {
    capture_and_launch(&Bench::new());
}
