//! Launches of the reductions: one or two, as the plan says.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::launch;
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::stream::Stream;

use super::element::Number;
use super::library::{LibraryKernel, Reduction};
use super::{Kernels, expect_len, invalid};
use crate::geometry::ReducePlan;

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
        let input = input.into();
        let needed = ReducePlan::new(input.len() as u64).scratch_elements();
        let mut scratch = runtime.scratch::<T>(needed)?;
        self.reduce_sum(input, &mut scratch, total, runtime.stream())
    }

    /// Sets `total`, one element, to the sum of `input`. The order of additions depends on
    /// the length alone: the same input gives the same bits on every device. Integers wrap.
    ///
    /// `scratch` has [`ReducePlan::scratch_elements`] elements for this length, or more; its
    /// contents are overwritten.
    ///
    /// # Errors
    /// `Error::Invalid` if `total` is not one element or `scratch` too short; as [`fill`](Self::fill).
    pub fn reduce_sum<'a, 'b, 'c, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, T>>,
        total: impl Into<DeviceSliceMut<'c, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, scratch, total) = (input.into(), scratch.into(), total.into());
        expect_len("total", total.len(), 1)?;
        self.reduce(Reduction::Sum, input, scratch, total, stream)
    }

    /// Sets `least`, one element, to the smallest of `input`. Of floats a NaN counts as missing, and -0
    /// as smaller than +0; without any number the result is NaN. Of no integers it is the largest there
    /// is. Scratch memory as for [`reduce_sum`](Self::reduce_sum).
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_min<'a, 'b, 'c, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, T>>,
        least: impl Into<DeviceSliceMut<'c, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, scratch, least) = (input.into(), scratch.into(), least.into());
        expect_len("least", least.len(), 1)?;
        self.reduce(Reduction::Min, input, scratch, least, stream)
    }

    /// Sets `largest`, one element, to the largest of `input`. Of floats a NaN counts as missing, and -0
    /// as smaller than +0; without any number the result is NaN. Of no integers it is the smallest there
    /// is. Scratch memory as for [`reduce_sum`](Self::reduce_sum).
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_max<'a, 'b, 'c, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, T>>,
        largest: impl Into<DeviceSliceMut<'c, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, scratch, largest) = (input.into(), scratch.into(), largest.into());
        expect_len("largest", largest.len(), 1)?;
        self.reduce(Reduction::Max, input, scratch, largest, stream)
    }

    /// Sets `index`, one element, to the index of the first of the smallest of `input`, or to `u64::MAX`
    /// if there is none. Of floats a NaN counts as missing, and -0 equals +0. `scratch` has
    /// [`ReducePlan::scratch_elements`] indices, or more.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_arg_min<'a, 'b, 'c, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, u64>>,
        index: impl Into<DeviceSliceMut<'c, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, scratch, index) = (input.into(), scratch.into(), index.into());
        self.find(Reduction::ArgMin, input, scratch, index, stream)
    }

    /// Sets `index`, one element, to the index of the first of the largest of `input`, or to `u64::MAX`
    /// if there is none. Of floats a NaN counts as missing, and -0 equals +0. `scratch` has
    /// [`ReducePlan::scratch_elements`] indices, or more.
    ///
    /// # Errors
    /// As [`reduce_sum`](Self::reduce_sum).
    pub fn reduce_arg_max<'a, 'b, 'c, T: Number>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, u64>>,
        index: impl Into<DeviceSliceMut<'c, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, scratch, index) = (input.into(), scratch.into(), index.into());
        self.find(Reduction::ArgMax, input, scratch, index, stream)
    }

    /// A reduction to an element.
    fn reduce<T: Number>(
        &self,
        reduction: Reduction,
        input: DeviceSlice<'_, T>,
        mut scratch: DeviceSliceMut<'_, T>,
        result: DeviceSliceMut<'_, T>,
        stream: &Stream,
    ) -> Result<()> {
        let n = input.len() as u64;
        let plan = ReducePlan::new(n);
        expect_scratch(&scratch, &plan)?;
        let kernel = LibraryKernel::Reduce(reduction, T::TYPE);
        let function = self.library.function(kernel)?;
        let Some(second) = plan.second else {
            // SAFETY: the kernel takes these types in this order, reads `n` elements and
            // writes one, because the plan has one block.
            return unsafe { launch(function, plan.first.into(), (input, n, result), stream) };
        };
        let partials = scratch.reborrow();
        // SAFETY: as above; it writes one element for each block, for which there is room.
        unsafe { launch(function, plan.first.into(), (input, n, partials), stream) }?;
        let count = u64::from(plan.first.blocks);
        let partials = scratch.as_slice();
        // SAFETY: as above; it reads what the first launch wrote, in stream order, and
        // writes one element.
        unsafe { launch(function, second.into(), (partials, count, result), stream) }
    }

    /// A reduction to an index.
    fn find<T: Number>(
        &self,
        reduction: Reduction,
        input: DeviceSlice<'_, T>,
        mut scratch: DeviceSliceMut<'_, u64>,
        index: DeviceSliceMut<'_, u64>,
        stream: &Stream,
    ) -> Result<()> {
        expect_len("index", index.len(), 1)?;
        let n = input.len() as u64;
        let plan = ReducePlan::new(n);
        expect_scratch(&scratch, &plan)?;
        let kernel = LibraryKernel::Reduce(reduction, T::TYPE);
        let function = self.library.function(kernel)?;
        /// A null pointer: all elements are candidates.
        const ALL: u64 = 0;
        let Some(second) = plan.second else {
            // SAFETY: the kernel takes these types in this order, reads `n` elements and
            // writes one, because the plan has one block.
            return unsafe { launch(function, plan.first.into(), (input, n, ALL, index), stream) };
        };
        let partials = scratch.reborrow();
        // SAFETY: as above; it writes one index for each block, for which there is room.
        unsafe {
            launch(
                function,
                plan.first.into(),
                (input, n, ALL, partials),
                stream,
            )
        }?;
        let count = u64::from(plan.first.blocks);
        let candidates = scratch.as_slice();
        // SAFETY: as above; it reads the indices that the first launch wrote, in stream order, and the
        // elements at them, and writes one index.
        unsafe {
            launch(
                function,
                second.into(),
                (input, count, candidates, index),
                stream,
            )
        }
    }
}

/// Refuses scratch memory that the partial results of a plan do not fit into.
fn expect_scratch<T: DeviceCopy>(scratch: &DeviceSliceMut<'_, T>, plan: &ReducePlan) -> Result<()> {
    let needed = plan.scratch_elements();
    if scratch.len() >= needed {
        return Ok(());
    }
    let problem = format!("{} elements, where {needed} are needed", scratch.len());
    Err(invalid("scratch", problem))
}
