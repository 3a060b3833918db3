//! A fork of a process that uses CUDA: every operation refuses, and dropping makes no call.
#![cfg(unix)]

use core::ffi::c_int;

use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

// Without it a child could call the driver in the context that its parent left current.
#[test]
fn a_child_makes_no_driver_call() {
    let table = FaultTable::new(Machine::builder().worker_threads(1).build().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(1 << 20)).unwrap();
    let mut buffer = pool.allocate::<u32>(8, &stream).unwrap();
    let guard = context.enter().unwrap();
    // The context is current, so nothing but the fork itself can stop an operation.
    ops::synchronize(&stream).unwrap();
    table.reset();
    // SAFETY: the child calls nothing that takes a lock another thread may hold: it looks at
    // counters, and leaves without running anything else.
    let child = unsafe { fork() };
    if child == 0 {
        let refused = [
            ops::synchronize(&stream),
            ops::query(&stream).map(drop),
            ops::fill(&mut buffer, 1, &stream),
        ];
        let refused = refused.iter().all(|result| *result == Err(Error::Forked));
        drop((guard, buffer));
        let silent = table.counts().is_empty();
        // SAFETY: ends the child at once.
        unsafe { _exit(if refused { c_int::from(!silent) } else { 2 }) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    assert_eq!(
        status, 0,
        "256: the driver was called, 512: an operation ran"
    );
    ops::fill(&mut buffer, 1, &stream).unwrap();
    ops::synchronize(&stream).unwrap();
}
