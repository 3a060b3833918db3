//! nvJitLink, the link-time optimiser (`nvJitLink.h`): types, symbol table, error texts,
//! and [`NvJitLink`], the library loaded at run time. It needs neither a device nor a
//! driver.
//!
//! The header renames its functions per version; the library also exports the plain
//! names, which are the ones asked for here.

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
    include!("../generated/nvjitlink.rs");
}

#[cfg(test)]
#[allow(dead_code, missing_docs, unreachable_pub, non_snake_case, clippy::all)]
mod prototypes {
    use super::*;
    include!("../generated/nvjitlink_prototypes.rs");
    for_each_nvjitlink_symbol!(matches_prototypes!);
}

#[cfg(feature = "std")]
pub use loader::NvJitLink;
pub use types::*;

type StatusCode = nvJitLinkResult;

/// Why a call of nvJitLink did not succeed.
pub type NvJitLinkError = crate::CallError<nvJitLinkResult>;

for_each_nvjitlink_symbol!(symbols!);
