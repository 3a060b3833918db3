//! Modules, functions and launches, from PTX to results and faults.

use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Mutex};

use cupola_sim::ptx::Module;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code, without_hanging};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const SAXPY: &str = include_str!("../../../kernels/ptx/saxpy.ptx");

/// Kernels of this file's own, one fault each.
const KERNELS: &str = r#"
.version 7.0
.target sm_60
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.visible .global .align 4 .u32 counter[4] = {1, 2, 3, 4};
.visible .const .align 4 .u32 limit = 7;
.global .align 1 .b8 message[5] = {98, 97, 100, 33, 0};
.visible .entry store(.param .u64 at, .param .u32 value) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.param.u32 %v, [value];
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry nothing() { ret; }
.visible .entry stop() { trap; ret; }
.visible .entry check() {
    .reg .u64 %a;
    mov.u64 %a, message;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
      st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b32 [l], 12;
      st.param.b64 [n], %a; st.param.b64 [c], 1;
      call.uni __assertfail, (m, f, l, n, c); }
    ret;
}
.visible .entry bump(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v, %w;
    ld.param.u64 %a, [at];
    ld.const.u32 %w, [limit];
    ld.global.u32 %v, [counter];
    add.u32 %v, %v, %w;
    st.global.u32 [counter], %v;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry for_ever() {
again:
    bra again;
}
.visible .entry shared_of_its_own() .maxntid 64, 1, 1 {
    .shared .align 4 .b8 space[1024];
    ret;
}
.visible .entry strange() { wgmma.fence.sync.aligned; ret; }
"#;

/// Without it, a kernel could run with wrong arguments, or out of its stream's order.
#[test]
fn a_kernel_computes_between_two_copies() {
    saxpy_computes(SAXPY);
}

/// Without it, a kernel of the repository could link to another one.
#[test]
fn a_kernel_that_was_printed_is_the_same() {
    let printed = Module::parse(SAXPY).unwrap().to_string();
    assert_eq!(Module::parse(&printed).unwrap().to_string(), printed);
    saxpy_computes(&printed);
}

fn saxpy_computes(text: &str) {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(text);
    let saxpy = bench.function(module, c"cupola_saxpy");
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    const N: usize = 10_000;
    let bytes = N * 4;
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..N).map(|i| (i % 7) as f32).collect();
    let mut result = vec![0f32; N];
    let (mut dx, mut dy) = (0, 0);
    let (mut n, mut a) = (N as u64, 2.5f32);
    // SAFETY: the vectors outlive the stream's work; the parameters are the kernel's.
    unsafe {
        d.cuMemAllocAsync(&raw mut dx, bytes, stream).unwrap();
        d.cuMemAllocAsync(&raw mut dy, bytes, stream).unwrap();
        d.cuMemcpyHtoDAsync_v2(dx, x.as_ptr().cast(), bytes, stream)
            .unwrap();
        d.cuMemcpyHtoDAsync_v2(dy, y.as_ptr().cast(), bytes, stream)
            .unwrap();
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut n).cast(),
            (&raw mut a).cast(),
            (&raw mut dx).cast(),
            (&raw mut dy).cast(),
        ];
        let ok = CUresult::CUDA_SUCCESS;
        let values = [n, u64::from(a.to_bits()), dx, dy];
        assert_eq!(bench.launch(saxpy, 7, 128, stream, &values), ok);
        // The same through the packed buffer: n, a, padding, x, y.
        let mut buffer = Vec::new();
        buffer.extend_from_slice(&n.to_le_bytes());
        buffer.extend_from_slice(&a.to_le_bytes());
        buffer.extend_from_slice(&[0; 4]);
        buffer.extend_from_slice(&dx.to_le_bytes());
        buffer.extend_from_slice(&dy.to_le_bytes());
        let mut size = buffer.len();
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            buffer.as_mut_ptr().cast(),
            std::ptr::without_provenance_mut(2),
            (&raw mut size).cast(),
            std::ptr::null_mut(),
        ];
        let (none, list) = (std::ptr::null_mut(), extra.as_mut_ptr());
        d.cuLaunchKernel(saxpy, 7, 1, 1, 128, 1, 1, 0, stream, none, list)
            .unwrap();
        let mut too_small = size - 1;
        extra[3] = (&raw mut too_small).cast();
        let list = extra.as_mut_ptr();
        let short = d.cuLaunchKernel(saxpy, 7, 1, 1, 128, 1, 1, 0, stream, none, list);
        assert_eq!(code(short), INVALID);
        // And once more with a configuration.
        let config = CUlaunchConfig {
            gridDimX: 7,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 128,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: stream,
            attrs: std::ptr::null_mut(),
            numAttrs: 0,
        };
        d.cuLaunchKernelEx(&raw const config, saxpy, arguments.as_mut_ptr(), none)
            .unwrap();
        d.cuMemcpyDtoHAsync_v2(result.as_mut_ptr().cast(), dy, bytes, stream)
            .unwrap();
        d.cuMemFreeAsync(dx, stream).unwrap();
        d.cuMemFreeAsync(dy, stream).unwrap();
        d.cuStreamSynchronize(stream).unwrap();
        d.cuStreamDestroy_v2(stream).unwrap();
    }
    let wanted = |i: usize| (0..3).fold(y[i], |sum, _| a.mul_add(x[i], sum));
    assert!((0..N).all(|i| result[i] == wanted(i)));
    bench.unload(module);
    bench.finish();
}

