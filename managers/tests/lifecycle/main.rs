//! Every level of the chain: set up, used, shut down, set up again.

mod configure;
mod shutdown;

use std::sync::Barrier;
use std::time::Duration;

use cupola_core::tag;
use cupola_managers::buffer::BuffersConfig;
use cupola_managers::context::ContextsConfig;
use cupola_managers::device::DevicesConfig;
use cupola_managers::event::EventsConfig;
use cupola_managers::module::ModulesConfig;
use cupola_managers::{
    Context, Error, EventConfig, ExecutionConfig, ExecutionManager, PoolConfig, State,
    StreamConfig, StreamsConfig, ops,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

const PTX: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry nothing() { ret; }\n.visible .entry other() { ret; }\n";

fn open() -> (FaultTable, Machine, ExecutionManager) {
    let machine = Machine::builder().worker_threads(1).build();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    (table, machine, execution)
}

fn primary(execution: &ExecutionManager) -> Context {
    execution.devices().get(0).unwrap().primary().unwrap()
}

fn is_stale<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::StaleHandle { .. }))
}

fn is_shut<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::ShutDown { .. }))
}

// Without it a device or a context could be made before a caller asks for it, or not at all.
#[test]
fn handles_exist_from_the_start_and_nothing_else_does() {
    let (table, machine, execution) = open();
    let devices = execution.devices();
    let handles = devices.handles();
    assert_eq!(handles.len(), devices.count() as usize);
    assert_eq!(table.count(id::cuDeviceGet), 0);
    assert!(!devices.is_alive(handles[0]));
    assert!(matches!(
        devices.lease(handles[0]),
        Err(Error::NotAlive { kind: "Device", .. })
    ));
    let device = devices.ensure_alive(handles[0]).unwrap();
    assert!(devices.is_alive(handles[0]) && devices.lease(handles[0]).is_ok());
    assert_eq!(table.count(id::cuDeviceGet), 1);
    let contexts = device.contexts();
    let handle = contexts.primary_handle().unwrap();
    assert!(!contexts.is_alive(handle));
    assert_eq!(contexts.handles().count(), 0);
    assert_eq!(machine.usage().contexts, 0);
    let context = contexts.ensure_alive(handle).unwrap();
    assert_eq!(context.handle(), handle);
    assert_eq!(contexts.primary().unwrap().handle(), handle);
    assert_eq!(table.count(id::cuDevicePrimaryCtxRetain), 1);
    assert_eq!((contexts.stats().created, contexts.stats().live), (1, 1));
    assert_eq!(devices.stats().live, 1);
}

// Without it threads that begin at once could each retain the primary context, or spin for
// as long as the driver takes.
#[test]
fn sixteen_threads_make_one_device_and_one_primary_context() {
    let (table, machine, execution) = open();
    let slow = Duration::from_millis(50);
    table.delay(id::cuDeviceGet, 1, slow);
    table.delay(id::cuDevicePrimaryCtxRetain, 1, slow);
    let barrier = Barrier::new(16);
    let names: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let device = execution.devices().get(0).unwrap();
                    (device.handle(), device.primary().unwrap().handle())
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(names.iter().all(|&name| name == names[0]));
    assert_eq!(table.count(id::cuDeviceGet), 1);
    assert_eq!(table.count(id::cuDevicePrimaryCtxRetain), 1);
    drop(execution);
    assert_eq!(machine.leaks(), None);
}

// Without it a waiter could hang, or be told of success, when the maker failed.
#[test]
fn a_failure_reaches_all_waiting_threads_and_the_next_attempt_works() {
    let machine = Machine::builder().worker_threads(1).build();
    // The outer table delays the call that the inner one fails.
    let inner = FaultTable::new(machine.driver());
    let outer = FaultTable::new(inner.driver());
    let execution = ExecutionManager::new(outer.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let (retain, code) = (
        id::cuDevicePrimaryCtxRetain,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    );
    outer.delay(retain, 1, Duration::from_millis(100));
    // A thread that comes too late for the first attempt finds the next one failing too.
    inner.fail_from(retain, 1, code);
    let barrier = Barrier::new(16);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                let error = device.primary().unwrap_err();
                assert_eq!(error.status(), Some(code));
            });
        }
    });
    inner.reset();
    device.primary().unwrap();
    assert_eq!(inner.count(retain), 1);
    drop((device, execution));
    assert_eq!(machine.leaks(), None);
}
