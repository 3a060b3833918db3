//! NVRTC, the run-time compiler (`nvrtc.h`): types, symbol table, error texts, and
//! [`Nvrtc`], the library loaded at run time. It needs neither a device nor a driver.
//!
//! NVRTC opens its built-in headers, a second library, by a bare name at the first
//! compilation, and 13.0 does not say where to look. Loading opens the matching file by
//! its absolute path beforehand, so that the name is found already loaded.

mod codes;
#[cfg(feature = "std")]
mod loader;

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    clippy::ref_as_ptr,
    clippy::ptr_as_ptr,
    clippy::borrow_as_ptr
)]
mod types {
    include!("../generated/nvrtc.rs");
}

#[cfg(test)]
#[allow(dead_code, missing_docs, unreachable_pub, non_snake_case, clippy::all)]
mod prototypes {
    use super::*;
    include!("../generated/nvrtc_prototypes.rs");
    for_each_nvrtc_symbol!(matches_prototypes!);
}

#[cfg(feature = "std")]
pub use loader::Nvrtc;
pub use types::*;

type StatusCode = nvrtcResult;

/// Why a call of NVRTC did not succeed.
pub type NvrtcError = crate::CallError<nvrtcResult>;

for_each_nvrtc_symbol!(symbols!);
