//! Green contexts. Every code that is expected here was seen on an H200, driver 580.159.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::{Raw, Where, target};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const TYPE: CUresult = CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE;
const CONFIGURATION: CUresult = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
const NO_CONTEXT: CUresult = CUresult::CUDA_ERROR_INVALID_CONTEXT;
const NO_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const GONE: [CUresult; 2] = [
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_STREAM_DETACHED,
];
const SM: CUdevResourceType = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;

/// Each block counts itself at its multiprocessor's word, after the word for `%nsmid`.
const COUNT: &CStr = c".version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 words) {
    .reg .u64 %p, %q; .reg .u32 %s, %n;
    ld.param.u64 %p, [words];
    mov.u32 %s, %smid;
    mov.u32 %n, %nsmid;
    st.global.u32 [%p], %n;
    mul.wide.u32 %q, %s, 4;
    add.u64 %q, %q, %p;
    red.global.add.u32 [%q+4], 1;
    ret;
}
";

fn code(called: Result<(), DriverError>) -> CUresult {
    match called {
        Ok(()) => OK,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

fn sm(resource: &CUdevResource) -> CUdevSmResource {
    assert_eq!(resource.type_, SM);
    // SAFETY: the type says that it is the one of multiprocessors, which are plain numbers.
    unsafe { resource.__bindgen_anon_1.sm }
}

/// What a split gave.
struct Split {
    code: CUresult,
    groups: Vec<CUdevResource>,
    remainder: CUdevResource,
}

// Handles and places live, and wrong ones are what some tests are about.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
impl Raw {
    fn resource(&self) -> CUdevResource {
        let mut resource = CUdevResource::default();
        let asked = unsafe {
            self.driver
                .cuDeviceGetDevResource(self.device, &raw mut resource, SM)
        };
        asked.expect("the device's multiprocessors");
        resource
    }

    fn split(&self, input: &CUdevResource, groups: usize, least: u32, flags: u32) -> Split {
        let mut made = vec![CUdevResource::default(); groups];
        let mut remainder = CUdevResource::default();
        let mut count = groups as u32;
        let code = code(unsafe {
            self.driver.cuDevSmResourceSplitByCount(
                made.as_mut_ptr(),
                &raw mut count,
                input,
                &raw mut remainder,
                flags,
                least,
            )
        });
        made.truncate(count as usize);
        Split {
            code,
            groups: made,
            remainder,
        }
    }

    /// How many groups of so many there would be.
    fn fitting(&self, least: u32, flags: u32) -> Result<u32, CUresult> {
        let (mut count, input) = (0, self.resource());
        let (none, place) = (null_mut(), &raw mut count);
        let called = unsafe {
            self.driver.cuDevSmResourceSplitByCount(
                none,
                place,
                &raw const input,
                none,
                flags,
                least,
            )
        };
        match code(called) {
            OK => Ok(count),
            other => Err(other),
        }
    }

    fn describe(&self, resources: &mut [CUdevResource]) -> Result<CUdevResourceDesc, CUresult> {
        let mut descriptor = null_mut();
        let (first, count) = (resources.as_mut_ptr(), resources.len() as u32);
        let called = unsafe {
            self.driver
                .cuDevResourceGenerateDesc(&raw mut descriptor, first, count)
        };
        match code(called) {
            OK => Ok(descriptor),
            other => Err(other),
        }
    }

    /// A green context with those multiprocessors, and the context it is.
    fn green(&self, resource: &CUdevResource) -> (CUgreenCtx, CUcontext) {
        let descriptor = self.describe(&mut [*resource]).expect("a descriptor");
        let (mut green, mut context) = (null_mut(), null_mut());
        let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
        unsafe {
            self.driver
                .cuGreenCtxCreate(&raw mut green, descriptor, self.device, flags)
                .expect("a green context");
            self.driver
                .cuCtxFromGreenCtx(&raw mut context, green)
                .expect("its context");
        }
        (green, context)
    }

    /// A green context with the fewest multiprocessors.
    fn small_green(&self) -> (CUgreenCtx, CUcontext) {
        self.green(&self.split(&self.resource(), 1, 0, 0).groups[0])
    }

    fn stream_of(&self, green: CUgreenCtx) -> CUstream {
        let mut stream = null_mut();
        let made = unsafe {
            self.driver
                .cuGreenCtxStreamCreate(&raw mut stream, green, 1, 0)
        };
        made.expect("a stream");
        stream
    }

    fn set_current(&self, context: CUcontext) {
        unsafe { self.driver.cuCtxSetCurrent(context) }.expect("current");
    }

    fn event_here(&self) -> CUevent {
        let mut event = null_mut();
        unsafe { self.driver.cuEventCreate(&raw mut event, 2) }.expect("an event");
        event
    }

    fn fill(&self, at: CUdeviceptr, stream: CUstream) -> CUresult {
        code(unsafe { self.driver.cuMemsetD32Async(at, 7, 4, stream) })
    }

    fn query(&self, stream: CUstream) -> CUresult {
        code(unsafe { self.driver.cuStreamQuery(stream) })
    }

    fn synchronize(&self, stream: CUstream) {
        unsafe { self.driver.cuStreamSynchronize(stream) }.expect("the stream's work");
    }

    fn destroy(&self, stream: CUstream) {
        unsafe { self.driver.cuStreamDestroy_v2(stream) }.expect("destroy");
    }

    fn destroy_green(&self, green: CUgreenCtx) {
        unsafe { self.driver.cuGreenCtxDestroy(green) }.expect("destroy");
    }
}

/// A word that streams wait for until it is opened.
struct Gate<'a> {
    raw: &'a Raw,
    word: *mut u32,
}

impl<'a> Gate<'a> {
    fn new(raw: &'a Raw) -> Self {
        let mut word: *mut c_void = null_mut();
        // SAFETY: the place outlives the call, and the word is four writable bytes.
        unsafe {
            raw.driver
                .cuMemHostAlloc(&raw mut word, 4, 0)
                .expect("memory");
            word.cast::<u32>().write(0);
        }
        Self {
            raw,
            word: word.cast(),
        }
    }

    fn hold(&self, stream: CUstream) {
        let address = self.word.expose_provenance() as u64;
        // SAFETY: the word lives until the stream's work is over.
        let held = unsafe {
            self.raw
                .driver
                .cuStreamWaitValue32_v2(stream, address, 1, 0)
        };
        held.expect("a wait");
    }

    fn open(&self) {
        // SAFETY: aligned and alive; everybody accesses it as an atomic.
        unsafe { AtomicU32::from_ptr(self.word) }.store(1, Ordering::Release);
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.open();
        self.raw.set_current(self.raw.context);
        // SAFETY: all work of the context, green ones included, has passed the word then.
        unsafe {
            let _ = self.raw.driver.cuCtxSynchronize();
            let _ = self.raw.driver.cuMemFreeHost(self.word.cast());
        }
    }
}

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
        let nobody = d.cuDeviceGetDevResource(-1, here, SM);
        assert_eq!(code(nobody), CUresult::CUDA_ERROR_INVALID_DEVICE);
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
        let nobody = d.cuCtxGetDevResource(null_mut(), here, SM);
        assert_eq!(code(nobody), NO_CONTEXT);
        let nobody = d.cuGreenCtxGetDevResource(null_mut(), here, SM);
        assert_eq!(code(nobody), NO_CONTEXT);
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
        let nobody = d.cuCtxFromGreenCtx(&raw mut now, null_mut());
        assert_eq!(code(nobody), NO_CONTEXT);
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

/// Without it, work of a green context could wait for other work of its device, or a
/// program could take the device for idle while a green context works.
#[test]
fn a_green_context_waits_for_itself_alone() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut blocking, stream) = (null_mut(), raw.stream_of(green));
    // SAFETY: the place outlives the call.
    unsafe { d.cuStreamCreate(&raw mut blocking, 0) }.unwrap();
    let event = raw.event_here();
    {
        let gate = Gate::new(&raw);
        gate.hold(blocking);
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        // SAFETY: no pointers.
        unsafe { d.cuCtxSynchronize() }.expect("the green context's work alone");
        assert_eq!(raw.query(null_mut()), OK);
        // SAFETY: live handles.
        unsafe {
            d.cuGreenCtxRecordEvent(green, event).unwrap();
            d.cuEventSynchronize(event).expect("the green context's");
        }
        raw.set_current(raw.context);
        assert_eq!(raw.query(null_mut()), NOT_READY);
    }
    {
        let gate = Gate::new(&raw);
        gate.hold(stream);
        // SAFETY: live handles.
        unsafe {
            d.cuGreenCtxRecordEvent(green, event).unwrap();
            assert_eq!(code(d.cuEventQuery(event)), NOT_READY);
            raw.set_current(context);
            // The record waits, and no stream with it.
            assert_eq!(raw.query(null_mut()), OK);
            gate.open();
            d.cuEventSynchronize(event).unwrap();
        }
        assert_eq!(raw.query(stream), OK);
    }
    raw.destroy(stream);
    raw.destroy(blocking);
    raw.destroy_green(green);
    // SAFETY: a live handle.
    unsafe { d.cuEventDestroy_v2(event) }.unwrap();
    raw.free(memory);
}

