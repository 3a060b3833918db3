//! `Mapper`: the one place that changes which pages have memory.
//!
//! Bytes are charged to the limit before memory is created and released after it was given back, so
//! mapped memory and that in the cache never exceed the limit for an instant.
//! The mapper's lock is held over driver calls, the central lock never is: meanwhile a page is
//! *Busy*, and its block in use or its addresses free but dear.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::error::{Error, Result};
use crate::pool::pages::handle_cache::HandleCache;
use crate::pool::pages::handle_size::Device;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::streams::free_stamp::Stamp;

/// The state that only the holder of the lock may change.
#[derive(Debug, Default)]
pub(crate) struct Mapper {
    pub(crate) cache: HandleCache,
    /// The device's free memory when it was asked last, and the pool's memory then, in pages.
    pub(crate) known: Option<(Device, u64)>,
    /// In a pool of one stream: its serial, and the last ticket of it that a request has waited for
    /// in vain.
    pub(crate) vain: (u64, u64),
    /// Chunks of `cuMemAlloc` and the holes that stand for those that were given back.
    pub(crate) chunks: Vec<Chunk>,
}

impl Mapper {
    /// Blocks that stand for addresses without memory.
    pub(crate) fn holes(&self) -> impl Iterator<Item = Block> {
        self.chunks.iter().filter_map(|chunk| chunk.hole)
    }

    /// Pages that are mapped nowhere.
    pub(crate) fn cached(&self) -> u64 {
        self.cache.pages()
    }

    /// The device's free memory, by the last answer, with so many pages in the pool now. `None`
    /// when the pool has changed too much since.
    pub(crate) fn known(&self, used: u64) -> Option<Device> {
        let (device, then) = self.known?;
        let since = used.abs_diff(then);
        (since <= device.free / 16).then(|| device.less(since))
    }

    /// A full device refuses to map pages as well, and to give access: then there is no memory to
    /// be had, which is no failure.
    pub(crate) fn fail(&mut self, search: &mut Search, error: Error) -> Result<bool> {
        let refused = Err(error);
        if is_out_of_memory(&refused) {
            self.note_full(search, refused.err());
            return Ok(false);
        }
        refused
    }

    /// The device has less left than was known, and nothing more for this search.
    pub(crate) fn note_full(&mut self, search: &mut Search, error: Option<Error>) {
        search.full = error;
        self.known = None;
    }
}

/// A chunk, where there is no virtual memory management.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) base: CUdeviceptr,
    pub(crate) bytes: u64,
    /// The block that keeps its addresses out of the heap while it has no memory.
    pub(crate) hole: Option<Block>,
}

/// Where the memory for missing pages may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The cache, and the driver within the limit.
    Limit,
    /// Those, and pages that nothing uses.
    Idle,
}

/// A block that was found, with the stamp of the last use of its memory.
pub(crate) type Found = (Block, Stamp);
