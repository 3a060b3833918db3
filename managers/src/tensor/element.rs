//! The types of elements that a tensor map can be of.

use cupola_sys::driver::CUtensorMapDataType as Raw;

use crate::buffer::DeviceCopy;

/// How many elements a row has of a format with gaps between them in shared memory.
pub(super) const PADDED_ROW: u32 = 128;

/// How the accelerator takes the elements (`CUtensorMapDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TensorFormat {
    /// `u8`, and any byte.
    U8,
    /// `u16`.
    U16,
    /// `u32`.
    U32,
    /// `i32`.
    I32,
    /// `u64`.
    U64,
    /// `i64`.
    I64,
    /// Half precision.
    F16,
    /// Brain floats.
    Bf16,
    /// `f32`.
    F32,
    /// `f32`, of which subnormal numbers become zero.
    F32Ftz,
    /// `f32`, rounded to 19 bits as tensor cores take them.
    Tf32,
    /// The same, and subnormal numbers become zero.
    Tf32Ftz,
    /// `f64`.
    F64,
    /// Numbers of 4 bits, in a view of bytes and in shared memory without gaps. The innermost dimension has
    /// an even number of them. As those that follow, CUDA 12.8 or later, and GPUs of Blackwell's kind.
    U4Align8,
    /// The same in the view; in shared memory each 8 bytes, of 16 numbers, begin at a multiple of 16. For
    /// loads alone. The innermost dimension has a multiple of 128 numbers, a box 128, and the address and
    /// the strides are multiples of 32.
    U4Align16,
    /// Numbers of 6 bits, in a view of bytes without gaps; in shared memory each 12 bytes, of 16 numbers,
    /// begin at a multiple of 16. The dimensions, address and strides are as of [`U4Align16`](Self::U4Align16).
    U6Align16,
}

impl TensorFormat {
    pub(super) const fn raw(self) -> Raw {
        match self {
            Self::U8 => Raw::CU_TENSOR_MAP_DATA_TYPE_UINT8,
            Self::U16 => Raw::CU_TENSOR_MAP_DATA_TYPE_UINT16,
            Self::U32 => Raw::CU_TENSOR_MAP_DATA_TYPE_UINT32,
            Self::I32 => Raw::CU_TENSOR_MAP_DATA_TYPE_INT32,
            Self::U64 => Raw::CU_TENSOR_MAP_DATA_TYPE_UINT64,
            Self::I64 => Raw::CU_TENSOR_MAP_DATA_TYPE_INT64,
            Self::F16 => Raw::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            Self::Bf16 => Raw::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            Self::F32 => Raw::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            Self::F32Ftz => Raw::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
            Self::Tf32 => Raw::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
            Self::Tf32Ftz => Raw::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
            Self::F64 => Raw::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
            Self::U4Align8 => Raw::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
            Self::U4Align16 => Raw::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
            Self::U6Align16 => Raw::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
        }
    }

    /// Bits of an element in the memory of the view.
    pub(super) const fn bits(self) -> u64 {
        match self {
            Self::U4Align8 | Self::U4Align16 => 4,
            Self::U6Align16 => 6,
            Self::U8 => 8,
            Self::U16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::I32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 32,
            Self::U64 | Self::I64 | Self::F64 => 64,
        }
    }

    /// Bytes of the elements of a view of it: several numbers of less than a byte are in each.
    pub(super) const fn bytes_in_view(self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// What the address and the strides are multiples of, in bytes.
    pub(super) const fn alignment(self) -> u64 {
        match self.is_padded() {
            true => 32,
            false => 16,
        }
    }

    /// What the innermost dimension has a multiple of.
    pub(super) const fn group(self) -> u64 {
        match self {
            Self::U4Align8 => 2,
            Self::U4Align16 | Self::U6Align16 => PADDED_ROW as u64,
            _ => 1,
        }
    }

    /// Whether there are gaps between its elements in shared memory, where a row has [`PADDED_ROW`] then.
    pub(super) const fn is_padded(self) -> bool {
        matches!(self, Self::U4Align16 | Self::U6Align16)
    }

    /// The driver's name of a format that those before CUDA 12.8 do not know.
    pub(super) const fn since_12_8(self) -> Option<&'static str> {
        match self {
            Self::U4Align8 => Some("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B"),
            Self::U4Align16 => Some("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B"),
            Self::U6Align16 => Some("CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B"),
            _ => None,
        }
    }

    pub(super) const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16
                | Self::Bf16
                | Self::F32
                | Self::F32Ftz
                | Self::Tf32
                | Self::Tf32Ftz
                | Self::F64
        )
    }
}

/// An element that a tensor map can be of.
#[diagnostic::on_unimplemented(
    message = "a tensor map cannot be of `{Self}`",
    note = "cast the view to numbers of the same size, such as `u16` or `f32`"
)]
pub trait TensorElement: DeviceCopy {
    /// How the accelerator takes it if not told otherwise.
    const FORMAT: TensorFormat;
}

macro_rules! formats {
    ($($type:ty = $format:ident)*) => {$(
        impl TensorElement for $type {
            const FORMAT: TensorFormat = TensorFormat::$format;
        }
        const _: () = assert!(size_of::<$type>() as u64 == TensorFormat::$format.bytes_in_view());
    )*};
}

formats! { u8 = U8 i8 = U8 u16 = U16 i16 = U16 u32 = U32 i32 = I32 u64 = U64 i64 = I64 f32 = F32 f64 = F64 }

#[cfg(feature = "half")]
formats! { half::f16 = F16 half::bf16 = Bf16 }