/// Without it, the primary context's default stream could run ahead of its parts' blocking
/// streams, or those ahead of their own default stream.
#[test]
fn blocking_streams_are_seen_from_around() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut inner, mut outer) = (null_mut(), null_mut());
    raw.set_current(context);
    // SAFETY: the places outlive the calls.
    unsafe { d.cuStreamCreate(&raw mut inner, 0) }.unwrap();
    raw.set_current(raw.context);
    // SAFETY: as above.
    unsafe { d.cuStreamCreate(&raw mut outer, 0) }.unwrap();
    {
        let gate = Gate::new(&raw);
        gate.hold(inner);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
    }
    {
        let gate = Gate::new(&raw);
        raw.set_current(context);
        gate.hold(null_mut());
        assert_eq!(raw.fill(memory, inner), OK);
        assert_eq!(raw.query(inner), NOT_READY);
        raw.set_current(raw.context);
        assert_eq!(raw.fill(memory, outer), OK);
        assert_eq!(raw.query(outer), NOT_READY);
    }
    raw.destroy(inner);
    raw.destroy(outer);
    raw.destroy_green(green);
    raw.free(memory);
}

/// Without it, work that a green context was told to hold back could start early in some of
/// its streams.
#[test]
fn all_later_work_waits_for_an_event() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut plain, stream, idle) = (null_mut(), raw.stream_of(green), raw.stream_of(green));
    // SAFETY: the place outlives the call.
    unsafe { d.cuStreamCreate(&raw mut plain, 1) }.unwrap();
    let (event, never) = (raw.event_here(), raw.event_here());
    let later;
    {
        let gate = Gate::new(&raw);
        gate.hold(plain);
        // SAFETY: live handles.
        unsafe {
            d.cuEventRecord(event, plain).unwrap();
            d.cuGreenCtxWaitEvent(green, event).unwrap();
            // One that was never recorded holds nothing back.
            d.cuGreenCtxWaitEvent(green, never).unwrap();
        }
        later = raw.stream_of(green);
        for stream in [stream, later] {
            assert_eq!(raw.fill(memory, stream), OK);
            assert_eq!(raw.query(stream), NOT_READY);
        }
        assert_eq!(raw.query(idle), OK, "it has no work that could wait");
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
        gate.open();
        // SAFETY: no pointers.
        unsafe { d.cuCtxSynchronize() }.unwrap();
        assert_eq!(raw.query(later), OK);
    }
    // SAFETY: live handles, null ones, and one of another context.
    unsafe {
        assert_eq!(code(d.cuGreenCtxRecordEvent(green, null_mut())), NO_HANDLE);
        assert_eq!(code(d.cuGreenCtxWaitEvent(green, null_mut())), NO_HANDLE);
        assert_eq!(code(d.cuGreenCtxRecordEvent(null_mut(), event)), NO_CONTEXT);
        assert_eq!(code(d.cuGreenCtxWaitEvent(null_mut(), event)), NO_CONTEXT);
        let mut other = null_mut();
        d.cuCtxCreate_v2(&raw mut other, 0, raw.device).unwrap();
        let foreign = raw.event_here();
        assert_eq!(code(d.cuGreenCtxRecordEvent(green, foreign)), NO_HANDLE);
        d.cuGreenCtxWaitEvent(green, foreign).unwrap();
        d.cuCtxDestroy_v2(other).unwrap();
        raw.set_current(raw.context);
        for stream in [stream, idle, later, plain] {
            raw.destroy(stream);
        }
        raw.destroy_green(green);
        d.cuEventDestroy_v2(event).unwrap();
        d.cuEventDestroy_v2(never).unwrap();
    }
    raw.free(memory);
}

