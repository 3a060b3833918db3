//! Green contexts: what only the software device says, and its rules for who holds what.
//! `tests/surface/green` has what hardware does too.

use std::ptr::null_mut;
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, Order, Strict};
use cupola_sys::driver::*;
use cupola_sys::{CallError, Version};

use crate::support::{Code, TestBench, code, started};

const OK: Code = CUresult::CUDA_SUCCESS;
const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const NO_CONTEXT: Code = CUresult::CUDA_ERROR_INVALID_CONTEXT;
const DESTROYED: Code = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
const NOT_PERMITTED: Code = CUresult::CUDA_ERROR_NOT_PERMITTED;
const CONFIGURATION: Code = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
const SM: CUdevResourceType = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;

fn resource(d: &Driver, device: CUdevice) -> CUdevResource {
    let mut resource = CUdevResource::default();
    // SAFETY: the place outlives the call.
    unsafe { d.cuDeviceGetDevResource(device, &raw mut resource, SM) }.unwrap();
    resource
}

/// As many groups of at least `least` as there are, up to `count`.
fn split(d: &Driver, input: &CUdevResource, mut count: u32, least: u32) -> Vec<CUdevResource> {
    let mut groups = vec![CUdevResource::default(); count as usize];
    let (first, number) = (groups.as_mut_ptr(), &raw mut count);
    // SAFETY: the places outlive the call.
    unsafe { d.cuDevSmResourceSplitByCount(first, number, input, null_mut(), 0, least) }.unwrap();
    groups.truncate(count as usize);
    groups
}

fn describe(d: &Driver, resources: &mut [CUdevResource]) -> Result<CUdevResourceDesc, Code> {
    let mut descriptor = null_mut();
    let (first, count) = (resources.as_mut_ptr(), resources.len() as u32);
    // SAFETY: the places outlive the call.
    let made = unsafe { d.cuDevResourceGenerateDesc(&raw mut descriptor, first, count) };
    match code(made) {
        OK => Ok(descriptor),
        other => Err(other),
    }
}

/// A green context of device 0 with those multiprocessors, and the context it is.
fn green(d: &Driver, resources: &mut [CUdevResource]) -> (CUgreenCtx, CUcontext) {
    let descriptor = describe(d, resources).unwrap();
    let (mut green, mut context) = (null_mut(), null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuGreenCtxCreate(&raw mut green, descriptor, 0, 1)
            .unwrap();
        d.cuCtxFromGreenCtx(&raw mut context, green).unwrap();
    }
    (green, context)
}

fn count_of(d: &Driver, green: CUgreenCtx) -> u32 {
    let mut resource = CUdevResource::default();
    // SAFETY: the place outlives the call; the resource is one of multiprocessors.
    unsafe {
        d.cuGreenCtxGetDevResource(green, &raw mut resource, SM)
            .unwrap();
        resource.__bindgen_anon_1.sm.smCount
    }
}

fn is_active(d: &Driver) -> bool {
    let (mut flags, mut active) = (0, 0);
    // SAFETY: the places outlive the call.
    unsafe { d.cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active) }.unwrap();
    active == 1
}

