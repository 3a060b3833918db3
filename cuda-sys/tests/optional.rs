//! The optional libraries: NVIDIA's own from the wheels, and their absence.
#![cfg(all(
    feature = "std",
    feature = "nvrtc",
    feature = "nvjitlink",
    feature = "nvml",
    feature = "nccl",
    target_os = "linux"
))]

mod common;

use core::ffi::{c_char, c_int};
use core::ptr;
use std::path::Path;

use cupola_sys::nccl::Nccl;
use cupola_sys::nvjitlink::{NvJitLink, nvJitLinkResult};
use cupola_sys::nvml::Nvml;
use cupola_sys::nvrtc::{Nvrtc, NvrtcError, nvrtcProgram, nvrtcResult};
use cupola_sys::{LoadError, Symbol, Version};

const LIBRARIES: &str = "nvidia/cu13/lib";

/// Without it the real compiler's ABI could differ from the generated one, or its built-in
/// headers not be found: compiling needs them.
#[test]
fn nvrtc_compiles() {
    let Some(wheels) = common::wheels() else {
        return;
    };
    let path = wheels.join(LIBRARIES).join("libnvrtc.so.13");
    let nvrtc = Nvrtc::load_from(&path).unwrap();
    assert_eq!(nvrtc.path().as_deref(), Some(path.as_path()));
    let version = nvrtc.version().unwrap();
    assert!(version >= Version::new(13, 0), "{version}");
    let builtins = nvrtc.builtins().unwrap();
    assert!(
        std::fs::read_to_string("/proc/self/maps")
            .unwrap()
            .contains(builtins.to_str().unwrap())
    );
    let missing: Vec<_> = nvrtc.missing().map(Symbol::as_str).collect();
    assert!(missing.is_empty(), "{missing:?}");

    let ptx = compile(
        &nvrtc,
        c"extern \"C\" __global__ void f(int *p) { *p = warpSize; }",
    )
    .unwrap();
    assert!(ptx.contains(".visible .entry f("), "{ptx}");
    let error = compile(&nvrtc, c"void f( {").unwrap_err();
    assert_eq!(error.status(), Some(nvrtcResult::NVRTC_ERROR_COMPILATION));
    assert!(
        error.to_string().contains("NVRTC_ERROR_COMPILATION (6)"),
        "{error}"
    );
}

fn compile(nvrtc: &Nvrtc, source: &core::ffi::CStr) -> Result<String, NvrtcError> {
    let mut program: nvrtcProgram = ptr::null_mut();
    let options = [c"--gpu-architecture=compute_80".as_ptr()];
    // SAFETY: every pointer outlives its call, texts end with NUL, and the program lives
    // until it is destroyed.
    unsafe {
        nvrtc.nvrtcCreateProgram(
            &raw mut program,
            source.as_ptr(),
            ptr::null(),
            0,
            ptr::null(),
            ptr::null(),
        )?;
        let result = nvrtc.nvrtcCompileProgram(program, 1, options.as_ptr());
        let ptx = result.and_then(|()| {
            let mut size = 0;
            nvrtc.nvrtcGetPTXSize(program, &raw mut size)?;
            let mut text = vec![0_u8; size];
            nvrtc.nvrtcGetPTX(program, text.as_mut_ptr().cast::<c_char>())?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        });
        nvrtc.nvrtcDestroyProgram(&raw mut program)?;
        ptx
    }
}

/// Without it the names that the header renames per version could be the ones asked for.
#[test]
fn nvjitlink_answers() {
    let Some(wheels) = common::wheels() else {
        return;
    };
    let linker = NvJitLink::load_from(&wheels.join(LIBRARIES).join("libnvJitLink.so.13")).unwrap();
    assert!(linker.version().unwrap() >= Version::new(13, 0));
    assert_eq!(linker.missing().count(), 0);
    let mut handle = ptr::null_mut();
    let mut options = [c"-what".as_ptr()];
    // SAFETY: both pointers outlive the call. A failed creation leaves nothing behind.
    let error = unsafe { linker.nvJitLinkCreate(&raw mut handle, 1, options.as_mut_ptr()) };
    let status = error.unwrap_err().status();
    assert!(
        [
            nvJitLinkResult::NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
            nvJitLinkResult::NVJITLINK_ERROR_MISSING_ARCH,
        ]
        .map(Some)
        .contains(&status),
        "{status:?}"
    );
}

