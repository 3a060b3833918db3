//! Libraries: code for each device, in each context.

use std::ffi::CStr;
use std::ptr::null_mut;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::ptx::{KERNEL, STRANGE, fat, ptx};
use crate::support::{Code, TestBench, code};

fn library(bench: &TestBench, image: &[u8]) -> Result<CUlibrary, Code> {
    let mut library = null_mut();
    // SAFETY: the image ends with NUL or says how long it is.
    let loaded = unsafe {
        bench.driver.cuLibraryLoadData(
            &raw mut library,
            image.as_ptr().cast(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            0,
        )
    };
    match code(loaded) {
        CUresult::CUDA_SUCCESS => Ok(library),
        code => Err(code),
    }
}

/// Without it, each device would run the code that is best for the first one.
#[test]
fn a_library_has_the_best_code_for_each_device() {
    let old = DeviceConfig::new().compute_capability(7, 0);
    let new = DeviceConfig::new().compute_capability(9, 0);
    let bench = TestBench::with(Machine::builder().device(old).add_device(new));
    let shared = |bytes: u32| {
        format!(".visible .entry k() {{ .shared .b8 s[{bytes}]; st.shared.u8 [s], 1; ret; }}")
    };
    let image = fat(&[(60, &shared(16)), (80, &shared(32)), (100, &shared(64))]);
    let library = library(&bench, &image).unwrap();
    let mut kernel = null_mut();
    let driver = &bench.driver;
    // SAFETY: the name and the places outlive the calls.
    unsafe {
        driver
            .cuLibraryGetKernel(&raw mut kernel, library, c"k".as_ptr())
            .unwrap();
        let size = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        let mut value = 0;
        for (device, expected) in [(0, 16), (1, 32)] {
            driver
                .cuKernelGetAttribute(&raw mut value, size, kernel, device)
                .unwrap();
            assert_eq!(value, expected, "device {device}");
        }
        driver.cuLibraryUnload(library).unwrap();
    }
    bench.finish();
}

/// Without it, a library that no device can use would fail at its first kernel, far from
/// the cause.
#[test]
fn bad_libraries_are_refused_at_once() {
    let bench = TestBench::with(Machine::builder().driver_version(Version::new(12, 0)));
    let refused = |image: &[u8]| library(&bench, image).unwrap_err();
    let text = |text: &str| ptx(text).into_bytes_with_nul();
    let invalid = CUresult::CUDA_ERROR_INVALID_PTX;
    assert_eq!(refused(b"hello\0"), CUresult::CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(
        refused(b"\x7fELF\0"),
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
    );
    assert_eq!(refused(&text(".visible .entry k( {")), invalid);
    let calls = ".extern .func f(); .visible .entry k() { call f; ret; }";
    assert_eq!(refused(&text(calls)), invalid);
    let messages = bench.machine.messages();
    let message = messages.last().unwrap();
    assert!(message.contains("function f"), "{message}");
    assert_eq!(
        refused(b".version 8.9\n.target sm_60\n.address_size 64\n\0"),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    assert_eq!(bench.machine.usage().libraries, 0);
    bench.finish();
}

/// Without it, a library that is not unloaded would not be reported, or a context's end
/// would leave its copy behind.
#[test]
fn a_library_outlives_contexts_and_is_counted() {
    let bench = TestBench::new();
    let text = ptx(&format!(".visible .global .u32 g;{KERNEL}{STRANGE}"));
    let library = library(&bench, text.as_bytes_with_nul()).unwrap();
    let driver = &bench.driver;
    let (mut module, mut kernel, mut count) = (null_mut(), null_mut(), 0);
    // SAFETY: the names and the places outlive the calls.
    unsafe {
        driver.cuLibraryGetModule(&raw mut module, library).unwrap();
        // A kernel that cannot run is not listed, and says why.
        driver
            .cuLibraryGetKernelCount(&raw mut count, library)
            .unwrap();
        let strange = driver.cuLibraryGetKernel(&raw mut kernel, library, c"strange".as_ptr());
        assert_eq!(code(strange), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let message = bench.machine.messages();
        assert!(message.last().unwrap().contains("wgmma"), "{message:?}");
        driver
            .cuLibraryGetKernel(&raw mut kernel, library, c"k".as_ptr())
            .unwrap();
        // The module is the library's own business.
        assert_eq!(bench.machine.usage().modules, 0);
        assert_eq!(bench.machine.usage().libraries, 1);
        driver.cuCtxDestroy_v2(bench.context).unwrap();
        let report = bench.machine.leaks().unwrap();
        assert!(report.contains("1 libraries"), "{report}");
        let mut context = null_mut();
        driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
        let mut other = null_mut();
        driver.cuLibraryGetModule(&raw mut other, library).unwrap();
        assert_ne!(module, other);
        driver
            .cuLaunchKernel(
                kernel.cast(),
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                null_mut(),
                null_mut(),
                null_mut(),
            )
            .unwrap();
        driver.cuLibraryUnload(library).unwrap();
        assert_eq!(
            code(driver.cuLibraryUnload(library)),
            CUresult::CUDA_ERROR_INVALID_HANDLE
        );
        let gone = driver.cuLaunchKernel(
            kernel.cast(),
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            null_mut(),
            null_mut(),
        );
        assert_eq!(code(gone), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(count, 1);
        driver.cuCtxDestroy_v2(context).unwrap();
    }
    assert_eq!(bench.machine.leaks(), None);
}

/// Without it, a library's managed variable would be another one in each context, or be
/// none before there is a context (both are as on an H200).
#[test]
fn managed_variables_are_the_librarys() {
    let bench = TestBench::new();
    let text = ptx(".visible .global .attribute(.managed) .align 4 .u32 m = 9;
        .visible .global .align 4 .u32 g = 5;
        .visible .entry k() { .reg .b32 a; ld.global.u32 a, [m]; ret; }");
    let driver = &bench.driver;
    let managed = |library, name: &CStr| {
        let (mut at, mut len) = (0, 0);
        // SAFETY: the places and the name outlive the call.
        let found = unsafe {
            driver.cuLibraryGetManaged(&raw mut at, &raw mut len, library, name.as_ptr())
        };
        (code(found), at, len)
    };
    let mut other = null_mut();
    // SAFETY: the places outlive the calls.
    unsafe {
        driver.cuCtxSetCurrent(null_mut()).unwrap();
        let library = library(&bench, text.as_bytes_with_nul()).unwrap();
        let (found, at, len) = managed(library, c"m");
        assert_eq!((found, len), (CUresult::CUDA_SUCCESS, 4));
        let missing = CUresult::CUDA_ERROR_NOT_FOUND;
        assert_eq!(managed(library, c"g").0, missing);
        assert_eq!(managed(library, c"x").0, missing);
        let value = std::ptr::with_exposed_provenance_mut::<u32>(usize::try_from(at).unwrap());
        assert_eq!(value.read(), 9);
        value.write(33);
        driver.cuCtxSetCurrent(bench.context).unwrap();
        driver.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
        for context in [bench.context, other] {
            driver.cuCtxSetCurrent(context).unwrap();
            let (mut module, mut place, mut size) = (null_mut(), 0, 0);
            driver.cuLibraryGetModule(&raw mut module, library).unwrap();
            driver
                .cuModuleGetGlobal_v2(&raw mut place, &raw mut size, module, c"m".as_ptr())
                .unwrap();
            assert_eq!((place, size), (at, 4));
            assert_eq!(value.read(), 33);
        }
        driver.cuCtxDestroy_v2(other).unwrap();
        assert_eq!(value.read(), 33);
        driver.cuCtxSetCurrent(bench.context).unwrap();
        driver.cuLibraryUnload(library).unwrap();
    }
    bench.finish();
}
