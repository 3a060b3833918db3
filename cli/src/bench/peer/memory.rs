//! Memory of one device that copies are from and to, by whom it is of.

use cupola_managers::buffer::Buffer;
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, AddressRange};
use cupola_managers::{Context, Error, MemoryPool, PoolConfig, Stream};
use cupola_sys::driver::CUdeviceptr;

use super::PeerBenchError;

/// Two arrays of the driver's own, to copy from and to.
#[derive(Debug)]
pub(super) struct RawMemory {
    pub(super) from: CUdeviceptr,
    pub(super) to: CUdeviceptr,
    owner: Owner,
}

#[derive(Debug)]
enum Owner {
    /// `cuMemAlloc`.
    Context(Context),
    /// `cuMemCreate`, mapped here.
    Ranges([AddressRange; 2]),
}

impl RawMemory {
    /// Of `cuMemAlloc`, cleared.
    pub(super) fn allocate(context: &Context, bytes: usize) -> Result<Self, PeerBenchError> {
        let mut memory = Self {
            from: 0,
            to: 0,
            owner: Owner::Context(context.clone()),
        };
        let _current = context.enter()?;
        let driver = context.driver();
        for address in [&mut memory.from, &mut memory.to] {
            // SAFETY: the place outlives the call, and the context is current.
            unsafe {
                driver.cuMemAlloc_v2(address, bytes)?;
                driver.cuMemsetD8_v2(*address, 0, bytes)?;
            }
        }
        Ok(memory)
    }

    /// Of `cuMemCreate`, in handles of so many bytes at most, and of a page at least.
    pub(super) fn map(context: &Context, bytes: usize, handle: u64) -> Result<Self, Error> {
        let range = || {
            let memory = context.virtual_memory(&DeviceLimit::new(u64::MAX))?;
            let bytes = (bytes as u64).next_multiple_of(memory.granularity());
            let handle = handle.clamp(memory.granularity(), bytes);
            let mut range = memory.reserve(bytes)?;
            let mut offset = 0;
            while offset < bytes {
                let piece = memory.create(handle.min(bytes - offset))?;
                range.map(offset, piece)?;
                offset += handle;
            }
            range.set_access(0..bytes, Access::ReadWrite)?;
            Ok::<_, Error>(range)
        };
        let (from, to) = (range()?, range()?);
        Ok(Self {
            from: from.address(),
            to: to.address(),
            owner: Owner::Ranges([from, to]),
        })
    }

    /// Lets kernels and copies of the peer's have it; of `cuMemAlloc` they do once the contexts have
    /// access.
    pub(super) fn open_to(&self, peer: &Context) -> Result<(), Error> {
        if let Owner::Ranges(ranges) = &self.owner {
            for range in ranges {
                range.grant_peer(0..range.bytes(), peer, Access::ReadWrite)?;
            }
        }
        Ok(())
    }
}

impl Drop for RawMemory {
    fn drop(&mut self) {
        if let Owner::Context(context) = &self.owner
            && let Ok(_current) = context.enter()
        {
            for address in [self.from, self.to] {
                if address != 0 {
                    // SAFETY: of `allocate`; the streams that used it were waited for.
                    let _ = unsafe { context.driver().cuMemFree_v2(address) };
                }
            }
        }
    }
}

/// Two buffers of a pool, to copy from and to.
pub(super) struct PoolMemory {
    pub(super) from: Buffer<u8>,
    pub(super) to: Buffer<u8>,
    pub(super) pool: MemoryPool,
}

impl PoolMemory {
    pub(super) fn new(
        context: &Context,
        bytes: usize,
        limit: u64,
        stream: &Stream,
    ) -> Result<Self, Error> {
        let pool = context.memory_pool(PoolConfig::limit(limit))?;
        Ok(Self {
            from: pool.zeros(bytes, stream)?,
            to: pool.zeros(bytes, stream)?,
            pool,
        })
    }
}
