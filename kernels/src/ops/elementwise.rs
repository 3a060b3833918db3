//! Launches with one result for each element.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::launch;
use cupola_managers::stream::Stream;

use super::{Kernels, expect_len};
use crate::geometry;

impl Kernels {
    /// `y[i] = a * x[i] + y[i]`, rounded once.
    ///
    /// # Errors
    /// `Error::Invalid` if `x` and `y` differ in length; as [`launch`].
    pub fn saxpy<'a, 'b>(
        &self,
        a: f32,
        x: impl Into<DeviceSlice<'a, f32>>,
        y: impl Into<DeviceSliceMut<'b, f32>>,
        stream: &Stream,
    ) -> Result<()> {
        let (x, y) = (x.into(), y.into());
        expect_len("y", y.len(), x.len())?;
        let n = x.len() as u64;
        let config = geometry::elementwise(n, self.multiprocessors).into();
        // SAFETY: the kernel takes these types in this order and touches `n` elements of
        // each view; y is borrowed mutably, so they do not overlap.
        unsafe { launch(&self.saxpy, config, (n, a, x, y), stream) }
    }

    /// `output[i] = factor * input[i]`.
    ///
    /// # Errors
    /// `Error::Invalid` if `input` and `output` differ in length; as [`launch`].
    pub fn scale<'a, 'b>(
        &self,
        factor: f32,
        input: impl Into<DeviceSlice<'a, f32>>,
        output: impl Into<DeviceSliceMut<'b, f32>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, output) = (input.into(), output.into());
        expect_len("output", output.len(), input.len())?;
        let n = input.len() as u64;
        let config = geometry::elementwise(n, self.multiprocessors).into();
        // SAFETY: the kernel takes these types in this order and touches `n` elements of
        // each view; output is borrowed mutably, so they do not overlap.
        unsafe { launch(&self.scale, config, (n, factor, input, output), stream) }
    }
}
