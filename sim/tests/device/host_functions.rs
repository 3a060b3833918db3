//! Host functions: which thread runs them, and what they may do.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use cupola_sys::driver::*;

use crate::support::{Gate, TestBench, code};

const BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_DEFAULT;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// Without it, a call that waits could execute a host function itself, under locks of the
/// program that the function may take, or leave behind it what it should have waited for.
#[test]
fn a_call_that_waits_leaves_host_functions_to_the_stream() {
    unsafe extern "C" fn note(data: *mut c_void) {
        // SAFETY: the vector outlives the stream's work.
        let notes = unsafe { &*data.cast::<Mutex<Vec<std::thread::ThreadId>>>() };
        notes.lock().unwrap().push(std::thread::current().id());
    }
    let bench = TestBench::new();
    let stream = bench.stream(NON_BLOCKING);
    let (a, notes) = (bench.alloc(4), Mutex::new(Vec::new()));
    for value in 0..200u32 {
        let data = (&raw const notes).cast_mut().cast();
        // SAFETY: the memory and the vector outlive the work.
        unsafe {
            let driver = &bench.driver;
            driver.cuMemsetD32Async(a, value, 1, stream).unwrap();
            driver.cuLaunchHostFunc(stream, Some(note), data).unwrap();
            driver.cuMemsetD32Async(a, value + 1, 1, stream).unwrap();
        }
        bench.wait(stream);
        assert_eq!(notes.lock().unwrap().len(), value as usize + 1);
        assert_eq!(bench.download(a, 4), (value + 1).to_le_bytes());
    }
    let me = std::thread::current().id();
    assert!(!notes.lock().unwrap().contains(&me));
    bench.free(a);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, a host function could call the driver and wait for its own stream.
#[test]
fn host_functions_must_not_call_the_driver() {
    struct Seen {
        driver: Driver,
        code: AtomicI32,
        status: AtomicI32,
    }
    unsafe extern "C" fn call(data: *mut c_void) {
        // SAFETY: the value outlives the stream's work.
        let seen = unsafe { &*data.cast::<Seen>() };
        // SAFETY: no pointers.
        let result = unsafe { seen.driver.cuCtxSynchronize() };
        seen.code
            .store(code(result).0.cast_signed(), Ordering::SeqCst);
    }
    unsafe extern "C" fn callback(_: CUstream, status: CUresult, data: *mut c_void) {
        // SAFETY: as above.
        let seen = unsafe { &*data.cast::<Seen>() };
        seen.status.store(status.0.cast_signed(), Ordering::SeqCst);
    }
    let bench = TestBench::new();
    let stream = bench.stream(BLOCKING);
    let seen = Seen {
        driver: bench.driver.clone(),
        code: AtomicI32::new(-1),
        status: AtomicI32::new(-1),
    };
    let data = (&raw const seen).cast_mut().cast::<c_void>();
    // SAFETY: the value outlives the stream's work.
    unsafe {
        bench
            .driver
            .cuLaunchHostFunc(stream, Some(call), data)
            .unwrap();
        bench
            .driver
            .cuStreamAddCallback(stream, Some(callback), data, 0)
            .unwrap();
        bench.wait(stream);
        let none = bench.driver.cuLaunchHostFunc(stream, None, data);
        assert_eq!(code(none), CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    assert_eq!(seen.code.load(Ordering::SeqCst), 800);
    assert_eq!(seen.status.load(Ordering::SeqCst), 0);
    // After a fault, functions are dropped and callbacks are told.
    seen.code.store(-1, Ordering::SeqCst);
    let gate = Gate::new();
    gate.block(&bench, stream);
    let mut freed = 0;
    // SAFETY: the value outlives the stream's work; the fault is wanted.
    unsafe {
        bench
            .driver
            .cuMemAllocAsync(&raw mut freed, 16, stream)
            .unwrap();
        bench.driver.cuMemFreeAsync(freed, stream).unwrap();
        bench.driver.cuMemsetD8Async(freed, 0, 16, stream).unwrap();
        bench
            .driver
            .cuLaunchHostFunc(stream, Some(call), data)
            .unwrap();
        bench
            .driver
            .cuStreamAddCallback(stream, Some(callback), data, 0)
            .unwrap();
        gate.open();
        let fault = code(bench.driver.cuStreamSynchronize(stream));
        assert_eq!(fault, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    assert_eq!(seen.code.load(Ordering::SeqCst), -1);
    assert_eq!(seen.status.load(Ordering::SeqCst), 700);
    bench.finish();
}