/// Without it, launches that no GPU takes would pass here.
#[test]
fn bad_launches_are_errors_of_the_call() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (nothing, store, small) = (
        bench.function(module, c"nothing"),
        bench.function(module, c"store"),
        bench.function(module, c"shared_of_its_own"),
    );
    let null = std::ptr::null_mut();
    let shape = |f, grid: [u32; 3], block: [u32; 3], shared| {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: the function has no parameters, or the launch is refused for them.
        code(unsafe {
            d.cuLaunchKernel(
                f,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                null,
                null.cast(),
                null.cast(),
            )
        })
    };
    assert_eq!(shape(nothing, [1; 3], [1; 3], 0), CUresult::CUDA_SUCCESS);
    assert_eq!(shape(nothing, [0, 1, 1], [1; 3], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1, 0, 1], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1025, 1, 1], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1, 1, 65], 0), INVALID);
    assert_eq!(shape(nothing, [1, 70_000, 1], [1; 3], 0), INVALID);
    assert_eq!(shape(nothing, [1; 3], [1; 3], 49 << 10), INVALID);
    assert_eq!(shape(store, [1; 3], [1; 3], 0), INVALID);
    assert_eq!(shape(small, [1; 3], [65, 1, 1], 0), INVALID);
    assert_eq!(
        shape(null.cast(), [1; 3], [1; 3], 0),
        CUresult::CUDA_ERROR_INVALID_HANDLE
    );
    let name = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: live handles.
    unsafe {
        assert_eq!(
            code(d.cuFuncSetAttribute(nothing, name, 300 << 10)),
            INVALID
        );
        assert_eq!(code(d.cuFuncSetAttribute(nothing, name, -1)), INVALID);
        d.cuFuncSetAttribute(nothing, name, 100 << 10).unwrap();
        assert_eq!(
            shape(nothing, [1; 3], [1; 3], 49 << 10),
            CUresult::CUDA_SUCCESS
        );
        // 8 multiprocessors with 32 blocks each.
        let one = (1, 1, 1);
        let (x, y, z) = one;
        d.cuLaunchCooperativeKernel(nothing, 256, 1, 1, x, y, z, 0, null, null.cast())
            .unwrap();
        let large = d.cuLaunchCooperativeKernel(nothing, 257, 1, 1, x, y, z, 0, null, null.cast());
        assert_eq!(
            code(large),
            CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
        );
    }
    bench.synchronize();
    bench.unload(module);
    bench.finish();
}

