//! Images that are refused, and what a load says of them.

use std::ffi::{CStr, CString, c_void};

use cupola_sim::Machine;
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Without it, a program could not tell why its module does not load.
#[test]
fn images_that_cannot_run_are_refused_with_a_reason() {
    let bench = TestBench::with(Machine::builder().driver_version(Version::new(12, 2)));
    let header = |version, target| {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
        )
    };
    let cases = [
        ("hello", CUresult::CUDA_ERROR_INVALID_IMAGE, "no PTX"),
        ("", CUresult::CUDA_ERROR_INVALID_IMAGE, "no PTX"),
        (
            "\x7fELF\x02\x01\x01",
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            "cubin",
        ),
        (
            &header("8.3", "sm_80"),
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            "PTX 8.3",
        ),
        (
            &header("8.0", "sm_90"),
            CUresult::CUDA_ERROR_INVALID_PTX,
            "sm_90",
        ),
        (
            &format!("{} garbage", header("8.0", "sm_80")),
            CUresult::CUDA_ERROR_INVALID_PTX,
            "line 5",
        ),
    ];
    for (text, wanted, reason) in cases {
        assert_eq!(bench.try_load(text), Err(wanted), "{text}");
        let said = bench.machine.messages().pop().unwrap();
        assert!(said.contains(reason), "{said}");
    }
    let module = bench.load(&header("8.2", "sm_80"));
    bench.unload(module);
    let mut module = std::ptr::null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        let none = bench
            .driver
            .cuModuleLoad(&raw mut module, c"/nowhere".as_ptr());
        assert_eq!(code(none), CUresult::CUDA_ERROR_FILE_NOT_FOUND);
        let null = bench
            .driver
            .cuModuleLoadData(&raw mut module, std::ptr::null());
        assert_eq!(code(null), INVALID);
    }
    bench.finish();
}

/// Without it, a file's bytes could be followed like an address in a program's memory, out
/// of the file and into a crash.
#[test]
fn a_hostile_file_is_refused() {
    let bench = TestBench::new();
    let path = std::env::temp_dir().join(format!("cupola-sim-image-{}", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let mut module = std::ptr::null_mut();
    let mut load = |image: &[u8]| {
        std::fs::write(&path, image).unwrap();
        // SAFETY: the name ends with NUL, and the place outlives the call.
        code(unsafe { bench.driver.cuModuleLoad(&raw mut module, name.as_ptr()) })
    };
    for magic in [[0x50, 0xed, 0x55, 0xba], [0xb1, 0x43, 0x62, 0x46]] {
        for len in [0, 4, 12, 60, 5000] {
            let image = [&magic[..], &vec![0xff; len]].concat();
            assert_eq!(load(&image), CUresult::CUDA_ERROR_INVALID_IMAGE, "{len}");
        }
    }
    let no_binary = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_eq!(load(b"\x7fELF"), no_binary);
    let text = b".version 7.0\n.target sm_80\n.address_size 64\n";
    assert_eq!(load(text), CUresult::CUDA_SUCCESS);
    std::fs::remove_file(&path).unwrap();
    bench.unload(module);
    bench.finish();
}

/// Without it, the logs of a load could be empty, or run over their buffers.
#[test]
fn load_logs_say_what_is_wrong() {
    let bench = TestBench::new();
    let log = |text: &str, size: usize| {
        let text = CString::new(text).unwrap();
        let mut buffer = vec![b'#'; 600];
        let mut options = [
            CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 3] = [
            std::ptr::without_provenance_mut(3),
            buffer.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(size),
        ];
        let mut module = std::ptr::null_mut();
        let (place, image) = (&raw mut module, text.as_ptr().cast());
        let (names, slots) = (options.as_mut_ptr(), values.as_mut_ptr());
        // SAFETY: the buffer has the size that the options say, and more.
        let result = unsafe {
            bench
                .driver
                .cuModuleLoadDataEx(place, image, 3, names, slots)
        };
        assert!(buffer[size..].iter().all(|byte| *byte == b'#'));
        (code(result), buffer, values[2].addr())
    };
    let bad = ".version 7.0\n.target sm_60\n.address_size 64\n???";
    let (result, buffer, len) = log(bad, 512);
    assert_eq!(result, CUresult::CUDA_ERROR_INVALID_PTX);
    let text = CStr::from_bytes_until_nul(&buffer)
        .unwrap()
        .to_str()
        .unwrap();
    assert!(text.contains("line 4"), "{text}");
    assert_eq!(text.len(), len);
    let (_, buffer, len) = log(bad, 8);
    assert_eq!((len, buffer[7]), (7, 0));
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
