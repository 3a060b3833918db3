//! Signatures: the types of a kernel's parameters, and the arguments that fit them.

use std::marker::PhantomData;

use cupola_sys::driver::CUdeviceptr;

use super::args::{KernelArg, KernelArgs};
use crate::buffer::{Buffer, DeviceCopy, DeviceSlice, DeviceSliceMut};

/// A parameter that points to elements which the kernel only reads: `const T *`. The argument is a
/// `&Buffer<T>` or a [`DeviceSlice`].
#[derive(Debug)]
pub struct In<T>(PhantomData<fn() -> T>);

/// A parameter that points to elements which the kernel writes, and may read: `T *`. The argument is a
/// `&mut Buffer<T>` or a [`DeviceSliceMut`].
#[derive(Debug)]
pub struct InOut<T>(PhantomData<fn() -> T>);

/// The type of one parameter in a [`Signature`]: a type that is [`DeviceCopy`], by value, or memory of
/// the device, [`In`] or [`InOut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a kernel's parameter",
    note = "write a number, an array or a `#[derive(DeviceCopy)]` struct, or `In<T>` and `InOut<T>` for device memory"
)]
pub trait KernelParam {
    /// What the kernel gets.
    type Value: DeviceCopy;
}

impl<T: DeviceCopy> KernelParam for T {
    type Value = T;
}

impl<T: DeviceCopy> KernelParam for In<T> {
    type Value = CUdeviceptr;
}

impl<T: DeviceCopy> KernelParam for InOut<T> {
    type Value = CUdeviceptr;
}

/// An argument that may be passed as a parameter of type `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed as a parameter of type `{P}`",
    note = "`In<T>` takes a `&Buffer<T>` or a `DeviceSlice`, `InOut<T>` a `&mut Buffer<T>` or a `DeviceSliceMut`, another type itself"
)]
pub trait PassedAs<P: KernelParam>: KernelArg<Value = P::Value> {}

impl<T: DeviceCopy> PassedAs<T> for T {}
impl<T: DeviceCopy> PassedAs<In<T>> for &Buffer<T> {}
impl<T: DeviceCopy> PassedAs<In<T>> for DeviceSlice<'_, T> {}
impl<T: DeviceCopy> PassedAs<InOut<T>> for &mut Buffer<T> {}
impl<T: DeviceCopy> PassedAs<InOut<T>> for DeviceSliceMut<'_, T> {}

/// The types of a kernel's parameters, in order: a tuple of up to 12 [`KernelParam`]s.
pub trait Signature: Sizes {}

impl<S: Sizes> Signature for S {}

/// The sizes of parameters.
pub trait Sizes {
    /// The size of each in bytes.
    const SIZES: &'static [usize];
}

/// A list of arguments for a kernel of signature `S`: a tuple of as many, each of which may be
/// [passed](PassedAs) as its parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of arguments for the signature `{S}`",
    note = "a signature takes a tuple of as many arguments as it has parameters"
)]
pub trait ArgsFor<S: Signature>: KernelArgs {}

macro_rules! tuples {
    ($($($param:ident $arg:ident)*;)*) => {$(
        impl<$($param: KernelParam),*> Sizes for ($($param,)*) {
            const SIZES: &'static [usize] = &[$(size_of::<$param::Value>()),*];
        }

        impl<$($param: KernelParam, $arg: PassedAs<$param>),*> ArgsFor<($($param,)*)> for ($($arg,)*) {}
    )*};
}

tuples! {
    ;
    P0 A0;
    P0 A0 P1 A1;
    P0 A0 P1 A1 P2 A2;
    P0 A0 P1 A1 P2 A2 P3 A3;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10;
    P0 A0 P1 A1 P2 A2 P3 A3 P4 A4 P5 A5 P6 A6 P7 A7 P8 A8 P9 A9 P10 A10 P11 A11;
}
