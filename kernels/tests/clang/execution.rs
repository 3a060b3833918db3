//! From a source to the answers of its kernels.

use cupola_kernels::compile::{
    CompileOption, CompileRequest, Compiler, CppStandard, Switch, Target,
};
use cupola_kernels::{CachedCompiler, EMBEDDED, HEADER, PRELUDE};
use cupola_managers::backend::BackendKind;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Context, ExecutionManager};

use super::{cached, clangs, target};

/// What is asked of a device.
struct Bench {
    execution: ExecutionManager,
    context: Context,
}

impl Bench {
    fn new() -> Self {
        let execution = ExecutionManager::new(target::driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        Self { execution, context }
    }

    fn target(&self, compiler: &Compiler) -> Target {
        let device = self.execution.devices().get(0).unwrap();
        let architecture = device.info().unwrap().architecture();
        let version = self.execution.driver().driver_version();
        compiler.target_for(architecture, version).unwrap()
    }

    /// What a kernel makes of so many numbers, one thread each.
    fn run(&self, compiler: &CachedCompiler, request: &CompileRequest, values: &[f32]) -> Vec<f32> {
        // SAFETY: clang makes all that is in the cache of these tests.
        let loaded = unsafe { compiler.load(&self.context, request) }.unwrap();
        let symbol = match loaded.fetched.entry.names.first() {
            Some(name) => name.symbol.clone(),
            None => "k".to_owned(),
        };
        let function = loaded.module.function(&symbol).unwrap();
        let stream = self.context.streams().create(Default::default()).unwrap();
        let pool = self
            .context
            .memory_pool(PoolConfig::limit(8 << 20))
            .unwrap();
        let mut buffer = pool.upload(values, &stream).unwrap();
        let count = u32::try_from(values.len()).unwrap();
        let config = LaunchConfig::linear(1, count);
        // SAFETY: the kernels of these tests take a pointer, and touch a number a thread.
        unsafe { ops::launch(&function, config, (&mut buffer,), &stream) }.unwrap();
        buffer.to_vec(&stream).unwrap()
    }
}

// Without it a source could not be run where there is no GPU, or be run with another header, macro or
// template argument than was asked for.
#[test]
fn a_source_runs_on_the_device_with_its_headers_macros_and_names() {
    let bench = Bench::new();
    for clang in clangs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("offset.h"), "#define OFFSET 0.5f\n").unwrap();
        std::fs::write(folder.path().join("factor.h"), "#error not this one\n").unwrap();
        let source = "#include \"factor.h\"\n#include <deep/offset.h>\n\
                      namespace own { template<class T, int N> __global__ void scale(T* x) {\n\
                      x[threadIdx.x] = x[threadIdx.x] * N * FACTOR + OFFSET + MORE; } }\n";
        let compiler = cached(&clang, folder.path());
        let target = bench.target(compiler.compiler().unwrap());
        let request = CompileRequest::new("scale.cu", source, target)
            .header("factor.h", "#define FACTOR 2.0f")
            .header("deep/offset.h", "#include \"offset.h\"\n")
            .include_folder(folder.path())
            .define("MORE", "1.0f")
            .name_expression("own::scale<float, 3>");
        let answers = bench.run(&compiler, &request, &[1.0, 2.0, 0.0]);
        assert_eq!(answers, [7.5, 13.5, 1.5], "{:?}", compiler.compiler());
        let compiled = compiler.compiler().unwrap().compile(&request).unwrap();
        assert_eq!(compiled.log(), "");
        assert!(compiled.dependencies().is_complete());
        assert!(!compiled.ptx().unwrap().contains("__cupola"));
        // Not where its private folder was: the same request gives the same bytes.
        let again = compiler.compiler().unwrap().compile(&request).unwrap();
        assert_eq!(compiled.image(), again.image());
    }
}

// Without it an option could be accepted and change nothing.
#[test]
fn options_change_what_is_computed() {
    let bench = Bench::new();
    for clang in clangs() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = cached(&clang, folder.path());
        let target = bench.target(compiler.compiler().unwrap());
        let of = |source: &str| CompileRequest::new("k.cu", source, target);
        let product = of("extern \"C\" __global__ void k(float* x) { x[0] = x[0] * x[1] + x[2]; }");
        let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
        let input = [a, b, -1.0];
        let fused = bench.run(&compiler, &product, &input)[0];
        assert_eq!(fused, a.mul_add(b, -1.0));
        let exact = product.with(CompileOption::FusedMultiplyAdd(Switch::Off));
        assert_eq!(bench.run(&compiler, &exact, &input)[0], a * b - 1.0);
        // By an operator, and by an instruction that a built-in function names.
        for product in ["x[0] * 2.0f", "__fmul_rn(x[0], 2.0f)"] {
            let twice = of(&format!(
                "extern \"C\" __global__ void k(float* x) {{ x[0] = {product}; }}"
            ));
            let tiny = [f32::MIN_POSITIVE / 4.0];
            assert_eq!(bench.run(&compiler, &twice, &tiny)[0], tiny[0] * 2.0);
            let flushed = twice.with(CompileOption::FlushToZero(Switch::On));
            assert_eq!(bench.run(&compiler, &flushed, &tiny)[0], 0.0);
        }
        let standard = of("extern \"C\" __global__ void k(float* x) { x[0] = __cplusplus; }")
            .with(CompileOption::Standard(CppStandard::Cpp20));
        assert_eq!(bench.run(&compiler, &standard, &[0.0])[0], 202_002.0);
    }
}

