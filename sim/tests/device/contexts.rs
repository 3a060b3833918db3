//! Contexts: primary and created ones, current stacks, threads.

use std::time::Duration;

use cupola_sim::Machine;
use cupola_sys::driver::*;

use crate::calls::{alloc, current, queue};
use crate::support::{Code, Gate, TestBench, code, started, without_hanging};

const NO_CONTEXT: Code = CUresult::CUDA_ERROR_INVALID_CONTEXT;
const DESTROYED: Code = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
const OK: Code = CUresult::CUDA_SUCCESS;

/// Without it, the primary context could live too long, or die too early. What is expected
/// here was seen on an H200.
#[test]
fn primary_contexts_are_counted() {
    let (machine, d) = started(Machine::builder().devices(2));
    let (mut first, mut again) = (std::ptr::null_mut(), std::ptr::null_mut());
    let (mut flags, mut active) = (9, 9);
    // SAFETY: the places outlive the calls.
    unsafe {
        assert_eq!(code(d.cuDevicePrimaryCtxRelease_v2(0)), NO_CONTEXT);
        d.cuDevicePrimaryCtxRetain(&raw mut first, 0).unwrap();
        d.cuDevicePrimaryCtxRetain(&raw mut again, 0).unwrap();
        assert_eq!(first, again);
        assert_eq!(alloc(&d), NO_CONTEXT);
        d.cuCtxSetCurrent(first).unwrap();
        assert_eq!(alloc(&d), OK);
        assert_eq!(code(d.cuCtxDestroy_v2(first)), NO_CONTEXT);
        d.cuDevicePrimaryCtxReset_v2(0).unwrap();
        d.cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active)
            .unwrap();
        assert_eq!((flags, active), (0, 0));
        // The handle stays current and good for nothing until the next retain.
        assert_eq!(current(&d), first);
        assert_eq!(alloc(&d), DESTROYED);
        assert_eq!(code(d.cuCtxSynchronize()), DESTROYED);
        assert!(d.cuCtxSetCurrent(first).is_ok());
        d.cuDevicePrimaryCtxSetFlags_v2(0, 4).unwrap();
        d.cuDevicePrimaryCtxRetain(&raw mut again, 0).unwrap();
        assert_eq!(first, again);
        assert_eq!(alloc(&d), OK);
        d.cuCtxGetFlags(&raw mut flags).unwrap();
        assert_eq!(flags, 4);
        // The reset did not take the first two retains away.
        for _ in 0..3 {
            assert!(machine.leaks().is_some());
            d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
        }
        assert_eq!(code(d.cuDevicePrimaryCtxRelease_v2(0)), NO_CONTEXT);
    }
    assert_eq!(alloc(&d), DESTROYED);
    assert_eq!(machine.leaks(), None);
}