/// Without it, kernels of a green context could run on multiprocessors of another, or be
/// counted for the whole device.
#[test]
fn kernels_run_on_their_own_multiprocessors() {
    let raw = Raw::open();
    let d = &raw.driver;
    let whole = raw.resource();
    let all = sm(&whole).smCount;
    let parts = raw.split(&whole, 2, 0, 0).groups;
    let greens: Vec<_> = parts.iter().map(|part| raw.green(part)).collect();
    raw.set_current(greens[0].1);
    let (mut module, mut function) = (null_mut(), null_mut());
    // SAFETY: the image ends with a zero and, as the places, outlives the calls.
    unsafe {
        d.cuModuleLoadData(&raw mut module, COUNT.as_ptr().cast())
            .unwrap();
        d.cuModuleGetFunction(&raw mut function, module, c"k".as_ptr())
            .unwrap();
    }
    let words = 1 + all as usize;
    let blocks = 64 * all;
    let run = |stream: CUstream| {
        let mut at = raw.upload(&vec![0; words * 4]);
        let mut arguments = [(&raw mut at).cast()];
        let (first, none) = (arguments.as_mut_ptr(), null_mut());
        // SAFETY: the kernel's one parameter is an address with a word for each
        // multiprocessor, which lives until the stream was waited for.
        unsafe {
            d.cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, stream, first, none)
                .expect("a launch");
        }
        raw.synchronize(stream);
        let bytes = raw.download(at, words * 4);
        raw.free(at);
        let told: Vec<_> = bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(told[0], all, "%nsmid is the device's");
        assert_eq!(told[1..].iter().sum::<u32>(), blocks * 32);
        let used = (0..all).filter(|at| told[1 + *at as usize] > 0);
        used.collect::<BTreeSet<u32>>()
    };
    let mut seen: Vec<BTreeSet<u32>> = Vec::new();
    for ((green, context), part) in greens.iter().zip(&parts) {
        let stream = raw.stream_of(*green);
        let most = sm(part).smCount;
        raw.set_current(*context);
        let mut used = run(stream);
        used.extend(run(null_mut()));
        // The stream decides, not what is current.
        raw.set_current(raw.context);
        used.extend(run(stream));
        assert!(used.len() <= most as usize, "{used:?} of {most}");
        assert!(seen.iter().all(|other| other.is_disjoint(&used)));
        seen.push(used);
        let (mut each, mut grid, mut block) = (0, 0, 0);
        let f = function;
        // SAFETY: the places outlive the calls; a refused kernel does not run.
        unsafe {
            d.cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut each, f, 32, 0)
                .unwrap();
            let least = each.cast_unsigned() * most;
            let mut at = 0_u64;
            let mut arguments = [(&raw mut at).cast()];
            let first = arguments.as_mut_ptr();
            let more = least + 1;
            let large = d.cuLaunchCooperativeKernel(f, more, 1, 1, 32, 1, 1, 0, stream, first);
            let refused = CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
            assert_eq!(code(large), refused);
            raw.set_current(*context);
            let (grid_at, block_at) = (&raw mut grid, &raw mut block);
            d.cuOccupancyMaxPotentialBlockSize(grid_at, block_at, f, None, 0, 0)
                .unwrap();
            assert_eq!(grid.cast_unsigned() % most, 0);
            raw.set_current(raw.context);
        }
        raw.destroy(stream);
    }
    raw.set_current(raw.context);
    // SAFETY: nothing runs.
    unsafe { d.cuModuleUnload(module) }.unwrap();
    for (green, _) in greens {
        raw.destroy_green(green);
    }
}

