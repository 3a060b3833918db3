//! What becomes of memory that an operation was to write.
//!
//! Marks are in the fields that few blocks have, so an operation on memory without one costs a load.
//! Work of a capture runs when the graph does: it reads no marks and leaves none.

use std::ops::Range;
use std::ptr::NonNull;

use cupola_sys::driver::CUdeviceptr;

use super::Block;
use crate::error::{Result, Written};
use crate::pool::BlockHeader;
use crate::pool::heap::cold_fields::ColdFields;
use crate::stream::Stream;

impl Block {
    /// Refuses to read memory that an operation has failed to write.
    ///
    /// # Errors
    /// [`Error::Tainted`](crate::Error::Tainted).
    #[inline]
    pub(crate) fn check_written(&self, bytes: Range<CUdeviceptr>, stream: &Stream) -> Result<()> {
        match self.header().rest().get() {
            Some(rest) if !stream.is_captured() => rest.taints().check(bytes),
            _ => Ok(()),
        }
    }

    /// The error of a read of these bytes, whatever the stream.
    pub(crate) fn taint(&self, bytes: Range<CUdeviceptr>) -> Result<()> {
        match self.header().rest().get() {
            Some(rest) => rest.taints().check(bytes),
            None => Ok(()),
        }
    }

    /// These bytes are taken for written.
    pub(crate) fn clear_taint(&self, bytes: &Range<CUdeviceptr>) {
        if let Some(rest) = self.header().rest().get()
            && rest.taints().is_tainted()
        {
            rest.taints().lift(bytes, Written::All);
        }
    }

    /// Notes what became of an operation on `stream` that was to write these bytes.
    #[inline]
    pub(crate) fn end_write(
        &self,
        bytes: Range<CUdeviceptr>,
        stream: &Stream,
        result: &Result<()>,
        written: impl FnOnce() -> Written,
    ) {
        end_write(self.header(), bytes, stream, result, written);
    }
}

#[inline]
fn end_write(
    header: &BlockHeader,
    bytes: Range<CUdeviceptr>,
    stream: &Stream,
    result: &Result<()>,
    written: impl FnOnce() -> Written,
) {
    let known = header.rest();
    let rest = match (known.get(), result) {
        (None, Ok(())) => return,
        _ if stream.is_captured() => return,
        (Some(rest), _) => rest,
        (None, Err(error)) if error.taints().is_none() => return,
        (None, Err(_)) => known.get_or_put(ColdFields::default()),
    };
    rest.taints().end_write(bytes, result, written);
}

/// Memory of a block that an operation is to write, apart from the borrow of the block.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    piece: NonNull<BlockHeader>,
    start: CUdeviceptr,
    end: CUdeviceptr,
}

// SAFETY: it is an address, which only the unsafe functions follow; a header's cold fields, which they
// use, are Send and Sync.
unsafe impl Send for Output {}
// SAFETY: as above.
unsafe impl Sync for Output {}

impl Output {
    /// These bytes of a block.
    pub(crate) fn of(block: &Block, bytes: Range<CUdeviceptr>) -> Self {
        Self {
            piece: block.piece,
            start: bytes.start,
            end: bytes.end,
        }
    }

    /// As [`Block::end_write`].
    ///
    /// # Safety
    /// The block is alive.
    pub(crate) unsafe fn end_write(
        self,
        stream: &Stream,
        result: &Result<()>,
        written: impl FnOnce() -> Written,
    ) {
        // SAFETY: the piece is the block's, which is alive.
        let header = unsafe { self.piece.as_ref() };
        end_write(header, self.start..self.end, stream, result, written);
    }
}