/// Without it the folder that `cargo xtask cuda` fills could go unused.
#[test]
fn wheels_are_found_through_the_environment() {
    let Some(wheels) = common::wheels() else {
        return;
    };
    let text = common::in_own_process("child_loads_both", &[("CUPOLA_WHEELS", &wheels)]);
    for name in ["libnvrtc.so.13", "libnvJitLink.so.13"] {
        let path = wheels.join(LIBRARIES).join(name);
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
}

#[test]
#[ignore = "run by wheels_are_found_through_the_environment"]
fn child_loads_both() {
    println!(
        "{} {}",
        Nvrtc::load().unwrap().describe(),
        NvJitLink::load().unwrap().describe()
    );
}

/// Without it a variable with a typing error could silently load another library.
#[test]
fn a_variable_that_names_a_file_is_the_only_place() {
    let text = common::in_own_process(
        "child_fails",
        &[
            ("CUPOLA_NVRTC_LIBRARY", Path::new("/nowhere/libnvrtc.so")),
            (
                "CUPOLA_NVJITLINK_LIBRARY",
                Path::new("/nowhere/libnvJitLink.so"),
            ),
            ("CUPOLA_NVML_LIBRARY", Path::new("/nowhere/libnvidia-ml.so")),
            ("CUPOLA_NCCL_LIBRARY", Path::new("/nowhere/libnccl.so")),
            ("CUPOLA_CUDA_LIBRARY", Path::new("/nowhere/libcuda.so")),
        ],
    );
    assert_eq!(text.matches("NoSuchFile").count(), 5, "{text}");
}

/// Without it an error could leave people guessing where the library should have been.
#[test]
fn absence_lists_every_place() {
    let empty = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(empty.path().join(LIBRARIES)).unwrap();
    let text = common::in_own_process(
        "child_fails",
        &[
            ("CUPOLA_WHEELS", empty.path()),
            ("CUDA_PATH", Path::new("/nowhere/cuda")),
        ],
    );
    if text.contains("Ok(") {
        return println!("SKIPPED: this system has one of the libraries");
    }
    let nvrtc = text
        .lines()
        .find(|line| line.contains("NVRTC was not found"))
        .unwrap();
    let wheel = empty.path().join(LIBRARIES).join("libnvrtc.so.13");
    for place in [
        wheel.to_str().unwrap(),
        "/nowhere/cuda/lib64 (no such folder)",
        " libnvrtc.so.13 (",
        " libnvrtc.so.12 (",
    ] {
        assert!(nvrtc.contains(place), "{place} is not in {nvrtc}");
    }
}

#[test]
#[ignore = "run by others, in a process with their environment"]
fn child_fails() {
    fn show<T: core::fmt::Debug>(result: Result<T, LoadError>) {
        println!("{result:?}");
        if let Err(error) = result {
            println!("{error}");
        }
    }
    show(Nvrtc::load());
    show(NvJitLink::load());
    show(Nvml::load());
    show(Nccl::load());
    show(cupola_sys::driver::Driver::load());
}

/// Without it another library could be taken for the one that was asked for.
#[test]
fn another_library_is_refused() {
    let path = Path::new("libm.so.6");
    for (error, lacks) in [
        (Nvrtc::load_from(path).unwrap_err(), "nvrtcVersion"),
        (NvJitLink::load_from(path).unwrap_err(), "nvJitLinkCreate"),
        (Nvml::load_from(path).unwrap_err(), "nvmlInit_v2"),
        (Nccl::load_from(path).unwrap_err(), "ncclGetVersion"),
    ] {
        assert!(matches!(error, LoadError::WrongLibrary { .. }), "{error:?}");
        assert!(error.to_string().contains(lacks), "{error}");
    }
}

/// Without it an nvJitLink before 12.3, which has no `nvJitLinkVersion`, could be refused,
/// or NCCL's version be read as CUDA's.
#[test]
fn older_libraries_work_without_what_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    let old = common::library(
        folder.path(),
        "old_linker",
        "#[unsafe(no_mangle)] extern \"C\" fn nvJitLinkCreate() -> u32 { 6 }",
    );
    let linker = NvJitLink::load_from(&old).unwrap();
    let error = linker.version().unwrap_err();
    assert_eq!(
        error.to_string(),
        "nvJitLinkVersion is not in this nvJitLink"
    );
    assert_eq!(
        linker.missing().count(),
        cupola_sys::nvjitlink::SYMBOLS.len() - 1
    );

    let nccl = common::library(
        folder.path(),
        "nccl",
        "#[unsafe(no_mangle)] unsafe extern \"C\" fn ncclGetVersion(v: *mut i32) -> u32 { unsafe { *v = 23203 }; 0 }",
    );
    let nccl = Nccl::load_from(&nccl).unwrap();
    assert_eq!(nccl.version(), Ok(Version::new(2, 32)));
    let mut count: c_int = 0;
    // SAFETY: the function is missing: nothing is called.
    let error = unsafe { nccl.ncclCommCount(ptr::null_mut(), &raw mut count) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ncclCommCount is not in this NCCL (version 2.32)"
    );
}
