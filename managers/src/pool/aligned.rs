//! Buffers at a multiple of more than their elements need.

use super::MemoryPool;
use crate::buffer::{Block, Buffer, DeviceCopy, byte_len};
use crate::error::Result;
use crate::pool::request::AllocRequest;
use crate::pool::request::Wait;
use crate::stream::Stream;

impl MemoryPool {
    /// A buffer by [`allocate`](Self::allocate), at a multiple of `align` bytes, a power of two up
    /// to the size of a [page](Self::page), and of the alignment of an element. So
    /// `allocate_aligned::<u8>` is for bytes that [`cast`](Buffer::cast) or a library makes
    /// something else of, with an owner that frees them.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`Error::Invalid`](crate::Error::Invalid) naming
    /// `align`.
    #[track_caller]
    pub fn allocate_aligned<T: DeviceCopy>(
        &self,
        len: usize,
        align: u64,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        let least = align_of::<T>() as u64;
        let ask = AllocRequest {
            bytes: byte_len::<T>(len)? as u64,
            // An alignment that is no power of two stays as it is, to be refused.
            align: if align.is_power_of_two() {
                align.max(least)
            } else {
                align
            },
            name: None,
            buffer: true,
            wait: Wait::AsConfigured,
        };
        Ok(Buffer::new(Block::new(self.pool(), ask, stream)?, len))
    }
}
