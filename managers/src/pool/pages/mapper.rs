//! `Mapper`: the one place that changes which pages have memory.
//!
//! Bytes are charged to the limit before memory is created and released after it was given back, so
//! mapped memory and that in the cache never exceed the limit for an instant.
//! The mapper's lock is held over driver calls, the central lock never is: meanwhile a page is
//! *Busy*, and its block in use or its addresses free but dear.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdevice;

use crate::error::{Error, Result};
use crate::pool::pages::chunk_list::ChunkList;
use crate::pool::pages::handle_cache::{HandleCache, PhysicalHandle};
use crate::pool::pages::handle_size::Device;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::streams::free_stamp::Stamp;

/// The state that only the holder of the lock may change.
#[derive(Debug, Default)]
pub(crate) struct Mapper {
    cache: HandleCache,
    /// The device's free memory when it was asked last, and the pool's memory then, in pages.
    known: Option<(Device, u64)>,
    /// Where there is no virtual memory management.
    chunks: ChunkList,
    /// Other devices that may access what is mapped.
    peers: Vec<CUdevice>,
}

impl Mapper {
    /// The chunks, where there is no virtual memory management.
    pub(crate) fn chunks(&self) -> &ChunkList {
        &self.chunks
    }

    /// The chunks, to be changed together with the heap.
    pub(crate) fn chunks_mut(&mut self) -> &mut ChunkList {
        &mut self.chunks
    }

    /// Other devices that may access what is mapped.
    pub(crate) fn peers(&self) -> &[CUdevice] {
        &self.peers
    }

    /// A device may access what is mapped now, and is to access what will be.
    pub(crate) fn add_peer(&mut self, device: CUdevice) {
        self.peers.push(device);
    }

    /// A device is not to access what will be mapped.
    pub(crate) fn remove_peer(&mut self, device: CUdevice) {
        self.peers.retain(|&peer| peer != device);
    }

    /// Pages that are mapped nowhere.
    pub(crate) fn cached(&self) -> u64 {
        self.cache.pages()
    }

    /// Keeps memory that is mapped nowhere. It is charged.
    pub(crate) fn keep(&mut self, memory: PhysicalHandle) {
        self.cache.put(memory);
    }

    /// Takes memory that is mapped nowhere.
    pub(crate) fn take_kept(&mut self) -> Option<PhysicalHandle> {
        self.cache.take()
    }

    /// Takes memory that is mapped nowhere: the largest handle of `most` pages at most.
    pub(crate) fn take_kept_up_to(&mut self, most: u32) -> Option<PhysicalHandle> {
        self.cache.take_up_to(most)
    }

    /// Notes the device's free memory, when the pool had so many pages.
    pub(crate) fn note_known(&mut self, device: Device, used: u64) {
        self.known = Some((device, used));
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
