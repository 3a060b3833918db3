//! Machines: what works before `cuInit`, that they are apart, and their end.

use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::calls::{current, queue};
use crate::support::{Code, TestBench, code, without_hanging};

const NO_CONTEXT: Code = CUresult::CUDA_ERROR_INVALID_CONTEXT;

/// Without it, programs that forget `cuInit` would pass here and fail on a GPU.
#[test]
fn nothing_works_before_init() {
    let machine = Machine::builder().build();
    let d = machine.driver();
    let (mut count, mut version) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let early = CUresult::CUDA_ERROR_NOT_INITIALIZED;
        assert_eq!(code(d.cuDeviceGetCount(&raw mut count)), early);
        assert!(d.cuDriverGetVersion(&raw mut version).is_ok());
        assert_eq!(code(d.cuInit(1)), CUresult::CUDA_ERROR_INVALID_VALUE);
        assert_eq!(code(d.cuDeviceGetCount(&raw mut count)), early);
        d.cuInit(0).unwrap();
        d.cuDeviceGetCount(&raw mut count).unwrap();
        let none = Machine::builder().devices(0).build().driver();
        assert_eq!(code(none.cuInit(0)), CUresult::CUDA_ERROR_NO_DEVICE);
    }
    assert_eq!((count, version), (1, 13_000));
}

/// Without it, machines of one process could see each other's handles and memory.
#[test]
fn machines_are_apart() {
    let (one, two) = (TestBench::new(), TestBench::new());
    // This thread has a current context in both.
    assert_ne!(one.context, two.context);
    assert_eq!(current(&one.driver), one.context);
    assert_eq!(current(&two.driver), two.context);
    let stream = one.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let address = one.alloc(64);
    // SAFETY: handles are checked.
    unsafe {
        let foreign = code(two.driver.cuStreamSynchronize(stream));
        assert_eq!(foreign, CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(code(two.driver.cuCtxSetCurrent(one.context)), NO_CONTEXT);
        let foreign = code(two.driver.cuMemFree_v2(address));
        assert_eq!(foreign, CUresult::CUDA_ERROR_INVALID_VALUE);
        one.driver.cuStreamDestroy_v2(stream).unwrap();
    }
    one.free(address);
    one.finish();
    two.finish();
}

/// Without it, a program that ends with work queued could hang, or leave threads behind
/// that touch its memory. The first memset would take for ever, also where the longest
/// delays are added up.
#[test]
fn a_machine_ends_with_work_queued() {
    without_hanging(|| {
        let config = DeviceConfig::new().operation_delay(Duration::MAX);
        let config = config.jitter(Duration::MAX, 7);
        let bench = TestBench::with(Machine::builder().device(config));
        let a = bench.alloc(1024);
        let event = bench.event();
        for _ in 0..4 {
            let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
            for _ in 0..500 {
                // SAFETY: live handles and memory.
                unsafe {
                    bench.driver.cuMemsetD8Async(a, 1, 1024, stream).unwrap();
                    bench.driver.cuEventRecord(event, stream).unwrap();
                    bench
                        .driver
                        .cuStreamWaitEvent(std::ptr::null_mut(), event, 0)
                        .unwrap();
                }
            }
        }
        drop(bench);
    });
}

/// Without it, the last handle of a machine that goes in a host function would wait for
/// that function's own stream.
#[test]
fn a_machine_can_end_in_a_host_function() {
    without_hanging(|| {
        let bench = TestBench::new();
        let (ended, end) = std::sync::mpsc::channel();
        let (alone, go) = std::sync::mpsc::channel::<()>();
        let (machine, driver) = (bench.machine.clone(), bench.driver.clone());
        queue(&bench.driver, std::ptr::null_mut(), move || {
            // Until the test has dropped its own handles.
            go.recv().unwrap();
            drop((machine, driver));
            ended.send(()).unwrap();
        });
        drop(bench);
        alone.send(()).unwrap();
        end.recv().unwrap();
    });
}