/// Without it, a thread could go on in a green context that is gone, or a stream of it.
#[test]
fn a_destroyed_green_context_is_gone() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let stream = raw.stream_of(green);
    raw.set_current(context);
    let (mut now, mut address) = (null_mut(), 0);
    let memory = raw.upload(&[0; 64]);
    raw.destroy_green(green);
    // SAFETY: the places outlive the calls; the handles are what is asked about.
    unsafe {
        // What is current stays what it was, and works no more.
        d.cuCtxGetCurrent(&raw mut now).unwrap();
        assert_eq!(now, context);
        assert_eq!(code(d.cuCtxSynchronize()), GONE[0]);
        assert_eq!(code(d.cuMemAlloc_v2(&raw mut address, 8)), GONE[0]);
        raw.set_current(raw.context);
        assert!(GONE.contains(&raw.query(stream)));
        assert!(GONE.contains(&raw.fill(memory, stream)));
        let mut device = 0;
        let asked = d.cuStreamGetDevice(stream, &raw mut device);
        if let Err(CallError::Failed { code, .. }) = asked {
            assert!(GONE.contains(&code), "{code:?}");
        }
        // An error up to CUDA 13.0; the handle is gone all the same.
        let destroyed = code(d.cuStreamDestroy_v2(stream));
        assert!([OK, GONE[0]].contains(&destroyed), "{destroyed:?}");
    }
    raw.free(memory);
}
