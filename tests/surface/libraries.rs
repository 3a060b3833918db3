//! Libraries, kernels and functions, and what can be asked of them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const CODE: &CStr = c".version 7.0
.target sm_60
.address_size 64
.visible .global .align 4 .u32 g = 9;
.global .align 4 .u32 hidden = 1;
.visible .const .align 4 .u32 c = 4;
.visible .entry store(.param .u64 out, .param .u32 add) {
    .reg .b32 %a, %b; .reg .b64 %p;
    ld.param.u64 %p, [out];
    ld.param.u32 %b, [add];
    ld.global.u32 %a, [g];
    add.u32 %a, %a, %b;
    st.global.u32 [g], %a;
    st.global.u32 [%p], %a;
    ret;
}
.visible .entry params(.param .u64 a, .param .u8 b, .param .align 8 .b8 s[12]) { ret; }
.visible .entry shared(.param .u64 out) {
    .shared .align 4 .b8 z[256];
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    mov.u32 %a, %tid.x;
    st.shared.u32 [z], %a;
    bar.sync 0;
    ld.shared.u32 %a, [z];
    st.global.u32 [%p], %a;
    ld.const.u32 %a, [c];
    st.global.u32 [%p+4], %a;
    ld.global.u32 %a, [hidden];
    st.global.u32 [%p+8], %a;
    ret;
}
";

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const MISSING: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;

fn code(result: Result<(), DriverError>) -> CUresult {
    match result {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

struct Library<'a> {
    raw: &'a Raw,
    handle: CUlibrary,
}

impl<'a> Library<'a> {
    fn new(raw: &'a Raw) -> Self {
        let mut handle = null_mut();
        // SAFETY: the text and the place outlive the call.
        let loaded = unsafe {
            raw.driver.cuLibraryLoadData(
                &raw mut handle,
                CODE.as_ptr().cast(),
                null_mut(),
                null_mut(),
                0,
                null_mut(),
                null_mut(),
                0,
            )
        };
        loaded.expect("a library");
        Self { raw, handle }
    }

    fn kernel(&self, name: &CStr) -> CUkernel {
        let mut kernel = null_mut();
        // SAFETY: the name and the place outlive the call.
        let found = unsafe {
            self.raw
                .driver
                .cuLibraryGetKernel(&raw mut kernel, self.handle, name.as_ptr())
        };
        found.expect("a kernel");
        kernel
    }

    fn function(&self, name: &CStr) -> CUfunction {
        let mut function = null_mut();
        // SAFETY: the place outlives the call.
        let found = unsafe {
            self.raw
                .driver
                .cuKernelGetFunction(&raw mut function, self.kernel(name))
        };
        found.expect("a function");
        function
    }

    fn module(&self) -> CUmodule {
        let mut module = null_mut();
        // SAFETY: the place outlives the call.
        let found = unsafe {
            self.raw
                .driver
                .cuLibraryGetModule(&raw mut module, self.handle)
        };
        found.expect("a module");
        module
    }
}

impl Drop for Library<'_> {
    fn drop(&mut self) {
        // SAFETY: the library is this one's, and its kernels have ended.
        let unloaded = unsafe { self.raw.driver.cuLibraryUnload(self.handle) };
        if !std::thread::panicking() {
            unloaded.expect("unload");
        }
    }
}

