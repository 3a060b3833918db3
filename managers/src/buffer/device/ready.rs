//! What a consumer outside of this crate is told of a buffer.

use super::Buffer;
use crate::buffer::DeviceCopy;
use crate::error::Result;
use crate::stream::Stream;

impl<T: DeviceCopy> Buffer<T> {
    /// As [`used_on`](Self::used_on); the stream also waits, on the device, for all work on the buffer that other streams
    /// have by now.
    #[track_caller]
    pub(crate) fn ready_on(&self, stream: &Stream) -> Result<()> {
        self.block.ready_on(stream)
    }

    /// The ordinal of the device that the memory is on.
    pub(crate) fn ordinal(&self) -> u32 {
        self.block.core().ordinal()
    }
}
