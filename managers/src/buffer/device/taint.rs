//! Elements that an operation has failed to write.

use super::{Buffer, DeviceSlice, DeviceSliceMut};
use crate::buffer::DeviceCopy;
use crate::error::{Result, Written};
use crate::stream::Stream;

impl<T: DeviceCopy> Buffer<T> {
    /// Whether an operation was to write elements of the buffer, has failed, and none has since: see
    /// [Failed operations](Self#failed-operations).
    ///
    /// # Errors
    /// [`Error::Tainted`](crate::Error::Tainted).
    pub fn taint(&self) -> Result<()> {
        self.view().taint()
    }

    /// Takes all elements for written: what they hold is what the program expects, in spite of an
    /// operation that has failed to write them.
    #[doc(alias = "clear_poison")]
    pub fn clear_taint(&mut self) {
        self.view_mut().clear_taint();
    }
}

impl<T: DeviceCopy> DeviceSlice<'_, T> {
    /// Whether an operation was to write some of these elements, has failed, and none has since: see
    /// [`Buffer`](Buffer#failed-operations).
    ///
    /// # Errors
    /// [`Error::Tainted`](crate::Error::Tainted).
    pub fn taint(self) -> Result<()> {
        match self.block {
            Some(block) => block.taint(self.range()),
            None => Ok(()),
        }
    }

    /// Refuses to read elements that an operation has failed to write.
    #[inline]
    pub(crate) fn check_written(&self, stream: &Stream) -> Result<()> {
        match self.block {
            Some(block) => block.check_written(self.range(), stream),
            None => Ok(()),
        }
    }
}

impl<T: DeviceCopy> DeviceSliceMut<'_, T> {
    /// Takes the elements for written: what they hold is what the program expects, in spite of an
    /// operation that has failed to write them. See [`Buffer`](Buffer#failed-operations).
    #[doc(alias = "clear_poison")]
    pub fn clear_taint(&mut self) {
        if let Some(block) = self.block {
            block.clear_taint(&self.range());
        }
    }

    /// The end of an operation on `stream` that was to write the elements: after a failure they are
    /// not readable.
    #[inline]
    pub(crate) fn end_write(
        &self,
        stream: &Stream,
        result: Result<()>,
        written: impl FnOnce() -> Written,
    ) -> Result<()> {
        if let Some(block) = self.block {
            block.end_write(self.range(), stream, &result, written);
        }
        result
    }
}
