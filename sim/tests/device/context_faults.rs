//! Contexts that have failed, and those that wait for them.

use cupola_sim::{Machine, Order};
use cupola_sys::driver::*;

use crate::calls::alloc;
use crate::support::{Code, Gate, TestBench, code, started, without_hanging};

const OK: Code = CUresult::CUDA_SUCCESS;

/// Makes the context's stream fault, and gives the code that the program sees.
fn fault(bench: &TestBench) -> Code {
    let mut freed = 0;
    let null = std::ptr::null_mut();
    // SAFETY: the place outlives the call; the fault is wanted.
    unsafe {
        bench
            .driver
            .cuMemAllocAsync(&raw mut freed, 16, null)
            .unwrap();
        bench.driver.cuMemFreeAsync(freed, null).unwrap();
        bench.driver.cuMemsetD8Async(freed, 0, 16, null).unwrap();
        code(bench.driver.cuCtxSynchronize())
    }
}

/// Without it, a program could go on in a context that has failed, or fail in one that
/// has not.
#[test]
fn a_fault_sticks_to_its_context() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let bad = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    let (stream, event) = (
        bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING),
        bench.event(),
    );
    let (mut other, mut device) = (std::ptr::null_mut(), 9);
    assert_eq!(fault(&bench), bad);
    // SAFETY: live handles; the places outlive the calls.
    unsafe {
        assert_eq!(alloc(d), bad);
        assert_eq!(code(d.cuStreamQuery(stream)), bad);
        assert_eq!(code(d.cuStreamSynchronize(stream)), bad);
        assert_eq!(code(d.cuStreamDestroy_v2(stream)), bad);
        assert_eq!(code(d.cuEventQuery(event)), bad);
        assert_eq!(code(d.cuEventRecord(event, stream)), bad);
        assert_eq!(code(d.cuEventDestroy_v2(event)), bad);
        assert_eq!(code(d.cuCtxSynchronize()), bad);
        // What does not touch the context's work goes on.
        d.cuCtxGetDevice(&raw mut device).unwrap();
        d.cuCtxSetCurrent(bench.context).unwrap();
        // So does another context.
        d.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
        assert_eq!(alloc(d), OK);
        d.cuCtxSynchronize().unwrap();
        assert_eq!(code(d.cuStreamSynchronize(stream)), bad);
        d.cuCtxDestroy_v2(other).unwrap();
    }
    bench.finish();
}

/// Without it, a primary context that failed could not be had anew.
#[test]
fn a_reset_heals_a_primary_context() {
    let (machine, d) = started(Machine::builder().devices(2));
    let mut context = std::ptr::null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut context, 0).unwrap();
        d.cuCtxSetCurrent(context).unwrap();
        let bench = TestBench {
            machine: machine.clone(),
            driver: d.clone(),
            context,
        };
        assert_eq!(fault(&bench), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        d.cuDevicePrimaryCtxReset_v2(0).unwrap();
        d.cuDevicePrimaryCtxRetain(&raw mut context, 0).unwrap();
        assert_eq!(alloc(&d), OK);
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, memory that a program unregisters in a context that has failed would stay
/// registered, and other contexts would read it when the program has freed it.
#[test]
fn a_failed_context_gives_up_its_registrations() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (mut own, mut other) = ([1u8; 1], std::ptr::null_mut());
    let memory = own.as_mut_ptr();
    // SAFETY: the host memory outlives the work; no thread reads it while it is written.
    unsafe {
        d.cuMemHostRegister_v2(memory.cast(), 1, 0).unwrap();
        let failed = fault(&bench);
        assert_eq!(failed, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(code(d.cuMemHostUnregister(memory.cast())), failed);
        assert_eq!(bench.machine.usage().registrations, 0);
        d.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
        let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
        let (a, gate) = (bench.alloc(1), Gate::new());
        gate.block(&bench, stream);
        d.cuMemcpyHtoDAsync_v2(a, memory.cast(), 1, stream).unwrap();
        memory.write_volatile(2);
        gate.open();
        d.cuStreamSynchronize(stream).unwrap();
        assert_eq!(bench.download(a, 1), [1]);
        d.cuCtxDestroy_v2(other).unwrap();
    }
    bench.finish();
}

/// Another context of the first device, and a stream of it. The current context stays.
fn other(bench: &TestBench) -> (CUcontext, CUstream) {
    let mut context = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuCtxCreate_v2(&raw mut context, 0, 0) }.unwrap();
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    // SAFETY: takes no place.
    unsafe { bench.driver.cuCtxPopCurrent_v2(std::ptr::null_mut()) }.unwrap();
    (context, stream)
}

/// Without it, a context that has failed would go on waiting for one that works, and could
/// not even be destroyed.
#[test]
fn a_failed_context_waits_for_nobody() {
    without_hanging(|| {
        let bench = TestBench::new();
        let d = &bench.driver;
        let (event, gate) = (bench.event(), Gate::new());
        let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
        gate.block(&bench, stream);
        let (context, waits) = other(&bench);
        // SAFETY: live handles.
        unsafe {
            d.cuEventRecord(event, stream).unwrap();
            d.cuStreamWaitEvent(waits, event, 0).unwrap();
            d.cuCtxPushCurrent_v2(context).unwrap();
            assert_eq!(fault(&bench), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
            d.cuCtxDestroy_v2(context).unwrap();
            gate.open();
        }
        bench.finish();
    });
}

/// Without it, a context would go on with data that a failed one never made.
#[test]
fn a_fault_spreads_to_who_waits_for_its_context() {
    without_hanging(|| {
        for order in [Order::Threads, Order::Seeded(3), Order::Timed] {
            let bench = TestBench::with(Machine::builder().order(order));
            let d = &bench.driver;
            let bad = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
            let (first, later) = (other(&bench), other(&bench));
            let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
            let opener = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
            let (event, flag, mut freed) = (bench.event(), bench.alloc(4), 0);
            bench.upload(flag, &[0; 4]);
            // SAFETY: live handles; the fault is wanted.
            unsafe {
                d.cuMemAllocAsync(&raw mut freed, 16, stream).unwrap();
                d.cuMemFreeAsync(freed, stream).unwrap();
                d.cuStreamWaitValue32_v2(stream, flag, 1, 1).unwrap();
                d.cuMemsetD8Async(freed, 0, 16, stream).unwrap();
                d.cuEventRecord(event, stream).unwrap();
                d.cuStreamWaitEvent(first.1, event, 0).unwrap();
                d.cuMemsetD32Async(flag, 1, 1, opener).unwrap();
                assert_eq!(code(d.cuStreamSynchronize(first.1)), bad);
                // A stream that has not waited yet is told, and goes on.
                assert_eq!(code(d.cuStreamWaitEvent(later.1, event, 0)), bad);
                d.cuStreamSynchronize(later.1).unwrap();
            }
        }
    });
}
