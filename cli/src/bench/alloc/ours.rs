//! The pool of this crate: raw blocks, and buffers.

use cupola_managers::buffer::Buffer;
use cupola_managers::pool::{MemoryPool, PoolConfig, RawBlock, Usage};
use cupola_managers::stream::Stream;
use cupola_managers::{Context, Device, StreamConfig, ops};

use super::Error;
use super::allocator::{Allocator, Fresh};

/// The name of the rows of [`Raw`].
pub(super) const RAW: &str = "cupola, raw";

/// The name of the rows of [`Typed`].
pub(super) const TYPED: &str = "cupola, Buffer";

/// What blocks are aligned to: as the driver's are.
const ALIGN: u64 = 256;

/// A pool, and where its streams come from.
#[derive(Clone, Debug)]
struct Pool {
    context: Context,
    pool: MemoryPool,
    limit: u64,
}

impl Pool {
    /// The limit is no part of what is measured: all that the device has.
    fn new(device: &Device) -> Result<Self, Error> {
        Self::of(device.primary()?, device.info()?.total_memory)
    }

    fn of(context: Context, limit: u64) -> Result<Self, Error> {
        let pool = context.memory_pool(PoolConfig::limit(limit))?;
        Ok(Self {
            context,
            pool,
            limit,
        })
    }

    fn stream(&self) -> Result<Stream, Error> {
        Ok(self.context.streams().create(StreamConfig::default())?)
    }
}

/// `MemoryPool::allocate_raw` and `RawBlock::free`.
#[derive(Clone, Debug)]
pub(super) struct Raw(Pool);

impl Raw {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self(Pool::new(device)?))
    }

    /// Buffers of the same pool, which then has one amount of memory for both.
    pub(super) fn typed(&self) -> Typed {
        Typed(self.0.clone())
    }

    /// Another pool of the same context, of so many bytes.
    pub(super) fn limited(&self, limit: u64) -> Result<Self, Error> {
        Ok(Self(Pool::of(self.0.context.clone(), limit)?))
    }

    /// What the pool has counted so far.
    pub(super) fn usage(&self) -> Result<Usage, Error> {
        Ok(self.0.pool.usage()?)
    }
}

impl Allocator for Raw {
    type Stream = Stream;
    type Block = RawBlock;

    fn name(&self) -> String {
        RAW.into()
    }

    fn stream(&self) -> Result<Stream, Error> {
        self.0.stream()
    }

    #[inline]
    fn allocate(&self, bytes: u64, stream: &Stream) -> Option<RawBlock> {
        self.0.pool.allocate_raw(bytes, ALIGN, stream).ok()
    }

    #[inline]
    fn free(&self, block: RawBlock, stream: &Stream) -> bool {
        // SAFETY: nothing uses the memory.
        unsafe { block.free(stream) }.is_ok()
    }

    fn address(block: &RawBlock) -> Option<u64> {
        Some(block.address())
    }

    fn settle(&self, stream: &Stream) -> bool {
        ops::synchronize(stream).is_ok()
    }
}

impl Fresh for Raw {
    fn fresh(&self) -> Result<Self, Error> {
        Ok(Self(Pool::of(self.0.context.clone(), self.0.limit)?))
    }

    fn trim(&self) -> Result<(), Error> {
        self.0.pool.trim()?;
        Ok(())
    }
}

/// `MemoryPool::allocate::<u8>`, and dropping the buffer.
#[derive(Debug)]
pub(super) struct Typed(Pool);

impl Allocator for Typed {
    type Stream = Stream;
    type Block = Buffer<u8>;

    fn name(&self) -> String {
        TYPED.into()
    }

    fn stream(&self) -> Result<Stream, Error> {
        self.0.stream()
    }

    #[inline]
    fn allocate(&self, bytes: u64, stream: &Stream) -> Option<Buffer<u8>> {
        let bytes = usize::try_from(bytes).ok()?;
        self.0.pool.allocate(bytes, stream).ok()
    }

    #[inline]
    fn free(&self, block: Buffer<u8>, _: &Stream) -> bool {
        drop(block);
        true
    }

    fn address(block: &Buffer<u8>) -> Option<u64> {
        Some(block.as_raw())
    }

    fn settle(&self, stream: &Stream) -> bool {
        ops::synchronize(stream).is_ok()
    }
}
