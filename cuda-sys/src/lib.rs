//! The raw floor of cupola: generated types for the whole CUDA driver API, NVRTC,
//! nvJitLink, NVML and NCCL, and a handwritten loader that finds them at run time.
//!
//! Nothing here links against NVIDIA's libraries and nothing is needed to build it.
//! [`driver::Driver`] is the one seam through which all of cupola speaks to CUDA; its
//! functions come from the real library, from the software device, or from a test.
//!
//! * One header serves CUDA 11 to 13: every exported ABI name is here (688 of the
//!   driver), with the CUDA version that introduced it. There are no version features.
//! * A function that the installed driver lacks is an error value that names the
//!   function and both versions. It is never a panic and never a failure to load.
//! * Enums are integer newtypes: a code from a newer driver is just a number.
//! * Without the feature `std` the crate is `no_std`: types, constants, error texts,
//!   symbol tables.
//! * The libraries beside the driver are features, all of them on by default: `nvrtc`,
//!   `nvjitlink`, `nvml` and `nccl`. They are half of what there is to compile.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("cupola-sys has the layouts of 64-bit targets: CUDA has no driver for others");

mod call;
#[macro_use]
mod class;
#[cfg(feature = "std")]
mod dynamic;
#[cfg(test)]
mod header;
#[cfg(all(
    feature = "std",
    any(
        feature = "nvrtc",
        feature = "nvjitlink",
        feature = "nvml",
        feature = "nccl"
    )
))]
#[macro_use]
mod optional;
#[cfg(all(
    feature = "std",
    any(
        feature = "nvrtc",
        feature = "nvjitlink",
        feature = "nvml",
        feature = "nccl"
    )
))]
mod search;
mod symbol;
#[macro_use]
mod table;
#[macro_use]
mod description;

pub mod driver;
#[cfg(feature = "nccl")]
pub mod nccl;
#[cfg(feature = "nvjitlink")]
pub mod nvjitlink;
#[cfg(feature = "nvml")]
pub mod nvml;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;

#[cfg(feature = "std")]
pub use call::Outcome;
pub use call::{CallError, Status};
pub use class::{ErrorClass, ErrorGroup};
#[cfg(feature = "std")]
pub use dynamic::{Attempt, LoadError};
pub use symbol::{Symbol, SymbolId, Version};
