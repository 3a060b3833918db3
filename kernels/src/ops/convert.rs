//! Launches that convert elements from one type to another.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::launch;
use cupola_managers::stream::Stream;

use super::element::sealed::Typed;
use super::library::LibraryKernel;
use super::{Kernels, expect_len};
use crate::geometry;

/// A type whose elements a kernel converts to `D`, as Rust's `as` does:
///
/// - between floats rounded once, to nearest even; too large becomes an infinity, a NaN a NaN;
/// - an integer to a float rounded once, to nearest even;
/// - a float to an integer rounded towards zero, the nearest where it is out of range, and 0 for NaN;
/// - between integers modulo 2^bits.
///
/// There are all pairs of `f32`, `f64`, `i8` to `i64` and `u8` to `u64`. With the feature `half` there are
/// `f16` and `bf16` of the crate `half` too, with each other, with `f32` and `f64`, and with integers of 8
/// and 16 bits.
pub trait ConvertTo<D>: DeviceCopy + Typed {}

macro_rules! pairs {
    ($([$($from:ty),*] => $to:tt;)*) => {$($(pairs!(@one $from => $to);)*)*};
    (@one $from:ty => [$($to:ty),*]) => {$(impl ConvertTo<$to> for $from {})*};
}

pairs! {
    [f32, f64, i8, u8, i16, u16, i32, u32, i64, u64] => [f32, f64, i8, u8, i16, u16, i32, u32, i64, u64];
}

#[cfg(feature = "half")]
pairs! {
    [half::f16, half::bf16] => [half::f16, half::bf16, f32, f64, i8, u8, i16, u16];
    [f32, f64, i8, u8, i16, u16] => [half::f16, half::bf16];
}

impl Kernels {
    /// `output[i] = input[i]` as an element of another type: see [`ConvertTo`] for how it is rounded.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn convert<'a, 'b, S: ConvertTo<D>, D: DeviceCopy + Typed>(
        &self,
        input: impl Into<DeviceSlice<'a, S>>,
        output: impl Into<DeviceSliceMut<'b, D>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, output) = (input.into(), output.into());
        let (from, to) = (S::TYPE, D::TYPE);
        let is_copy = !from.is_float() && !to.is_float() && from.bytes() == to.bytes();
        if from == to || is_copy {
            return self.copy(input, output.cast::<S>()?, stream);
        }
        expect_len("output", output.len(), input.len())?;
        let function = self.library.function(LibraryKernel::Convert(from, to))?;
        let n = input.len() as u64;
        let lanes = (16 / from.bytes().max(to.bytes())).min(4);
        let config = geometry::tiled(n, lanes).into();
        // SAFETY: the kernel takes these types in this order and touches `n` elements of each view;
        // output is borrowed mutably, so they do not overlap. Any result is a value of a number's type.
        unsafe { launch(function, config, (n, input, output), stream) }
    }
}
