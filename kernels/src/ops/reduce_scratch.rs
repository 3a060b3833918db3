//! The memory that the blocks of a reduction share.

use cupola_managers::Result;
use cupola_managers::buffer::{Buffer, DeviceSliceMut};
use cupola_managers::pool::MemoryPool;
use cupola_managers::stream::Stream;

use crate::geometry::REDUCE_SCRATCH_BYTES;

/// What the blocks of a reduction leave for the last of them, and the number of those that have ended.
///
/// One serves reductions of any type and length, on any streams of its context, one after the other: each
/// borrows it, and one on another stream than the last waits for that on the device. Reductions that are to run
/// at the same time need one each. So does a graph: a captured reduction uses its scratch memory
/// at every launch of the graph.
///
/// A reduction leaves the number at zero, which the next one begins with. One that was refused has not
/// begun, and one that ends early loses its context, and the memory with it.
#[derive(Debug)]
pub struct ReduceScratch {
    memory: Buffer<u64>,
}

impl ReduceScratch {
    /// [`REDUCE_SCRATCH_BYTES`] bytes of `pool` (64 KiB and 16), zeroed in the order of `stream`.
    ///
    /// # Errors
    /// As [`MemoryPool::zeros`].
    #[track_caller]
    pub fn new(pool: &MemoryPool, stream: &Stream) -> Result<Self> {
        let memory = pool.zeros(REDUCE_SCRATCH_BYTES / size_of::<u64>(), stream)?;
        Ok(Self { memory })
    }

    pub(super) fn view(&mut self) -> DeviceSliceMut<'_, u64> {
        self.memory.view_mut()
    }
}
