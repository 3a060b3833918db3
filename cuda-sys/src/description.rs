//! One description of each API: the exported macros `for_each_*_symbol!`. Method tables,
//! the software device's exports and fault wrappers are all made from them.

include!("generated/driver_api.rs");
#[cfg(feature = "nvrtc")]
include!("generated/nvrtc_api.rs");
#[cfg(feature = "nvjitlink")]
include!("generated/nvjitlink_api.rs");
#[cfg(feature = "nvml")]
include!("generated/nvml_api.rs");
#[cfg(feature = "nccl")]
include!("generated/nccl_api.rs");
