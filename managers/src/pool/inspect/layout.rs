//! `Layout`: where everything is in a pool, at one moment.

use std::collections::{HashMap, HashSet};

use cupola_core::tlsf::Entry;
use cupola_sys::driver::CUdeviceptr;

use crate::error::Result;
use crate::handle::ManagedHandle;
use crate::lists::sort_by_number;
use crate::pool::cache::thread_cache::{RevokedCache, ThreadCache};
use crate::pool::heap::block_header::{BlockHeader, Home, Withheld};
use crate::pool::heap::central::Central;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::page_table::{PageState, PageTable};
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::{Stamp, StreamIndex};
use crate::stream::StreamHandle;

/// Where everything is in a pool, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// Bytes of a page.
    pub page: u64,
    /// Bytes that the pool has from the driver: mapped pages, and pages that are kept for
    /// mapping.
    pub mapped: u64,
    /// The limit on these.
    pub limit: u64,
    /// The ranges of addresses that the pool has reserved, or its chunks; oldest first.
    pub regions: Vec<Region>,
    /// The blocks in them, by address. They do not overlap. Addresses that none of them covers have
    /// no memory.
    pub blocks: Vec<Block>,
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The first.
    pub base: CUdeviceptr,
    /// How many.
    pub bytes: u64,
    /// Its pages, by address, neighbours in one state as one run, up to the last page that ever had
    /// memory. Beyond are addresses only.
    pub runs: Vec<Run>,
}

/// Pages of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// Where they begin.
    pub address: CUdeviceptr,
    /// How long they are.
    pub bytes: u64,
    /// The state of these pages.
    pub state: RunState,
}

/// The memory behind a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunState {
    /// Addresses only.
    Bare,
    /// Memory that the device may not access: giving access has failed.
    Sealed,
    /// Memory.
    Mapped,
}

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// Where it begins.
    pub address: CUdeviceptr,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Bytes that its user asked for; 0 unless it is alive.
    pub requested: u64,
    /// Its state.
    pub state: BlockState,
    /// The driver's stream that it belongs to, by [`Stream::serial`](crate::Stream::serial); 0
    /// where the pool does not know, or all streams may have it.
    pub stream: u64,
    /// Of a buffer that is alive: the stream that it was allocated on.
    pub buffer: Option<StreamHandle>,
    /// The name that its user gave it, while it is alive.
    pub name: Option<&'static str>,
}

/// The state of a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockState {
    /// In use.
    Live,
    /// In a magazine or a transfer cache, or on the way to its user.
    Cached,
    /// A free slot of a slab.
    Slot,
    /// Free for its stream alone: work on the device may still use it.
    Pending,
    /// Free for all streams.
    Ready,
    /// Freed on a stream that is captured: no user gets it as long as the graph may run. See
    /// [`GraphMemory`](crate::pool::GraphMemory).
    Held,
    /// Given up, because it could not be freed: its memory stays in use for ever.
    Abandoned,
}

impl Pool {
    /// Everything stands still meanwhile, but for driver calls and for pieces that have just been
    /// found and are on the way to their users.
    pub(crate) fn layout(&self) -> Result<Layout> {
        self.core.not_forked()?;
        let mapper = self.pages.lock();
        // First the caches: no thread makes one of a stream that is not among the states then.
        let caches = self.caches.lock();
        let states = self.all_states();
        let seized = ThreadCache::revoke_all(&caches);
        let central = self.central.lock();
        let mut picture = Drawing {
            central: &central,
            streams: HashMap::new(),
            blocks: Vec::new(),
            taken: HashSet::new(),
        };
        for state in &states {
            picture.streams.insert(state.index().into(), state.serial());
        }
        picture.add_headers(&seized);
        picture.add_heap(&mapper);
        let mut blocks = picture.blocks;
        sort_by_number(&mut blocks, |block| block.address);
        Ok(Layout {
            page: self.pages.page(),
            mapped: self.budget.used(),
            limit: self.budget.limit(),
            regions: central.rules().regions().iter().map(region).collect(),
            blocks,
        })
    }
}

/// A layout that comes to be.
struct Drawing<'a> {
    central: &'a Central,
    /// Serials by the place in the pool. Maps of other numbers would be compiled apart.
    streams: HashMap<u64, u64>,
    blocks: Vec<Block>,
    /// Addresses of blocks of the heap whose headers tell their state.
    taken: HashSet<CUdeviceptr>,
}

