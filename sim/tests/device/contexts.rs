//! Machines, primary and created contexts, current stacks, sticky errors, threads.

use std::ffi::c_void;
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, Order};
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code, without_hanging};

const NO_CONTEXT: Code = CUresult::CUDA_ERROR_INVALID_CONTEXT;
const DESTROYED: Code = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
const OK: Code = CUresult::CUDA_SUCCESS;

fn started() -> (Machine, Driver) {
    let machine = Machine::builder().devices(2).build();
    let driver = machine.driver();
    // SAFETY: no pointers.
    unsafe { driver.cuInit(0) }.unwrap();
    (machine, driver)
}

fn alloc(driver: &Driver) -> Code {
    let mut address = 0;
    // SAFETY: the place outlives the calls.
    unsafe {
        let result = code(driver.cuMemAlloc_v2(&raw mut address, 16));
        if result == OK {
            driver.cuMemFree_v2(address).unwrap();
        }
        result
    }
}

fn current(driver: &Driver) -> CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuCtxGetCurrent(&raw mut context) }.unwrap();
    context
}

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

/// Without it, the primary context could live too long, or die too early. What is expected
/// here was seen on an H200.
#[test]
fn primary_contexts_are_counted() {
    let (machine, d) = started();
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
    let (machine, d) = started();
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
    let (machine, d) = started();
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

/// Queues a closure, which runs once and is dropped where it ran.
fn queue(driver: &Driver, stream: CUstream, work: impl FnOnce() + Send + 'static) {
    type Work = Box<dyn FnOnce() + Send>;
    unsafe extern "C" fn run(data: *mut c_void) {
        // SAFETY: made from a box below, once.
        let work = unsafe { Box::from_raw(data.cast::<Work>()) };
        work();
    }
    let work: Box<Work> = Box::new(Box::new(work));
    // SAFETY: the function takes this pointer, and runs once.
    unsafe { driver.cuLaunchHostFunc(stream, Some(run), Box::into_raw(work).cast()) }.unwrap();
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

/// Without it, a host function that asks what is in use would wait for the release that
/// waits for the function.
#[test]
fn usage_can_be_asked_while_a_primary_context_goes() {
    without_hanging(|| {
        let (machine, d) = started();
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
        let (machine, d) = started();
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