/// Without it, a primary context could end under a green one, or stay for ever.
#[test]
fn a_green_context_holds_the_primary_context() {
    let (machine, d) = started(Machine::builder());
    let part = split(&d, &resource(&d, 0), 1, 4)[0];
    assert!(!is_active(&d));
    let (first, context) = green(&d, &mut [part]);
    // The same descriptor or resource serves again.
    let (second, _) = green(&d, &mut [part]);
    assert!(is_active(&d));
    assert_eq!(machine.usage().contexts, 2);
    let mut primary = null_mut();
    // SAFETY: the places outlive the calls; live handles, and those that are asked about.
    unsafe {
        // As on an H200: the program has nothing to release.
        assert_eq!(code(d.cuDevicePrimaryCtxRelease_v2(0)), NOT_PERMITTED);
        assert_eq!(code(d.cuDevicePrimaryCtxReset_v2(0)), NOT_PERMITTED);
        d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
        assert!(is_active(&d));
        d.cuGreenCtxDestroy(first).unwrap();
        assert!(is_active(&d));
        // Everything that takes it says that it is gone.
        assert_eq!(code(d.cuGreenCtxDestroy(first)), DESTROYED);
        assert_eq!(code(d.cuCtxSetCurrent(context)), DESTROYED);
        assert_eq!(code(d.cuCtxPushCurrent_v2(context)), DESTROYED);
        assert_eq!(code(d.cuCtxDestroy_v2(context)), DESTROYED);
        let mut place = null_mut();
        let stale = d.cuCtxFromGreenCtx(&raw mut place, first);
        assert_eq!(code(stale), DESTROYED);
        let mut stream = null_mut();
        let stale = d.cuGreenCtxStreamCreate(&raw mut stream, first, 1, 0);
        assert_eq!(code(stale), DESTROYED);
        // A primary context is no green one, nor is what never was a handle.
        assert_eq!(code(d.cuGreenCtxDestroy(primary.cast())), NO_CONTEXT);
        d.cuGreenCtxDestroy(second).unwrap();
        assert!(!is_active(&d));
        let none = CUresult::CUDA_ERROR_INVALID_CONTEXT;
        assert_eq!(code(d.cuDevicePrimaryCtxRelease_v2(0)), none);
        d.cuDevicePrimaryCtxReset_v2(0).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a green context could be made of multiprocessors that are not the device's,
/// or that were given out apart.
#[test]
fn descriptors_take_what_belongs_together() {
    let hopper = DeviceConfig::new()
        .compute_capability(9, 0)
        .multiprocessors(132);
    let (machine, d) = started(Machine::builder().device(hopper.clone()).add_device(hopper));
    let whole = resource(&d, 0);
    let parts = split(&d, &whole, 40, 8);
    assert_eq!(parts.len(), 16);
    let others = split(&d, &whole, 2, 8);
    assert_eq!(
        describe(&d, &mut [parts[0], others[1]]).err(),
        Some(CONFIGURATION)
    );
    assert_eq!(
        describe(&d, &mut [parts[0], whole]).err(),
        Some(CONFIGURATION)
    );
    assert_eq!(describe(&d, &mut []).err(), Some(INVALID));
    let mut forged = parts[0];
    forged.__bindgen_anon_1 = CUdevResource_st__bindgen_ty_1 {
        sm: CUdevSmResource {
            smCount: 16,
            ..CUdevSmResource::default()
        },
    };
    assert_eq!(describe(&d, &mut [forged]).err(), Some(CONFIGURATION));
    // Of another machine.
    let (_other, far) = started(Machine::builder());
    assert_eq!(describe(&far, &mut [whole]).err(), Some(CONFIGURATION));
    let descriptor = describe(&d, &mut [parts[0]]).unwrap();
    let mut none = null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        let elsewhere = d.cuGreenCtxCreate(&raw mut none, descriptor, 1, 1);
        assert_eq!(code(elsewhere), INVALID);
        let nothing = d.cuGreenCtxCreate(&raw mut none, null_mut(), 0, 1);
        assert_eq!(code(nothing), INVALID);
    }
    assert!(!is_active(&d));
    // Groups that are not neighbours, one of them named twice.
    let (several, _) = green(&d, &mut [parts[0], parts[3], parts[0], parts[15]]);
    assert_eq!(count_of(&d, several), 24);
    let (all, _) = green(&d, &mut [whole]);
    assert_eq!(count_of(&d, all), 132);
    // SAFETY: live handles.
    unsafe {
        d.cuGreenCtxDestroy(several).unwrap();
        d.cuGreenCtxDestroy(all).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a green context could get the time of the whole device.
#[test]
fn virtual_time_knows_the_multiprocessors() {
    const KERNEL: &std::ffi::CStr = c".version 7.0
.target sm_60
.address_size 64
.visible .entry k() {
    .reg .u32 %i; .reg .pred %p;
    mov.u32 %i, 0;
again:
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 1000;
    @%p bra again;
    ret;
}
";
    let (machine, d) = started(Machine::builder().order(Order::Timed));
    let mut primary = null_mut();
    let (mut module, mut function) = (null_mut(), null_mut());
    // SAFETY: the places and the image outlive the calls.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
        d.cuCtxSetCurrent(primary).unwrap();
        d.cuModuleLoadData(&raw mut module, KERNEL.as_ptr().cast())
            .unwrap();
        d.cuModuleGetFunction(&raw mut function, module, c"k".as_ptr())
            .unwrap();
    }
    let time = |stream: CUstream| {
        let (mut start, mut end, mut took) = (null_mut(), null_mut(), 0.0);
        // SAFETY: the places outlive the calls; the kernel has no parameters.
        unsafe {
            d.cuEventCreate(&raw mut start, 0).unwrap();
            d.cuEventCreate(&raw mut end, 0).unwrap();
            d.cuEventRecord(start, stream).unwrap();
            let none = null_mut();
            d.cuLaunchKernel(function, 8, 1, 1, 32, 1, 1, 0, stream, none, null_mut())
                .unwrap();
            d.cuEventRecord(end, stream).unwrap();
            d.cuEventSynchronize(end).unwrap();
            d.cuEventElapsedTime(&raw mut took, start, end).unwrap();
            d.cuEventDestroy_v2(start).unwrap();
            d.cuEventDestroy_v2(end).unwrap();
        }
        Duration::from_secs_f32(took / 1e3)
    };
    let whole = time(null_mut());
    // 4 of 8.
    let (half, _) = green(&d, &mut [split(&d, &resource(&d, 0), 1, 4)[0]]);
    let mut stream = null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuGreenCtxStreamCreate(&raw mut stream, half, 1, 0) }.unwrap();
    let halved = time(stream);
    // A float of milliseconds has seven digits.
    let close = halved.abs_diff(whole * 2) < Duration::from_nanos(10);
    assert!(close, "{whole:?} and {halved:?}");
    // SAFETY: live handles.
    unsafe {
        d.cuStreamDestroy_v2(stream).unwrap();
        d.cuGreenCtxDestroy(half).unwrap();
        d.cuModuleUnload(module).unwrap();
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a stream that outlives its green context would be no mistake, and a
/// program could not tell drivers apart by what they say of it.
#[test]
fn streams_are_destroyed_before_their_green_context() {
    for (version, detached, ended) in [
        (Version(13_000), DESTROYED, DESTROYED),
        (Version(13_010), CUresult::CUDA_ERROR_STREAM_DETACHED, OK),
    ] {
        let builder = Machine::builder().driver_version(version);
        let (machine, d) = started(builder.strict(Strict::LEAKS));
        let (first, _) = green(&d, &mut [resource(&d, 0)]);
        let (mut stream, mut primary) = (null_mut(), null_mut());
        // SAFETY: the places outlive the calls.
        unsafe {
            d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
            d.cuGreenCtxStreamCreate(&raw mut stream, first, 1, 0)
                .unwrap();
            d.cuGreenCtxDestroy(first).unwrap();
            let findings = machine.take_findings();
            assert_eq!(findings.len(), 1, "{findings:?}");
            let text = findings[0].to_string();
            assert!(text.contains("cuGreenCtxStreamCreate"), "{text}");
            assert_eq!(machine.usage().streams, 1);
            assert_eq!(code(d.cuStreamQuery(stream)), detached);
            assert_eq!(code(d.cuStreamDestroy_v2(stream)), ended);
            d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
            assert_eq!(machine.leaks(), None);
        }
        let (kept, _) = green(&d, &mut [resource(&d, 0)]);
        let report = machine.leak_report();
        assert!(report.iter().any(|leak| leak.what.contains("green")));
        // SAFETY: a live handle.
        unsafe { d.cuGreenCtxDestroy(kept) }.unwrap();
        assert!(machine.leak_report().is_empty());
    }
}

/// Without it, strict mode could miss that work in a green context does not come after what
/// it needs, or blame work that does.
#[test]
fn strict_mode_knows_what_comes_after_what() {
    check_order(None);
    // Work of the green context, or work that it should wait for, is used too early.
    check_order(Some(true));
    check_order(Some(false));
}

/// `wrong` says which mistake ends it, if one does: the context may fault then.
fn check_order(wrong: Option<bool>) {
    let (machine, d) = started(Machine::builder().strict(Strict::ORDER));
    let mut primary = null_mut();
    let (green, _) = green(&d, &mut [resource(&d, 0)]);
    // SAFETY: the places outlive the calls; live handles.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
        d.cuCtxSetCurrent(primary).unwrap();
        let (mut a, mut b, mut plain, mut event) = (null_mut(), null_mut(), null_mut(), null_mut());
        d.cuGreenCtxStreamCreate(&raw mut a, green, 1, 0).unwrap();
        d.cuGreenCtxStreamCreate(&raw mut b, green, 1, 0).unwrap();
        d.cuStreamCreate(&raw mut plain, 1).unwrap();
        d.cuEventCreate(&raw mut event, 2).unwrap();
        let use_and_free = |used: CUstream, freed: CUstream, between: &dyn Fn()| {
            let mut at = 0;
            d.cuMemAllocAsync(&raw mut at, 64, used).unwrap();
            d.cuMemsetD8Async(at, 1, 64, used).unwrap();
            between();
            d.cuMemFreeAsync(at, freed).unwrap();
            // What does not come after what it needs may fault too.
            let _ = d.cuCtxSynchronize();
            machine.take_findings().len()
        };
        // The event covers both streams of the green context.
        let recorded = || {
            d.cuGreenCtxRecordEvent(green, event).unwrap();
            d.cuStreamWaitEvent(plain, event, 0).unwrap();
        };
        assert_eq!(use_and_free(a, plain, &recorded), 0);
        assert_eq!(use_and_free(b, plain, &recorded), 0);
        // The wait holds back both.
        let waited = || {
            d.cuEventRecord(event, plain).unwrap();
            d.cuGreenCtxWaitEvent(green, event).unwrap();
        };
        assert_eq!(use_and_free(plain, a, &waited), 0);
        assert_eq!(use_and_free(plain, b, &waited), 0);
        d.cuCtxSynchronize().unwrap();
        let used = match wrong {
            Some(true) => use_and_free(b, plain, &|| ()),
            Some(false) => use_and_free(plain, b, &|| ()),
            None => 0,
        };
        if wrong.is_some() {
            assert_eq!(used, 1);
            return;
        }
        for stream in [a, b, plain] {
            d.cuStreamDestroy_v2(stream).unwrap();
        }
        d.cuEventDestroy_v2(event).unwrap();
        d.cuGreenCtxDestroy(green).unwrap();
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
    }
    assert_eq!(machine.leaks(), None);
}

/// Without it, a program could go on in a context whose memory a fault has spoilt.
#[test]
fn a_fault_is_the_primary_contexts_too() {
    let (machine, d) = started(Machine::builder());
    let (green, context) = green(&d, &mut [resource(&d, 0)]);
    let mut primary = null_mut();
    const FAULT: Code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    // SAFETY: the places outlive the calls; the fault is what is tested.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
        d.cuCtxSetCurrent(context).unwrap();
        let mut at = 0;
        d.cuMemAllocAsync(&raw mut at, 64, null_mut()).unwrap();
        d.cuMemFreeAsync(at, null_mut()).unwrap();
        d.cuMemsetD8Async(at, 1, 64, null_mut()).unwrap();
        assert_eq!(code(d.cuCtxSynchronize()), FAULT);
        d.cuCtxSetCurrent(primary).unwrap();
        assert_eq!(code(d.cuCtxSynchronize()), FAULT);
        assert_eq!(code(d.cuCtxFromGreenCtx(&raw mut primary, green)), FAULT);
        // It is gone all the same.
        assert_eq!(code(d.cuGreenCtxDestroy(green)), FAULT);
        assert_eq!(code(d.cuGreenCtxDestroy(green)), DESTROYED);
        d.cuDevicePrimaryCtxRelease_v2(0).unwrap();
    }
    assert!(!is_active(&d));
    assert_eq!(machine.usage().contexts, 0);
}

/// Without it, work that a green context left behind could be lost, or hang its device.
#[test]
fn work_outlives_its_green_context() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let gate = crate::support::Gate::new();
    let (green, context) = green(d, &mut [resource(d, 0)]);
    let mut primary = null_mut();
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut primary, 0).unwrap();
        d.cuCtxSetCurrent(context).unwrap();
    }
    let memory = bench.alloc(16);
    gate.block(&bench, null_mut());
    // SAFETY: live handles.
    unsafe {
        d.cuMemsetD8Async(memory, 7, 16, null_mut()).unwrap();
        // Does not wait.
        d.cuGreenCtxDestroy(green).unwrap();
        d.cuCtxSetCurrent(primary).unwrap();
        gate.open();
        d.cuCtxSynchronize().unwrap();
    }
    assert_eq!(bench.download(memory, 16), [7; 16]);
    bench.free(memory);
    // SAFETY: as above.
    unsafe { d.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
    bench.finish();
}

/// Without it, a program on an old driver could be told that a call failed, and not that
/// there is none.
#[test]
fn old_drivers_have_no_green_contexts() {
    for (version, green, stream) in [(12_030, false, false), (12_040, true, false)] {
        let (_machine, d) = started(Machine::builder().driver_version(Version(version)));
        let mut resource = CUdevResource::default();
        let mut made = null_mut();
        // SAFETY: the places outlive the calls.
        let (asked, created) = unsafe {
            (
                d.cuDeviceGetDevResource(0, &raw mut resource, SM),
                d.cuGreenCtxStreamCreate(&raw mut made, null_mut(), 1, 0),
            )
        };
        let there =
            |called: Result<(), DriverError>| !matches!(called, Err(CallError::Missing { .. }));
        assert_eq!((there(asked), there(created)), (green, stream));
    }
}
