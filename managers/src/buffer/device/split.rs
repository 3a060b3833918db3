//! Two parts of one buffer: two arguments of one kernel, or memory for two streams.

use std::marker::PhantomData;

use super::{Buffer, DeviceSlice, DeviceSliceMut, resolve};
use crate::buffer::DeviceCopy;
use crate::error::Result;

macro_rules! parts {
    ($view:expr, $mid:expr, $name:ident) => {{
        let (view, mid) = ($view, $mid);
        let (start, rest) = resolve(&(mid..), view.len)?;
        let part = |address, len| $name {
            address,
            len,
            block: view.block,
            element: PhantomData,
        };
        let after = view.address + (start * size_of::<T>()) as u64;
        Ok((part(view.address, start), part(after, rest)))
    }};
}

impl<'b, T: DeviceCopy> DeviceSlice<'b, T> {
    /// The first `mid` elements, and the others.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when there are fewer than `mid`.
    #[track_caller]
    pub fn split_at(self, mid: usize) -> Result<(Self, Self)> {
        parts!(self, mid, DeviceSlice)
    }
}

impl<'b, T: DeviceCopy> DeviceSliceMut<'b, T> {
    /// The first `mid` elements, and the others: a kernel may get both, and two streams may write
    /// one each. [`reborrow`](Self::reborrow) keeps the whole for later.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when there are fewer than `mid`.
    #[track_caller]
    pub fn split_at_mut(self, mid: usize) -> Result<(Self, Self)> {
        parts!(self, mid, DeviceSliceMut)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// The first `mid` elements and the others, for reading.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when there are fewer than `mid`.
    #[track_caller]
    pub fn split_at(&self, mid: usize) -> Result<(DeviceSlice<'_, T>, DeviceSlice<'_, T>)> {
        self.view().split_at(mid)
    }

    /// The first `mid` elements and the others, for writing.
    ///
    /// ```no_run
    /// # use cupola_managers::{Buffer, Stream, ops};
    /// # fn f(pair: &mut Buffer<f32>, one: &Stream, two: &Stream) -> cupola_managers::Result<()> {
    /// let (zeros, ones) = pair.split_at_mut(1000)?;
    /// ops::fill(zeros, 0.0, one)?;
    /// ops::fill(ones, 1.0, two)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when there are fewer than `mid`.
    #[track_caller]
    pub fn split_at_mut(
        &mut self,
        mid: usize,
    ) -> Result<(DeviceSliceMut<'_, T>, DeviceSliceMut<'_, T>)> {
        self.view_mut().split_at_mut(mid)
    }
}
