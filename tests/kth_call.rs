//! Fails the k-th call of every driver function that a whole life of this crate's objects
//! makes, for every k, with each of six codes, on the software device.
//!
//! Without it a path that only runs when something fails could leak, free twice, hang,
//! panic, or report success. The table of what came of each case is printed, and written to
//! the file that `CUPOLA_SWEEP_TABLE` names.
#![cfg(feature = "sim")]

mod sweep;

use cupola_managers::peer::PeerCheck;
use cupola_managers::{ContextsConfig, ExecutionConfig, ExecutionManager};
use cupola_sys::driver::{CUresult, id};
use cupola_sys::{SymbolId, Version};
use cupola_testing::{DeviceConfig, Machine, MachineBuilder, Profile, Sweep, Usage};

use sweep::{
    access, by_thread, copies, executor, graphs, host, imported, imported_copies, interface,
    lifecycle, memory, occupancy, opened, profile, semaphores, sharing, tensor_maps, tensors, work,
};

fn machine(version: Version) -> MachineBuilder {
    Machine::builder().driver_version(version).worker_threads(1)
}

fn run(sweep: &Sweep<'_>) {
    let table = sweep.run();
    println!("{table}");
    let problems = table.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_call_of_a_whole_life_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine, work).title("work, CUDA 13.0"));
}

// Whichever of the two threads makes the call.
#[test]
fn every_call_of_a_pipeline_and_its_copy_thread_may_fail() {
    let machine = machine(Version::new(13, 0)).profile(Profile::Confidential);
    run(&Sweep::new(machine, by_thread).title("pipeline with a copy thread, CUDA 13.0"));
}

#[test]
fn every_call_of_daily_operations_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine, interface).title("daily operations, CUDA 13.0"));
}

#[test]
fn every_call_of_occupancies_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine, occupancy).title("occupancy, CUDA 13.0"));
}

#[test]
fn every_call_of_tensor_maps_may_fail() {
    let blackwell = DeviceConfig::new().compute_capability(10, 0);
    let machine = machine(Version::new(13, 0)).device(blackwell);
    run(&Sweep::new(machine, tensor_maps).title("tensor maps, CUDA 13.0"));
}

#[test]
fn every_call_of_an_exchange_of_tensors_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine, tensors).title("tensors of other libraries, CUDA 13.0"));
}

#[test]
fn every_call_of_shared_memory_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine, sharing).title("shared memory, CUDA 13.0"));
}

// An access that could not be disabled ends with its context, and a drop has no caller to tell. Small
// devices are checked with less, which is faster; what is opened has the check of an access.
#[test]
fn every_call_between_devices_may_fail() {
    let small = DeviceConfig::new().memory(3 << 20);
    let small = machine(Version::new(13, 0))
        .device(small.clone())
        .add_device(small);
    let disable = |function, _| function == id::cuCtxDisablePeerAccess;
    let sweep = Sweep::new(small, access).may_absorb(disable);
    run(&sweep.title("peer access, CUDA 13.0"));
    let machine = machine(Version::new(13, 0)).devices(2);
    // A call that names its stream or event is made again with that one's context current, where
    // another one was: the error could be that one's.
    let of_either = |_, code: CUresult| code.is_sticky();
    let sweep = Sweep::new(machine.clone(), copies).may_absorb(of_either);
    run(&sweep.title("copies between devices, CUDA 13.0"));
    let sweep = Sweep::new(machine, opened)
        .config(unchecked())
        .may_absorb(disable)
        .may_absorb(of_either);
    run(&sweep.title("pools that are open to other devices, CUDA 13.0"));
}

/// Without the check of the first use of two devices, which the sweep of an access has.
fn unchecked() -> ExecutionConfig {
    ExecutionConfig {
        contexts: ContextsConfig {
            peers: PeerCheck::Never,
            ..ContextsConfig::default()
        },
        ..ExecutionConfig::default()
    }
}

// Memory of one device that another one uses, and semaphores: what a limit counts is exact after each failure.
// Without 4: a driver that has shut down has no memory any more, while the software device has it in use.
#[test]
fn every_call_of_memory_for_another_device_may_fail() {
    let machine = machine(Version::new(13, 0)).devices(2);
    let disable = |function, _| function == id::cuCtxDisablePeerAccess;
    let of_either = |_, code: CUresult| code.is_sticky();
    let sweep = |scenario| {
        let sweep = Sweep::new(machine.clone(), scenario).config(unchecked());
        sweep
            .codes(without(4))
            .may_absorb(disable)
            .may_absorb(of_either)
    };
    run(&sweep(imported as fn(&_) -> _).title("memory of another device, CUDA 13.0"));
    run(&sweep(imported_copies).title("copies of memory of another process, CUDA 13.0"));
    run(&sweep(semaphores).title("semaphores of both sides, CUDA 13.0"));
}

#[test]
fn every_call_of_executions_and_profiles_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine.clone(), executor).title("executions, CUDA 13.0"));
    run(&Sweep::new(machine, profile).title("profiles, CUDA 13.0"));
}

