//! What a function says about itself, and what a program may set of it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use cupola_sys::driver::{CUfunction_attribute, CUresult};

use crate::device::calls::args::Reply;
use crate::exec::Kernel;

/// Shared memory that a block gets without asking for more, in bytes.
pub(super) const SHARED_DEFAULT: u32 = 48 << 10;
/// The most that it gets when the function's attribute asks for it.
pub(in crate::device) const SHARED_MOST: u32 = 163 << 10;

/// The attributes that can be set: the first one's number, and how many there are.
const FIRST: u32 = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.0;
const COUNT: usize = 8;
/// A value that the program has not set.
const UNSET: i32 = i32::MIN;

/// The attributes that a program has set, of a function or of a library's kernel.
#[derive(Debug)]
pub(in crate::device) struct Settings([AtomicI32; COUNT]);

impl Default for Settings {
    fn default() -> Self {
        Self([const { AtomicI32::new(UNSET) }; COUNT])
    }
}

impl Settings {
    fn slot(&self, attribute: CUfunction_attribute) -> Option<&AtomicI32> {
        let index = attribute.0.checked_sub(FIRST)?;
        self.0.get(index as usize)
    }

    /// The value, if it was set.
    pub(in crate::device) fn get(&self, attribute: CUfunction_attribute) -> Option<c_int> {
        let value = self.slot(attribute)?.load(Ordering::Relaxed);
        (value != UNSET).then_some(value)
    }

    /// Sets an attribute of a function.
    ///
    /// # Errors
    /// The attribute cannot be set, or not to this value. Clusters of more than one block
    /// are not supported.
    pub(in crate::device) fn set(
        &self,
        attribute: CUfunction_attribute,
        value: c_int,
        kernel: &Kernel,
    ) -> Reply {
        use CUfunction_attribute as A;
        let range = match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                0..=signed(SHARED_MOST.saturating_sub(kernel.static_shared))
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => -1..=100,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
                if value > 1 {
                    return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
                }
                0..=1
            }
            A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => 0..=1,
            A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => 0..=2,
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        if !range.contains(&value) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let slot = self.slot(attribute);
        slot.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?
            .store(value, Ordering::Relaxed);
        Ok(())
    }
}

/// A kernel as a device has it.
pub(super) struct Facts<'a> {
    pub(in crate::device) kernel: &'a Kernel,
    /// Bytes of the module's `.const` variables.
    pub(in crate::device) constants: u64,
    /// The `sm_` number of the PTX.
    pub(in crate::device) target: u32,
    pub(in crate::device) capability: (u32, u32),
}

impl Facts<'_> {
    /// An attribute that the program has not set.
    ///
    /// # Errors
    /// There is no such attribute.
    pub(in crate::device) fn attribute(&self, attribute: CUfunction_attribute) -> Reply<c_int> {
        use CUfunction_attribute as A;
        let kernel = self.kernel;
        let (major, minor) = self.capability;
        Ok(match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => signed(kernel.max_threads),
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => signed(kernel.static_shared),
            A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => {
                c_int::try_from(self.constants).unwrap_or(c_int::MAX)
            }
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => signed(kernel.local_bytes),
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => signed(kernel.regs),
            A::CU_FUNC_ATTRIBUTE_PTX_VERSION => signed(self.target),
            A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => signed(major * 10 + minor),
            A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                signed(SHARED_DEFAULT.saturating_sub(kernel.static_shared))
            }
            A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => -1,
            A::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA
            | A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
            | A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
            | A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            | A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => 0,
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        })
    }
}

fn signed(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}
