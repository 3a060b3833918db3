//! How a device is divided, and what a green context is.

use super::*;

/// Without it, groups could be too small, too many, or made of what cannot be divided.
#[test]
fn a_device_divides_into_groups() {
    let raw = Raw::open();
    let whole = raw.resource();
    let all = sm(&whole).smCount;
    let count = raw.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    assert_eq!(i64::from(all), i64::from(count));
    let (least, step) = (
        sm(&whole).minSmPartitionSize,
        sm(&whole).smCoscheduledAlignment,
    );
    assert!(least >= 1 && step >= 1 && least.is_multiple_of(step));
    let size = |wanted: u32, least: u32, step| wanted.max(least).next_multiple_of(step).min(all);
    // 1 lets it be as small as can be, whatever its neighbours are scheduled with.
    for (flags, least, step) in [(0, least, step), (1, least.min(2), step.min(2))] {
        for wanted in [0, 1, least, least + 1, all - 1, all] {
            let fitting = raw.fitting(wanted, flags).expect("a number of groups");
            let size = size(wanted, least, step);
            assert!((1..=all / size).contains(&fitting), "{wanted}: {fitting}");
            let split = raw.split(&whole, 1, wanted, flags);
            assert_eq!((split.code, split.groups.len()), (OK, 1));
            assert_eq!(sm(&split.groups[0]).smCount, size);
            match all - size {
                0 => assert_eq!(split.remainder.type_, CUdevResourceType(0)),
                left => assert_eq!(sm(&split.remainder).smCount, left),
            }
        }
    }
    // More places than groups: the number says so.
    let many = raw.split(&whole, 200, least, 0);
    assert_eq!(many.groups.len() as u32, raw.fitting(least, 0).unwrap());
    // The errors.
    assert_eq!(raw.fitting(all + 1, 0), Err(CONFIGURATION));
    assert_eq!(raw.fitting(1, 3), Err(INVALID));
    assert_eq!(raw.split(&whole, 0, 1, 0).code, INVALID);
    assert_eq!(raw.split(&many.groups[0], 1, 1, 0).code, CONFIGURATION);
    let nothing = CUdevResource::default();
    assert_eq!(raw.split(&nothing, 1, 1, 0).code, TYPE);
    assert_eq!(raw.describe(&mut [nothing]).err(), Some(TYPE));
    let mut place = nothing;
    let (d, here) = (&raw.driver, &raw mut place);
    // SAFETY: null places and wrong devices are what is asked about.
    unsafe {
        for kind in [0, 2, 3, 1000] {
            let kind = CUdevResourceType(kind);
            let asked = d.cuDeviceGetDevResource(raw.device, here, kind);
            assert_eq!(code(asked), TYPE, "{kind:?}");
        }
        let no_device = d.cuDeviceGetDevResource(-1, here, SM);
        assert_eq!(code(no_device), CUresult::CUDA_ERROR_INVALID_DEVICE);
        let nowhere = d.cuDeviceGetDevResource(raw.device, null_mut(), SM);
        assert_eq!(code(nowhere), INVALID);
        let mut one = 1;
        let null = std::ptr::null();
        let bad = d.cuDevSmResourceSplitByCount(here, &raw mut one, null, null_mut(), 0, 1);
        assert_eq!(code(bad), INVALID);
        let bad =
            d.cuDevSmResourceSplitByCount(here, null_mut(), &raw const whole, null_mut(), 0, 1);
        assert_eq!(code(bad), INVALID);
        let bad = d.cuDevResourceGenerateDesc(null_mut(), here, 1);
        assert_eq!(code(bad), INVALID);
    }
}

