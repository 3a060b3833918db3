//! `cupola.cuh` in programs that NVRTC compiles while the test runs. Without its library the test says so
//! and checks nothing, unless `CUPOLA_REQUIRE_WHEELS` is set: then it fails.

use cupola_kernels::HEADER;
use cupola_kernels::compile::{
    CompileRequest, Compiler, CompilerVersion, Target, TargetArchitecture,
};
use cupola_managers::module::Module;
use cupola_managers::ops::{LaunchConfig, launch};

use super::{Bench, software, target};

/// A user's program: an operation of its own on every element, the sum of what a block saw, and a reduction
/// of a grid.
const SOURCE: &str = r#"
#include <cupola.cuh>

struct Square {
    CUPOLA_DEVICE float operator()(float x) const { return x * x; }
};

extern "C" __global__ void __launch_bounds__(256)
squares(unsigned long long n, const float* x, cupola::bf16* y) {
    struct Rounded {
        CUPOLA_DEVICE cupola::bf16 operator()(float x) const {
            return cupola::convert<cupola::bf16>(Square()(x));
        }
    };
    cupola::map<256, 4>(n, y, Rounded(), x);
}

extern "C" __global__ void __launch_bounds__(256)
total(unsigned long long n, const cupola::bf16* y, float* sum) {
    __shared__ float lanes[256];
    float mine = 0;
    cupola::grid_stride(0, n, [&](unsigned long long i) { mine += cupola::convert<float>(y[i]); });
    mine = cupola::block_reduce<256>(mine, cupola::Add<float>(), lanes);
    if (cupola::block_thread() == 0) {
        *sum = mine;
    }
}

extern "C" __global__ void __launch_bounds__(128)
product(unsigned long long n, const double* x, void* scratch, double* result) {
    __shared__ double lanes[128];
    cupola::reduce_grid<128, 2>(n, x, 1.0, cupola::Mul<double>(), lanes, scratch, result);
}

extern "C" __global__ void __launch_bounds__(128)
largest(unsigned long long n, const short* x, void* scratch, short* result) {
    __shared__ short lanes[128];
    cupola::reduce_grid<128, 8>(n, x, (short)-32768, cupola::Max<short>(), lanes, scratch, result);
}

extern "C" __global__ void __launch_bounds__(128)
blocks(unsigned int* arrived, unsigned int* partials, unsigned int* result) {
    if (cupola::block_thread() == 0) {
        partials[cupola::grid_block()] = cupola::grid_block() + 1;
    }
    if (cupola::is_last_block(arrived) && cupola::block_thread() == 0) {
        *result = 0;
        for (unsigned int i = 0; i < cupola::grid_blocks(); i++) {
            *result += partials[i];
        }
    }
}
"#;

