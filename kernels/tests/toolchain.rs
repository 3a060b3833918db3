//! NVIDIA's compiler takes the sources, and its assembler the embedded PTX.
//!
//! Both libraries run without a GPU; `cargo xtask cuda` fetches them. Nothing that they
//! make is executed or kept. Without them the tests say so and check nothing, unless
//! `CUPOLA_REQUIRE_WHEELS` is set: then they fail.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Display;
use std::ptr;

use cupola_kernels::{EMBEDDED, Embedded, HEADER, PRELUDE};
use cupola_sys::nvjitlink::{NvJitLink, NvJitLinkError, nvJitLinkInputType};
use cupola_sys::nvrtc::{Nvrtc, NvrtcError};

/// The library, or `None` after saying that there is none.
fn available<T>(loaded: Result<T, impl Display>) -> Option<T> {
    match loaded {
        Ok(library) => Some(library),
        Err(error) if std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// Compiles one source for a virtual architecture; gives the compiler's log and the PTX.
fn compile(nvrtc: &Nvrtc, file: &Embedded, arch: c_int) -> Result<(String, String), NvrtcError> {
    let text = |text: &str| CString::new(text).expect("no NUL in a source");
    let (source, name) = (text(file.source()), text(file.name()));
    let (prelude, header) = (text(PRELUDE), text(HEADER));
    let headers = [prelude.as_ptr(), header.as_ptr()];
    let header_names = [c"prelude.cuh".as_ptr(), c"cupola.cuh".as_ptr()];
    let arch = text(&format!("--gpu-architecture=compute_{arch}"));
    let options = [arch.as_ptr(), c"--std=c++17".as_ptr()];
    let mut program = ptr::null_mut();
    // SAFETY: all strings are NUL-terminated, all arrays have the lengths that are given
    // with them, and everything outlives the calls. Each buffer has the size that NVRTC
    // asked for. The program is used between its creation and destruction only.
    unsafe {
        nvrtc.nvrtcCreateProgram(
            &raw mut program,
            source.as_ptr(),
            name.as_ptr(),
            2,
            headers.as_ptr(),
            header_names.as_ptr(),
        )?;
        let compiled = nvrtc.nvrtcCompileProgram(program, 2, options.as_ptr());
        let mut size = 0;
        nvrtc.nvrtcGetProgramLogSize(program, &raw mut size)?;
        let log = read(size, |buffer| nvrtc.nvrtcGetProgramLog(program, buffer))?;
        assert!(compiled.is_ok(), "{}.cu: {}", file.name(), log);
        nvrtc.nvrtcGetPTXSize(program, &raw mut size)?;
        let ptx = read(size, |buffer| nvrtc.nvrtcGetPTX(program, buffer))?;
        nvrtc.nvrtcDestroyProgram(&raw mut program)?;
        Ok((log, ptx))
    }
}

/// The text that `fill` writes into a buffer of `size` bytes.
fn read<E>(size: usize, fill: impl FnOnce(*mut c_char) -> Result<(), E>) -> Result<String, E> {
    let mut buffer = vec![0; size + 1];
    fill(buffer.as_mut_ptr().cast())?;
    let text = CStr::from_bytes_until_nul(&buffer).expect("one byte more than asked for");
    Ok(text.to_string_lossy().into_owned())
}

/// The oldest and the newest architecture that the compiler knows.
fn oldest_and_newest(nvrtc: &Nvrtc) -> Result<[c_int; 2], NvrtcError> {
    let mut count = 0;
    // SAFETY: the pointer outlives the call.
    unsafe { nvrtc.nvrtcGetNumSupportedArchs(&raw mut count) }?;
    let mut archs = vec![0; usize::try_from(count).expect("a count")];
    // SAFETY: the buffer has as many elements as NVRTC said.
    unsafe { nvrtc.nvrtcGetSupportedArchs(archs.as_mut_ptr()) }?;
    let oldest = archs.iter().copied().min().expect("at least one");
    let newest = archs.iter().copied().max().expect("at least one");
    Ok([oldest, newest])
}

// Without it a source could be left that only clang understands, or that defines
// a kernel under another name for NVRTC.
#[test]
fn nvrtc_compiles_every_source_without_a_word() {
    let Some(nvrtc) = available(Nvrtc::load()) else {
        return;
    };
    for arch in oldest_and_newest(&nvrtc).expect("architectures") {
        for file in EMBEDDED {
            let (log, ptx) = compile(&nvrtc, file, arch).expect("NVRTC's calls");
            assert_eq!(log, "", "{}.cu for compute_{arch}", file.name());
            for entry in file.entries() {
                assert!(ptx.contains(&format!(".entry {entry}(")), "{entry}");
            }
        }
    }
}

/// Assembles PTX for a real architecture; gives the linker's error log if it fails.
fn assemble(linker: &NvJitLink, name: &str, ptx: &str, arch: c_int) -> Result<(), String> {
    let text = |error: NvJitLinkError| error.to_string();
    let arch = CString::new(format!("-arch=sm_{arch}")).expect("no NUL");
    let name = CString::new(name).expect("no NUL");
    let ptx = CString::new(ptx).expect("no NUL");
    let ptx = ptx.as_bytes_with_nul();
    let options = [arch.as_ptr()];
    let mut handle = ptr::null_mut();
    // SAFETY: the strings are NUL-terminated, the lengths are those of what is pointed to,
    // all of it outlives the calls, and the buffer of the log has the size that was asked
    // for. The handle is used between its creation and destruction only.
    unsafe {
        linker
            .nvJitLinkCreate(&raw mut handle, 1, options.as_ptr())
            .map_err(text)?;
        let linked = linker
            .nvJitLinkAddData(
                handle,
                nvJitLinkInputType::NVJITLINK_INPUT_PTX,
                ptx.as_ptr().cast(),
                ptx.len(),
                name.as_ptr(),
            )
            .and_then(|()| linker.nvJitLinkComplete(handle));
        let mut size = 0;
        linker
            .nvJitLinkGetErrorLogSize(handle, &raw mut size)
            .map_err(text)?;
        let log = read(size, |buffer| linker.nvJitLinkGetErrorLog(handle, buffer)).map_err(text)?;
        linker.nvJitLinkDestroy(&raw mut handle).map_err(text)?;
        linked.map_err(|error| format!("{error}: {log}"))
    }
}

// Without it clang could emit PTX that its own tests and the software device take, and
// that no driver would load.
#[test]
fn nvjitlink_assembles_every_embedded_ptx() {
    let Some(linker) = available(NvJitLink::load()) else {
        return;
    };
    let Some(nvrtc) = available(Nvrtc::load()) else {
        return;
    };
    let [oldest, newest] = oldest_and_newest(&nvrtc).expect("architectures");
    for arch in [oldest, newest] {
        for file in EMBEDDED {
            let (name, ptx) = (file.name(), file.ptx());
            assert_eq!(assemble(&linker, name, ptx, arch), Ok(()), "{name}");
        }
    }
    for file in EMBEDDED {
        for newer in file.newer() {
            let (major, minor) = newer.compute_capability();
            let least = oldest.max((10 * major + minor).cast_signed());
            for arch in [least, 90, 100] {
                if !(least..=newest).contains(&arch) {
                    continue;
                }
                let name = file.name();
                let assembled = assemble(&linker, name, newer.text(), arch);
                assert_eq!(assembled, Ok(()), "{name} for sm_{arch}");
            }
        }
    }
}
