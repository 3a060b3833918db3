//! Pieces become one: by nvJitLink for real, without a GPU, and by the driver's linker on the
//! software device.
//!
//! `cargo xtask cuda` fetches nvJitLink and NVRTC. Without them their tests say so and check nothing,
//! unless `CUPOLA_REQUIRE_WHEELS` is set: then they fail. Nothing that they make is executed or kept.

#[cfg(unix)]
mod cached;
mod driver;
#[cfg(target_os = "linux")]
#[path = "../support/installation.rs"]
mod installation;
#[cfg(target_os = "linux")]
mod noted;
mod nvjitlink;
#[path = "../support/target.rs"]
mod target;

use std::fmt::Display;

use cupola_kernels::compile::{CompileRequest, Compiled, Compiler, Target, TargetArchitecture};

/// The library, or `None` after saying that there is none.
fn available<T>(loaded: Result<T, impl Display>) -> Option<T> {
    match loaded {
        Ok(library) => Some(library),
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

/// A kernel that calls `twice`, and `twice` itself, each compiled alone.
fn two_pieces(compiler: &Compiler, target: Target) -> [Compiled; 2] {
    [
        "extern __device__ int twice(int);\n\
         __global__ void apply(int* p) { *p = twice(*p); }\n\
         __global__ void unused(int* p) { *p = 7; }\n",
        "__device__ int twice(int x) { return 2 * x; }\n",
    ]
    .map(|source| {
        let request =
            CompileRequest::new("piece.cu", source, target).with("--relocatable-device-code=true");
        compiler.compile(&request).expect("a piece")
    })
}