/// Launches `store` through any handle that the driver takes; what it returns and stores.
fn store(raw: &Raw, function: CUfunction, add: u32) -> u32 {
    let out = raw.upload(&[0; 4]);
    let (mut first, mut second) = (out, add);
    let mut arguments: [*mut c_void; 2] = [(&raw mut first).cast(), (&raw mut second).cast()];
    // SAFETY: the arguments are those of the kernel, which stores within the memory.
    unsafe {
        raw.driver
            .cuLaunchKernel(
                function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                null_mut(),
                arguments.as_mut_ptr(),
                null_mut(),
            )
            .expect("launch");
        raw.driver.cuCtxSynchronize().expect("synchronize");
    }
    let bytes = raw.download(out, 4);
    raw.free(out);
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// Without it, a kernel could not be launched without asking for its function, or would
/// run on other variables than the function does.
#[test]
fn kernels_are_launched_as_functions() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let kernel = library.kernel(c"store");
    assert_eq!(store(&raw, kernel.cast(), 1), 10);
    assert_eq!(store(&raw, library.function(c"store"), 1), 11);
    let mut function = null_mut();
    // SAFETY: the name and the place outlive the call.
    unsafe {
        raw.driver
            .cuModuleGetFunction(&raw mut function, library.module(), c"store".as_ptr())
    }
    .expect("store");
    assert_eq!(function, library.function(c"store"));
    assert_ne!(function, kernel.cast());
    assert_eq!(store(&raw, function, 1), 12);
}

/// Without it, a kernel would be a new one at each question, or one of another library.
#[test]
fn handles_are_stable_and_know_their_owner() {
    let raw = Raw::open();
    let (library, other) = (Library::new(&raw), Library::new(&raw));
    let kernel = library.kernel(c"store");
    assert_eq!(kernel, library.kernel(c"store"));
    assert_ne!(kernel, other.kernel(c"store"));
    assert_eq!(library.function(c"store"), library.function(c"store"));
    assert_ne!(library.function(c"store"), other.function(c"store"));
    let (mut owner, mut module) = (null_mut(), null_mut());
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: the places outlive the calls; the name lives as long as the library.
    unsafe {
        let driver = &raw.driver;
        driver
            .cuKernelGetLibrary(&raw mut owner, kernel)
            .expect("library");
        driver
            .cuFuncGetModule(&raw mut module, library.function(c"store"))
            .expect("module");
        driver.cuKernelGetName(&raw mut name, kernel).expect("name");
        assert_eq!(CStr::from_ptr(name), c"store");
        driver
            .cuFuncGetName(&raw mut name, library.function(c"store"))
            .expect("name");
        assert_eq!(CStr::from_ptr(name), c"store");
    }
    assert_eq!(owner, library.handle);
    assert_eq!(module, library.module());
}

/// Without it, wrong names and handles would be found, or be other errors than they are.
#[test]
fn what_is_not_there_is_said() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let (kernel, function) = (library.kernel(c"store"), library.function(c"store"));
    let driver = &raw.driver;
    let mut found = null_mut();
    let mut name: *const c_char = std::ptr::null();
    let (mut address, mut len) = (0, 0);
    // SAFETY: the names and places outlive the calls.
    unsafe {
        let place = &raw mut found;
        let get = driver.cuLibraryGetKernel(place, library.handle, c"no".as_ptr());
        assert_eq!(code(get), MISSING);
        let get = driver.cuLibraryGetKernel(place, library.handle, std::ptr::null());
        assert_eq!(code(get), INVALID);
        let get = driver.cuLibraryGetGlobal(
            &raw mut address,
            &raw mut len,
            library.handle,
            c"no".as_ptr(),
        );
        assert_eq!(code(get), MISSING);
        let get = driver.cuLibraryGetGlobal(null_mut(), null_mut(), library.handle, c"g".as_ptr());
        assert_eq!(code(get), INVALID);
        let get = driver.cuLibraryGetManaged(
            &raw mut address,
            &raw mut len,
            library.handle,
            c"g".as_ptr(),
        );
        assert_eq!(code(get), MISSING, "g is not managed");
        // Kernels are no functions but for launches and occupancy, and the other way round.
        assert_eq!(
            code(driver.cuFuncGetName(&raw mut name, kernel.cast())),
            HANDLE
        );
        assert_eq!(code(driver.cuFuncLoad(kernel.cast())), HANDLE);
        assert_eq!(
            code(driver.cuKernelGetName(&raw mut name, function.cast())),
            HANDLE
        );
        let mut loaded = null_mut();
        let no_file = driver.cuLibraryLoadFromFile(
            &raw mut loaded,
            c"/no/such/file.ptx".as_ptr(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            0,
        );
        assert_eq!(code(no_file), CUresult::CUDA_ERROR_FILE_NOT_FOUND);
        let mut option = [CUlibraryOption(7)];
        let mut value = [null_mut()];
        let bad_option = driver.cuLibraryLoadData(
            &raw mut loaded,
            CODE.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            option.as_mut_ptr(),
            value.as_mut_ptr(),
            1,
        );
        assert_eq!(code(bad_option), INVALID);
        // Only the library unloads its module.
        let unload = driver.cuModuleUnload(library.module());
        assert_eq!(code(unload), CUresult::CUDA_ERROR_NOT_PERMITTED);
    }
}

