//! NCCL, collective communication (`nccl.h`): types, symbol table, error texts, and
//! [`Nccl`], the library loaded at run time.
//!
//! Its versions are its own, not CUDA's: 2.32 is written as [`Version`](crate::Version) `2.32`.

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
    include!("../generated/nccl.rs");
}

#[cfg(test)]
#[allow(dead_code, missing_docs, unreachable_pub, non_snake_case, clippy::all)]
mod prototypes {
    use super::*;
    include!("../generated/nccl_prototypes.rs");
    for_each_nccl_symbol!(matches_prototypes!);
}

#[cfg(feature = "std")]
pub use loader::Nccl;
pub use types::*;

type StatusCode = ncclResult_t;

/// Why a call of NCCL did not succeed.
pub type NcclError = crate::CallError<ncclResult_t>;

for_each_nccl_symbol!(symbols!);
