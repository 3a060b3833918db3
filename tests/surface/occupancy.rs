//! Occupancy, and the launches that it speaks of.

mod told;
#[cfg(all(feature = "compiler", unix))]
mod tuned;

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const CODE: &CStr = c".version 7.0
.target sm_60
.address_size 64
.visible .entry empty() { ret; }
.visible .entry narrow() .maxntid 96, 1, 1 { ret; }
.visible .entry wide(.param .u64 out) {
    .shared .align 4 .b8 z[1024];
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    mov.u32 %a, %tid.x;
    st.shared.u32 [z], %a;
    bar.sync 0;
    ld.shared.u32 %a, [z];
    st.global.u32 [%p], %a;
    ret;
}
";

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn code(result: Result<(), DriverError>) -> CUresult {
    match result {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

/// A module with the kernels of this file.
struct Code<'a> {
    raw: &'a Raw,
    module: CUmodule,
}

impl<'a> Code<'a> {
    fn new(raw: &'a Raw) -> Self {
        let mut module = null_mut();
        // SAFETY: the text and the place outlive the call.
        let loaded = unsafe {
            raw.driver
                .cuModuleLoadData(&raw mut module, CODE.as_ptr().cast())
        };
        loaded.expect("a module");
        Self { raw, module }
    }

    fn function(&self, name: &CStr) -> CUfunction {
        let mut function = null_mut();
        // SAFETY: the name and the place outlive the call.
        let found = unsafe {
            self.raw
                .driver
                .cuModuleGetFunction(&raw mut function, self.module, name.as_ptr())
        };
        found.expect("a function");
        function
    }

    fn blocks(
        &self,
        function: CUfunction,
        threads: c_int,
        dynamic: usize,
    ) -> Result<c_int, CUresult> {
        let mut blocks = -9;
        // SAFETY: the place outlives the call.
        let asked = unsafe {
            self.raw.driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                threads,
                dynamic,
            )
        };
        match code(asked) {
            CUresult::CUDA_SUCCESS => Ok(blocks),
            code => Err(code),
        }
    }

    fn available(
        &self,
        function: CUfunction,
        blocks: c_int,
        threads: c_int,
    ) -> Result<usize, CUresult> {
        let mut bytes = 0;
        // SAFETY: the place outlives the call.
        let asked = unsafe {
            self.raw.driver.cuOccupancyAvailableDynamicSMemPerBlock(
                &raw mut bytes,
                function,
                blocks,
                threads,
            )
        };
        match code(asked) {
            CUresult::CUDA_SUCCESS => Ok(bytes),
            code => Err(code),
        }
    }

    fn launch(&self, function: CUfunction, threads: u32, dynamic: u32) -> CUresult {
        // SAFETY: the kernel has no parameters.
        let launched = unsafe {
            self.raw.driver.cuLaunchKernel(
                function,
                1,
                1,
                1,
                threads,
                1,
                1,
                dynamic,
                null_mut(),
                null_mut(),
                null_mut(),
            )
        };
        // SAFETY: no memory is involved.
        unsafe { self.raw.driver.cuCtxSynchronize() }.expect("synchronize");
        code(launched)
    }

    fn limit(&self, attribute: CUdevice_attribute) -> c_int {
        self.raw.attribute(attribute)
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is this one's, and its kernels have ended.
        let unloaded = unsafe { self.raw.driver.cuModuleUnload(self.module) };
        if !std::thread::panicking() {
            unloaded.expect("unload");
        }
    }
}

