//! Launches of the reductions: one each.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::module::Function;
use cupola_managers::ops::{LaunchAttributes, launch_with};
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::stream::Stream;

use super::element::Number;
use super::library::{LibraryKernel, Reduction};
use super::{Kernels, ReduceScratch, expect_len};
use crate::geometry;

impl Kernels {
    /// Sets `total` to the sum of `input` as [`reduce_sum`](Self::reduce_sum) does, on the
    /// stream of the thread's current [runtime context](cupola_managers::runtime), with a
    /// temporary buffer from its pool.
    ///
    /// # Errors
    /// `Error::NoRuntime` when the thread has none; as [`reduce_sum`](Self::reduce_sum), and
    /// as the pool when it has no room for the temporary buffer.
    pub fn sum<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        total: impl Into<DeviceSliceMut<'b, T>>,
    ) -> Result<()> {
        let runtime = RuntimeContext::current()?;
        let (input, total) = (input.into(), total.into());
        expect_len("total", total.len(), 1)?;
        if geometry::reduce(input.len() as u64).blocks == 1 {
            let mut untouched = runtime.scratch(0)?;
            let scratch = untouched.view_mut();
            return self.reduce_in(Reduction::Sum, input, scratch, total, runtime.stream());
        }
        let mut scratch = ReduceScratch::new(runtime.pool(), runtime.stream())?;
        self.reduce_sum(input, &mut scratch, total, runtime.stream())
    }

    /// Sets `total`, one element, to the sum of `input`. The order of additions depends on
    /// the length alone: the same input gives the same bits on every device. Integers wrap.
    ///
    /// This and each of the other reductions is one launch. From compute capability 9.0 on it starts before the
    /// kernel before it on the stream has ended, and waits for that before it touches memory
    /// ([`LaunchAttributes::programmatic`]); in a capture it does not start early.
    ///
    /// # Errors
    /// `Error::Invalid` if `total` is not one element; as [`fill`](Self::fill).
    pub fn reduce_sum<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: &mut ReduceScratch,
        total: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, total) = (input.into(), total.into());
        expect_len("total", total.len(), 1)?;
        self.reduce(Reduction::Sum, input, scratch, total, stream)
    }

    /// Sets `least`, one element, to the smallest of `input`. Of floats a NaN counts as missing, and -0
    /// as smaller than +0; without any number the result is NaN. Of no integers it is the largest there
    /// is.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_min<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: &mut ReduceScratch,
        least: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, least) = (input.into(), least.into());
        expect_len("least", least.len(), 1)?;
        self.reduce(Reduction::Min, input, scratch, least, stream)
    }

    /// Sets `largest`, one element, to the largest of `input`. Of floats a NaN counts as missing, and -0
    /// as smaller than +0; without any number the result is NaN. Of no integers it is the smallest there
    /// is.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_max<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: &mut ReduceScratch,
        largest: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, largest) = (input.into(), largest.into());
        expect_len("largest", largest.len(), 1)?;
        self.reduce(Reduction::Max, input, scratch, largest, stream)
    }

    /// Sets `index`, one element, to the index of the first of the smallest of `input`, or to `u64::MAX`
    /// if there is none. Of floats a NaN counts as missing, and -0 equals +0.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_arg_min<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: &mut ReduceScratch,
        index: impl Into<DeviceSliceMut<'b, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, index) = (input.into(), index.into());
        expect_len("index", index.len(), 1)?;
        self.reduce(Reduction::ArgMin, input, scratch, index, stream)
    }

    /// Sets `index`, one element, to the index of the first of the largest of `input`, or to `u64::MAX`
    /// if there is none. Of floats a NaN counts as missing, and -0 equals +0.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_arg_max<'a, 'b, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: &mut ReduceScratch,
        index: impl Into<DeviceSliceMut<'b, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, index) = (input.into(), index.into());
        expect_len("index", index.len(), 1)?;
        self.reduce(Reduction::ArgMax, input, scratch, index, stream)
    }

    /// A reduction to an element (`R` is `T`), or to an index (`u64`).
    fn reduce<T: Number, R: DeviceCopy>(
        &self,
        reduction: Reduction,
        input: DeviceSlice<'_, T>,
        scratch: &mut ReduceScratch,
        result: DeviceSliceMut<'_, R>,
        stream: &Stream,
    ) -> Result<()> {
        self.reduce_in(reduction, input, scratch.on(stream)?, result, stream)?;
        scratch.used_on(stream);
        Ok(())
    }

    /// The same in what a [`ReduceScratch`] is made of, or in no memory where the grid has one block.
    fn reduce_in<T: Number, R: DeviceCopy>(
        &self,
        reduction: Reduction,
        input: DeviceSlice<'_, T>,
        scratch: DeviceSliceMut<'_, u64>,
        result: DeviceSliceMut<'_, R>,
        stream: &Stream,
    ) -> Result<()> {
        let n = input.len() as u64;
        let function = self
            .library
            .function(LibraryKernel::Reduce(reduction, T::TYPE))?;
        let grid = geometry::reduce(n);
        let gains = geometry::reduce_may_start_early(grid.blocks, self.multiprocessors);
        let attributes = match gains {
            true => early(function, stream),
            false => LaunchAttributes::new(),
        };
        let arguments = (input, n, scratch, result);
        // SAFETY: the kernel takes these types in this order, reads `n` elements and writes one. Scratch
        // memory is for the largest grid, and is not touched by a grid of one block. Whatever it
        // holds, the kernel touches nothing else for it. It comes to an end because no other kernel uses the scratch memory
        // meanwhile, which is the caller's to see to where graphs are launched. One that starts early waits with all of its threads
        // before it touches memory.
        unsafe { launch_with(function, grid.into(), attributes, arguments, stream) }
    }
}

/// A kernel that waits for the one before it may start before that has ended. In a capture it would make an
/// edge with data, which drivers have since CUDA 12.3, and which questions about a graph's edges without a place for
/// the data are refused for: there it is a launch like others.
fn early(function: &Function, stream: &Stream) -> LaunchAttributes {
    match function.waits_for_predecessor() && !stream.is_captured() {
        true => LaunchAttributes::new().programmatic(),
        false => LaunchAttributes::new(),
    }
}
