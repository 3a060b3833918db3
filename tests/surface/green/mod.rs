//! Green contexts. Every code that is expected here was seen on an H200, driver 580.159.

mod create;
mod order;

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
        // SAFETY: aligned and alive; the kernel and this thread access it as an atomic.
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