// Without it the options that say how exact arithmetic is, or what is kept beside the code, could be
// names that clang does not know any more.
#[test]
fn every_option_that_is_translated_is_one_of_clang() {
    for clang in clangs() {
        let compiler = Compiler::from(clang);
        let source = "#include \"a.h\"\nextern \"C\" __global__ void k(float* x) {\n\
                      x[0] = x[3] / x[1] + __builtin_sqrtf(x[2]) + A; }";
        let compile = |options: &[CompileOption]| {
            let request = super::request(source).header("a.h", "#define A B");
            let request = request.define("B", "1").name_expression("k");
            let request = options.iter().cloned().fold(request, CompileRequest::with);
            let compiled = compiler.compile(&request);
            let compiled = compiled.unwrap_or_else(|error| panic!("{options:?}: {error}"));
            assert_eq!(compiled.log(), "", "{options:?}");
            let again = compiler.compile(&request).unwrap();
            assert_eq!(compiled.image(), again.image(), "{options:?}");
            compiled.ptx().unwrap().to_owned()
        };
        let plain = compile(&[]);
        assert!(plain.contains("div.rn.f32") && plain.contains("sqrt.rn.f32"));
        let fast = compile(&[CompileOption::FastMath]);
        assert!(fast.contains("div.full.ftz.f32"), "{fast}");
        assert!(fast.contains("sqrt.rn.ftz.f32"), "{fast}");
        let lines = compile(&[CompileOption::LineInfo]);
        assert!(lines.contains(".loc"), "{lines}");
        let debug = compile(&[CompileOption::Debug]);
        assert!(debug.contains(".debug_info"), "{debug}");
        for options in [
            vec![CompileOption::Relocatable(Switch::On)],
            vec![CompileOption::Relocatable(Switch::Off)],
            vec![CompileOption::NoWarnings, CompileOption::BriefDiagnostics],
            vec![CompileOption::WarningsAreErrors, CompileOption::Int128],
            vec![CompileOption::NoDriverCache],
            vec![CompileOption::Undefine("C".into())],
            vec!["-fno-inline".into()],
            vec![CompileOption::Standard(CppStandard::Cpp23)],
            vec![CompileOption::Standard(CppStandard::Cpp14)],
        ] {
            compile(&options);
        }
    }
}

// Without it a symbol could be that of another instance, or a variable have none.
#[test]
fn name_expressions_name_kernels_variables_and_templates() {
    let source = "namespace ns { __device__ int table[4]; __constant__ float c; }\n\
                  template<class T> __global__ void scale(T* x, T by) { x[0] *= by; }\n\
                  extern \"C\" __global__ void plain() {}\n\
                  __global__ void with(ns_int*) {}\n";
    let names = [
        ("scale<float>", "_Z5scaleIfEvPT_S0_"),
        ("&scale<double>", "_Z5scaleIdEvPT_S0_"),
        ("&ns::table", "_ZN2ns5tableE"),
        ("&ns::c", "_ZN2ns1cE"),
        ("plain", "plain"),
        ("with", "_Z4withPi"),
    ];
    for clang in clangs() {
        let request = super::request(source).define("ns_int", "int");
        let request = names
            .iter()
            .fold(request, |request, (name, _)| request.name_expression(*name));
        let compiled = Compiler::from(clang).compile(&request).unwrap();
        for (name, symbol) in names {
            assert_eq!(compiled.lowered_name(name), Some(symbol));
            assert!(compiled.ptx().unwrap().contains(symbol), "{symbol}");
        }
    }
}

// Without it our own kernels would not compile here as they do by NVRTC: what their prelude declares is
// there already.
#[test]
fn the_sources_of_this_crate_compile() {
    for clang in clangs() {
        let compiler = Compiler::from(clang);
        for file in EMBEDDED {
            let request = super::request(file.source())
                .header("prelude.cuh", PRELUDE)
                .header("cupola.cuh", HEADER);
            let compiled = compiler.compile(&request);
            let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", file.name()));
            for entry in file.entries() {
                assert!(compiled.ptx().unwrap().contains(entry), "{entry}");
            }
        }
    }
}

// Without it the software device could be given to NVRTC, or a GPU to clang.
#[test]
fn each_kind_of_devices_has_its_compiler() {
    if clangs().is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut config = cupola_kernels::cache::CacheConfig::default();
    config.folder = Some(folder.path().join("cache"));
    let compiler = CachedCompiler::for_backend(BackendKind::Software, config).unwrap();
    assert!(matches!(compiler.compiler(), Ok(Compiler::Clang(_))));
    let bench = Bench::new();
    let source = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] += blockDim.x; }";
    let request = CompileRequest::new("k.cu", source, bench.target(compiler.compiler().unwrap()));
    assert_eq!(bench.run(&compiler, &request, &[1.0, 2.0]), [3.0, 4.0]);
    match Compiler::for_backend(BackendKind::Real) {
        Ok(compiler) => assert!(matches!(compiler, Compiler::Nvrtc(_))),
        Err(error) => assert!(error.to_string().contains("nvidia-cuda-nvrtc"), "{error}"),
    }
}
