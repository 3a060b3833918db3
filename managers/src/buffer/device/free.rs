//! The end of a buffer, with an error if it fails.

use super::Buffer;
use crate::buffer::DeviceCopy;
use crate::error::{FreeError, Result};
use crate::stream::Stream;

impl<T: DeviceCopy> Buffer<T> {
    /// Frees the memory in stream order, as dropping does, and returns the error that a drop keeps
    /// silent.
    ///
    /// The free makes no driver call and waits for no work, but for the cases that
    /// [`RawBlock::free`](crate::pool::RawBlock::free) names. Where other streams have used the
    /// buffer its memory is free when they have come as far as they are now, which the pool looks
    /// for when it needs memory; nor does any stream wait for another. Only while a
    /// [graph memory](crate::MemoryPool#capture) of the pool is open, or where the pool has no
    /// place for one more stream, is the buffer's stream made to wait for each of the others
    /// (`cuEventRecord`, `cuStreamWaitEvent`). Where the buffer had the last lease of a stream that
    /// is not kept for its next life, that is destroyed.
    ///
    /// # Errors
    /// With the buffer, for nothing was freed, and this may be called again: what the driver
    /// returned when the buffer's stream was to wait for others; [`Error::Forked`](crate::Error::Forked).
    ///
    /// A buffer that is dropped where this would fail makes the host wait for the other streams.
    /// Where that fails too its memory counts as [`abandoned`](crate::Live::abandoned), and stays
    /// charged to the pool.
    #[doc(alias = "cuMemFree")]
    #[doc(alias = "cuMemFreeAsync")]
    #[track_caller]
    pub fn free(self) -> Result<(), FreeError<Self>> {
        let len = self.len;
        let back = |(block, error)| FreeError::new(Self::new(block, len), error);
        self.block.free().map_err(back)
    }

    /// Frees the memory in the order of `stream`, in place of that of the buffer's
    /// [`stream`](Self::stream): where the buffer was filled on one stream and is used last on
    /// another, that one has the memory again when it comes as far as it is now and the others have
    /// too. No stream waits for another, and the free makes no driver call, but for the cases that
    /// [`free`](Self::free) names, in which `stream` is made to wait for each of the others.
    ///
    /// # Errors
    /// With the buffer, for nothing was freed: [`Error::WrongContext`](crate::Error::WrongContext) when the stream is another
    /// context's; [`Error::Full`](crate::Error::Full) where the pool has no place for one more stream; what the driver
    /// returned when `stream` was to wait for others; [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "cudaFreeAsync")]
    #[track_caller]
    pub fn free_on(self, stream: &Stream) -> Result<(), FreeError<Self>> {
        let len = self.len;
        let back = |(block, error)| FreeError::new(Self::new(block, len), error);
        self.block.free_on(stream).map_err(back)
    }
}
