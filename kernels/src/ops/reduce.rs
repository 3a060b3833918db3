//! Launches of the sums: one or two, as the plan says.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::module::Function;
use cupola_managers::ops::launch;
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::stream::Stream;

use super::{Kernels, expect_len, invalid};
use crate::geometry::ReducePlan;

/// An element type that has a sum kernel: `f32`, or `u64` (modulo 2^64).
pub trait Summable: DeviceCopy + sealed::Sealed {}

mod sealed {
    use cupola_managers::module::Function;

    use crate::ops::Kernels;

    pub trait Sealed {
        fn kernel(kernels: &Kernels) -> &Function;
    }
}

impl sealed::Sealed for f32 {
    fn kernel(kernels: &Kernels) -> &Function {
        &kernels.reduce_sum_f32
    }
}
impl Summable for f32 {}

impl sealed::Sealed for u64 {
    fn kernel(kernels: &Kernels) -> &Function {
        &kernels.reduce_sum_u64
    }
}
impl Summable for u64 {}

impl Kernels {
    /// Sets `total` to the sum of `input` as [`reduce_sum`](Self::reduce_sum) does, on the
    /// stream of the thread's current [runtime context](cupola_managers::runtime), with a
    /// temporary buffer from its pool.
    ///
    /// # Errors
    /// `Error::NoRuntime` when the thread has none; as [`reduce_sum`](Self::reduce_sum), and
    /// as the pool when it has no room for the temporary buffer.
    pub fn sum<'a, 'b, T: Summable>(
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
    /// the length alone: the same input gives the same bits on every device.
    ///
    /// `scratch` has [`ReducePlan::scratch_elements`] elements for this length, or more; its
    /// contents are overwritten.
    ///
    /// # Errors
    /// `Error::Invalid` if `total` is not one element or `scratch` too short; as [`launch`].
    pub fn reduce_sum<'a, 'b, 'c, T: Summable>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        scratch: impl Into<DeviceSliceMut<'b, T>>,
        total: impl Into<DeviceSliceMut<'c, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, mut scratch, total) = (input.into(), scratch.into(), total.into());
        expect_len("total", total.len(), 1)?;
        let n = input.len() as u64;
        let plan = ReducePlan::new(n);
        let needed = plan.scratch_elements();
        if scratch.len() < needed {
            let problem = format!("{} elements, where {needed} are needed", scratch.len());
            return Err(invalid("scratch", problem));
        }
        let function: &Function = T::kernel(self);
        let Some(second) = plan.second else {
            // SAFETY: the kernel takes these types in this order, reads `n` elements and
            // writes one, because the plan has one block.
            return unsafe { launch(function, plan.first.into(), (input, n, total), stream) };
        };
        let partials = scratch.reborrow();
        // SAFETY: as above; it writes one element for each block, for which there is room.
        unsafe { launch(function, plan.first.into(), (input, n, partials), stream) }?;
        let count = u64::from(plan.first.blocks);
        // SAFETY: as above; it reads what the first launch wrote, in stream order, and
        // writes one element.
        unsafe {
            launch(
                function,
                second.into(),
                (scratch.as_slice(), count, total),
                stream,
            )
        }
    }
}
