//! Images, links and libraries, as far as only the software device has them so.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const HEAD: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";
const KERNEL: &str = ".visible .entry k() { ret; }\n";
/// What the engine does not have.
const STRANGE: &str = ".visible .entry strange() { wgmma.fence.sync.aligned; ret; }\n";

fn ptx(text: &str) -> CString {
    CString::new(format!("{HEAD}{text}")).unwrap()
}

/// A fat binary with one plain entry of PTX for each architecture.
fn fat(entries: &[(u32, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (arch, text) in entries {
        let text = ptx(text);
        let payload = text.as_bytes_with_nul();
        let mut header = [0; 64];
        header[0] = 1;
        header[4] = 64;
        header[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[28..32].copy_from_slice(&arch.to_le_bytes());
        body.extend_from_slice(&header);
        body.extend_from_slice(payload);
    }
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[1, 0, 16, 0]);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

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

/// Without it, what the device leaves out of occupancy and launches would be done half, or
/// refused without a word.
#[test]
fn clusters_and_several_devices_are_refused_by_name() {
    let bench = TestBench::new();
    let module = bench.load(&format!("{HEAD}{KERNEL}"));
    let function = bench.function(module, c"k");
    let driver = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let part = CUDA_LAUNCH_PARAMS {
        function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        kernelParams: null_mut(),
    };
    let several = |parts: &mut [CUDA_LAUNCH_PARAMS], count: u32| {
        // SAFETY: the list outlives the call, and the kernel has no parameters.
        code(unsafe { driver.cuLaunchCooperativeKernelMultiDevice(parts.as_mut_ptr(), count, 0) })
    };
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(several(&mut [part], 0), invalid);
    assert_eq!(several(&mut [part], 1), CUresult::CUDA_SUCCESS);
    assert_eq!(several(&mut [part, part], 2), unsupported);
    let mut in_default = part;
    in_default.hStream = null_mut();
    assert_eq!(several(&mut [in_default], 1), invalid);
    let messages = bench.machine.messages();
    assert!(messages.last().unwrap().contains("several devices"));

    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: CUlaunchAttributeValue {
            clusterDim: CUlaunchAttributeValue_union__bindgen_ty_1 { x: 2, y: 1, z: 1 },
        },
    };
    let config = CUlaunchConfig {
        gridDimX: 2,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 32,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: &raw mut attribute,
        numAttrs: 1,
    };
    let mut count = 0;
    // SAFETY: the configuration and the place outlive the calls.
    unsafe {
        let launched = driver.cuLaunchKernelEx(&raw const config, function, null_mut(), null_mut());
        assert_eq!(code(launched), unsupported);
        let asked =
            driver.cuOccupancyMaxActiveClusters(&raw mut count, function, &raw const config);
        assert_eq!(code(asked), unsupported);
        assert_eq!(
            code(driver.cuProfilerInitialize(c"a".as_ptr(), c"b".as_ptr(), CUoutput_mode(0))),
            unsupported
        );
        driver.cuStreamDestroy_v2(stream).unwrap();
        driver.cuModuleUnload(module).unwrap();
    }
    let messages = bench.machine.messages();
    assert!(
        messages
            .iter()
            .filter(|text| text.contains("cluster"))
            .count()
            == 2
    );
    bench.finish();
}

/// Without it, code for another architecture would load and run what the device lacks, and
/// parameters beyond what PTX allows would be cut off.
#[test]
fn a_device_refuses_what_is_not_for_it() {
    let bench = TestBench::new();
    let load = |text: &str| match bench.try_load(text) {
        Ok(_) => CUresult::CUDA_SUCCESS,
        Err(refused) => refused,
    };
    let kernel = |version: &str, target: &str, bytes: usize| {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n
             .visible .entry k(.param .b8 p[{bytes}]) {{ ret; }}"
        )
    };
    assert_eq!(load(&kernel("7.0", "sm_60", 4352)), CUresult::CUDA_SUCCESS);
    assert_eq!(load(&kernel("8.1", "sm_70", 32764)), CUresult::CUDA_SUCCESS);
    for refused in [
        kernel("8.0", "sm_70", 4353),
        kernel("8.1", "sm_60", 4353),
        kernel("8.1", "sm_70", 32765),
        kernel("8.0", "sm_75a", 4),
        kernel("7.0", "sm_60", 4).replace(".visible", ".global .u32 x = 1.0; .visible"),
    ] {
        assert_eq!(
            load(&refused),
            CUresult::CUDA_ERROR_INVALID_PTX,
            "{refused}"
        );
    }
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

/// Without it, dimensions whose product is beyond 64 bits would end the call in a panic,
/// or launch something small.
#[test]
fn no_dimension_is_too_large_to_be_refused() {
    let bench = TestBench::new();
    let function = bench.function(bench.load(&format!("{HEAD}{KERNEL}")), c"k");
    let most = u32::MAX;
    // SAFETY: the kernel has no parameters.
    unsafe {
        let driver = &bench.driver;
        for (grid, block) in [
            ([1; 3], [most; 3]),
            ([most; 3], [1; 3]),
            ([most; 3], [most; 3]),
        ] {
            let launched = driver.cuLaunchKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                0,
                null_mut(),
                null_mut(),
                null_mut(),
            );
            assert_eq!(code(launched), CUresult::CUDA_ERROR_INVALID_VALUE);
            let launched = driver.cuLaunchCooperativeKernel(
                function,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                0,
                null_mut(),
                null_mut(),
            );
            assert_eq!(code(launched), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
}