/// Without it, a library's variables would be other ones than its module's.
#[test]
fn variables_are_those_of_the_module() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let (mut address, mut len, mut same) = (0, 0, 0);
    for (name, value) in [(c"g", 9), (c"c", 4), (c"hidden", 1)] {
        // SAFETY: the name and the places outlive the calls.
        unsafe {
            raw.driver
                .cuLibraryGetGlobal(
                    &raw mut address,
                    &raw mut len,
                    library.handle,
                    name.as_ptr(),
                )
                .expect("a variable");
            raw.driver
                .cuModuleGetGlobal_v2(&raw mut same, null_mut(), library.module(), name.as_ptr())
                .expect("a variable");
        }
        assert_eq!((len, address), (4, same));
        assert_eq!(raw.download(address, 4), u32::to_le_bytes(value));
    }
}

/// Without it, kernels could not be listed.
#[test]
fn kernels_are_listed() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let driver = &raw.driver;
    let (mut count, mut kernels) = (0, [null_mut(); 8]);
    let (mut functions, mut names) = ([null_mut(); 8], Vec::new());
    // SAFETY: the places outlive the calls, and the names their library.
    unsafe {
        driver
            .cuLibraryGetKernelCount(&raw mut count, library.handle)
            .expect("count");
        assert_eq!(count, 3);
        driver
            .cuLibraryEnumerateKernels(kernels.as_mut_ptr(), 8, library.handle)
            .expect("kernels");
        for kernel in &kernels[..3] {
            let mut name: *const c_char = std::ptr::null();
            driver
                .cuKernelGetName(&raw mut name, *kernel)
                .expect("name");
            names.push(CStr::from_ptr(name).to_owned());
        }
        assert!(kernels[3..].iter().all(|kernel| kernel.is_null()));
        driver
            .cuModuleEnumerateFunctions(functions.as_mut_ptr(), 2, library.module())
            .expect("functions");
        assert!(!functions[1].is_null() && functions[2].is_null());
        let none = driver.cuLibraryEnumerateKernels(null_mut(), 3, library.handle);
        assert_eq!(code(none), INVALID);
    }
    names.sort();
    let all = ["params", "shared", "store"].map(|name| CString::new(name).unwrap());
    assert_eq!(names, all);
}

/// Without it, a program that packs arguments by itself would put them in wrong places.
#[test]
fn parameters_are_described() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let driver = &raw.driver;
    let (kernel, function) = (library.kernel(c"params"), library.function(c"params"));
    // SAFETY: the places outlive the calls.
    unsafe {
        for (index, expected) in [(0, 8), (8, 1), (16, 12)].into_iter().enumerate() {
            let (mut offset, mut size) = (99, 99);
            driver
                .cuKernelGetParamInfo(kernel, index, &raw mut offset, &raw mut size)
                .expect("kernel");
            assert_eq!((offset, size), expected);
            (offset, size) = (99, 99);
            driver
                .cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size)
                .expect("function");
            assert_eq!((offset, size), expected);
            driver
                .cuFuncGetParamInfo(function, index, &raw mut offset, null_mut())
                .expect("offset alone");
        }
        let (mut offset, mut size) = (99, 99);
        let past = driver.cuKernelGetParamInfo(kernel, 3, &raw mut offset, &raw mut size);
        assert_eq!(code(past), INVALID);
        let nowhere = driver.cuFuncGetParamInfo(function, 0, null_mut(), &raw mut size);
        assert_eq!(code(nowhere), INVALID);
    }
}

