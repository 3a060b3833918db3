//! The CUDA driver API (`cuda.h`): types, symbol table, flags, error texts, and
//! [`Driver`], the one value through which everything above speaks to CUDA.

mod codes;
pub mod flags;
pub mod hooks;
mod layout;
#[cfg(feature = "std")]
mod loader;
#[cfg(feature = "std")]
mod source;

#[allow(
    missing_docs,
    unpredictable_function_pointer_comparisons,
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
    include!("../generated/driver.rs");
}

#[cfg(test)]
#[allow(dead_code, missing_docs, unreachable_pub, non_snake_case, clippy::all)]
mod prototypes {
    use super::*;
    include!("../generated/driver_prototypes.rs");
    for_each_driver_symbol!(matches_prototypes!);
}

#[cfg(test)]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    clippy::all
)]
mod pointers {
    //! `cudaTypedefs.h`'s own types, each asserted equal to the prototype of the symbol
    //! that the table pairs with its version.
    use super::prototypes::*;
    use super::*;
    include!("../generated/driver_pointers.rs");
}

#[cfg(feature = "std")]
pub use loader::{Driver, LIBRARY_VARIABLE};
#[cfg(feature = "std")]
pub use source::{ProcAddress, scope};
pub use types::*;

/// The status type of this API.
type StatusCode = CUresult;

/// Why a call of the driver did not succeed.
pub type DriverError = crate::CallError<CUresult>;

for_each_driver_symbol!(symbols!);

/// The legacy default stream: it waits for, and is waited for by, every blocking stream
/// of its context (`CU_STREAM_LEGACY`).
pub const STREAM_LEGACY: CUstream = CU_STREAM_LEGACY;

/// The calling thread's own default stream (`CU_STREAM_PER_THREAD`).
pub const STREAM_PER_THREAD: CUstream = CU_STREAM_PER_THREAD;
