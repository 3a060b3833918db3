//! What NVRTC makes, loaded and run by a GPU (`CUPOLA_TEST_DEVICE=gpu`). The software device executes
//! nothing that NVIDIA's compilers make.

use cupola_kernels::cache::{CacheConfig, Entry, Manifest, Source};
use cupola_kernels::compile::{CompileOption, CompileRequest, Compiler, ImageKind, Switch, Target};
use cupola_kernels::link::{DriverLinker, InputKind, LinkInput, LinkRequest, Linker};
use cupola_kernels::{CachedCompiler, Loaded};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Context, Device, ExecutionManager};

use super::target::{driver, is_gpu};

/// A GPU; `None` after saying that there is none.
pub(super) fn gpu() -> Option<(ExecutionManager, Device, Context)> {
    if !is_gpu() {
        eprintln!("SKIPPED: CUPOLA_TEST_DEVICE is not gpu");
        return None;
    }
    let execution = ExecutionManager::new(driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    Some((execution, device, context))
}

fn target(compiler: &Compiler, execution: &ExecutionManager, device: &Device) -> Target {
    let architecture = device.info().unwrap().architecture();
    let version = execution.driver().driver_version();
    compiler.target_for(architecture, version).unwrap()
}

/// What a kernel of one pointer makes of a number.
fn run(context: &Context, function: &Function, value: u32) -> u32 {
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut value = pool.upload(&[value], &stream).unwrap();
    // SAFETY: the kernel reads and writes one word.
    unsafe { ops::launch(function, LaunchConfig::linear(1, 1), (&mut value,), &stream) }.unwrap();
    value.to_vec(&stream).unwrap()[0]
}

// Without it what is compiled and kept could be code that no driver loads, or an entry that a driver
// rejects could stay for ever.
#[test]
fn a_gpu_runs_what_is_compiled_kept_and_compiled_again() {
    let Some((execution, device, context)) = gpu() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let compiler = || {
        let mut config = CacheConfig::default();
        config.folder = Some(folder.path().join("cache"));
        CachedCompiler::new(Compiler::load().unwrap(), config)
    };
    let source = "template<int N> __global__ void times(unsigned* x) { *x *= N; }";
    let cached = compiler();
    let target = target(cached.compiler().unwrap(), &execution, &device);
    let request = CompileRequest::new("times.cu", source, target).name_expression("times<3>");
    // SAFETY: what is planted below is PTX, which is text; all else is compiled.
    let load = |compiler: &CachedCompiler, request| unsafe { compiler.load(&context, request) };
    let check = |Loaded { module, fetched }: Loaded| {
        let symbol = std::ffi::CString::new(fetched.entry.names[0].symbol.as_str()).unwrap();
        let function = module.function(symbol.to_str().unwrap()).unwrap();
        assert_eq!(run(&context, &function, 14), 42);
        fetched.source
    };
    assert_eq!(check(load(&cached, &request).unwrap()), Source::Compiled);
    assert_eq!(check(load(&cached, &request).unwrap()), Source::Memory);
    assert_eq!(check(load(&compiler(), &request).unwrap()), Source::Disk);
    // An entry that no driver takes, under a key of its own.
    let other = request.clone().define("OTHER", "1");
    let planted = compiler();
    let key = planted.key(&other);
    let wrong = planted.cache().get_or_compile(&key, || {
        Ok(Entry {
            kind: ImageKind::Ptx.into(),
            payload: b".version 7.0\nthis is no PTX".to_vec(),
            names: Vec::new(),
            log: String::new(),
            manifest: Manifest::new(),
            recipe: None,
        })
    });
    assert_eq!(wrong.unwrap().source, Source::Compiled);
    let mended = compiler();
    assert_eq!(check(load(&mended, &other).unwrap()), Source::Compiled);
    assert_eq!(mended.stats().rejected, 1);
    assert_eq!(check(load(&compiler(), &other).unwrap()), Source::Disk);
}

// Without it the driver's linker could be given pieces in another form than a real one takes.
#[test]
fn a_gpu_runs_two_pieces_that_the_driver_linked() {
    let Some((_execution, device, context)) = gpu() else {
        return;
    };
    let compiler = Compiler::load().unwrap();
    let architecture = device.info().unwrap().architecture();
    let piece = |name: &str, source: &str| {
        let request = CompileRequest::new(name, source, Target::Cubin(architecture.into()))
            .with(CompileOption::Relocatable(Switch::On));
        let image = compiler.compile(&request).unwrap().into_image();
        LinkInput::new(name, InputKind::Cubin, image)
    };
    let linker = DriverLinker::new(&context, &device).unwrap();
    let request = LinkRequest::new(Target::Cubin(architecture.into()))
        .input(piece(
            "twice.cu",
            "__device__ unsigned twice(unsigned x) { return 2 * x; }",
        ))
        .input(piece(
            "apply.cu",
            "extern __device__ unsigned twice(unsigned x);\n\
             extern \"C\" __global__ void apply(unsigned* x) { *x = twice(*x); }",
        ));
    let linked = linker.link(&request).unwrap();
    // SAFETY: a whole image, as the driver made it.
    let module = unsafe { context.modules().load_binary(linked.image()) }.unwrap();
    let apply = module.function("apply").unwrap();
    assert_eq!(run(&context, &apply, 21), 42);
}
