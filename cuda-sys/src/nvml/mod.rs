//! NVML, the management library (`nvml.h`): types, symbol table, error texts, and
//! [`Nvml`], the library loaded at run time.
//!
//! It comes with the driver, so it is looked for in the system only. Functions are under
//! their exact names (`nvmlInit_v2`): the unversioned ones are older forms.

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
    include!("../generated/nvml.rs");
}

#[cfg(test)]
#[allow(dead_code, missing_docs, unreachable_pub, non_snake_case, clippy::all)]
mod prototypes {
    use super::*;
    include!("../generated/nvml_prototypes.rs");
    for_each_nvml_symbol!(matches_prototypes!);
}

#[cfg(feature = "std")]
pub use loader::Nvml;
pub use types::*;

type StatusCode = nvmlReturn_t;

/// Why a call of NVML did not succeed.
pub type NvmlError = crate::CallError<nvmlReturn_t>;

for_each_nvml_symbol!(symbols!);

// Macros of the header that bindgen leaves out or reads with a wrong sign.
static_assertions::const_assert_eq!(nvmlMemory_v2, 40 | (2 << 24));
static_assertions::const_assert_eq!(NVML_RUSD_POLL_ALL, u64::MAX);
