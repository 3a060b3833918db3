//! Allocating without a wait, and by a deadline.

use std::time::Instant;

use super::MemoryPool;
use crate::buffer::{Block, Buffer, DeviceCopy, byte_len};
use crate::error::Result;
use crate::pool::raw_block::RawBlock;
use crate::pool::request::AllocRequest;
use crate::pool::request::Wait;
use crate::stream::Stream;

/// # How long an allocation may take
///
/// A thread gets memory that it has freed lately back within nanoseconds; else a request takes
/// locks that others hold as shortly. Where no memory is ready it asks the driver for pages, which
/// takes microseconds to milliseconds, after other threads that are at that. Where the limit or the
/// device has no room, [`allocate`](Self::allocate) waits for work that still uses freed memory,
/// for [`PoolConfig::wait`](super::PoolConfig::wait) in all; the time in which other threads map
/// pages or give them back before it comes on top, and so does that of
/// [`on_refusal`](Self::on_refusal), after each answer of which the wait begins anew. A request
/// that no completion can serve is refused without a wait: live blocks leave no room, or would have
/// to move.
impl MemoryPool {
    /// A buffer by [`allocate`](Self::allocate), without waiting for anything: neither for work
    /// that uses freed memory, nor for threads that just map pages or give them back. It takes
    /// memory that is ready, maps pages within the limit, and at the limit drains the caches of
    /// threads and moves pages that nothing uses. Pools that share the limit are not asked, nor is
    /// [`on_refusal`](Self::on_refusal), and where the memory comes in
    /// [chunks](super::Source::Chunks) none is given back, as that waits for all work of the
    /// context.
    ///
    /// The calls that map pages take their time: no wait is not no time. And a refusal looks for up
    /// to 50 us at the work that has completed, for its account.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`Error::Busy`](crate::Error::Busy) when pages are
    /// needed and another thread is changing them.
    #[track_caller]
    pub fn try_allocate<T: DeviceCopy>(&self, len: usize, stream: &Stream) -> Result<Buffer<T>> {
        self.allocate_waiting(Wait::Never, len, stream)
    }

    /// A buffer by [`allocate`](Self::allocate), waiting until `deadline` at most, in place of
    /// [`PoolConfig::wait`](super::PoolConfig::wait): for work that uses freed memory, and for
    /// threads that map pages or give them back. Calls that were begun are brought to their end:
    /// driver calls of its own, and [`on_refusal`](Self::on_refusal).
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`Error::Busy`](crate::Error::Busy) when pages are
    /// needed and other threads are changing them all the time until then.
    #[track_caller]
    pub fn allocate_until<T: DeviceCopy>(
        &self,
        deadline: Instant,
        len: usize,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        self.allocate_waiting(Wait::Until(deadline), len, stream)
    }

    /// A block by [`allocate_raw`](Self::allocate_raw), without waiting for anything, like
    /// [`try_allocate`](Self::try_allocate).
    ///
    /// # Errors
    /// Those of [`allocate_raw`](Self::allocate_raw) and [`try_allocate`](Self::try_allocate).
    #[track_caller]
    pub fn try_allocate_raw(&self, bytes: u64, align: u64, stream: &Stream) -> Result<RawBlock> {
        self.allocate_raw_waiting(Wait::Never, bytes, align, stream)
    }

    /// A block by [`allocate_raw`](Self::allocate_raw), waiting until `deadline` at most, like
    /// [`allocate_until`](Self::allocate_until).
    ///
    /// # Errors
    /// Those of [`allocate_raw`](Self::allocate_raw) and [`allocate_until`](Self::allocate_until).
    #[track_caller]
    pub fn allocate_raw_until(
        &self,
        deadline: Instant,
        bytes: u64,
        align: u64,
        stream: &Stream,
    ) -> Result<RawBlock> {
        self.allocate_raw_waiting(Wait::Until(deadline), bytes, align, stream)
    }

    #[track_caller]
    fn allocate_waiting<T: DeviceCopy>(
        &self,
        wait: Wait,
        len: usize,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        let ask = AllocRequest {
            bytes: byte_len::<T>(len)? as u64,
            align: align_of::<T>() as u64,
            name: None,
            buffer: true,
            wait,
        };
        Ok(Buffer::new(Block::new(self.pool(), ask, stream)?, len))
    }

    #[track_caller]
    fn allocate_raw_waiting(
        &self,
        wait: Wait,
        bytes: u64,
        align: u64,
        stream: &Stream,
    ) -> Result<RawBlock> {
        let ask = AllocRequest {
            bytes,
            align,
            name: None,
            buffer: false,
            wait,
        };
        self.pool().allocate(ask, stream).map(RawBlock::new)
    }
}
