//! Modules and launches: each kernel of this project against the CPU.

use cupola_kernels::geometry::{self, Geometry, REDUCE_SCRATCH_BYTES};
use cupola_kernels::reference;
use cupola_managers::ops::{self, InOut, Kernel, LaunchAttributes, LaunchConfig, MemoryDomain};
use cupola_managers::{ArgumentMismatch, Error};
use cupola_sys::driver::CUresult;

use crate::common::{Bench, noise};

fn config(geometry: Geometry) -> LaunchConfig {
    LaunchConfig {
        shared_bytes: geometry.shared_bytes,
        ..LaunchConfig::linear(geometry.blocks, geometry.threads)
    }
}

fn floats(seed: u64, len: usize) -> Vec<f32> {
    noise(seed, len * 2)
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 64.0)
        .collect()
}

// Without it a launch could pass its arguments in the wrong order, or a kernel round
// differently from the CPU.
#[test]
fn saxpy_and_scale_are_the_cpus_bit_for_bit() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let (saxpy, scale) = (bench.kernel("cupola_saxpy"), bench.kernel("cupola_scale"));
    let processors = bench.device.info().unwrap().multiprocessors;
    for n in [1, 255, 10_000] {
        let (x, mut y) = (floats(1, n), floats(2, n));
        let mut device_x = bench.pool.allocate::<f32>(n, stream).unwrap();
        let mut device_y = bench.pool.allocate::<f32>(n, stream).unwrap();
        ops::write(&mut device_x, &x, stream).unwrap();
        ops::write(&mut device_y, &y, stream).unwrap();
        let grid = config(geometry::elementwise(n as u64, processors));
        let arguments = (n as u64, 1.7f32, &device_x, &mut device_y);
        // SAFETY: the kernel reads n elements of both and writes n of y.
        unsafe { ops::launch(&saxpy, grid, arguments, stream) }.unwrap();
        let mut back = vec![0.0; n];
        ops::read(&device_y, &mut back, stream).unwrap();
        reference::saxpy(1.7, &x, &mut y);
        assert!(back == y, "saxpy of {n}");
        let arguments = (n as u64, 0.3f32, &device_y, &mut device_x);
        // SAFETY: the kernel reads n elements of y and writes n of x.
        unsafe { ops::launch(&scale, grid, arguments, stream) }.unwrap();
        ops::read(&device_x, &mut back, stream).unwrap();
        let mut expected = vec![0.0; n];
        reference::scale(0.3, &y, &mut expected);
        assert!(back == expected, "scale of {n}");
    }
    drop((saxpy, scale));
    bench.finish();
}

// Without it barriers or shared memory could lose part of a sum.
#[test]
fn sums_are_the_cpus_bit_for_bit() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let sum_f32 = bench.kernel("cupola_reduce_sum_f32");
    let sum_u64 = bench.kernel("cupola_reduce_sum_u64");
    let mut scratch = (bench.pool.zeros::<u8>(REDUCE_SCRATCH_BYTES, stream)).unwrap();
    for n in [0, 1, 4096, 20_000] {
        let numbers = floats(3, n);
        let wide: Vec<u64> = (0..n as u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let mut input = bench.pool.allocate::<f32>(n, stream).unwrap();
        let mut input_wide = bench.pool.allocate::<u64>(n, stream).unwrap();
        ops::write(&mut input, &numbers, stream).unwrap();
        ops::write(&mut input_wide, &wide, stream).unwrap();
        let mut total = bench.pool.allocate::<f32>(1, stream).unwrap();
        let mut total_wide = bench.pool.allocate::<u64>(1, stream).unwrap();
        let grid = config(geometry::reduce(n as u64));
        // SAFETY: each launch reads n elements and writes one; the scratch memory is for any length.
        unsafe {
            let arguments = (&input, n as u64, &mut scratch, &mut total);
            ops::launch(&sum_f32, grid, arguments, stream).unwrap();
            let arguments = (&input_wide, n as u64, &mut scratch, &mut total_wide);
            ops::launch(&sum_u64, grid, arguments, stream).unwrap();
        }
        let (mut back, mut back_wide) = ([0.0], [0]);
        ops::read(&total, &mut back, stream).unwrap();
        ops::read(&total_wide, &mut back_wide, stream).unwrap();
        assert_eq!(
            back[0].to_bits(),
            reference::reduce_sum_f32(&numbers).to_bits(),
            "{n}"
        );
        assert_eq!(back_wide[0], reference::reduce_sum_u64(&wide), "{n}");
    }
    drop((sum_f32, sum_u64, scratch));
    bench.finish();
}

