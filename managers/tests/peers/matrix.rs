//! What the driver says of links.

use cupola_managers::ExecutionManager;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

use super::{TestBench, machine};

/// Which device can access which, as rows of the matrix.
fn reach(machine: cupola_sim::MachineBuilder) -> Vec<Vec<bool>> {
    let bench = TestBench::on(machine);
    let peers = bench.execution.devices().peers().unwrap();
    let count = peers.devices();
    let links = peers.links().len() as u32;
    assert_eq!(links, count * (count - 1), "each ordered pair once");
    assert!(peers.link(0, 0).is_none() && peers.link(0, count).is_none());
    let row = |device| {
        (0..count)
            .map(|peer| peers.can_access(device, peer))
            .collect()
    };
    let rows = (0..count).map(row).collect();
    bench.finish();
    rows
}

// Without it a pair could be read the other way round, or another topology than the machine's.
#[test]
fn the_matrix_is_the_topology() {
    let (no, yes) = (false, true);
    assert_eq!(reach(machine(1)), [[no]]);
    assert_eq!(
        reach(machine(3)),
        [[no, yes, yes], [yes, no, yes], [yes, yes, no]]
    );
    assert_eq!(
        reach(machine(2).without_peer_access(1, 0)),
        [[no, yes], [no, no]]
    );
    // Two islands of two.
    let mut islands = machine(4);
    for (device, peer) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
        islands = islands
            .without_peer_access(device, peer)
            .without_peer_access(peer, device);
    }
    assert_eq!(
        reach(islands),
        [
            [no, yes, no, no],
            [yes, no, no, no],
            [no, no, no, yes],
            [no, no, yes, no]
        ]
    );
    // Devices of two generations.
    let mixed = Machine::builder()
        .device(DeviceConfig::new().compute_capability(8, 0))
        .add_device(DeviceConfig::new().compute_capability(9, 0));
    assert_eq!(reach(mixed), [[no, no], [no, no]]);
}

// Without it what an old driver does not know would be an error, or be taken for no.
#[test]
fn what_the_driver_does_not_know_is_not_known() {
    let known = TestBench::on(machine(2));
    let link = *known
        .execution
        .devices()
        .peers()
        .unwrap()
        .link(0, 1)
        .unwrap();
    assert_eq!(link.native_atomics, Some(true));
    assert_eq!(link.partial_atomics, Some(false));
    assert_eq!(link.array_access, Some(false));
    assert_eq!(link.performance_rank, Some(0));
    known.finish();
    let old = TestBench::on(machine(2).without(id::cuDeviceGetP2PAttribute));
    let link = *old.execution.devices().peers().unwrap().link(0, 1).unwrap();
    assert!(link.access);
    assert_eq!((link.native_atomics, link.partial_atomics), (None, None));
    assert_eq!((link.array_access, link.performance_rank), (None, None));
    old.finish();
    // One attribute that the driver has not heard of.
    let bench = TestBench::on(machine(2));
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    bench.faults.fail(id::cuDeviceGetP2PAttribute, 2, code);
    let link = *bench
        .execution
        .devices()
        .peers()
        .unwrap()
        .link(0, 1)
        .unwrap();
    assert_eq!(
        (link.native_atomics, link.partial_atomics),
        (Some(true), None)
    );
    assert_eq!(link.performance_rank, Some(0));
    // Another answer is an error.
    let code = CUresult::CUDA_ERROR_NOT_INITIALIZED;
    bench.faults.reset();
    bench.faults.fail(id::cuDeviceGetP2PAttribute, 1, code);
    let error = bench.execution.devices().peers().unwrap_err();
    assert_eq!(error.status(), Some(code));
    bench.finish();
}

// Without it the question could make contexts, on devices that are busy or forbidden.
#[test]
fn the_matrix_makes_nothing_alive() {
    let machine = machine(2).driver_version(Version::new(12, 0)).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    execution.devices().peers().unwrap();
    assert_eq!(machine.usage(), cupola_sim::Usage::default());
    assert_eq!(execution.devices().stats().created, 0);
}