/// Without it, what a program sets of a kernel would not hold for its functions, or would
/// undo what was set of a function.
#[test]
fn attributes_of_kernels_hold_for_functions() {
    use CUfunction_attribute as A;
    let raw = Raw::open();
    let library = Library::new(&raw);
    let driver = &raw.driver;
    let dynamic = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let of_kernel = |attribute, kernel| {
        let mut value: c_int = -9;
        // SAFETY: the place outlives the call.
        let asked =
            unsafe { driver.cuKernelGetAttribute(&raw mut value, attribute, kernel, raw.device) };
        asked.map(|()| value)
    };
    let of_function = |attribute, function| {
        let mut value: c_int = -9;
        // SAFETY: the place outlives the call.
        unsafe { driver.cuFuncGetAttribute(&raw mut value, attribute, function) }.map(|()| value)
    };
    let set = |kernel, attribute, value, device| {
        // SAFETY: no memory is involved.
        code(unsafe { driver.cuKernelSetAttribute(attribute, value, kernel, device) })
    };
    let (kernel, function) = (library.kernel(c"shared"), library.function(c"shared"));
    for (attribute, value) in [
        (A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 256),
        (A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 4),
        (A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024),
        (A::CU_FUNC_ATTRIBUTE_PTX_VERSION, 60),
        (A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1),
        (dynamic, (48 << 10) - 256),
    ] {
        assert_eq!(
            of_kernel(attribute, kernel).unwrap(),
            value,
            "{attribute:?}"
        );
        assert_eq!(
            of_function(attribute, function).unwrap(),
            value,
            "{attribute:?}"
        );
    }
    assert_eq!(
        set(kernel, dynamic, 100_000, raw.device),
        CUresult::CUDA_SUCCESS
    );
    assert_eq!(of_kernel(dynamic, kernel).unwrap(), 100_000);
    // A function's own value changes nothing for the kernel.
    let (kernel, function) = (library.kernel(c"params"), library.function(c"params"));
    // SAFETY: no memory is involved.
    unsafe { driver.cuFuncSetAttribute(function, dynamic, 50_000) }.expect("set");
    assert_eq!(of_kernel(dynamic, kernel).unwrap(), 48 << 10);
    assert_eq!(of_function(dynamic, function).unwrap(), 50_000);

    let most =
        raw.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    assert_eq!(
        set(kernel, dynamic, most, raw.device),
        CUresult::CUDA_SUCCESS
    );
    assert_eq!(set(kernel, dynamic, most + 1, raw.device), INVALID);
    assert_eq!(set(kernel, dynamic, -1, raw.device), INVALID);
    let fixed = A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    assert_eq!(set(kernel, fixed, 10, raw.device), INVALID);
    let device = CUresult::CUDA_ERROR_INVALID_DEVICE;
    assert_eq!(set(kernel, dynamic, 100, 99), device);
    // SAFETY: no memory is involved.
    unsafe {
        let carveout = A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        assert_eq!(
            code(driver.cuFuncSetAttribute(function, carveout, 101)),
            INVALID
        );
        driver
            .cuFuncSetAttribute(function, carveout, 50)
            .expect("carveout");
        assert_eq!(of_function(carveout, function).unwrap(), 50);
        let least = CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED;
        driver
            .cuKernelSetCacheConfig(kernel, least, raw.device)
            .expect("cache");
        let wrong = driver.cuKernelSetCacheConfig(kernel, CUfunc_cache(9), raw.device);
        assert_eq!(code(wrong), INVALID);
        let wrong = driver.cuFuncSetCacheConfig(function, CUfunc_cache(9));
        assert_eq!(code(wrong), INVALID);
        let wrong = driver.cuFuncSetSharedMemConfig(function, CUsharedconfig(7));
        assert_eq!(code(wrong), INVALID);
    }
}

