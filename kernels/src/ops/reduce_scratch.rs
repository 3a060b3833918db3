//! The memory that the blocks of a reduction share.

use cupola_managers::Result;
use cupola_managers::buffer::{Buffer, DeviceSliceMut};
use cupola_managers::pool::MemoryPool;
use cupola_managers::stream::{DeferredTicket, Stream};

use crate::geometry::REDUCE_SCRATCH_BYTES;

/// What the blocks of a reduction leave for one of them, and a count of the blocks.
///
/// One serves reductions of any type and length, on any streams of its context, one after the other: each
/// borrows it, and one on another stream than the last waits for that on the device. Reductions that are to run
/// at the same time need one each.
///
/// A captured reduction uses its scratch memory at every launch of the graph, and the order of these is the
/// caller's, as with any [buffer](Buffer): two launches at the same time, one beside a reduction with the same
/// scratch memory, or two reductions on branches of one graph that are not [in order](cupola_managers::graph::Capture::order) would
/// take each other's values. Their results are wrong then, and a block may wait for ever for a value that is gone. So a graph, or
/// each of its branches, is best given one of its own.
///
/// A reduction leaves it zeroed, as the next one begins with it. One that was refused has not
/// begun, and one that ends early loses its context, and the memory with it.
#[derive(Debug)]
pub struct ReduceScratch {
    memory: Buffer<u64>,
    /// The last use that was put on a stream.
    last: DeferredTicket,
}

impl ReduceScratch {
    /// [`REDUCE_SCRATCH_BYTES`] bytes of `pool` (12 688), zeroed in the order of `stream`.
    ///
    /// # Errors
    /// As [`MemoryPool::zeros`].
    #[track_caller]
    pub fn new(pool: &MemoryPool, stream: &Stream) -> Result<Self> {
        let memory = pool.zeros(REDUCE_SCRATCH_BYTES / size_of::<u64>(), stream)?;
        let last = stream.deferred_ticket();
        Ok(Self { memory, last })
    }

    /// Makes later work on `stream` come behind the last use, and gives the memory.
    pub(super) fn on(&mut self, stream: &Stream) -> Result<DeviceSliceMut<'_, u64>> {
        if !self.last.precedes(stream) && !stream.is_captured() {
            self.last.ticket()?.wait_on(stream)?;
        }
        Ok(self.memory.view_mut())
    }

    /// Notes a use that was put on `stream`.
    pub(super) fn used_on(&mut self, stream: &Stream) {
        // What is captured is used when its graph is launched.
        if !stream.is_captured() {
            self.last = stream.deferred_ticket();
        }
    }
}
