//! The structures of DLPack, as C lays them out.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use crate::buffer::DeviceCopy;

/// `DLPACK_MAJOR_VERSION`, whose layouts this module reads and writes.
pub(super) const MAJOR: u32 = 1;
/// The version that exports say they are of: what they use was there in it.
pub(super) const MINOR: u32 = 0;
/// The first minor version in which an array of at least one dimension has strides.
pub(super) const MINOR_WITH_STRIDES: u32 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub(super) const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`.
pub(super) const IS_COPIED: u64 = 1 << 1;
/// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`, about types that are refused.
pub(super) const IS_PADDED: u64 = 1 << 2;
/// `kDLComplex`.
pub(super) const COMPLEX: u8 = 5;

/// `DLDevice`: where the memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// 2 is CUDA, 3 pinned memory of the host, 13 managed memory.
    pub device_type: i32,
    /// The ordinal; 0 for pinned and managed memory.
    pub device_id: i32,
}

impl DLDevice {
    /// `kDLCUDA`.
    pub const CUDA: i32 = 2;
    /// `kDLCUDAHost`.
    pub const CUDA_HOST: i32 = 3;
    /// `kDLCUDAManaged`.
    pub const CUDA_MANAGED: i32 = 13;
}

/// `DLDataType`: the type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 is a signed integer, 1 an unsigned one, 2 a float, 4 a bfloat, 5 a complex number, 6 a bool.
    pub code: u8,
    /// Bits of a lane.
    pub bits: u8,
    /// Lanes of a vector; 1 for scalars.
    pub lanes: u16,
}

/// `DLTensor`: an array that is borrowed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The memory; null for arrays without elements.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Of each element.
    pub dtype: DLDataType,
    /// Elements of each dimension; may be null where there is none.
    pub shape: *mut i64,
    /// In elements, by dimension; null, before version 1.2, for C order without holes.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Another one has another layout.
    pub major: u32,
    /// A later one has more flags and types.
    pub minor: u32,
}

/// `DLManagedTensorVersioned`: an array and its owner.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Of this layout.
    pub version: DLPackVersion,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Ends it; null where nothing needs an end.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
    /// Bit 0: nothing may write to it. Bit 1: it is a copy that the producer has made, so the consumer's alone.
    pub flags: u64,
    /// The array.
    pub dl_tensor: DLTensor,
}

/// `DLManagedTensor`: an array and its owner, as of before version 1.0. Python libraries exchange it still, where the
/// consumer passes no `max_version`.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The array.
    pub dl_tensor: DLTensor,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Ends it; null where nothing needs an end.
    pub deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// A tensor of either form, by its address. It owns nothing: see [`OwnedTensor`](super::OwnedTensor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagedTensor {
    /// Of version 1.0 or later.
    Versioned(NonNull<DLManagedTensorVersioned>),
    /// Of before.
    Unversioned(NonNull<DLManagedTensor>),
}

impl ManagedTensor {
    /// The name of a Python capsule of it that was not consumed. A consumer gives the capsule the
    /// [other name](Self::used_capsule_name) before it takes the tensor, so that the capsule does not end it too.
    #[must_use]
    pub fn capsule_name(self) -> &'static CStr {
        match self {
            Self::Versioned(_) => c"dltensor_versioned",
            Self::Unversioned(_) => c"dltensor",
        }
    }

    /// The name of a Python capsule of it that was consumed.
    #[must_use]
    pub fn used_capsule_name(self) -> &'static CStr {
        match self {
            Self::Versioned(_) => c"used_dltensor_versioned",
            Self::Unversioned(_) => c"used_dltensor",
        }
    }
}

impl From<NonNull<DLManagedTensorVersioned>> for ManagedTensor {
    fn from(tensor: NonNull<DLManagedTensorVersioned>) -> Self {
        Self::Versioned(tensor)
    }
}

impl From<NonNull<DLManagedTensor>> for ManagedTensor {
    fn from(tensor: NonNull<DLManagedTensor>) -> Self {
        Self::Unversioned(tensor)
    }
}

/// The types of elements that DLPack has a name for.
pub trait DlElement: DeviceCopy {
    /// The name.
    const TYPE: DLDataType;
}

macro_rules! types {
    ($($element:ty: $code:literal),* $(,)?) => {$(
        impl DlElement for $element {
            const TYPE: DLDataType = DLDataType {
                code: $code,
                bits: (8 * size_of::<Self>()) as u8,
                lanes: 1,
            };
        }
    )*};
}

types! {
    i8: 0, i16: 0, i32: 0, i64: 0,
    u8: 1, u16: 1, u32: 1, u64: 1,
    f32: 2, f64: 2,
    bool: 6,
}

#[cfg(feature = "half")]
types! { half::f16: 2, half::bf16: 4 }

#[cfg(all(test, not(loom)))]
mod tests {
    use std::mem::offset_of;

    use super::*;

    // Without it another library could read other fields than were written.
    #[test]
    fn structures_are_laid_out_as_in_c() {
        assert_eq!((size_of::<DLDataType>(), size_of::<DLDevice>()), (4, 8));
        assert_eq!(offset_of!(DLTensor, device), size_of::<usize>());
        let offsets = [
            offset_of!(DLTensor, ndim),
            offset_of!(DLTensor, dtype),
            offset_of!(DLTensor, shape),
            offset_of!(DLTensor, strides),
            offset_of!(DLTensor, byte_offset),
            size_of::<DLTensor>(),
        ];
        assert_eq!(offsets, [16, 20, 24, 32, 40, 48]);
        let offsets = [
            offset_of!(DLManagedTensorVersioned, manager_ctx),
            offset_of!(DLManagedTensorVersioned, deleter),
            offset_of!(DLManagedTensorVersioned, flags),
            offset_of!(DLManagedTensorVersioned, dl_tensor),
            size_of::<DLManagedTensorVersioned>(),
        ];
        assert_eq!(offsets, [8, 16, 24, 32, 80]);
        let offsets = [
            offset_of!(DLManagedTensor, manager_ctx),
            offset_of!(DLManagedTensor, deleter),
            size_of::<DLManagedTensor>(),
        ];
        assert_eq!(offsets, [48, 56, 64]);
    }
}