/// Without it, a thread could work in the context of another.
#[test]
fn each_thread_has_its_own_stack() {
    let (machine, d) = started(Machine::builder().devices(2));
    let (mut a, mut b, mut popped) = (
        std::ptr::null_mut(),
        std::ptr::null_mut(),
        std::ptr::null_mut(),
    );
    let mut device = 9;
    // SAFETY: the places outlive the calls.
    unsafe {
        assert_eq!(code(d.cuCtxPopCurrent_v2(&raw mut popped)), NO_CONTEXT);
        d.cuCtxCreate_v2(&raw mut a, 0, 0).unwrap();
        d.cuCtxCreate_v4(&raw mut b, std::ptr::null_mut(), 0, 1)
            .unwrap();
        assert_eq!(current(&d), b);
        d.cuCtxGetDevice(&raw mut device).unwrap();
        assert_eq!(device, 1);
        let handle = a.addr();
        let d2 = &d;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                assert!(current(d2).is_null());
                assert_eq!(alloc(d2), NO_CONTEXT);
                let a: CUcontext = std::ptr::without_provenance_mut(handle);
                d2.cuCtxPushCurrent_v2(a).unwrap();
                assert_eq!(current(d2), a);
            });
        });
        assert_eq!(current(&d), b);
        d.cuCtxPopCurrent_v2(&raw mut popped).unwrap();
        assert_eq!((popped, current(&d)), (b, a));
        d.cuCtxSetCurrent(b).unwrap();
        assert_eq!(current(&d), b);
        // `b` took the place of `a`: nothing is below it.
        d.cuCtxSetCurrent(std::ptr::null_mut()).unwrap();
        assert!(current(&d).is_null());
        d.cuCtxDestroy_v2(a).unwrap();
        d.cuCtxDestroy_v2(b).unwrap();
        assert_eq!(code(d.cuCtxDestroy_v2(b)), NO_CONTEXT);
        assert_eq!(code(d.cuCtxSetCurrent(b)), NO_CONTEXT);
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a thread whose context another thread destroyed could go on in it.
#[test]
fn a_destroyed_context_is_gone_for_all_threads() {
    let bench = TestBench::new();
    let barrier = std::sync::Barrier::new(2);
    let address = bench.alloc(16);
    std::thread::scope(|scope| {
        let handle = bench.context.addr();
        let (d, barrier) = (&bench.driver, &barrier);
        scope.spawn(move || {
            // SAFETY: a live handle.
            unsafe { d.cuCtxSetCurrent(std::ptr::without_provenance_mut(handle)) }.unwrap();
            barrier.wait();
            barrier.wait();
            assert_eq!(alloc(d), DESTROYED);
        });
        barrier.wait();
        // SAFETY: a live handle.
        unsafe { bench.driver.cuCtxDestroy_v2(bench.context) }.unwrap();
        barrier.wait();
    });
    assert!(current(&bench.driver).is_null());
    // The context took its memory along.
    assert_eq!(bench.machine.leaks(), None);
    // SAFETY: frees are checked.
    let free = unsafe { bench.driver.cuMemFree_v2(address) };
    assert_eq!(code(free), CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// Without it, questions about a context could be answered wrong.
#[test]
fn contexts_know_what_they_are() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (mut version, mut id, mut other, mut value) = (0, 0, 0, 0);
    let (mut least, mut greatest) = (9, 9);
    let mut second = std::ptr::null_mut();
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuCtxGetApiVersion(bench.context, &raw mut version)
            .unwrap();
        assert!(version >= 3020);
        d.cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
            .unwrap();
        assert!(least > greatest);
        d.cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 4096).unwrap();
        d.cuCtxGetLimit(&raw mut value, CUlimit::CU_LIMIT_STACK_SIZE)
            .unwrap();
        assert_eq!(value, 4096);
        let unknown = code(d.cuCtxGetLimit(&raw mut value, CUlimit(99)));
        assert_eq!(unknown, CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT);
        d.cuCtxGetId(std::ptr::null_mut(), &raw mut id).unwrap();
        d.cuCtxCreate_v2(&raw mut second, 0, 0).unwrap();
        d.cuCtxGetId(second, &raw mut other).unwrap();
        assert_ne!(id, other);
        for flags in [3, 0x10000] {
            let bad = d.cuCtxCreate_v2(&raw mut second, flags, 0);
            assert_eq!(code(bad), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        d.cuCtxDestroy_v2(second).unwrap();
    }
    bench.finish();
}

/// Without it, a host function that asks what is in use would wait for the release that
/// waits for the function.
#[test]
fn usage_can_be_asked_while_a_primary_context_goes() {
    without_hanging(|| {
        let (machine, d) = started(Machine::builder().devices(2));
        let mut context = std::ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe {
            d.cuDevicePrimaryCtxRetain(&raw mut context, 0).unwrap();
            d.cuCtxSetCurrent(context).unwrap();
        }
        let asked = machine.clone();
        queue(&d, std::ptr::null_mut(), move || {
            // The release has begun as soon as the context is not retained.
            while asked.usage().contexts > 0 {
                std::thread::yield_now();
            }
        });
        // SAFETY: no pointers.
        unsafe { d.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
        assert_eq!(machine.leaks(), None);
    });
}

/// Without it, a context could not be destroyed while it has work, or lose the work.
#[test]
fn destroying_a_context_waits_for_its_work() {
    let bench = TestBench::new();
    let (a, stream, gate) = (
        bench.alloc(1),
        bench.stream(CUstream_flags::CU_STREAM_DEFAULT),
        Gate::new(),
    );
    gate.block(&bench, stream);
    let mut own = [0u8; 1];
    // SAFETY: the memory outlives the context's work.
    unsafe {
        let page = own.as_mut_ptr();
        bench
            .driver
            .cuMemHostRegister_v2(page.cast(), 1, 0)
            .unwrap();
        bench.driver.cuMemsetD8Async(a, 7, 1, stream).unwrap();
        bench
            .driver
            .cuMemcpyDtoHAsync_v2(page.cast(), a, 1, stream)
            .unwrap();
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            gate.open();
        });
        bench.finish();
    });
    assert_eq!(own, [7]);
}

