//! What CUDA C++ has built in and clang has from this crate, on the software device, against oracles on the
//! CPU. NVRTC takes the same sources, and on a GPU is held to the same answers.

mod arithmetic;
mod threads;

use cupola_kernels::compile::{CompileOption, CompileRequest, Compiler, Switch, Target};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::{MemoryPool, PoolConfig};
use cupola_managers::stream::Stream;
use cupola_managers::{Context, ExecutionManager};
use cupola_random::Random;
use cupola_sys::driver::Driver;

use super::{clangs, skip, target};

/// Threads of a launch: two blocks.
const THREADS: usize = 2 * BLOCK;
const BLOCK: usize = 64;

struct Bench {
    context: Context,
    stream: Stream,
    pool: MemoryPool,
    target: Target,
    _execution: ExecutionManager,
}

impl Bench {
    fn new(compiler: &Compiler) -> Self {
        Self::over(target::driver(), compiler)
    }

    fn over(driver: Driver, compiler: &Compiler) -> Self {
        let execution = ExecutionManager::new(driver).unwrap();
        let device = execution.devices().get(0).unwrap();
        let context = device.primary().unwrap();
        let version = execution.driver().driver_version();
        let architecture = device.info().unwrap().architecture();
        Self {
            stream: context.streams().create(Default::default()).unwrap(),
            pool: context.memory_pool(PoolConfig::limit(8 << 20)).unwrap(),
            target: compiler.target_for(architecture, version).unwrap(),
            context,
            _execution: execution,
        }
    }

    /// The kernel `k(const word* in, word* out)` of a source.
    fn compile(&self, compiler: &Compiler, source: &str, options: &[CompileOption]) -> Function {
        let request = CompileRequest::new("k.cu", source, self.target);
        let request = options.iter().cloned().fold(request, CompileRequest::with);
        let compiled = compiler.compile(&request);
        let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
        let modules = self.context.modules();
        let module = match (compiler, compiled.ptx()) {
            (Compiler::Nvrtc(_), None) => {
                // SAFETY: a whole image, as NVRTC made it.
                unsafe { modules.load_binary(compiled.image()) }
            }
            (Compiler::Nvrtc(_), Some(ptx)) => modules.load_ptx(ptx),
            (Compiler::Clang(_), ptx) => {
                assert_eq!(compiled.log(), "");
                modules.load_ptx(ptx.unwrap())
            }
        };
        module.unwrap().function("k").unwrap()
    }

    /// What it leaves in `out`, which was zeros.
    fn run(&self, kernel: &Function, input: &[u64], results: usize) -> Vec<u64> {
        let input = self.pool.upload(input, &self.stream).unwrap();
        let mut out = self.pool.zeros::<u64>(results, &self.stream).unwrap();
        let grid = LaunchConfig::linear((THREADS / BLOCK) as u32, BLOCK as u32);
        // SAFETY: the kernels of these tests read three words for each thread, and write within `out`.
        unsafe { ops::launch(kernel, grid, (&input, &mut out), &self.stream) }.unwrap();
        out.to_vec(&self.stream).unwrap()
    }
}

/// The compilers whose kernels are run: each clang, and on a GPU NVRTC, which is what they are compared with.
/// Without a GPU it says that it has all of the source's names.
fn compilers(source: &str) -> Vec<Compiler> {
    let mut all: Vec<Compiler> = clangs().into_iter().map(Compiler::from).collect();
    match Compiler::load() {
        Ok(nvrtc) if target::is_gpu() => all.push(nvrtc),
        Ok(nvrtc) => {
            let newest = nvrtc.architectures().unwrap().into_iter().max().unwrap();
            let request = CompileRequest::new("k.cu", source, Target::Ptx(newest));
            let refused = nvrtc.compile(&request).err();
            assert!(refused.is_none(), "{}", refused.unwrap());
        }
        Err(error) => skip("asking NVRTC for the names", &error),
    }
    all
}

/// Three words of a thread, as what an expression calls them.
#[derive(Clone, Copy, Debug)]
struct Words(u64, u64, u64);

impl Words {
    fn u(self) -> u32 {
        self.0 as u32
    }
    fn v(self) -> u32 {
        self.1 as u32
    }
    fn w(self) -> u32 {
        self.2 as u32
    }
    fn i(self) -> i32 {
        self.0 as i32
    }
    fn j(self) -> i32 {
        self.1 as i32
    }
    fn f(self) -> f32 {
        f32::from_bits(self.u())
    }
    fn g(self) -> f32 {
        f32::from_bits(self.v())
    }
    fn h(self) -> f32 {
        f32::from_bits(self.w())
    }
    fn d(self) -> f64 {
        f64::from_bits(self.0)
    }
    fn e(self) -> f64 {
        f64::from_bits(self.1)
    }
}

