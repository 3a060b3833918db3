//! Links: several inputs become one image.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use cupola_sys::driver::*;

use crate::ptx::{KERNEL, fat, ptx};
use crate::support::{Code, TestBench, code};

fn link(bench: &TestBench) -> CUlinkState {
    let mut link = null_mut();
    // SAFETY: the place outlives the call.
    unsafe {
        bench
            .driver
            .cuLinkCreate_v2(0, null_mut(), null_mut(), &raw mut link)
    }
    .unwrap();
    link
}

fn add(bench: &TestBench, link: CUlinkState, kind: CUjitInputType, bytes: &[u8]) -> Code {
    // SAFETY: the bytes outlive the call, which only reads them.
    code(unsafe {
        bench.driver.cuLinkAddData_v2(
            link,
            kind,
            bytes.as_ptr().cast_mut().cast(),
            bytes.len(),
            c"part".as_ptr(),
            0,
            null_mut(),
            null_mut(),
        )
    })
}

fn complete(bench: &TestBench, link: CUlinkState) -> Result<(*mut c_void, usize), Code> {
    let (mut image, mut size) = (null_mut(), 0);
    // SAFETY: the places outlive the call.
    let done = unsafe {
        bench
            .driver
            .cuLinkComplete(link, &raw mut image, &raw mut size)
    };
    match code(done) {
        CUresult::CUDA_SUCCESS => Ok((image, size)),
        code => Err(code),
    }
}

/// Without it, a link's result could not be read, kept, or loaded by a machine that lives
/// on after the link.
#[test]
fn a_linked_image_is_text() {
    let bench = TestBench::new();
    let link = link(&bench);
    let kind = CUjitInputType::CU_JIT_INPUT_PTX;
    // With its NUL and without.
    let first = ptx(KERNEL);
    assert_eq!(
        add(&bench, link, kind, first.as_bytes_with_nul()),
        CUresult::CUDA_SUCCESS
    );
    let second = ptx(".visible .entry l() { ret; }");
    assert_eq!(
        add(&bench, link, kind, second.as_bytes()),
        CUresult::CUDA_SUCCESS
    );
    let (image, size) = complete(&bench, link).unwrap();
    // SAFETY: the image is text that ends with NUL, good until the link is destroyed.
    let text = unsafe { CStr::from_ptr(image.cast()) }.to_owned();
    assert_eq!(size, text.as_bytes_with_nul().len());
    let shown = text.to_str().unwrap();
    assert!(
        shown.starts_with(".version 7.0\n.target sm_60\n"),
        "{shown}"
    );
    assert!(
        shown.contains(".entry k(") && shown.contains(".entry l("),
        "{shown}"
    );
    assert_eq!(bench.machine.usage().links, 1);
    // SAFETY: no memory is involved.
    unsafe { bench.driver.cuLinkDestroy(link) }.unwrap();
    let (mut module, mut count) = (null_mut(), 0);
    // SAFETY: the text and the places outlive the calls.
    unsafe {
        let driver = &bench.driver;
        driver
            .cuModuleLoadData(&raw mut module, text.as_ptr().cast())
            .unwrap();
        driver
            .cuModuleGetFunctionCount(&raw mut count, module)
            .unwrap();
        driver.cuModuleUnload(module).unwrap();
        assert_eq!(
            code(driver.cuLinkDestroy(link)),
            CUresult::CUDA_ERROR_INVALID_HANDLE
        );
    }
    assert_eq!(count, 2);
    bench.finish();
}

/// Without it, inputs without PTX would be lost in silence, and the program would not
/// learn what to give instead.
#[test]
fn inputs_without_ptx_are_refused_with_advice() {
    use CUjitInputType as K;
    let bench = TestBench::new();
    let no_binary = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
    let no_compiler = CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    for (kind, bytes, expected) in [
        (K::CU_JIT_INPUT_CUBIN, &b"\x7fELF"[..], no_binary),
        (K::CU_JIT_INPUT_OBJECT, b"\x7fELF", no_binary),
        (K::CU_JIT_INPUT_LIBRARY, b"!<arch>\n", no_binary),
        (K::CU_JIT_INPUT_NVVM, b"BC\xc0\xde", no_compiler),
        (K::CU_JIT_INPUT_PTX, b"\x7fELF", no_binary),
    ] {
        let link = link(&bench);
        assert_eq!(add(&bench, link, kind, bytes), expected, "{kind:?}");
        let messages = bench.machine.messages();
        let message = messages.last().unwrap();
        assert!(message.contains("compile to PTX"), "{message}");
        // The link is spoilt: what it would give lacks a part.
        assert_eq!(complete(&bench, link), Err(expected));
        // SAFETY: no memory is involved.
        unsafe { bench.driver.cuLinkDestroy(link) }.unwrap();
    }
    let link = link(&bench);
    let text = ptx(KERNEL);
    let fat_kind = K::CU_JIT_INPUT_FATBINARY;
    let broken = CUresult::CUDA_ERROR_INVALID_IMAGE;
    assert_eq!(add(&bench, link, fat_kind, text.as_bytes()), broken);
    assert_eq!(
        add(&bench, link, K::CU_JIT_INPUT_PTX, &fat(&[(60, KERNEL)])),
        broken
    );
    let newer = ".version 9.9\n.target sm_60\n.address_size 64\n";
    assert_eq!(
        add(&bench, link, K::CU_JIT_INPUT_PTX, newer.as_bytes()),
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    assert_eq!(
        add(&bench, link, fat_kind, &fat(&[(60, KERNEL)])),
        CUresult::CUDA_SUCCESS
    );
    assert!(complete(&bench, link).is_ok());
    // SAFETY: no memory is involved.
    unsafe { bench.driver.cuLinkDestroy(link) }.unwrap();
    bench.finish();
}

/// Without it, a link's statics with one name would be found under the wrong one.
#[test]
fn a_private_kernel_keeps_its_name_if_it_is_first() {
    let bench = TestBench::new();
    let link = link(&bench);
    let kind = CUjitInputType::CU_JIT_INPUT_PTX;
    for _ in 0..2 {
        let text = ptx(".entry k() { ret; }");
        assert_eq!(
            add(&bench, link, kind, text.as_bytes()),
            CUresult::CUDA_SUCCESS
        );
    }
    let (image, _) = complete(&bench, link).unwrap();
    let (mut module, mut function) = (null_mut(), null_mut());
    // SAFETY: the image lives as long as the link; the places outlive the calls.
    unsafe {
        let driver = &bench.driver;
        driver.cuModuleLoadData(&raw mut module, image).unwrap();
        for name in [c"k", c"k$in1_0$"] {
            driver
                .cuModuleGetFunction(&raw mut function, module, name.as_ptr())
                .unwrap();
        }
        driver.cuModuleUnload(module).unwrap();
        driver.cuLinkDestroy(link).unwrap();
    }
    bench.finish();
}