impl Drawing<'_> {
    fn serial(&self, stream: StreamIndex) -> u64 {
        self.streams
            .get(&stream.into())
            .copied()
            .unwrap_or_default()
    }

    /// Blocks of the heap that have headers, and the slots of slabs.
    fn add_headers(&mut self, caches: &[RevokedCache<'_>]) {
        let central = self.central;
        let mut kept: HashMap<u64, u64> = HashMap::new();
        for cache in caches {
            for piece in cache.pieces() {
                kept.insert(piece.addr() as u64, cache.serial());
            }
        }
        for cache in caches {
            let Some(arena) = cache.arena() else {
                continue;
            };
            for span in arena.spans() {
                self.taken.insert(span.offset());
            }
            for (at, bytes) in arena.free_pieces() {
                let free = bare(at, bytes, BlockState::Cached, cache.serial());
                self.blocks.push(free);
            }
        }
        let of_cache = |header: &BlockHeader| {
            let address = std::ptr::from_ref(header).addr() as u64;
            kept.get(&address).copied()
        };
        for header in central.headers().in_use() {
            if let Home::Heap(block) = header.home() {
                self.taken.insert(block.offset());
                let stream = of_cache(header).unwrap_or_default();
                self.blocks.push(piece(header, stream));
            }
        }
        for (block, stream, slots) in central.slabs().all() {
            self.taken.insert(block.offset());
            let stream = self.serial(stream);
            for (header, free) in slots {
                let stream = of_cache(header).unwrap_or(stream);
                let mut slot = piece(header, stream);
                if free {
                    slot.state = BlockState::Slot;
                }
                self.blocks.push(slot);
            }
        }
    }

    /// Adds the free memory of the heap on mapped pages, and blocks that were just taken out of it.
    fn add_heap(&mut self, mapper: &Mapper) {
        let central = self.central;
        let mut holes = HashSet::new();
        for hole in mapper.chunks().holes() {
            holes.insert(hole.offset());
        }
        for entry in central.heap().blocks() {
            match entry {
                Entry::Used(block, _) => {
                    let at = block.offset();
                    if !self.taken.contains(&at) && !holes.contains(&at) {
                        self.blocks
                            .push(bare(at, block.size(), BlockState::Cached, 0));
                    }
                }
                Entry::Free(_, free) => self.add_free(free.offset, free.size, free.data),
            }
        }
    }

    /// The parts of a free piece that have memory.
    fn add_free(&mut self, from: CUdeviceptr, bytes: u64, stamp: Stamp) {
        let rules = self.central.rules();
        let Some(region) = rules.region(from) else {
            return;
        };
        let (state, stream) = match rules.is_done(stamp) {
            true => (BlockState::Ready, 0),
            false => (BlockState::Pending, self.serial(stamp.stream())),
        };
        for run in runs(region) {
            if run.state == RunState::Bare {
                continue;
            }
            let start = from.max(run.address);
            let end = (from + bytes).min(run.address + run.bytes);
            if start < end {
                self.blocks.push(bare(start, end - start, state, stream));
            }
        }
    }
}

fn bare(address: CUdeviceptr, bytes: u64, state: BlockState, stream: u64) -> Block {
    Block {
        address,
        bytes,
        requested: 0,
        state,
        stream,
        buffer: None,
        name: None,
    }
}

/// A piece that is in use, or kept; `stream` is that of the cache or slab that keeps it.
fn piece(header: &BlockHeader, stream: u64) -> Block {
    let mut block = bare(header.address(), header.bytes(), BlockState::Cached, stream);
    if let Some(requested) = header.requested() {
        block.requested = requested;
        block.state = BlockState::Live;
        block.name = header.name();
        if header.is_buffer() {
            block.buffer = ManagedHandle::from_bits(header.stream());
        } else {
            block.stream = header.stream();
        }
    }
    match header.withheld() {
        Some(Withheld::Held) => block.state = BlockState::Held,
        Some(Withheld::Abandoned) => block.state = BlockState::Abandoned,
        Some(Withheld::Waiting) => block.state = BlockState::Pending,
        None => {}
    }
    block
}

fn region(pages: &PageTable) -> Region {
    Region {
        base: pages.base(),
        bytes: pages.bytes(),
        runs: runs(pages).collect(),
    }
}

/// Pages of a region, neighbours of a kind as one.
fn runs(pages: &PageTable) -> impl Iterator<Item = Run> + '_ {
    let kind = |page| match pages.state(page) {
        PageState::Mapped => RunState::Mapped,
        PageState::Sealed => RunState::Sealed,
        // Only the holder of the mapper has busy pages. This thread holds it: there are none.
        PageState::Bare | PageState::Busy => RunState::Bare,
    };
    let mut page = 0;
    std::iter::from_fn(move || {
        let first = page;
        let state = (first < pages.len()).then(|| kind(first))?;
        while page < pages.len() && kind(page) == state {
            page += 1;
        }
        Some(Run {
            address: pages.address(first),
            bytes: u64::from(page - first) * pages.page(),
            state,
        })
    })
}

#[cfg(all(test, not(loom)))]
mod tests;
