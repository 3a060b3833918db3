//! The pool of this crate.

use cupola_managers::buffer::Buffer;
use cupola_managers::memory::{MemoryPool, PoolConfig};
use cupola_managers::stream::Stream;
use cupola_managers::{Context, Device, StreamConfig, ops};

use super::Error;
use super::allocator::{Allocator, Fresh};

/// The name of the rows of [`Typed`].
pub(super) const TYPED: &str = "cupola, Buffer";

/// `MemoryPool::allocate::<u8>`, and dropping the buffer.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    context: Context,
    pool: MemoryPool,
    limit: u64,
}

impl Typed {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let context = device.primary()?;
        // The limit is no part of what is measured: all that the device has.
        let limit = device.info()?.total_memory;
        let pool = context.memory_pool(PoolConfig::limit(limit))?;
        Ok(Self {
            context,
            pool,
            limit,
        })
    }
}

impl Allocator for Typed {
    type Lane = Stream;
    type Block = Buffer<u8>;

    fn name(&self) -> String {
        TYPED.into()
    }

    fn lane(&self) -> Result<Stream, Error> {
        Ok(self.context.streams().create(StreamConfig::default())?)
    }

    fn allocate(&self, bytes: u64, lane: &Stream) -> Option<Buffer<u8>> {
        let bytes = usize::try_from(bytes).ok()?;
        self.pool.allocate(bytes, lane).ok()
    }

    fn free(&self, block: Buffer<u8>, _: &Stream) -> bool {
        drop(block);
        true
    }

    fn address(block: &Buffer<u8>) -> Option<u64> {
        Some(block.as_raw())
    }

    fn settle(&self, lane: &Stream) -> bool {
        ops::synchronize(lane).is_ok()
    }
}

impl Fresh for Typed {
    fn fresh(&self) -> Result<Self, Error> {
        let pool = self.context.memory_pool(PoolConfig::limit(self.limit))?;
        Ok(Self {
            pool,
            ..self.clone()
        })
    }
}