fn compiler() -> Option<Compiler> {
    match Compiler::load() {
        Ok(compiler) => Some(compiler),
        Err(error) if std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

// Without it the header could need more than its own text, or say something that only clang takes.
#[test]
fn nvrtc_takes_the_header_from_memory_without_a_word() {
    let Some(compiler) = compiler() else { return };
    for architecture in compiler.architectures().unwrap() {
        let request = CompileRequest::new("user.cu", SOURCE, Target::Cubin(architecture));
        let compiled = compiler
            .compile(&request.header("cupola.cuh", HEADER))
            .unwrap();
        assert_eq!(compiled.log(), "", "{architecture}");
    }
}

/// The user's program as PTX, on software devices of all architectures that the compiler knows; or for the GPU.
fn modules(compiler: &Compiler) -> Vec<(Bench, Module)> {
    let compile = |target| {
        let request = CompileRequest::new("user.cu", SOURCE, target);
        let compiled = compiler.compile(&request.header("cupola.cuh", HEADER));
        compiled.unwrap().into_image()
    };
    if target::is_gpu() {
        let bench = Bench::new();
        let device = bench.execution.devices().get(0).unwrap();
        let image = compile(Target::Cubin(device.info().unwrap().architecture().into()));
        // SAFETY: a whole image, as NVRTC made it.
        let module = unsafe { bench.context.modules().load_binary(&image) }.unwrap();
        return vec![(bench, module)];
    }
    let architectures = compiler.architectures().unwrap();
    let each = |target: TargetArchitecture| {
        let image = compile(Target::Ptx(target));
        let mut machine = software(target.architecture().compute_capability());
        // A driver takes no newer PTX than its own.
        if let CompilerVersion::Nvrtc(version) = compiler.version() {
            machine = machine.driver_version(version);
        }
        let bench = Bench::over(machine.build().driver());
        let text = std::str::from_utf8(&image).unwrap();
        let module = bench.context.modules().load_ptx(text).unwrap();
        (bench, module)
    };
    architectures.into_iter().map(each).collect()
}

// Without it a reduction of a user's own could hang or be wrong on an architecture that the library has no kernels of
// its own for, or for elements of a size that its kernels do not have; or leave something in its scratch memory.
#[test]
fn blocks_find_each_other_on_every_architecture() {
    let Some(compiler) = compiler() else { return };
    for (bench, module) in modules(&compiler) {
        let stream = &bench.stream;
        let function = |name| module.function(name).unwrap();
        let (product, largest, blocks) =
            (function("product"), function("largest"), function("blocks"));
        let n = 9_001_u64;
        let mut factors = vec![1.0_f64; n as usize];
        for (place, factor) in [(3, 0.5), (2_000, 16.0), (8_999, -4.0)] {
            factors[place] = factor;
        }
        let mut numbers: Vec<i16> = (0..n).map(|i| (i % 1_000) as i16 - 2_000).collect();
        numbers[7_777] = -7;
        let factors = bench.pool.upload(&factors, stream).unwrap();
        let numbers = bench.pool.upload(&numbers, stream).unwrap();
        let mut scratch = bench.pool.zeros::<u64>(2 + 2 * 9, stream).unwrap();
        let mut product_is = bench.pool.zeros::<f64>(1, stream).unwrap();
        let mut largest_is = bench.pool.zeros::<i16>(1, stream).unwrap();
        let mut partials = bench.pool.zeros::<u32>(9, stream).unwrap();
        let mut sum_is = bench.pool.zeros::<u32>(1, stream).unwrap();
        for count in [9, 2, 9] {
            let grid = LaunchConfig::linear(count, 128);
            // SAFETY: the kernels take these types in this order, read n elements and write one; scratch memory is for
            // nine blocks of elements of 8 bytes, and zeroed.
            unsafe {
                let arguments = (n, &factors, &mut scratch, &mut product_is);
                launch(&product, grid, arguments, stream).unwrap();
                let arguments = (n, &numbers, &mut scratch, &mut largest_is);
                launch(&largest, grid, arguments, stream).unwrap();
                let arguments = (&mut scratch, &mut partials, &mut sum_is);
                launch(&blocks, grid, arguments, stream).unwrap();
            }
            assert_eq!(product_is.to_vec(stream).unwrap(), [-32.0]);
            assert_eq!(largest_is.to_vec(stream).unwrap(), [-7]);
            assert_eq!(sum_is.to_vec(stream).unwrap(), [count * (count + 1) / 2]);
            assert_eq!(scratch.to_vec(stream).unwrap(), [0; 20]);
        }
    }
}

// Without it what users compile with the header could give other results than the embedded kernels.
#[test]
fn a_gpu_runs_what_nvrtc_made_with_the_header() {
    if !target::is_gpu() {
        eprintln!("SKIPPED: CUPOLA_TEST_DEVICE is not gpu");
        return;
    }
    let Some(compiler) = compiler() else { return };
    let bench = Bench::new();
    let device = bench.execution.devices().get(0).unwrap();
    let architecture = device.info().unwrap().architecture();
    let request = CompileRequest::new("user.cu", SOURCE, Target::Cubin(architecture.into()));
    let image = compiler
        .compile(&request.header("cupola.cuh", HEADER))
        .unwrap()
        .into_image();
    // SAFETY: a whole image, as NVRTC made it.
    let module = unsafe { bench.context.modules().load_binary(&image) }.unwrap();
    let n = 10_001_u64;
    let x = bench.upload(&(0..n).map(|i| (i % 16) as f32).collect::<Vec<_>>(), 1);
    let mut y = bench.zeroed::<u16>(n as usize, 1);
    let mut sum = bench.zeroed::<f32>(1, 0);
    let (squares, total) = (
        module.function("squares").unwrap(),
        module.function("total").unwrap(),
    );
    // SAFETY: the kernels take these types in this order, read and write n elements, and the second
    // writes one, in one block.
    unsafe {
        let grid = LaunchConfig::linear(3, 256);
        launch(&squares, grid, (n, x.view(), y.view_mut()), &bench.stream).unwrap();
        let grid = LaunchConfig::linear(1, 256);
        launch(&total, grid, (n, y.view(), sum.view_mut()), &bench.stream).unwrap();
    }
    // Squares up to 225 have at most eight bits: bf16 has them all.
    let expected: f32 = (0..n).map(|i| ((i % 16) * (i % 16)) as f32).sum();
    sum.expect(&bench, &[expected], "the sum of the squares");
}