// Without it atomics could lose counts, or a checksum depend on the order of blocks.
#[test]
fn histogram_and_checksum_are_the_cpus() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let histogram = bench.kernel("cupola_histogram");
    let crc = bench.kernel("cupola_crc32");
    let processors = bench.device.info().unwrap().multiprocessors;
    for len in [1usize, 4095, 300_001] {
        let data = noise(len as u64, len);
        let mut input = bench.pool.allocate::<u8>(len, stream).unwrap();
        let mut counts = bench.pool.allocate::<u64>(256, stream).unwrap();
        let mut sum = bench.pool.allocate::<u32>(1, stream).unwrap();
        ops::write(&mut input, &data, stream).unwrap();
        ops::zero(&mut counts, stream).unwrap();
        ops::zero(&mut sum, stream).unwrap();
        let n = len as u64;
        // SAFETY: both read len bytes; one adds to 256 counters, the other to one word.
        unsafe {
            let grid = config(geometry::histogram(n, processors));
            ops::launch(&histogram, grid, (&input, n, &mut counts), stream).unwrap();
            let grid = config(geometry::crc32(n, processors));
            ops::launch(&crc, grid, (&input, n, &mut sum), stream).unwrap();
        }
        let (mut back, mut back_sum) = ([0; 256], [0]);
        ops::read(&counts, &mut back, stream).unwrap();
        ops::read(&sum, &mut back_sum, stream).unwrap();
        let mut expected = [0; 256];
        reference::histogram(&data, &mut expected);
        assert!(back == expected, "histogram of {len}");
        assert_eq!(back_sum[0], reference::crc32(&data), "checksum of {len}");
    }
    drop((histogram, crc));
    bench.finish();
}

// Without it a launch could read beyond its arguments, or an empty grid reach the driver.
#[test]
fn launches_that_cannot_be_right_are_refused() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let saxpy = bench.kernel("cupola_saxpy");
    assert_eq!(saxpy.name(), c"cupola_saxpy");
    assert!(saxpy.attributes().max_threads_per_block >= 256);
    let one = LaunchConfig::linear(1, 32);
    if let Some(parameters) = saxpy.parameters() {
        let sizes: Vec<_> = parameters.iter().map(|p| p.size).collect();
        assert_eq!(sizes, [8, 4, 8, 8]);
        // SAFETY: refused, not launched.
        let few = unsafe { ops::launch(&saxpy, one, (0u64, 1.0f32), stream) };
        // SAFETY: refused, not launched.
        let wide = unsafe { ops::launch(&saxpy, one, (0u64, 1.0f64, 0u64, 0u64), stream) };
        let mismatch = |result| match result {
            Err(Error::Arguments { mismatch, .. }) => mismatch,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            mismatch(few),
            ArgumentMismatch {
                declared: Box::new([8, 4, 8, 8]),
                given: Box::new([8, 4]),
            }
        );
        let size = ArgumentMismatch {
            declared: Box::new([8, 4, 8, 8]),
            given: Box::new([8, 8, 8, 8]),
        };
        assert_eq!(mismatch(wide), size);
    } else {
        assert!(bench.execution.driver().driver_version() < cupola_sys::Version::new(12, 4));
    }
    for bad in [
        LaunchConfig::linear(0, 32),
        LaunchConfig::linear(1, 0),
        LaunchConfig::linear(1, 1 << 20),
    ] {
        // SAFETY: not launched; with n = 0 it would touch nothing.
        let refused = unsafe { ops::launch(&saxpy, bad, (0u64, 1.0f32, 0u64, 0u64), stream) };
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    drop(saxpy);
    bench.finish();
}

