//! Device kernels of cupola: CUDA C sources, portable PTX, typed launches.
//!
//! The sources in `device/` are compiled twice. clang makes the PTX that is checked in,
//! embedded here ([`EMBEDDED`]) and loaded by the driver on any GPU since Pascal, and by the
//! software device; of reductions there are others, for sm_70 and for sm_90 and later ([`Embedded::ptx_for`]). NVRTC can compile the same text for one exact GPU at run time.
//! `docs/design/kernels.md` says why.
//!
//! - [`arguments`]: the parameter list of each kernel.
//! - [`geometry`]: how many blocks of how many threads a kernel is launched with.
//! - [`ops`]: typed launches, on streams of `cupola-managers`.
//! - [`executor`]: work on streams of a pool, with a handle for its end, and times where they are asked for.
//! - `cache` (feature `compiler`, Unix): what compilers made, kept in memory and on disk.
//! - `compile`, `link` (feature `compiler`): CUDA C++ compiled by NVRTC or clang, and pieces linked by nvJitLink
//!   or the driver, while the program runs.
//! - `CachedCompiler`, `CachedLinker` (feature `compiler`, Unix): a compiler and a linker that are asked for
//!   nothing that their caches have.
//! - `tune` (feature `compiler`, Unix): the fastest of several ways to launch a kernel, measured once and
//!   remembered.
//! - [`profile`]: how long a kernel takes, and how far that is from what the device can.
//! - [`mod@reference`]: what the kernels compute whose result is not plain, on the CPU, bit for bit.
//! - [`HEADER`]: the device functions that the kernels are made of, for CUDA C++ of users.

#[cfg(feature = "compiler")]
#[macro_use]
mod mutant;

pub mod arguments;
#[cfg(all(feature = "compiler", unix))]
pub mod cache;
#[cfg(all(feature = "compiler", unix))]
mod cached;
#[cfg(feature = "compiler")]
pub mod compile;
pub mod embedded;
pub mod executor;
pub mod geometry;
#[cfg(feature = "compiler")]
pub mod link;
pub mod ops;
#[cfg(all(feature = "compiler", unix))]
mod places;
pub mod profile;
pub mod reference;
#[cfg(feature = "compiler")]
mod sync;
#[cfg(all(feature = "compiler", unix))]
pub mod tune;

#[cfg(all(feature = "compiler", unix))]
pub use cached::{
    CachedCompiler, CachedLinker, CompileFailure, Failed, LinkFailure, LoadError, Loaded,
    Recompiled,
};
pub use embedded::{EMBEDDED, Embedded, HEADER, NewerPtx, PRELUDE};
pub use ops::Kernels;