/// Without it, a faulting kernel could go unnoticed, give the wrong code, or take other
/// contexts with it.
#[test]
fn faults_arrive_late_and_stay() {
    let ok = CUresult::CUDA_SUCCESS;
    let cases = [
        (c"store", 0x10u64, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
        (
            c"store",
            0x1_0100_0000_0002,
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        ),
        (c"stop", 0, CUresult::CUDA_ERROR_LAUNCH_FAILED),
        (c"check", 0, CUresult::CUDA_ERROR_ASSERT),
    ];
    for (name, address, wanted) in cases {
        let bench = TestBench::new();
        let module = bench.load(KERNELS);
        let kernel = bench.function(module, name);
        let (stream, gate) = (
            bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING),
            Gate::new(),
        );
        gate.block(&bench, stream);
        assert_eq!(bench.launch(kernel, 1, 1, stream, &[address, 5]), ok);
        // The call cannot know yet.
        let a = bench.alloc(4);
        gate.open();
        // SAFETY: live handles; the place outlives the calls.
        unsafe {
            assert_eq!(
                code(bench.driver.cuStreamSynchronize(stream)),
                wanted,
                "{name:?}"
            );
            assert_eq!(code(bench.driver.cuMemFree_v2(a)), wanted);
            assert_eq!(bench.launch(kernel, 1, 1, stream, &[address, 5]), wanted);
        }
        let said = bench.machine.messages().join("\n");
        assert!(said.contains(name.to_str().unwrap()), "{said}");
        bench.finish();
    }
}

/// Without it, a kernel could read memory that was freed before it in stream order.
#[test]
fn a_kernel_cannot_use_freed_memory() {
    let bench = TestBench::new();
    let module = bench.load(KERNELS);
    let store = bench.function(module, c"store");
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let mut a = 0u64;
    // SAFETY: the place outlives the calls.
    unsafe {
        bench.driver.cuMemAllocAsync(&raw mut a, 4, stream).unwrap();
        bench.launch(store, 1, 1, stream, &[a, 5]);
        bench.driver.cuStreamSynchronize(stream).unwrap();
        bench.driver.cuMemFreeAsync(a, stream).unwrap();
        bench.launch(store, 1, 1, stream, &[a, 5]);
        let fault = code(bench.driver.cuStreamSynchronize(stream));
        assert_eq!(fault, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    bench.finish();
}

/// Without it, a kernel could not reach page-locked host memory, or module variables.
#[test]
fn kernels_reach_variables_and_pinned_memory() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let bump = bench.function(module, c"bump");
    let memory = bench.pinned(4);
    let (mut address, mut len, mut at) = (0, 0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let start = memory.as_mut_ptr().cast();
        d.cuMemHostGetDevicePointer_v2(&raw mut at, start, 0)
            .unwrap();
        let null = std::ptr::null_mut();
        assert_eq!(
            bench.launch(bump, 1, 1, null, &[at]),
            CUresult::CUDA_SUCCESS
        );
        bench.synchronize();
        d.cuModuleGetGlobal_v2(&raw mut address, &raw mut len, module, c"counter".as_ptr())
            .unwrap();
        assert_eq!(len, 16);
        let none = d.cuModuleGetGlobal_v2(&raw mut address, &raw mut len, module, c"none".as_ptr());
        assert_eq!(code(none), CUresult::CUDA_ERROR_NOT_FOUND);
        // The module's memory is not the program's to free.
        assert_eq!(code(d.cuMemFree_v2(address)), INVALID);
    }
    // SAFETY: the kernel has finished.
    let seen = unsafe { memory.as_ptr().cast::<u32>().read_volatile() };
    assert_eq!(seen, 8);
    assert_eq!(bench.download(address, 8), [8, 0, 0, 0, 2, 0, 0, 0]);
    bench.unload(module);
    bench.unpin(memory);
    bench.finish();
}

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

/// Without it, a kernel that the device cannot execute could make its whole module
/// unusable, or fail without a word.
#[test]
fn one_strange_kernel_does_not_spoil_the_others() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (mut place, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        let strange = d.cuModuleGetFunction(&raw mut place, module, c"strange".as_ptr());
        assert_eq!(code(strange), CUresult::CUDA_ERROR_NOT_SUPPORTED);
        let none = d.cuModuleGetFunction(&raw mut place, module, c"none".as_ptr());
        assert_eq!(code(none), CUresult::CUDA_ERROR_NOT_FOUND);
        d.cuModuleGetFunctionCount(&raw mut count, module).unwrap();
        assert_eq!(count, 7);
        let mut all = [std::ptr::null_mut(); 7];
        d.cuModuleEnumerateFunctions(all.as_mut_ptr(), 7, module)
            .unwrap();
        assert!(all.contains(&bench.function(module, c"store")));
    }
    let said = bench.machine.messages().join("\n");
    assert!(said.contains("wgmma"), "{said}");
    bench.unload(module);
    bench.finish();
}

