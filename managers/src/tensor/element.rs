//! The types of elements that a tensor map can be of.

use cupola_sys::driver::CUtensorMapDataType as Raw;

use crate::buffer::DeviceCopy;

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
        }
    }

    /// Bytes of an element.
    pub(super) const fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    pub(super) const fn is_float(self) -> bool {
        !matches!(
            self,
            Self::U8 | Self::U16 | Self::U32 | Self::I32 | Self::U64 | Self::I64
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
        const _: () = assert!(size_of::<$type>() as u64 == TensorFormat::$format.bytes());
    )*};
}

formats! { u8 = U8 i8 = U8 u16 = U16 i16 = U16 u32 = U32 i32 = I32 u64 = U64 i64 = I64 f32 = F32 f64 = F64 }

#[cfg(feature = "half")]
formats! { half::f16 = F16 half::bf16 = Bf16 }