/// Without it, a green context could answer for other multiprocessors than it has, or be
/// taken for a context that a program creates and destroys itself.
#[test]
fn a_green_context_is_a_context() {
    let raw = Raw::open();
    let d = &raw.driver;
    let group = raw.split(&raw.resource(), 1, 0, 0).groups[0];
    let (green, context) = raw.green(&group);
    let (mut id, mut green_id, mut own, mut now) = (0, 0, 0, null_mut());
    let (mut place, mut device) = (CUdevResource::default(), 9);
    let here = &raw mut place;
    // SAFETY: the places outlive the calls; null is what some are asked with.
    unsafe {
        d.cuCtxGetId(raw.context, &raw mut own).unwrap();
        d.cuCtxGetId(context, &raw mut id).unwrap();
        d.cuGreenCtxGetId(green, &raw mut green_id).unwrap();
        assert_eq!(id, green_id);
        assert_ne!(id, own);
        let counts = |asked: Result<(), DriverError>| {
            asked.unwrap();
            sm(&here.read()).smCount
        };
        let count = sm(&group).smCount;
        assert_eq!(counts(d.cuGreenCtxGetDevResource(green, here, SM)), count);
        assert_eq!(counts(d.cuCtxGetDevResource(context, here, SM)), count);
        let again = raw.split(&place, 1, count, 0);
        assert_eq!((again.code, again.groups.len()), (OK, 1));
        let all = sm(&raw.resource()).smCount;
        assert_eq!(counts(d.cuCtxGetDevResource(raw.context, here, SM)), all);
        raw.set_current(context);
        d.cuCtxGetCurrent(&raw mut now).unwrap();
        assert_eq!(now, context);
        d.cuCtxGetDevice(&raw mut device).unwrap();
        assert_eq!(device, raw.device);
        d.cuCtxGetId(null_mut(), &raw mut id).unwrap();
        assert_eq!(id, green_id);
        id = 0;
        d.cuGreenCtxGetId(null_mut(), &raw mut id).unwrap();
        assert_eq!(id, green_id);
        // Null is no context here, whatever is current.
        let of_null = d.cuCtxGetDevResource(null_mut(), here, SM);
        assert_eq!(code(of_null), NO_CONTEXT);
        let of_null = d.cuGreenCtxGetDevResource(null_mut(), here, SM);
        assert_eq!(code(of_null), NO_CONTEXT);
        let other = CUdevResourceType(2);
        assert_eq!(code(d.cuGreenCtxGetDevResource(green, here, other)), TYPE);
        assert_eq!(code(d.cuCtxGetDevResource(context, here, other)), TYPE);
        let nowhere = d.cuGreenCtxGetDevResource(green, null_mut(), SM);
        assert_eq!(code(nowhere), INVALID);
        let mut affinity = CUexecAffinityParam::default();
        let kind = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
        let asked = d.cuCtxGetExecAffinity(&raw mut affinity, kind);
        assert_eq!(code(asked), NO_CONTEXT);
        assert_eq!(code(d.cuCtxFromGreenCtx(null_mut(), green)), INVALID);
        let of_null = d.cuCtxFromGreenCtx(&raw mut now, null_mut());
        assert_eq!(code(of_null), NO_CONTEXT);
        assert_eq!(code(d.cuGreenCtxDestroy(null_mut())), NO_CONTEXT);
        // It has a call of its own.
        assert_eq!(code(d.cuCtxDestroy_v2(context)), NO_CONTEXT);
        let descriptor = raw.describe(&mut [group]).unwrap();
        let mut none = null_mut();
        for flags in [0, 2, 3] {
            let bad = d.cuGreenCtxCreate(&raw mut none, descriptor, raw.device, flags);
            assert_eq!(code(bad), INVALID, "{flags}");
        }
        let bad = d.cuGreenCtxCreate(&raw mut none, descriptor, -1, 1);
        assert_eq!(code(bad), CUresult::CUDA_ERROR_INVALID_DEVICE);
        let bad = d.cuGreenCtxCreate(null_mut(), descriptor, raw.device, 1);
        assert_eq!(code(bad), INVALID);
    }
    raw.set_current(raw.context);
    raw.destroy_green(green);
}