#[test]
fn every_call_of_graphs_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine.clone(), graphs::captured).title("captured graphs, CUDA 13.0"));
    run(&Sweep::new(machine.clone(), graphs::built).title("graphs by nodes, CUDA 13.0"));
    run(&Sweep::new(machine.clone(), graphs::grouped).title("graphs of a group, CUDA 13.0"));
    run(&Sweep::new(machine.clone(), graphs::changed).title("changed nodes, CUDA 13.0"));
    run(&Sweep::new(machine, graphs::conditional).title("conditional nodes, CUDA 13.0"));
}

#[test]
fn every_call_of_steps_as_graphs_may_fail() {
    // What a graph is made by: without one the item is put by calls of its own.
    let of_a_graph = |function, _| {
        [
            id::cuStreamCreateWithPriority,
            id::cuStreamBeginCapture_v2,
            id::cuStreamEndCapture,
            id::cuEventRecordWithFlags,
            id::cuMemcpyHtoDAsync_v2,
            id::cuMemcpyDtoDAsync_v2,
            id::cuMemcpyDtoHAsync_v2,
            id::cuGraphInstantiateWithFlags,
        ]
        .contains(&function)
    };
    let sweep = Sweep::new(machine(Version::new(13, 0)), graphs::steps);
    run(&sweep
        .may_absorb(of_a_graph)
        .title("steps as graphs, CUDA 13.0"));
}

// A context of other code's is destroyed by that code, which has no caller to tell.
#[test]
fn every_call_of_the_managers_may_fail() {
    let machine = machine(Version::new(13, 0));
    let one_context = |left: &Usage| left.contexts == 1;
    let sweep = Sweep::new(machine, lifecycle).may_remain(id::cuCtxDestroy_v2, one_context);
    run(&sweep.title("lifecycle, CUDA 13.0"));
}

#[test]
fn every_call_of_a_pool_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine.clone(), memory::pages).title("memory of pages"));
    run(&Sweep::new(machine, memory::chunks).title("memory of chunks"));
}

// Registered memory without 4: it is the program's again when the driver has shut down, which may
// register it once more, while the software device goes on with what it has.
#[test]
fn every_call_of_host_memory_may_fail() {
    let machine = machine(Version::new(13, 0));
    run(&Sweep::new(machine.clone(), host::pinned).title("a pinned pool, CUDA 13.0"));
    let sweep = Sweep::new(machine.clone(), host::registered).codes(without(4));
    run(&sweep.title("registered memory, CUDA 13.0"));
    run(&Sweep::new(machine.clone(), host::managed).title("managed memory, CUDA 13.0"));
    let machine = machine.profile(Profile::Confidential);
    run(&Sweep::new(machine, host::pinned).title("a pinned pool without registrations, CUDA 13.0"));
}

/// All codes but one.
fn without(code: u32) -> impl Iterator<Item = u32> {
    Sweep::CODES.into_iter().filter(move |&it| it != code)
}

// Without 4: a driver that has shut down has no memory any more, while the software device goes on
// with what the pool takes for gone.
#[test]
fn every_call_of_a_pool_beside_others_may_fail() {
    let machine = machine(Version::new(13, 0));
    let sweep = |scenario| Sweep::new(machine.clone(), scenario).codes(without(4));
    run(&sweep(memory::graph as fn(&_) -> _).title("memory of a graph"));
    run(&sweep(memory::shared).title("memory of two pools"));
    run(&sweep(memory::recorded).title("memory that is recorded"));
}

// Without 2 where a request waits: a device that has no memory for an event has none that could be
// waited for, and the limit refuses the request.
#[test]
fn every_call_of_a_pool_that_has_too_little_may_fail() {
    let machine = machine(Version::new(13, 0));
    let sweep = Sweep::new(machine.clone(), memory::waiting).codes(without(2));
    run(&sweep.title("memory that is waited for"));
    let device = DeviceConfig::new().memory(80 << 20);
    let sweep = Sweep::new(machine.device(device), memory::full);
    // A refusal says what the device has free, or 0.
    let sweep = sweep.may_absorb(|function, _| function == id::cuMemGetInfo_v2);
    run(&sweep.title("memory of a full device"));
}

// An older driver takes other paths: single allocations, the older UUID, no green contexts.
#[test]
fn every_call_that_only_older_drivers_get_may_fail() {
    let older = |function: SymbolId| {
        [
            id::cuMemAlloc_v2,
            id::cuMemFree_v2,
            id::cuDeviceGetUuid,
            id::cuDeviceGetAttribute,
            id::cuStreamSynchronize,
        ]
        .contains(&function)
    };
    let machine = machine(Version::new(11, 1));
    let sweep = Sweep::new(machine.clone(), work).functions(older);
    run(&sweep.title("work, CUDA 11.1"));
    let sweep = Sweep::new(machine, lifecycle).functions(older);
    run(&sweep.title("lifecycle, CUDA 11.1"));
}

// Without it a check that finds nothing could be a check that looks at nothing.
#[test]
fn a_real_leak_is_seen() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let buffer = context.buffers().pinned::<u8>(1).unwrap();
    assert_eq!(machine.usage().host_allocations, 1);
    assert!(machine.leaks().is_some());
    drop((buffer, context, execution));
    assert_eq!(machine.usage(), Usage::default());
    assert_eq!(machine.leaks(), None);
}
