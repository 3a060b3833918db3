//! CUDA C++ compiled while the program runs, by NVRTC or by clang.
//!
//! NVRTC is loaded at run time and needs neither a device nor a driver. Nothing is linked against,
//! and a machine without it gets [`CompileError::NotFound`], which says how to get it. clang, where it
//! is installed, makes PTX of the same requests for the software device ([`ClangCompiler`]);
//! [`Compiler::for_backend`] takes the one that belongs to a kind of devices.
//!
//! ```no_run
//! use cupola_kernels::compile::{CompileOption, CompileRequest, Compiler, Target};
//!
//! let compiler = Compiler::load()?;
//! let source = "template<class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }";
//! let request = CompileRequest::new("scale.cu", source, Target::Cubin("sm_90a".parse()?))
//!     .with(CompileOption::LineInfo)
//!     .name_expression("scale<float>");
//! let compiled = compiler.compile(&request)?;
//! println!("{}", compiled.log());
//! let symbol = compiled.lowered_name("scale<float>");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`CompileRequest`] is all that is asked for, as one value; [`Compiled`] is what came of it.
//! - [`Target`]: a binary (preferred), PTX or LTO-IR. [`Compiler::target_for`] chooses for a device
//!   and a driver, by the rule of [`PtxVersion`].
//! - [`Diagnostic`]: the messages of the log. [`CompileError`] has them.
//! - [`Dependencies`]: the files that the result depends on, for whatever keeps results.
//! - [`CompileQueue`]: many compiles, some at a time, each to be awaited, waited for or cancelled.
//! - [`PchOutcome`]: precompiled headers.
//!
//! A [`Compiler`] can be shared by threads: NVRTC compiles on as many as call it. The same request
//! gives the same bytes every time.

mod architecture;
mod cancellation;
mod clang;
mod compiled;
mod compiler;
#[cfg(unix)]
mod description;
mod diagnostics;
mod error;
mod includes;
mod nvrtc;
mod options;
mod ptx;
mod queue;
mod request;
mod target;
mod version;

pub use architecture::{ArchitectureFeatures, NoArchitecture, TargetArchitecture};
pub use cancellation::Cancellation;
pub use clang::ClangCompiler;
pub use compiled::{Compiled, LoweredName};
pub use compiler::Compiler;
#[cfg(unix)]
pub(crate) use description::Description;
pub use diagnostics::{Diagnostic, Severity};
pub use error::{ClangAttempt, CompileError, CompilerCall};
pub use includes::{Dependencies, Place, PlaceState, UnresolvedInclude};
pub use nvrtc::{NvrtcCompiler, PchOutcome};
pub use options::{CompileOption, CppStandard, DiagnosticRule, FastCompile, Switch};
pub use ptx::PtxVersion;
pub use queue::{CompileJob, CompileQueue};
pub use request::{CompileRequest, SourceText};
pub use target::{ImageKind, Target};
pub use version::{ClangVersion, CompilerVersion};