/// Without it, callers could not check arguments or choose block sizes.
#[test]
fn functions_say_what_they_need() {
    use CUfunction_attribute as A;
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(KERNELS);
    let (store, small) = (
        bench.function(module, c"store"),
        bench.function(module, c"shared_of_its_own"),
    );
    let ask = |function, attribute| {
        let mut value = -7;
        // SAFETY: the place outlives the call.
        unsafe { d.cuFuncGetAttribute(&raw mut value, attribute, function) }.unwrap();
        value
    };
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(ask(small, A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    assert_eq!(ask(small, A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_PTX_VERSION), 60);
    assert_eq!(ask(store, A::CU_FUNC_ATTRIBUTE_BINARY_VERSION), 80);
    let (mut offset, mut size) = (9, 9);
    let (mut blocks, mut grid, mut block) = (9, 9, 9);
    let (mut name, mut owner) = (std::ptr::null(), std::ptr::null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuFuncGetParamInfo(store, 1, &raw mut offset, &raw mut size)
            .unwrap();
        assert_eq!((offset, size), (8, 4));
        let beyond = d.cuFuncGetParamInfo(store, 2, &raw mut offset, &raw mut size);
        assert_eq!(code(beyond), INVALID);
        d.cuFuncGetName(&raw mut name, store).unwrap();
        assert_eq!(CStr::from_ptr(name), c"store");
        d.cuFuncGetModule(&raw mut owner, store).unwrap();
        assert_eq!(owner, module);
        let place = &raw mut blocks;
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 256, 0)
            .unwrap();
        assert_eq!(blocks, 8);
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 32, 40 << 10)
            .unwrap();
        assert_eq!(blocks, 4);
        d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, small, 65, 0)
            .unwrap();
        assert_eq!(blocks, 0);
        let places = (&raw mut grid, &raw mut block);
        d.cuOccupancyMaxPotentialBlockSize(places.0, places.1, store, None, 0, 0)
            .unwrap();
        assert_eq!((grid, block), (16, 1024));
        let bad = d.cuOccupancyMaxActiveBlocksPerMultiprocessor(place, store, 0, 0);
        assert_eq!(code(bad), INVALID);
    }
    bench.unload(module);
    bench.finish();
}

/// Without it, ending a machine could wait for a kernel that never ends.
#[test]
fn a_machine_ends_with_a_kernel_running() {
    let bench = TestBench::with(
        Machine::builder()
            .device(DeviceConfig::new())
            .worker_threads(2),
    );
    let module = bench.load(KERNELS);
    let for_ever = bench.function(module, c"for_ever");
    let started = bench.launch(for_ever, 4, 32, std::ptr::null_mut(), &[]);
    assert_eq!(started, CUresult::CUDA_SUCCESS);
    drop(bench);
}

