//! Launches over bytes: histogram and CRC-32.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::{launch, zero};
use cupola_managers::stream::Stream;

use super::{Kernels, expect_len};
use crate::geometry;

impl Kernels {
    /// Adds the number of bytes of each value in `data` to the 256 `counts`. Zero them
    /// before the first of several calls.
    ///
    /// # Errors
    /// `Error::Invalid` if there are not 256 counters; as [`launch`].
    pub fn histogram<'a, 'b>(
        &self,
        data: impl Into<DeviceSlice<'a, u8>>,
        counts: impl Into<DeviceSliceMut<'b, u64>>,
        stream: &Stream,
    ) -> Result<()> {
        let (data, counts) = (data.into(), counts.into());
        expect_len("counts", counts.len(), 256)?;
        let len = data.len() as u64;
        let config = geometry::histogram(len, self.multiprocessors).into();
        // SAFETY: the kernel takes these types in this order, reads `len` bytes and adds to
        // 256 counters, which were checked to be there.
        unsafe { launch(&self.histogram, config, (data, len, counts), stream) }
    }

    /// Sets `crc`, one element, to the CRC-32 of `data`. The CRCs of neighbouring chunks
    /// give that of the whole with
    /// [`crc32_combine`](crate::reference::crc32_combine).
    ///
    /// # Errors
    /// `Error::Invalid` if `crc` is not one element; as [`zero`] and [`launch`].
    pub fn crc32<'a, 'b>(
        &self,
        data: impl Into<DeviceSlice<'a, u8>>,
        crc: impl Into<DeviceSliceMut<'b, u32>>,
        stream: &Stream,
    ) -> Result<()> {
        let (data, mut crc) = (data.into(), crc.into());
        expect_len("crc", crc.len(), 1)?;
        zero(crc.reborrow(), stream)?;
        let len = data.len() as u64;
        let config = geometry::crc32(len, self.multiprocessors).into();
        // SAFETY: the kernel takes these types in this order, reads `len` bytes and combines
        // into one element, which was checked to be there.
        unsafe { launch(&self.crc32, config, (data, len, crc), stream) }
    }
}
