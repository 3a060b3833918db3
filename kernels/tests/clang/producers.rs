//! Kernels that other compilers make load and launch by the same calls: those of clang and of rustc on the
//! software device and on a GPU, and NVRTC's on a GPU alone, because the software device executes nothing
//! that NVIDIA's compilers make.

use std::process::Command;

use cupola_kernels::compile::{CompileRequest, Compiler, Target};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Error, ExecutionManager};

use super::{clangs, skip, target};

/// A kernel that writes a number, in CUDA C++.
const SOURCE: &str =
    "extern \"C\" __global__ void store(unsigned* to, unsigned value) { *to = value; }\n";

/// The same in Rust. Without `core`, whose sources a toolchain may lack.
const RUST: &str = "\
#![feature(no_core, lang_items, abi_ptx)]
#![no_core]
#[lang = \"pointee_sized\"] pub trait PointeeSized {}
#[lang = \"meta_sized\"] pub trait MetaSized: PointeeSized {}
#[lang = \"sized\"] pub trait Sized: MetaSized {}
#[lang = \"copy\"] pub trait Copy {}
impl Copy for u32 {}
#[unsafe(no_mangle)]
pub unsafe extern \"ptx-kernel\" fn store(to: *mut u32, value: u32) { unsafe { *to = value } }
";

/// What a device makes of code with the kernel: its arguments are checked, and it is launched.
fn check(producer: &str, compiled: &Code) {
    let execution = ExecutionManager::new(target::driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let module = match compiled {
        Code::Ptx(text) => context.modules().load_ptx(text),
        // SAFETY: whole, as NVRTC made it.
        Code::Cubin(image) => unsafe { context.modules().load_binary(image) },
    };
    let module = module.unwrap_or_else(|error| panic!("{producer}: {error}"));
    let function = module.function("store").unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut to = pool.upload(&[0_u32], &stream).unwrap();
    let config = LaunchConfig::linear(1, 1);
    // SAFETY: refused before anything is launched: the kernel has two parameters, of 8 and 4 bytes.
    let few = unsafe { ops::launch(&function, config, (&mut to,), &stream) };
    assert!(
        matches!(few, Err(Error::Arguments { .. })),
        "{producer}: {few:?}"
    );
    // SAFETY: as above.
    let wide = unsafe { ops::launch(&function, config, (&mut to, 7_u64), &stream) };
    assert!(
        matches!(wide, Err(Error::Arguments { .. })),
        "{producer}: {wide:?}"
    );
    // SAFETY: the kernel writes one word.
    unsafe { ops::launch(&function, config, (&mut to, 42_u32), &stream) }.unwrap();
    assert_eq!(to.to_vec(&stream).unwrap(), [42], "{producer}");
}

enum Code {
    Ptx(String),
    Cubin(Vec<u8>),
}

// Without it kernels of one version of clang could be refused, or their parameters be read otherwise.
#[test]
fn kernels_of_clang_launch() {
    for clang in clangs() {
        let producer = format!("clang {}", clang.version());
        let compiled = Compiler::from(clang)
            .compile(&super::request(SOURCE))
            .unwrap();
        check(&producer, &Code::Ptx(compiled.ptx().unwrap().to_owned()));
    }
}

// Without it kernels in Rust could be refused, whose PTX names its parameters and their alignment
// in another way.
#[test]
fn kernels_of_rustc_launch() {
    let folder = tempfile::tempdir().unwrap();
    let (source, ptx) = (folder.path().join("k.rs"), folder.path().join("k.ptx"));
    std::fs::write(&source, RUST).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(rustc)
        .args(["--target", "nvptx64-nvidia-cuda", "--edition", "2024"])
        .args([
            "--crate-type",
            "lib",
            "--emit",
            "asm",
            "-O",
            "-Cpanic=abort",
        ])
        .arg("-Ctarget-cpu=sm_80")
        .arg(&source)
        .arg("-o")
        .arg(&ptx)
        // `-Z` and features are those of a nightly, which a stable compiler also has.
        .env("RUSTC_BOOTSTRAP", "1")
        .output();
    let problem = match made {
        Ok(made) if made.status.success() => None,
        Ok(made) => Some(String::from_utf8_lossy(&made.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        // What a compiler wants of a crate without `core` changes: only this version's names are here.
        Some(problem) => eprintln!("SKIPPED: PTX of rustc: {problem}"),
        None => check("rustc", &Code::Ptx(std::fs::read_to_string(&ptx).unwrap())),
    }
}

// Without it code of NVRTC would need other calls than that of the rest.
#[test]
fn kernels_of_nvrtc_launch_on_a_gpu() {
    if !target::is_gpu() {
        eprintln!("SKIPPED: CUPOLA_TEST_DEVICE is not gpu");
        return;
    }
    let compiler = match Compiler::load() {
        Ok(compiler) => compiler,
        Err(error) => return skip("kernels of NVRTC", &error),
    };
    let execution = ExecutionManager::new(target::driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let architecture = device.info().unwrap().architecture();
    let version = execution.driver().driver_version();
    let chosen = compiler.target_for(architecture, version).unwrap();
    let request = CompileRequest::new("store.cu", SOURCE, chosen);
    let compiled = compiler.compile(&request).unwrap();
    let code = match chosen {
        Target::Ptx(_) => Code::Ptx(compiled.ptx().unwrap().to_owned()),
        _ => Code::Cubin(compiled.into_image()),
    };
    check("NVRTC", &code);
}
