//! What the rest of the workspace takes for granted about the generated types. bindgen
//! asserts every structure's own layout; these are the facts that code is built on.

use core::mem::{align_of, size_of};

use static_assertions::{assert_eq_size, assert_impl_all, const_assert, const_assert_eq};

use super::*;

assert_eq_size!(CUdeviceptr, u64);
assert_eq_size!(CUmemGenericAllocationHandle, u64);
assert_eq_size!(CUresult, u32);
assert_eq_size!(CUdevice, i32);
const_assert_eq!(size_of::<CUuuid>(), 16);
const_assert_eq!(size_of::<CUipcMemHandle>(), 64);
const_assert_eq!(size_of::<CUipcEventHandle>(), 64);
const_assert_eq!(size_of::<CUtensorMap>(), 128);
const_assert_eq!(align_of::<CUtensorMap>(), 128);
const_assert_eq!(size_of::<CUmemFabricHandle>(), 64);

// Handles are plain addresses: they can be kept as one word.
assert_eq_size!(CUcontext, usize);
assert_eq_size!(CUstream, usize);
assert_eq_size!(CUevent, usize);
assert_eq_size!(CUmodule, usize);
assert_eq_size!(CUfunction, usize);
assert_eq_size!(CUmemoryPool, usize);
assert_eq_size!(CUgraph, usize);
assert_eq_size!(CUgraphExec, usize);

// Callbacks may be null.
assert_eq_size!(CUhostFn, usize);

// A call's result fits one register, and an error can be kept and sent anywhere.
assert_eq_size!(DriverError, u64);
assert_eq_size!(Result<(), DriverError>, u64);
assert_impl_all!(DriverError: Send, Sync, Copy, core::error::Error);
assert_impl_all!(CUresult: Send, Sync, Copy, core::hash::Hash);

// Macros of the header that are casts, names of other constants, or have all bits set.
const_assert_eq!(CU_DEVICE_CPU, -1);
const_assert_eq!(CU_DEVICE_INVALID, -2);
const_assert_eq!(CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY, u32::MAX);
const_assert_eq!(CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE.0, 2);
const_assert_eq!(CU_STREAM_ATTRIBUTE_PRIORITY.0, 8);

// Positions in the symbol table are 16 bits.
const_assert!(SYMBOLS.len() <= u16::MAX as usize);

#[cfg(feature = "std")]
mod loader {
    use super::super::{Driver, ProcAddress};
    use crate::LoadError;
    use static_assertions::{assert_eq_size, assert_impl_all, assert_obj_safe};

    assert_impl_all!(Driver: Send, Sync, Clone, core::fmt::Debug);
    assert_eq_size!(Driver, usize);
    assert_eq_size!(Option<Driver>, usize);
    assert_impl_all!(LoadError: Send, Sync, std::error::Error);
    assert_obj_safe!(ProcAddress);
}
