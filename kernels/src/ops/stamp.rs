//! Launches that mark blocks of memory and check the marks.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::launch;
use cupola_managers::stream::Stream;

use super::{Kernels, expect_len};
use crate::geometry::STAMP;

impl Kernels {
    /// Writes marks that depend on `seed` into `block`, from its first byte to its last.
    ///
    /// # Errors
    /// As [`launch`].
    pub fn stamp<'a>(
        &self,
        block: impl Into<DeviceSliceMut<'a, u8>>,
        seed: u64,
        stream: &Stream,
    ) -> Result<()> {
        let block = block.into();
        let bytes = block.len() as u64;
        // SAFETY: the kernel takes these types in this order and writes within `bytes` bytes.
        unsafe { launch(&self.stamp, STAMP.into(), (block, bytes, seed), stream) }
    }

    /// Adds the number of marks in `block` that are not those of `seed` to `wrong`, one
    /// element. Zero it before the first of several calls.
    ///
    /// # Errors
    /// `Error::Invalid` if `wrong` is not one element; as [`launch`].
    pub fn check<'a, 'b>(
        &self,
        block: impl Into<DeviceSlice<'a, u8>>,
        seed: u64,
        wrong: impl Into<DeviceSliceMut<'b, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (block, wrong) = (block.into(), wrong.into());
        expect_len("wrong", wrong.len(), 1)?;
        let bytes = block.len() as u64;
        // SAFETY: the kernel takes these types in this order, reads within `bytes` bytes and
        // adds to one counter, which was checked to be there.
        unsafe {
            launch(
                &self.check,
                STAMP.into(),
                (block, bytes, seed, wrong),
                stream,
            )
        }
    }
}