// Without it a compile error could come without the compiler's message.
#[test]
fn modules_that_do_not_load_say_why() {
    let bench = Bench::open();
    let modules = bench.context.modules();
    let broken = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry f( {\n";
    match modules.load_ptx(broken) {
        Err(Error::Load { cause, log }) => {
            assert_eq!(cause.call.status(), Some(CUresult::CUDA_ERROR_INVALID_PTX));
            assert!(!log.is_empty());
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        modules.load_ptx("a\0b"),
        Err(Error::Invalid { .. })
    ));

    let file = cupola_kernels::Embedded::with_entry("cupola_scale").unwrap();
    let module = modules.load_ptx_held(file.ptx()).unwrap();
    let missing = module.function("no_such_kernel").unwrap_err();
    assert_eq!(
        missing.status(),
        Some(CUresult::CUDA_ERROR_NOT_FOUND),
        "{missing}"
    );
    let function = modules.function(module.handle(), "cupola_scale").unwrap();
    assert_eq!(
        function.as_raw(),
        module.function("cupola_scale").unwrap().as_raw()
    );
    let handle = module.handle();
    drop(module);
    modules.release(handle).unwrap();
    assert!(matches!(
        modules.lease(handle),
        Err(Error::StaleHandle { kind: "Module", .. })
    ));
    // The function keeps its module loaded.
    assert_eq!(bench.execution.live().modules, 1);
    let none = (0u64, 1.0f32, 0u64, 0u64);
    // SAFETY: with n = 0 the kernel touches nothing.
    unsafe { ops::launch(&function, LaunchConfig::linear(1, 32), none, &bench.stream) }.unwrap();
    ops::synchronize(&bench.stream).unwrap();
    drop(function);
    assert_eq!(bench.execution.live().modules, 0);
    bench.finish();
}

/// Adds `by` to each of `n` words, behind the kernel before it, and lets the next one start at once.
const ADD: &str = "
.version 7.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 n, .param .u32 by, .param .u64 words) {
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %l<5>;
    griddepcontrol.launch_dependents;
    griddepcontrol.wait;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    cvt.u64.u32 %l1, %r1; ld.param.u64 %l2, [n]; setp.ge.u64 %p, %l1, %l2; @%p ret;
    ld.param.u64 %l3, [words]; cvta.to.global.u64 %l3, %l3; mad.wide.u32 %l3, %r1, 4, %l3;
    ld.param.u32 %r2, [by]; ld.global.u32 %r3, [%l3];
    add.u32 %r3, %r3, %r2; st.global.u32 [%l3], %r3; ret;
}
";

type Add = (u64, u32, InOut<u32>);

/// A bench on a device that has all attributes of launches, if there is one.
fn newest() -> Option<Bench> {
    #[cfg(feature = "sim")]
    let bench = Bench::with_device(cupola_sim::DeviceConfig::new().compute_capability(9, 0));
    #[cfg(not(feature = "sim"))]
    let bench = Bench::open();
    match bench.device.info().unwrap().compute_capability >= (9, 0) {
        true => Some(bench),
        false => {
            bench.finish();
            None
        }
    }
}

// Without it a kernel that is started early could read what the kernel before it has not written, or the
// host take its end for that of both.
#[test]
fn kernels_that_start_early_see_what_those_before_them_wrote() {
    let Some(bench) = newest() else { return };
    let (n, stream) = (100_000, &bench.stream);
    let module = bench.context.modules().load_ptx(ADD).unwrap();
    let function = module.function("add").unwrap();
    assert!(function.waits_for_predecessor());
    // SAFETY: add(unsigned long n, unsigned by, unsigned *words).
    let add = unsafe { Kernel::<Add>::new(function) }.unwrap();
    let mut words = bench.pool.zeros::<u32>(n, stream).unwrap();
    let config = LaunchConfig::for_elements(n as u64, 256);
    let early = LaunchAttributes::new().programmatic();
    for by in 1..=100 {
        let arguments = (n as u64, by, &mut words);
        // SAFETY: it changes n words, and touches none before it waits.
        unsafe { add.launch_with(config, early, arguments, stream) }.unwrap();
    }
    let sums = words.to_vec(stream).unwrap();
    assert!(sums.iter().all(|sum| *sum == 5050));
    drop((words, add, module));
    bench.finish();
}

// Without it an attribute could be refused by a device that has it, or change what a kernel does.
#[test]
fn attributes_change_no_results() {
    let Some(bench) = newest() else { return };
    // Few blocks: part of a device runs all of them at the same time.
    let (n, stream) = (1000, &bench.stream);
    let module = bench.context.modules().load_ptx(ADD).unwrap();
    // SAFETY: add(unsigned long n, unsigned by, unsigned *words).
    let add = unsafe { Kernel::<Add>::new(module.function("add").unwrap()) }.unwrap();
    let mut words = bench.pool.zeros::<u32>(n, stream).unwrap();
    let config = LaunchConfig::for_elements(n as u64, 256);
    let none = LaunchAttributes::new();
    let mut launched = 0;
    for attributes in [
        none,
        none.cooperative(),
        none.priority(0),
        none.memory_domain(MemoryDomain::Default),
        none.memory_domain(MemoryDomain::Remote),
        none.shared_carveout(0),
        none.shared_carveout(100),
        none.priority(-1)
            .memory_domain(MemoryDomain::Remote)
            .programmatic(),
    ] {
        let arguments = (n as u64, 1, &mut words);
        // SAFETY: it changes n words, and touches none before it waits.
        match unsafe { add.launch_with(config, attributes, arguments, stream) } {
            Ok(()) => launched += 1,
            // By a driver that is older than the attribute.
            Err(Error::Unsupported { .. }) => {}
            Err(error) => panic!("{attributes:?}: {error}"),
        }
    }
    let sums = words.to_vec(stream).unwrap();
    assert!(sums.iter().all(|sum| *sum == launched));
    drop((words, add, module));
    bench.finish();
}
