//! Allocating without a wait, and by a deadline.

use std::time::Instant;

use super::MemoryPool;
use crate::buffer::{Block, Buffer, DeviceCopy, byte_len};
use crate::error::Result;
use crate::pool::alloc::patience::Wait;
use crate::pool::raw_block::RawBlock;
use crate::pool::request::AllocRequest;
use crate::stream::Stream;

/// # How long an allocation may take
///
/// What a thread has freed lately it gets back within nanoseconds; else a request takes locks that
/// others hold as shortly. Where no memory is ready it asks the driver for pages, which takes
/// microseconds to milliseconds, after other threads that are at that. Where the limit or the device
/// has no room, [`allocate`](Self::allocate) waits for work that still uses what was freed, for
/// [`PoolConfig::wait`](super::PoolConfig::wait) in all; what other threads have to map or give back
/// before it comes on top, and so does what [`on_refusal`](Self::on_refusal) takes, after each answer
/// of which the wait begins anew. A request that no completion can give what it asks for is refused
/// without a wait: what is alive leaves no room, or would have to move.
impl MemoryPool {
    /// As [`allocate`](Self::allocate), without waiting for anything: neither for work that uses what
    /// was freed, nor for threads that just map pages or give them back. It takes what is ready,
    /// maps pages within the limit, and at the limit takes back what threads keep and moves pages
    /// that nothing uses. Pools that share the limit are not asked, nor is
    /// [`on_refusal`](Self::on_refusal), and where the memory comes in [chunks](super::Source::Chunks)
    /// none is given back, as that waits for all work of the context.
    ///
    /// The calls that map pages take their time: no wait is not no time. And a refusal looks for up
    /// to 50 us at what has completed, for its account.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate); [`Error::Busy`](crate::Error::Busy) when pages are needed
    /// and another thread is changing them.
    #[track_caller]
    pub fn try_allocate<T: DeviceCopy>(&self, len: usize, stream: &Stream) -> Result<Buffer<T>> {
        self.allocate_waiting(Wait::Never, len, stream)
    }

    /// As [`allocate`](Self::allocate), waiting until `deadline` at most, whatever
    /// [`PoolConfig::wait`](super::PoolConfig::wait) says: for work that uses what was freed, and for
    /// threads that map pages or give them back. What was begun is brought to its end: driver calls
    /// of its own, and [`on_refusal`](Self::on_refusal).
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate); [`Error::Busy`](crate::Error::Busy) when pages are needed
    /// and other threads are changing them all the time until then.
    #[track_caller]
    pub fn allocate_until<T: DeviceCopy>(
        &self,
        deadline: Instant,
        len: usize,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        self.allocate_waiting(Wait::Until(deadline), len, stream)
    }

    /// As [`allocate_raw`](Self::allocate_raw), without waiting for anything: as
    /// [`try_allocate`](Self::try_allocate).
    ///
    /// # Errors
    /// As [`allocate_raw`](Self::allocate_raw) and [`try_allocate`](Self::try_allocate).
    #[track_caller]
    pub fn try_allocate_raw(&self, bytes: u64, align: u64, stream: &Stream) -> Result<RawBlock> {
        self.allocate_raw_waiting(Wait::Never, bytes, align, stream)
    }

    /// As [`allocate_raw`](Self::allocate_raw), waiting until `deadline` at most: as
    /// [`allocate_until`](Self::allocate_until).
    ///
    /// # Errors
    /// As [`allocate_raw`](Self::allocate_raw) and [`allocate_until`](Self::allocate_until).
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