/// Without it, occupancy could promise more than a multiprocessor has.
#[test]
fn blocks_fit_the_multiprocessor() {
    use CUdevice_attribute as A;
    let raw = Raw::open();
    let code = Code::new(&raw);
    let empty = code.function(c"empty");
    let threads = code.limit(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    let most = code.limit(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    assert_eq!(code.blocks(empty, 1, 0), Ok(most));
    for size in [32, 64, 128, 256, 512, 1024] {
        assert_eq!(code.blocks(empty, size, 0), Ok((threads / size).min(most)));
        // Warps are whole.
        assert_eq!(code.blocks(empty, size - 1, 0), code.blocks(empty, size, 0));
    }
    assert_eq!(code.blocks(empty, 1025, 0), Ok(0));
    assert_eq!(code.blocks(empty, 0, 0), Err(INVALID));
    assert_eq!(code.blocks(empty, -1, 0), Err(INVALID));
    let narrow = code.function(c"narrow");
    assert!(code.blocks(narrow, 96, 0).unwrap() > 0);
    let shared = code.limit(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    let reserved = code.limit(A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    let block = 32 << 10;
    let fit = shared / (block + reserved);
    assert_eq!(code.blocks(empty, 32, block as usize), Ok(fit));
    let mut blocks = 0;
    // SAFETY: the place outlives the call.
    let flags = unsafe {
        raw.driver
            .cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&raw mut blocks, empty, 32, 0, 2)
    };
    assert_eq!(self::code(flags), INVALID);
}

/// Without it, occupancy and launches would disagree about what a function may have.
#[test]
fn more_shared_memory_must_be_asked_for() {
    let raw = Raw::open();
    let code = Code::new(&raw);
    let empty = code.function(c"empty");
    let most =
        code.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    let default = 48 << 10;
    assert_eq!(code.launch(empty, 32, default), CUresult::CUDA_SUCCESS);
    assert_eq!(code.launch(empty, 32, default + 1), INVALID);
    assert!(code.blocks(empty, 32, default as usize).unwrap() > 0);
    assert_eq!(code.blocks(empty, 32, default as usize + 1), Ok(0));
    assert_eq!(code.available(empty, 1, 32), Ok(default as usize));
    let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: no memory is involved.
    unsafe { raw.driver.cuFuncSetAttribute(empty, dynamic, most) }.expect("more");
    assert_eq!(
        code.launch(empty, 32, most.cast_unsigned()),
        CUresult::CUDA_SUCCESS
    );
    assert_eq!(code.blocks(empty, 32, most as usize), Ok(1));
    assert_eq!(code.available(empty, 1, 32), Ok(most as usize));
    assert_eq!(code.launch(empty, 32, most.cast_unsigned() + 1), INVALID);
    assert_eq!(code.blocks(empty, 32, most as usize + 1), Ok(0));
}

/// Without it, a program could not learn how much shared memory leaves room for others.
#[test]
fn shared_memory_is_divided() {
    let raw = Raw::open();
    let code = Code::new(&raw);
    let (empty, wide) = (code.function(c"empty"), code.function(c"wide"));
    let each = code.available(empty, 8, 128).unwrap();
    assert!(each > 0);
    assert!(code.available(empty, 16, 128).unwrap() < each);
    assert!(code.available(wide, 8, 128).unwrap() < each);
    // More blocks than have threads, and no blocks at all.
    assert_eq!(code.available(empty, 4, 1024), Err(INVALID));
    assert_eq!(code.available(empty, 1, 1025), Err(INVALID));
    assert_eq!(code.available(empty, 0, 128), Err(INVALID));
    assert_eq!(code.available(empty, 1, 0), Err(INVALID));
}

/// Without it, programs that let the driver choose would not fill the device.
#[test]
fn the_best_block_size_fills_the_device() {
    let raw = Raw::open();
    let code = Code::new(&raw);
    let empty = code.function(c"empty");
    let potential = |function, dynamic_of: CUoccupancyB2DSize, limit| {
        let (mut grid, mut block) = (0, 0);
        // SAFETY: the places outlive the call, and the function takes any size.
        let asked = unsafe {
            raw.driver.cuOccupancyMaxPotentialBlockSize(
                &raw mut grid,
                &raw mut block,
                function,
                dynamic_of,
                0,
                limit,
            )
        };
        match self::code(asked) {
            CUresult::CUDA_SUCCESS => Ok((grid, block)),
            code => Err(code),
        }
    };
    let count = code.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    for limit in [0, 5000] {
        let (grid, block) = potential(empty, None, limit).unwrap();
        let blocks = code.blocks(empty, block, 0).unwrap();
        assert_eq!(grid, blocks * count);
        let full =
            code.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
        assert_eq!(block * blocks, full);
    }
    assert_eq!(potential(empty, None, 100).unwrap().1, 64);
    assert_eq!(potential(empty, None, -1), Err(INVALID));
    assert!(potential(code.function(c"narrow"), None, 0).unwrap().1 <= 96);
    unsafe extern "C" fn large_above_128(block: c_int) -> usize {
        if block > 128 { 1 << 30 } else { 0 }
    }
    let (_, block) = potential(empty, Some(large_above_128), 0).unwrap();
    assert_eq!(block, 128);
}

/// Without it, attributes of a launch would be refused that change nothing, or taken that
/// make no sense.
#[test]
fn launches_take_attributes() {
    use CUlaunchAttributeID as A;
    let raw = Raw::open();
    let code = Code::new(&raw);
    let empty = code.function(c"empty");
    let launch = |id: A, value: CUlaunchAttributeValue| {
        let mut attribute = CUlaunchAttribute {
            id,
            pad: [0; 4],
            value,
        };
        let config = CUlaunchConfig {
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 32,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: null_mut(),
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        // SAFETY: the configuration outlives the call, and the kernel has no parameters.
        let launched = unsafe {
            raw.driver
                .cuLaunchKernelEx(&raw const config, empty, null_mut(), null_mut())
        };
        // SAFETY: no memory is involved.
        unsafe { raw.driver.cuCtxSynchronize() }.expect("synchronize");
        self::code(launched)
    };
    let number = |value: c_int| CUlaunchAttributeValue { cooperative: value };
    let fine = CUresult::CUDA_SUCCESS;
    assert_eq!(launch(A::CU_LAUNCH_ATTRIBUTE_IGNORE, number(0)), fine);
    assert_eq!(launch(A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, number(1)), fine);
    assert_eq!(launch(A::CU_LAUNCH_ATTRIBUTE_PRIORITY, number(0)), fine);
    let serial = A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    assert_eq!(launch(serial, number(1)), fine);
    let carveout = A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    assert_eq!(launch(carveout, number(50)), fine);
    assert_eq!(launch(carveout, number(500)), INVALID);
    let domain = A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    assert_eq!(launch(domain, number(0)), fine);
    assert_eq!(launch(domain, number(9)), INVALID);
    let policy = A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    assert_eq!(
        launch(policy, number(1)),
        INVALID,
        "a stream's, not a launch's"
    );
    assert_eq!(launch(A(99), number(0)), INVALID);
    let node = A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(launch(node, number(0)), unsupported);
}

/// Without it, an event that a launch carries would never be reached.
#[test]
fn a_launch_records_its_completion_event() {
    let raw = Raw::open();
    let code = Code::new(&raw);
    let mut event = null_mut();
    let untimed = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
    // SAFETY: the place outlives the call.
    unsafe { raw.driver.cuEventCreate(&raw mut event, untimed) }.expect("an event");
    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
        pad: [0; 4],
        value: CUlaunchAttributeValue {
            launchCompletionEvent: CUlaunchAttributeValue_union__bindgen_ty_3 { event, flags: 0 },
        },
    };
    let config = CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: null_mut(),
        attrs: &raw mut attribute,
        numAttrs: 1,
    };
    let empty = code.function(c"empty");
    // SAFETY: the configuration outlives the calls, and the kernel has no parameters.
    unsafe {
        let driver = &raw.driver;
        driver
            .cuLaunchKernelEx(&raw const config, empty, null_mut(), null_mut())
            .expect("launch");
        driver.cuEventSynchronize(event).expect("the event");
        driver.cuEventQuery(event).expect("reached");
        driver.cuEventDestroy_v2(event).expect("destroy");
        driver.cuCtxSynchronize().expect("synchronize");
    }
}
