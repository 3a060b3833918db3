//! `DeviceCopy`: what may be copied to and from a device byte by byte.

/// A type without padding, pointers or invalid bit patterns, so that bytes from a device
/// are always a value of it. Sealed: implemented for the numbers and arrays of them.
///
/// # Safety
/// Every pattern of bits is a valid value, and none of the bytes is padding.
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl sealed::Sealed for $number {}
        // SAFETY: a number has no padding and no invalid patterns.
        unsafe impl DeviceCopy for $number {}
    )*};
}

numbers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

impl<T: DeviceCopy, const N: usize> sealed::Sealed for [T; N] {}
// SAFETY: an array has no padding of its own.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}
