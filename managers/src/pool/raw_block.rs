//! `RawBlock`: memory without an owner.

use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Error, FreeError, Result};
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::state::Pool;
use crate::stream::Stream;

/// A block of a [`MemoryPool`](super::MemoryPool) that its holder frees. Dropping it leaks the
/// memory, and keeps the pool alive.
#[must_use = "a block that is dropped is leaked"]
pub struct RawBlock {
    piece: NonNull<BlockHeader>,
}

// SAFETY: the block is its holder's alone, whichever thread that is.
unsafe impl Send for RawBlock {}
// SAFETY: the shared fields of a piece in use do not change, or are atomic.
unsafe impl Sync for RawBlock {}

impl RawBlock {
    #[inline]
    pub(crate) fn new(piece: NonNull<BlockHeader>) -> Self {
        Self { piece }
    }

    #[inline]
    fn header(&self) -> &BlockHeader {
        // SAFETY: the piece is ours, so its header is there.
        unsafe { self.piece.as_ref() }
    }

    /// The device address; 0 for a block of no bytes.
    #[must_use]
    #[inline]
    pub fn address(&self) -> CUdeviceptr {
        self.header().address()
    }

    /// Bytes that may be used: the requested ones, rounded up to 256 at least.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.header().bytes()
    }

    /// Frees the block in the order of `stream`, which need not be the one it was allocated on. A
    /// stream that captures needs a [graph memory](super::MemoryPool#capture).
    ///
    /// The free makes no driver call and waits for no work, except that
    ///
    /// * a pool that is over a [lowered limit](super::MemoryPool::set_limit) gives back memory that
    ///   is idle, now and then: it records and asks events, waits for them for some microseconds,
    ///   and unmaps and releases pages (`cuMemUnmap`, `cuMemRelease`), or frees chunks: `cuMemFree`
    ///   waits for the device;
    /// * the last block of a pool whose handles are gone ends the pool: that waits for all work
    ///   that may use freed memory, and gives everything back;
    /// * the first free on a stream looks for places of streams that are gone, where all 65 535
    ///   are taken (`cuEventQuery`).
    ///
    /// # Errors
    /// [`Error::Forked`](crate::Error::Forked),
    /// [`Error::WrongContext`](crate::Error::WrongContext), [`Error::Full`](crate::Error::Full)
    /// where the pool has no place for one more stream. With the block: nothing has happened.
    ///
    /// # Safety
    /// All work that uses the block is on `stream` by now, or `stream` has been made to wait
    /// for it; and nothing uses it later. Where `stream` is not the one that the block was
    /// allocated on, it has been made to wait for that one since, even if nothing has used the
    /// block: work that used the memory before may still run there.
    #[doc(alias = "cuMemFree")]
    #[inline]
    #[track_caller]
    pub unsafe fn free(self, stream: &Stream) -> Result<(), FreeError<Self>> {
        // SAFETY: `Pool::free` needs the piece, and its last work on the stream: the conditions
        // here. The block ends here, unless it is given back.
        unsafe { Pool::free(self.piece, stream) }.map_err(|error| FreeError::new(self, error))
    }

    /// Frees the block in the order of `stream` and behind the work that is on `others`: the memory
    /// is `stream`'s again when each of them has come as far as it is now. No stream is made to wait
    /// for another, and no driver call is made, except where the block, or a graph that is captured,
    /// has a [graph memory](super::MemoryPool#capture): then `stream` waits for the others
    /// (`cuEventRecord`, `cuStreamWaitEvent`).
    ///
    /// # Errors
    /// Those of [`free`](Self::free), and where `stream` has to wait those of
    /// [`ops::order`](crate::ops::order). With the block: it is as before.
    ///
    /// # Safety
    /// All work that uses the block is on `stream` or one of `others` by now, or one of them has been
    /// made to wait for it; and nothing uses it later. `stream` is the one that the block was
    /// allocated on, or has been made to wait for that one since.
    #[doc(alias = "record_stream")]
    #[track_caller]
    pub unsafe fn free_behind(
        self,
        stream: &Stream,
        others: &[Stream],
    ) -> Result<(), FreeError<Self>> {
        if others.is_empty() || self.address() == 0 {
            // SAFETY: all work that uses the block is on `stream`, as there are no others.
            return unsafe { self.free(stream) };
        }
        // SAFETY: the piece is ours, so its pool is there.
        let pool = unsafe { &*Pool::of(self.header()) };
        if !others.iter().all(|other| other.is_in(pool.core())) {
            let error = Error::WrongContext { what: "the block" };
            return Err(FreeError::new(self, error));
        }
        let Some(behind) = pool.behind(stream, others) else {
            for other in others {
                if let Err(error) = pool.order(other, stream) {
                    return Err(FreeError::new(self, error));
                }
            }
            // SAFETY: `stream` has been made to wait for the others.
            return unsafe { self.free(stream) };
        };
        if let Some(region_hooks) = pool.region_hooks() {
            for other in others {
                region_hooks.behind(self.header(), other);
            }
            region_hooks.end(self.header(), stream, Some(Location::caller()));
        }
        // SAFETY: the piece is ours, and ends here; all work that uses it is on these streams by now,
        // which are of the pool's context.
        unsafe { Pool::free_behind(self.piece, &behind, Some(Location::caller())) };
        Ok(())
    }
}

impl fmt::Debug for RawBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawBlock({:#x}, {})", self.address(), self.bytes())
    }
}
