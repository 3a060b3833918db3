//! NVRTC compiles for real, without a GPU; nothing that it makes is executed or kept.
//!
//! `cargo xtask cuda` fetches the library. Without it the tests say so and check nothing, unless
//! `CUPOLA_REQUIRE_WHEELS` is set: then they fail.

mod builtins;
#[cfg(unix)]
mod cached;
#[cfg(unix)]
mod completeness;
mod headers;
#[cfg(target_os = "linux")]
#[path = "../support/installation.rs"]
mod installation;
#[cfg(unix)]
mod load;
#[cfg(target_os = "linux")]
mod noted;
mod older;
mod pch;
mod queue;
mod sources;
#[cfg(unix)]
#[path = "../support/target.rs"]
mod target;
#[cfg(unix)]
mod tensor_maps;

use cupola_kernels::compile::{CompileRequest, Compiler, Target, TargetArchitecture};

/// The compiler, or `None` after saying that there is none.
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

/// The newest architecture that the compiler knows.
fn newest(compiler: &Compiler) -> TargetArchitecture {
    let known = compiler.architectures().expect("architectures");
    known.into_iter().max().expect("at least one")
}

/// A binary of the source for the newest architecture.
fn request(compiler: &Compiler, source: &str) -> CompileRequest {
    CompileRequest::new("k.cu", source, Target::Cubin(newest(compiler)))
}

/// A source that takes a while: so many kernels.
fn long_source(kernels: usize) -> String {
    let kernel = |n| {
        format!(
            "__global__ void k{n}(float* x) {{\n#pragma unroll\n for (int i = 0; i < 64; ++i) \
             x[i] = __sinf(x[i] + {n}) * x[i + 1]; }}\n"
        )
    };
    (0..kernels).map(kernel).collect()
}