/// Without it, memory and events of a green context could be lost to the others of the
/// device, or its streams not be known for its own.
#[test]
fn a_green_context_shares_all_but_its_streams() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    raw.set_current(context);
    let memory = raw.upload(&[0; 64]);
    let event = raw.event_here();
    let stream = raw.stream_of(green);
    let (mut made, mut clamped): (CUstream, CUstream) = (null_mut(), null_mut());
    let (mut owner, mut of): (CUcontext, CUgreenCtx) = (null_mut(), null_mut());
    // SAFETY: the places outlive the calls; null is what some are asked with.
    unsafe {
        let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
        d.cuPointerGetAttribute((&raw mut owner).cast(), key, memory)
            .unwrap();
        assert_eq!(owner, raw.context, "the primary context's");
        // Of the green context: the one that is current when the stream is made counts.
        d.cuStreamCreateWithPriority(&raw mut made, 1, -3).unwrap();
        for kept in [stream, made, null_mut(), STREAM_LEGACY] {
            d.cuStreamGetGreenCtx(kept, &raw mut of).unwrap();
            assert_eq!(of, green);
            d.cuStreamGetCtx(kept, &raw mut owner).unwrap();
            assert_eq!(owner, context);
            d.cuStreamGetCtx_v2(kept, &raw mut owner, &raw mut of)
                .unwrap();
            assert_eq!((owner, of), (raw.context, green));
        }
        assert_eq!(
            code(d.cuStreamGetCtx_v2(stream, null_mut(), null_mut())),
            INVALID
        );
        assert_eq!(code(d.cuStreamGetGreenCtx(stream, null_mut())), INVALID);
        // Threads have a default stream in it; a driver on an H200 gave 400 to a thread that
        // had used the primary context's before, as this one may have.
        if target() != Where::Gpu {
            assert_eq!(raw.fill(memory, STREAM_PER_THREAD), OK);
            raw.synchronize(STREAM_PER_THREAD);
        }
        for flags in [0, 2] {
            let bad = d.cuGreenCtxStreamCreate(&raw mut clamped, green, flags, 0);
            assert_eq!(code(bad), INVALID, "{flags}");
        }
        let bad = d.cuGreenCtxStreamCreate(null_mut(), green, 1, 0);
        assert_eq!(code(bad), INVALID);
        d.cuGreenCtxStreamCreate(&raw mut clamped, green, 1, -99)
            .unwrap();
        let mut priority = 1;
        d.cuStreamGetPriority(clamped, &raw mut priority).unwrap();
        assert_eq!(priority, -5);
        raw.destroy(clamped);
        let bad = d.cuGreenCtxStreamCreate(&raw mut clamped, null_mut(), 1, 0);
        assert_eq!(code(bad), NO_CONTEXT);
        // Any stream takes any event of the primary context, and any memory.
        raw.set_current(raw.context);
        let (mut plain, other) = (null_mut(), raw.event_here());
        d.cuStreamCreate(&raw mut plain, 1).unwrap();
        d.cuStreamGetGreenCtx(plain, &raw mut of).unwrap();
        assert!(of.is_null());
        for (event, stream) in [(event, plain), (other, stream), (event, made)] {
            assert_eq!(raw.fill(memory, stream), OK);
            d.cuEventRecord(event, stream).unwrap();
            d.cuEventSynchronize(event).unwrap();
        }
        // With no context current too.
        raw.set_current(null_mut());
        assert_eq!(raw.fill(memory, stream), OK);
        raw.synchronize(stream);
        raw.set_current(raw.context);
        for stream in [plain, made, stream] {
            raw.destroy(stream);
        }
        raw.destroy_green(green);
        // What it had made but streams lives on.
        d.cuEventQuery(event).unwrap();
        d.cuEventRecord(event, null_mut()).unwrap();
        d.cuEventSynchronize(event).unwrap();
        d.cuEventDestroy_v2(event).unwrap();
        d.cuEventDestroy_v2(other).unwrap();
    }
    raw.free(memory);
}
