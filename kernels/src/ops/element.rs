//! The element types that the device library has kernels for.

use cupola_managers::buffer::DeviceCopy;
use cupola_managers::ops::KernelArg;

/// A type of elements, as the names of kernels spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl ElementType {
    /// How many there are.
    pub const COUNT: usize = 12;

    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    pub const fn bytes(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The unsigned integer of as many bits as an integer; a float as it is.
    pub const fn unsigned(self) -> Self {
        match self {
            Self::I8 => Self::U8,
            Self::I16 => Self::U16,
            Self::I32 => Self::U32,
            Self::I64 => Self::U64,
            other => other,
        }
    }

    /// The signed integer of as many bits as an integer; a float as it is.
    pub const fn signed(self) -> Self {
        match self {
            Self::U8 => Self::I8,
            Self::U16 => Self::I16,
            Self::U32 => Self::I32,
            Self::U64 => Self::I64,
            other => other,
        }
    }
}

pub(super) mod sealed {
    use super::ElementType;

    /// A type that kernels have a name for.
    pub trait Typed {
        const TYPE: ElementType;
    }

    /// What the host does with numbers.
    pub trait Negate {
        /// The number that adding it is subtracting this one.
        fn negate(self) -> Self;
    }
}

/// An element type that the device library calculates with: `f32`, `f64`, `i32`, `i64`, `u32`, `u64`.
/// Integers wrap; floats round to nearest even.
pub trait Number: DeviceCopy + KernelArg + sealed::Typed + sealed::Negate {}

/// A number with a sign: `f32`, `f64`, `i32`, `i64`.
pub trait Signed: Number {}

/// `f32` or `f64`.
pub trait Float: Signed {}

macro_rules! typed {
    ($($name:ty = $variant:ident)*) => {$(
        impl sealed::Typed for $name {
            const TYPE: ElementType = ElementType::$variant;
        }
    )*};
}

typed! {
    f32 = F32 f64 = F64
    i8 = I8 u8 = U8 i16 = I16 u16 = U16 i32 = I32 u32 = U32 i64 = I64 u64 = U64
}

#[cfg(feature = "half")]
typed! { half::f16 = F16 half::bf16 = Bf16 }

macro_rules! numbers {
    ($($name:ty, |$x:ident| $negate:expr;)*) => {$(
        impl sealed::Negate for $name {
            fn negate(self) -> Self {
                let $x = self;
                $negate
            }
        }
        impl Number for $name {}
    )*};
}

numbers! {
    f32, |x| -x;
    f64, |x| -x;
    i32, |x| x.wrapping_neg();
    i64, |x| x.wrapping_neg();
    u32, |x| x.wrapping_neg();
    u64, |x| x.wrapping_neg();
}

impl Signed for f32 {}
impl Signed for f64 {}
impl Signed for i32 {}
impl Signed for i64 {}
impl Float for f32 {}
impl Float for f64 {}
