//! `cupola.cuh` in programs that NVRTC compiles while the test runs. Without its library the test says so
//! and checks nothing, unless `CUPOLA_REQUIRE_WHEELS` is set: then it fails.

use cupola_kernels::HEADER;
use cupola_kernels::compile::{CompileRequest, Compiler, Target};
use cupola_managers::ops::{LaunchConfig, launch};

use super::{Bench, target};

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
