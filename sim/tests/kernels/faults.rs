//! Faults of kernels: when they arrive, and what is over then.

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::ptx::KERNELS;
use crate::support::{Gate, TestBench, code};

/// Without it, a faulting kernel could go unnoticed, give the wrong code, or take other
/// contexts with it.
#[test]
fn faults_arrive_late_and_stay() {
    let ok = CUresult::CUDA_SUCCESS;
    let cases = [
        (c"store", 0x10u64, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        (
            c"store",
            0x1_0100_0000_0002,
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        ),
        (c"stop", 0, CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (c"check", 0, CUresult::CUDA_ERROR_ASSERT),
    ];
    for (name, address, wanted) in cases {
        let bench = TestBench::new();
        let module = bench.load(KERNELS);
        let kernel = bench.function(module, name);
        let (stream, gate) = (
            bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING),
            Gate::new(),
        );
        gate.block(&bench, stream);
        assert_eq!(bench.launch(kernel, 1, 1, stream, &[address, 5]), ok);
        // The call cannot know yet.
        let a = bench.alloc(4);
        gate.open();
        // SAFETY: live handles; the place outlives the calls.
        unsafe {
            assert_eq!(
                code(bench.driver.cuStreamSynchronize(stream)),
                wanted,
                "{name:?}"
            );
            assert_eq!(code(bench.driver.cuMemFree_v2(a)), wanted);
            assert_eq!(bench.launch(kernel, 1, 1, stream, &[address, 5]), wanted);
        }
        let said = bench.machine.messages().join("\n");
        assert!(said.contains(name.to_str().unwrap()), "{said}");
        bench.finish();
    }
}

/// Without it, a kernel could read memory that was freed before it in stream order.
#[test]
fn a_kernel_cannot_use_freed_memory() {
    let bench = TestBench::new();
    let module = bench.load(KERNELS);
    let store = bench.function(module, c"store");
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let mut a = 0u64;
    // SAFETY: the place outlives the calls.
    unsafe {
        bench.driver.cuMemAllocAsync(&raw mut a, 4, stream).unwrap();
        bench.launch(store, 1, 1, stream, &[a, 5]);
        bench.driver.cuStreamSynchronize(stream).unwrap();
        bench.driver.cuMemFreeAsync(a, stream).unwrap();
        bench.launch(store, 1, 1, stream, &[a, 5]);
        let fault = code(bench.driver.cuStreamSynchronize(stream));
        assert_eq!(fault, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    bench.finish();
}

/// Without it, ending a machine could wait for a kernel that never ends.
#[test]
fn a_machine_ends_with_a_kernel_running() {
    let bench = TestBench::with(
        Machine::builder()
            .device(DeviceConfig::new())
            .worker_threads(2),
    );
    let module = bench.load(KERNELS);
    let for_ever = bench.function(module, c"for_ever");
    let started = bench.launch(for_ever, 4, 32, std::ptr::null_mut(), &[]);
    assert_eq!(started, CUresult::CUDA_SUCCESS);
    drop(bench);
}

/// Without it a program that is debugged with `CUDA_LAUNCH_BLOCKING=1` would not learn from the
/// launch itself that its kernel fails.
#[test]
fn a_blocking_launch_returns_the_kernels_fault() {
    let bench = TestBench::with(Machine::builder().launch_blocking(true));
    let module = bench.load(KERNELS);
    let nothing = bench.function(module, c"nothing");
    let stop = bench.function(module, c"stop");
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let good = bench.launch(nothing, 1, 1, stream, &[]);
    assert_eq!(good, CUresult::CUDA_SUCCESS);
    // SAFETY: a live handle.
    unsafe { bench.driver.cuStreamQuery(stream) }.unwrap();
    let bad = bench.launch(stop, 1, 1, stream, &[]);
    assert_eq!(bad, CUresult::CUDA_ERROR_LAUNCH_FAILED);
}
