//! How the host waits in a primary context.

use cupola_managers::ExecutionManager;
use cupola_managers::context::Waiting;
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUctx_flags, CUresult, id};

use super::bench;

// Without it the flags could be other ones than were asked for, in an active context or before it.
#[test]
fn waits_in_a_primary_context_are_as_they_are_set() {
    let table = FaultTable::new(Machine::builder().worker_threads(1).build().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let contexts = device.contexts();
    let state = contexts.primary_state().unwrap();
    assert_eq!((state.active, state.waiting), (false, Waiting::Auto));
    contexts.set_primary_waiting(Waiting::Block).unwrap();
    let state = contexts.primary_state().unwrap();
    assert_eq!((state.active, state.waiting), (false, Waiting::Block));
    let context = device.primary().unwrap();
    for waiting in [Waiting::Spin, Waiting::Yield, Waiting::Auto, Waiting::Block] {
        contexts.set_primary_waiting(waiting).unwrap();
        let state = contexts.primary_state().unwrap();
        assert_eq!((state.active, state.waiting), (true, waiting));
    }
    let mut flags = 0;
    let guard = context.enter().unwrap();
    // SAFETY: `flags` outlives the call.
    unsafe { context.driver().cuCtxGetFlags(&raw mut flags) }.unwrap();
    drop(guard);
    let scheduling = flags & CUctx_flags::CU_CTX_SCHED_MASK.0;
    assert_eq!(scheduling, CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC.0);
}

// Without it flags that other code has set could be lost with a change of how the host waits.
#[test]
fn other_flags_of_a_primary_context_stay() {
    let bench = bench();
    let driver = bench.base.context.driver();
    let keep = CUctx_flags::CU_CTX_LMEM_RESIZE_TO_MAX.0;
    // SAFETY: device 0 is there.
    unsafe { driver.cuDevicePrimaryCtxSetFlags_v2(0, keep | 1) }.unwrap();
    let device = bench.base.execution.devices().get(0).unwrap();
    device
        .contexts()
        .set_primary_waiting(Waiting::Yield)
        .unwrap();
    let (mut flags, mut active) = (0, 0);
    // SAFETY: both outlive the call.
    unsafe { driver.cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active) }.unwrap();
    assert_eq!(flags, keep | 2);
    drop(device);
    bench.finish();
}

// Without it an error of either call could be lost.
#[test]
fn errors_of_the_flags_are_told() {
    let bench = bench();
    let device = bench.base.execution.devices().get(0).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for call in [
        id::cuDevicePrimaryCtxGetState,
        id::cuDevicePrimaryCtxSetFlags_v2,
    ] {
        bench.base.faults.fail(call, 1, code);
        let refused = device.contexts().set_primary_waiting(Waiting::Spin);
        assert_eq!(refused.unwrap_err().status(), Some(code));
        bench.base.faults.reset();
    }
    assert_eq!(
        device.contexts().primary_state().unwrap().waiting,
        Waiting::Auto
    );
    drop(device);
    bench.finish();
}