/// What an expression is to give.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Bits(u64),
    /// A float, and by how many ulp it may be another one.
    Single(f32, u32),
    Double(f64),
}

impl Answer {
    /// Whether it is what was found; a float that may be another one may be it by `slack` more.
    fn is(self, found: u64, slack: u32) -> bool {
        // In the order of numbers, so that neighbours differ by one.
        let place = |x: f32| match x.to_bits() {
            bits if bits >> 31 == 1 => -i64::from(bits & 0x7fff_ffff) - 1,
            bits => i64::from(bits),
        };
        match self {
            Self::Bits(bits) => found == bits,
            Self::Single(right, ulps) => {
                let ulps = if ulps == 0 { 0 } else { ulps + slack };
                let found = f32::from_bits(found as u32);
                right.is_nan() && found.is_nan()
                    || !right.is_nan()
                        && !found.is_nan()
                        && place(right).abs_diff(place(found)) <= ulps.into()
            }
            Self::Double(right) => {
                let found = f64::from_bits(found);
                right.is_nan() && found.is_nan() || right.to_bits() == found.to_bits()
            }
        }
    }
}

const HEAD: &str = "typedef unsigned long long word;\n\
    __device__ word bits(int x) { return (unsigned)x; }\n\
    __device__ word bits(unsigned x) { return x; }\n\
    __device__ word bits(bool x) { return x; }\n\
    __device__ word bits(long long x) { return (word)x; }\n\
    __device__ word bits(word x) { return x; }\n\
    __device__ word bits(float x) { return __float_as_uint(x); }\n\
    __device__ word bits(double x) { return (word)__double_as_longlong(x); }\n";

/// Every expression for words of many kinds, by every compiler, beside what the oracle says of a row, of the
/// words of all threads, and of one of these.
fn compare(expressions: &[&str], seed: u64, oracle: impl Fn(usize, &[Words], usize) -> Answer) {
    let mut source = HEAD.to_owned();
    source += "extern \"C\" __global__ void k(const word* in, word* out) {\n\
        unsigned t = blockIdx.x * blockDim.x + threadIdx.x;\n\
        word x = in[3 * t], y = in[3 * t + 1], z = in[3 * t + 2];\n\
        int i = (int)x, j = (int)y; unsigned u = x, v = y, w = z;\n\
        float f = __uint_as_float(u), g = __uint_as_float(v), h = __uint_as_float(w);\n\
        double d = __longlong_as_double(x), e = __longlong_as_double(y);\n\
        (void)i; (void)j; (void)f; (void)g; (void)h; (void)d; (void)e;\n";
    for (row, expression) in expressions.iter().enumerate() {
        source += &format!("out[{} + t] = bits({expression});\n", row * THREADS);
    }
    source += "}\n";
    let random = &mut Random::new(seed);
    for compiler in compilers(&source) {
        // What CUDA says of the least accurate of these functions.
        let slack = if matches!(compiler, Compiler::Nvrtc(_)) {
            4
        } else {
            0
        };
        let version = compiler.version();
        let bench = Bench::new(&compiler);
        let exact = [CompileOption::FusedMultiplyAdd(Switch::Off)];
        let kernel = bench.compile(&compiler, &source, &exact);
        for round in 0..4 {
            let words: Vec<Words> = (0..THREADS).map(|_| words(random, round)).collect();
            let input: Vec<u64> = words.iter().flat_map(|it| [it.0, it.1, it.2]).collect();
            let found = bench.run(&kernel, &input, expressions.len() * THREADS);
            for (row, expression) in expressions.iter().enumerate() {
                for (t, own) in words.iter().enumerate() {
                    let (found, right) = (found[row * THREADS + t], oracle(row, &words, t));
                    assert!(
                        right.is(found, slack),
                        "{expression} of {own:x?} in {t} is {found:#x}, not {right:?}, by {version:?}"
                    );
                }
            }
        }
    }
}

/// Floats are in the lower halves. Any bits; numbers that are not large; special ones.
fn words(random: &mut Random, round: usize) -> Words {
    let mut word = || match (round, random.one_in(3)) {
        (0, _) => random.next_u64(),
        (1, false) => {
            let number = (random.next_u64() as i32) as f32 / 2.0_f32.powi(24);
            (f64::from(number).to_bits() >> 32 << 32) | u64::from(number.to_bits())
        }
        (2, false) => random.next_u64() % 64,
        _ => {
            let special = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                2.5,
                -3.5,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::NAN,
                f32::MIN_POSITIVE,
                1.0e-45,
                f32::MAX,
                8_388_609.0,
                2_147_483_648.0,
                1.0e10,
            ];
            let bits = special[random.index(special.len())].to_bits();
            (u64::from(bits) << 32) | u64::from(bits)
        }
    };
    Words(word(), word(), word())
}
