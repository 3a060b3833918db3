//! Launches that calculate one number for each element.

use cupola_managers::Result;
use cupola_managers::buffer::{Buffer, DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::{KernelArg, launch};
use cupola_managers::stream::Stream;

use super::element::{Float, Number, Signed};
use super::library::{LibraryKernel, Operation, Unary};
use super::{Kernels, expect_len};
use crate::geometry;

/// The second operand of an operation: a buffer, a view, or a number.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'b, T: Number> {
    /// One for each element.
    Each(DeviceSlice<'b, T>),
    /// The same for all.
    All(T),
}

impl<'b, T: Number> From<DeviceSlice<'b, T>> for Operand<'b, T> {
    fn from(each: DeviceSlice<'b, T>) -> Self {
        Self::Each(each)
    }
}

impl<'b, T: Number> From<&'b Buffer<T>> for Operand<'b, T> {
    fn from(each: &'b Buffer<T>) -> Self {
        Self::Each(each.view())
    }
}

macro_rules! scalars {
    ($($number:ty)*) => {$(
        impl From<$number> for Operand<'_, $number> {
            fn from(all: $number) -> Self {
                Self::All(all)
            }
        }
    )*};
}

scalars! { f32 f64 i32 i64 u32 u64 }

macro_rules! operations {
    ($(
        $(#[$about:meta])*
        $name:ident, $assign:ident: $bound:ident, $operation:ident, $sign:literal;
    )*) => {$(
        $(#[$about])*
        ///
        /// # Errors
        /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
        pub fn $name<'a, 'b, 'c, T: $bound>(
            &self,
            a: impl Into<DeviceSlice<'a, T>>,
            b: impl Into<Operand<'b, T>>,
            output: impl Into<DeviceSliceMut<'c, T>>,
            stream: &Stream,
        ) -> Result<()> {
            let (a, output) = (a.into(), output.into());
            expect_len("output", output.len(), a.len())?;
            // SAFETY: `a` has as many elements as `output`.
            unsafe { self.operate(Operation::$operation, a, b.into(), output, stream) }
        }

        #[doc = concat!("As [`", stringify!($name), "`](Self::", stringify!($name), "), in place: `y[i] = ", $sign, "`.")]
        ///
        /// # Errors
        /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
        pub fn $assign<'a, 'b, T: $bound>(
            &self,
            y: impl Into<DeviceSliceMut<'a, T>>,
            b: impl Into<Operand<'b, T>>,
            stream: &Stream,
        ) -> Result<()> {
            let y = y.into();
            // SAFETY: the first operand is `y`, which the kernels allow.
            unsafe { self.operate(Operation::$operation, y.as_raw(), b.into(), y, stream) }
        }
    )*};
}

impl Kernels {
    operations! {
        /// `output[i] = a[i] + b[i]`; of integers modulo 2^bits.
        add, add_assign: Number, Add, "y[i] + b[i]";
        /// `output[i] = a[i] - b[i]`; of integers modulo 2^bits.
        sub, sub_assign: Number, Sub, "y[i] - b[i]";
        /// `output[i] = a[i] * b[i]`; of integers modulo 2^bits.
        mul, mul_assign: Number, Mul, "y[i] * b[i]";
        /// `output[i] = a[i] / b[i]`. Of floats only: some integers have no quotient.
        div, div_assign: Float, Div, "y[i] / b[i]";
        /// `output[i]` is the smaller of `a[i]` and `b[i]`. A NaN counts as missing, and -0 as smaller
        /// than +0.
        min, min_assign: Number, Min, "min(y[i], b[i])";
        /// `output[i]` is the larger of `a[i]` and `b[i]`. A NaN counts as missing, and -0 as smaller
        /// than +0.
        max, max_assign: Number, Max, "max(y[i], b[i])";
    }

    /// # Safety
    /// `a` is a view of as many elements as `output`, or the address of `output`.
    unsafe fn operate<T: Number>(
        &self,
        operation: Operation,
        a: impl KernelArg,
        b: Operand<'_, T>,
        output: DeviceSliceMut<'_, T>,
        stream: &Stream,
    ) -> Result<()> {
        let n = output.len() as u64;
        let config = geometry::tiled(n, 16 / T::TYPE.bytes()).into();
        match b {
            Operand::Each(b) => {
                expect_len("b", b.len(), output.len())?;
                let kernel = LibraryKernel::Binary(operation, T::TYPE);
                let function = self.library.function(kernel)?;
                // SAFETY: the kernel takes these types in this order and touches `n` elements of each;
                // output is borrowed mutably, so it overlaps `b` not at all, and `a` wholly or not.
                unsafe { launch(function, config, (n, a, b, output), stream) }
            }
            Operand::All(b) => {
                // The same bits as a subtraction has.
                let (operation, b) = match operation {
                    Operation::Sub => (Operation::Add, b.negate()),
                    other => (other, b),
                };
                let kernel = LibraryKernel::Scalar(operation, T::TYPE);
                let function = self.library.function(kernel)?;
                // SAFETY: as above, with one number in place of `b`.
                unsafe { launch(function, config, (n, a, b, output), stream) }
            }
        }
    }

    /// `output[i] = -a[i]`; the smallest integer stays.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn neg<'a, 'b, T: Signed>(
        &self,
        a: impl Into<DeviceSlice<'a, T>>,
        output: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        self.unary(Unary::Neg, a.into(), output.into(), stream)
    }

    /// `output[i] = |a[i]|`; the smallest integer stays.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn abs<'a, 'b, T: Signed>(
        &self,
        a: impl Into<DeviceSlice<'a, T>>,
        output: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        self.unary(Unary::Abs, a.into(), output.into(), stream)
    }

    fn unary<T: Signed>(
        &self,
        operation: Unary,
        a: DeviceSlice<'_, T>,
        output: DeviceSliceMut<'_, T>,
        stream: &Stream,
    ) -> Result<()> {
        expect_len("output", output.len(), a.len())?;
        let n = a.len() as u64;
        let config = geometry::tiled(n, 16 / T::TYPE.bytes()).into();
        let function = self
            .library
            .function(LibraryKernel::Unary(operation, T::TYPE))?;
        // SAFETY: the kernel takes these types in this order and touches `n` elements of each view;
        // output is borrowed mutably, so they do not overlap.
        unsafe { launch(function, config, (n, a, output), stream) }
    }

    /// `y[i] = a * x[i] + y[i]`: of floats rounded once, of integers modulo 2^bits.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn axpy<'a, 'b, T: Number>(
        &self,
        a: T,
        x: impl Into<DeviceSlice<'a, T>>,
        y: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (x, y) = (x.into(), y.into());
        expect_len("y", y.len(), x.len())?;
        let n = x.len() as u64;
        let config = geometry::tiled(n, 16 / T::TYPE.bytes()).into();
        let function = self.library.function(LibraryKernel::Axpy(T::TYPE))?;
        // SAFETY: the kernel takes these types in this order and touches `n` elements of each view; y is
        // borrowed mutably, so they do not overlap.
        unsafe { launch(function, config, (n, a, x, y), stream) }
    }

    /// `output[i] = a[i] * b[i] + c[i]`, rounded once.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn fma<'a, 'b, 'c, 'd, T: Float>(
        &self,
        a: impl Into<DeviceSlice<'a, T>>,
        b: impl Into<DeviceSlice<'b, T>>,
        c: impl Into<DeviceSlice<'c, T>>,
        output: impl Into<DeviceSliceMut<'d, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (a, b, c, output) = (a.into(), b.into(), c.into(), output.into());
        expect_len("b", b.len(), a.len())?;
        expect_len("c", c.len(), a.len())?;
        expect_len("output", output.len(), a.len())?;
        let n = a.len() as u64;
        let config = geometry::tiled(n, 16 / T::TYPE.bytes()).into();
        let function = self.library.function(LibraryKernel::Fma(T::TYPE))?;
        // SAFETY: the kernel takes these types in this order and touches `n` elements of each view;
        // output is borrowed mutably, so it overlaps none of the others.
        unsafe { launch(function, config, (n, a, b, c, output), stream) }
    }
}