/// Without it, a library would live in one context only, or share variables between them.
#[test]
fn each_context_has_its_own_copy() {
    let raw = Raw::open();
    let library = Library::new(&raw);
    let kernel = library.kernel(c"store");
    assert_eq!(store(&raw, kernel.cast(), 5), 14);
    let first = library.function(c"store");
    let mut context = null_mut();
    // SAFETY: the place outlives the call.
    unsafe { raw.driver.cuCtxCreate_v2(&raw mut context, 0, raw.device) }.expect("a context");
    assert_eq!(store(&raw, kernel.cast(), 1), 10);
    assert_ne!(library.function(c"store"), first);
    // SAFETY: the context is this test's, and idle.
    unsafe {
        raw.driver.cuCtxDestroy_v2(context).expect("destroy");
        raw.driver.cuCtxSetCurrent(raw.context).expect("current");
    }
    assert_eq!(library.function(c"store"), first);
    assert_eq!(store(&raw, kernel.cast(), 1), 15);
}

/// Without it, a library would need a context before it has any use for one.
#[test]
fn a_library_needs_no_context() {
    let raw = Raw::open();
    // SAFETY: nothing of this thread needs the context meanwhile.
    unsafe { raw.driver.cuCtxSetCurrent(null_mut()) }.expect("no context");
    let library = Library::new(&raw);
    let kernel = library.kernel(c"store");
    let none = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    let (mut function, mut module, mut value) = (null_mut(), null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let driver = &raw.driver;
        let asked = driver.cuKernelGetFunction(&raw mut function, kernel);
        assert_eq!(code(asked), none);
        let asked = driver.cuLibraryGetModule(&raw mut module, library.handle);
        assert_eq!(code(asked), none);
        let threads = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        driver
            .cuKernelGetAttribute(&raw mut value, threads, kernel, raw.device)
            .expect("an attribute");
        assert_eq!(value, 1024);
        driver.cuCtxSetCurrent(raw.context).expect("context");
    }
    assert_eq!(store(&raw, kernel.cast(), 1), 10);
}

/// Without it, programs that ask a context for its settings would fail.
#[test]
fn contexts_answer_questions() {
    let raw = Raw::open();
    let driver = &raw.driver;
    let mut affinity = std::mem::MaybeUninit::<CUexecAffinityParam>::uninit();
    let count = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    let (mut banks, mut version) = (CUsharedconfig(99), 0);
    // SAFETY: the places outlive the calls, and the driver fills the one that is read.
    unsafe {
        driver
            .cuCtxGetSharedMemConfig(&raw mut banks)
            .expect("banks");
        assert_eq!(
            banks,
            CUsharedconfig::CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
        );
        driver
            .cuCtxSetSharedMemConfig(CUsharedconfig(2))
            .expect("a hint");
        assert_eq!(
            code(driver.cuCtxSetSharedMemConfig(CUsharedconfig(7))),
            INVALID
        );
        driver.cuCtxResetPersistingL2Cache().expect("reset");
        driver
            .cuCtxGetApiVersion(null_mut(), &raw mut version)
            .expect("version");
        assert!(version >= 3010, "{version}");
        driver
            .cuCtxGetExecAffinity(affinity.as_mut_ptr(), count)
            .expect("affinity");
        let affinity = affinity.assume_init();
        let all = raw.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        assert_eq!(affinity.param.smCount.val.cast_signed(), all);
        let strange = driver.cuCtxGetExecAffinity(
            std::mem::MaybeUninit::uninit().as_mut_ptr(),
            CUexecAffinityType(5),
        );
        assert_eq!(
            code(strange),
            CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
        );
        driver.cuProfilerStart().expect("start");
        driver.cuProfilerStop().expect("stop");
    }
}