/// Without it, what kernels print could go where the test does not look.
#[test]
fn kernels_print_where_the_machine_says() {
    const PRINT: &str = r#"
.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[9] = {116, 104, 114, 101, 101, 33, 10, 0, 0};
.visible .entry say() {
    .reg .u64 %f; .reg .u32 %r;
    mov.u64 %f, format;
    { .param .b64 f; .param .b64 a; .param .b32 r;
      st.param.b64 [f], %f; st.param.b64 [a], 0;
      call.uni (r), vprintf, (f, a); }
    ret;
}
"#;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let output = move |text: &[u8]| sink.lock().unwrap().extend_from_slice(text);
    let bench = TestBench::with(Machine::builder().kernel_output(output));
    let module = bench.load(PRINT);
    let say = bench.function(module, c"say");
    bench.launch(say, 1, 3, std::ptr::null_mut(), &[]);
    bench.synchronize();
    assert_eq!(*seen.lock().unwrap(), b"three!\nthree!\nthree!\n");
    bench.unload(module);
    bench.finish();
}

/// A grid's blocks wait until all of them have come, again and again.
const BARRIER: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry meet(.param .u64 place, .param .u32 blocks) {
    .reg .u64 %a; .reg .u32 %n, %seen, %goal; .reg .pred %p;
    ld.param.u64 %a, [place];
    ld.param.u32 %n, [blocks];
    mov.u32 %goal, %n;
again:
    atom.global.add.u32 %seen, [%a], 1;
wait:
    ld.volatile.global.u32 %seen, [%a];
    setp.lt.u32 %p, %seen, %goal;
    @%p bra wait;
    add.u32 %goal, %goal, %n;
    mul.lo.u32 %seen, %n, 3;
    setp.le.u32 %p, %goal, %seen;
    @%p bra again;
    ret;
}";

/// Without it a kernel whose blocks wait for each other, and fit by the device's own count, could
/// hang on hosts with few cores, or with a seed.
#[test]
fn blocks_that_fit_together_run_together() {
    let machines = [
        Machine::builder().worker_threads(1),
        Machine::builder().worker_threads(2),
        Machine::builder().seed(3),
        Machine::builder().order(cupola_sim::Order::Timed),
    ];
    for machine in machines {
        without_hanging(move || {
            let bench = TestBench::with(machine);
            let module = bench.load(BARRIER);
            let meet = bench.function(module, c"meet");
            let (mut each, mut all) = (0, 0);
            let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
            // SAFETY: the places outlive the calls.
            unsafe {
                let d = &bench.driver;
                d.cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut each, meet, 32, 0)
                    .unwrap();
                d.cuDeviceGetAttribute(&raw mut all, attribute, 0).unwrap();
            }
            let blocks = u32::try_from(each * all).unwrap();
            assert_eq!(blocks, 256);
            let place = bench.alloc(4);
            bench.upload(place, &[0; 4]);
            let stream = std::ptr::null_mut();
            let ended = bench.launch(meet, blocks, 32, stream, &[place, u64::from(blocks)]);
            assert_eq!(ended, CUresult::CUDA_SUCCESS);
            bench.synchronize();
            let met = bench.download(place, 4);
            assert_eq!(met, (3 * 32 * blocks).to_le_bytes());
            bench.free(place);
            bench.unload(module);
            bench.finish();
        });
    }
}

/// Without it a program that is debugged with `CUDA_LAUNCH_BLOCKING=1` would not learn from the
/// launch itself that its kernel fails.
#[test]
fn a_blocking_launch_returns_the_kernels_fault() {
    let bench = TestBench::with(Machine::builder().launch_blocking(true));
    let module = bench.load(KERNELS);
    let nothing = bench.function(module, c"nothing");
    let stop = bench.function(module, c"stop");
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let good = bench.launch(nothing, 1, 1, stream, &[]);
    assert_eq!(good, CUresult::CUDA_SUCCESS);
    // SAFETY: a live handle.
    unsafe { bench.driver.cuStreamQuery(stream) }.unwrap();
    let bad = bench.launch(stop, 1, 1, stream, &[]);
    assert_eq!(bad, CUresult::CUDA_ERROR_LAUNCH_FAILED);
}
