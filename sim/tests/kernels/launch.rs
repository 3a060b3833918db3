//! Launches, from PTX to results.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use cupola_sim::Machine;
use cupola_sim::ptx::Module;
use cupola_sys::driver::*;

use crate::ptx::KERNELS;
use crate::support::{Code, TestBench, code, without_hanging};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const SAXPY: &str = include_str!("../../../kernels/ptx/saxpy.ptx");

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