/// Without it, threads that share a context, or have their own, could disturb each other.
#[test]
fn many_threads_work_at_once() {
    let bench = TestBench::new();
    std::thread::scope(|scope| {
        for seed in 0..8u8 {
            let handle = bench.context.addr();
            let d = &bench.driver;
            scope.spawn(move || {
                let mut context: CUcontext = std::ptr::without_provenance_mut(handle);
                let own = seed % 2 == 0;
                let (mut stream, mut address) = (std::ptr::null_mut(), 0);
                let mut bytes = [0u8; 256];
                // SAFETY: live handles; the places outlive the calls.
                unsafe {
                    if own {
                        d.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
                    } else {
                        d.cuCtxSetCurrent(context).unwrap();
                    }
                    for round in 0..40u8 {
                        d.cuStreamCreate(&raw mut stream, u32::from(round % 2))
                            .unwrap();
                        d.cuMemAllocAsync(&raw mut address, 256, stream).unwrap();
                        let value = seed.wrapping_mul(41).wrapping_add(round);
                        d.cuMemsetD8Async(address, value, 256, stream).unwrap();
                        let to = bytes.as_mut_ptr().cast();
                        d.cuMemcpyDtoHAsync_v2(to, address, 256, stream).unwrap();
                        assert!(bytes.iter().all(|byte| *byte == value));
                        d.cuMemFreeAsync(address, stream).unwrap();
                        if round % 8 == 0 {
                            // The legacy stream ties the threads' blocking streams together.
                            d.cuMemcpyDtoH_v2(to, address, 0).unwrap();
                            d.cuStreamSynchronize(std::ptr::null_mut()).unwrap();
                        }
                        d.cuStreamDestroy_v2(stream).unwrap();
                    }
                    if own {
                        d.cuCtxDestroy_v2(context).unwrap();
                    }
                }
            });
        }
    });
    bench.finish();
}

/// Without it, a host function that waits for a thread which retains the context would wait
/// for the release that waits for the function; or the retained context would be gone.
#[test]
fn a_primary_context_may_be_retained_while_it_goes() {
    without_hanging(|| {
        let (machine, d) = started(Machine::builder().devices(2));
        let mut context = std::ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe {
            d.cuDevicePrimaryCtxRetain(&raw mut context, 0).unwrap();
            d.cuCtxSetCurrent(context).unwrap();
        }
        let (go, retained) = std::sync::mpsc::channel();
        queue(&d, std::ptr::null_mut(), move || retained.recv().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The release has begun as soon as the context is not retained.
                while machine.usage().contexts > 0 {
                    std::thread::yield_now();
                }
                let mut again = std::ptr::null_mut();
                // SAFETY: the place outlives the call.
                unsafe { d.cuDevicePrimaryCtxRetain(&raw mut again, 0) }.unwrap();
                go.send(()).unwrap();
            });
            // SAFETY: no pointers.
            unsafe { d.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
        });
        assert_eq!(alloc(&d), OK);
        // SAFETY: no pointers.
        unsafe { d.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
        assert_eq!(alloc(&d), DESTROYED);
        assert_eq!(machine.leaks(), None);
    });
}
