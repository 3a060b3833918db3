//! `State`: the regions of a pinned pool, and the blocks that they are cut into.

use std::collections::VecDeque;
use std::mem;
use std::ptr::NonNull;

use cupola_core::Tlsf;
use cupola_core::tlsf::{AllocateError, Block, Entry, Node};

use super::region::{PinnedBacking, Region};
use super::usage::PinnedUsage;
use crate::buffer::Copies;

/// Blocks begin at, and are, whole multiples of this: a line of the processor's caches, which no two
/// blocks share, as a processor and a device would contend for it. Rounding to it wastes at most
/// 12.5 % of every block of 449 bytes and more, and less than one line of a smaller one.
pub(super) const GRANULE: u64 = 64;

/// The heap's offsets of a region begin at its number times this: two regions never touch there, even
/// if they do in memory, so that no block reaches over two of them.
const SPAN: u64 = 1 << 40;

/// The most bytes of a region.
pub(super) const LARGEST: u64 = SPAN - (2 << 20);

/// Nodes that the heap gets at a time.
const NODES: usize = 64;

/// A block whose buffer was dropped while copies used it.
pub(super) struct Pending {
    block: Block,
    pub(super) copies: Copies,
}

/// What the lock of a pool is for.
pub(super) struct State {
    heap: Tlsf<Vec<Node>, (), GRANULE>,
    /// By number.
    regions: Vec<Option<Region>>,
    pending: VecDeque<Pending>,
    /// The bytes and the blocks of those, also while a thread looks at them.
    pending_bytes: u64,
    pending_blocks: usize,
    /// How regions are made.
    pub(super) backing: PinnedBacking,
}

impl State {
    pub(super) fn new(backing: PinnedBacking) -> Self {
        Self {
            heap: Tlsf::new(Vec::new(), ()),
            regions: Vec::new(),
            pending: VecDeque::new(),
            pending_bytes: 0,
            pending_blocks: 0,
            backing,
        }
    }

    /// A block of so many bytes, if there is one free, and its address.
    pub(super) fn take(&mut self, bytes: u64, align: u64) -> Option<(Block, NonNull<u8>)> {
        // The oldest may be known to be over, which costs no call: so that few places are used again
        // and again.
        if let Some(first) = self.pending.pop_front() {
            match first.copies.are_done() {
                true => self.free(first.block),
                false => self.pending.push_front(first),
            }
        }
        let block = match self.heap.allocate(bytes, align, ()) {
            Err(AllocateError::NoNodes(_)) => {
                self.heap.lend([Node::default(); NODES]);
                self.heap.allocate(bytes, align, ())
            }
            found => found,
        };
        let block = block.ok()?;
        let region = self.regions.get(number(block))?.as_ref()?;
        let start = region
            .start()
            .wrapping_add((block.offset() % SPAN) as usize);
        Some((block, NonNull::new(start)?))
    }

    /// Takes a block back.
    pub(super) fn put(&mut self, block: Block, copies: Copies) {
        self.pending_bytes += block.size();
        self.pending_blocks += 1;
        match copies.are_done() || mutant!("pinned_block_is_free_under_copies") {
            true => self.free(block),
            false => self.pending.push_back(Pending { block, copies }),
        }
    }

    /// Frees a block that is pending.
    fn free(&mut self, block: Block) {
        self.pending_bytes -= block.size();
        self.pending_blocks -= 1;
        let _freed_once = self.heap.free(block, ());
    }

    /// The blocks whose copies are to be asked about, until they are [put back](Self::settle).
    pub(super) fn take_pending(&mut self) -> VecDeque<Pending> {
        mem::take(&mut self.pending)
    }

    /// Frees those whose copies are over, and keeps the others.
    pub(super) fn settle(&mut self, done: &VecDeque<Pending>, mut others: VecDeque<Pending>) {
        for pending in done {
            self.free(pending.block);
        }
        // Those that came meanwhile are younger.
        others.append(&mut self.pending);
        self.pending = others;
    }

    /// Adds a region.
    pub(super) fn add(&mut self, region: Region) {
        let empty = self.regions.iter().position(Option::is_none);
        let number = empty.unwrap_or(self.regions.len());
        self.heap.lend([Node::default()]);
        // It fails only for ranges that overlap or are no granules.
        let _added = self
            .heap
            .add_range(number as u64 * SPAN, region.bytes(), ());
        match self.regions.get_mut(number) {
            Some(place) => *place = Some(region),
            None => self.regions.push(Some(region)),
        }
    }

    /// Takes the regions out that no block is in.
    pub(super) fn take_empty(&mut self) -> Vec<Region> {
        let free: Vec<_> = self
            .heap
            .blocks()
            .filter_map(|entry| match entry {
                Entry::Free(name, piece) => Some((name, piece)),
                Entry::Used(..) => None,
            })
            .collect();
        let mut empty = Vec::new();
        for (name, piece) in free {
            let number = (piece.offset / SPAN) as usize;
            let Some(place) = self.regions.get_mut(number) else {
                continue;
            };
            if place.as_ref().map(Region::bytes) != Some(piece.size) {
                continue;
            }
            let taken = self.heap.take_in(name, piece.offset, piece.size, (), ());
            if let Ok((whole, ())) = taken
                && self.heap.remove(whole).is_ok()
            {
                empty.extend(place.take());
            }
        }
        empty
    }

    /// All regions: the pool ends. Those that blocks are pending in, of which `is_done` does not say
    /// that their copies are over, are condemned.
    pub(super) fn into_regions(
        mut self,
        is_done: impl Fn(&Copies) -> bool,
    ) -> impl Iterator<Item = Region> {
        for pending in &self.pending {
            if !is_done(&pending.copies)
                && !mutant!("pinned_region_is_given_back_under_copies")
                && let Some(Some(region)) = self.regions.get_mut(number(pending.block))
            {
                region.is_condemned = true;
            }
        }
        self.regions.into_iter().flatten()
    }

    /// Bytes of buffers that are alive: what no completion of copies would give.
    pub(super) fn live_bytes(&self) -> u64 {
        self.heap.usage().used_bytes - self.pending_bytes
    }

    pub(super) fn has_pending(&self) -> bool {
        self.pending_blocks > 0
    }

    /// The account, but for the limit.
    pub(super) fn usage(&self) -> PinnedUsage {
        let heap = self.heap.usage();
        PinnedUsage {
            regions: self.regions.iter().flatten().count(),
            live: heap.used_bytes - self.pending_bytes,
            blocks: heap.used_blocks as usize - self.pending_blocks,
            pending: self.pending_bytes,
            free: heap.free_bytes,
            largest: heap.largest_free,
            ..PinnedUsage::default()
        }
    }
}

/// The number of the region that a block is in.
fn number(block: Block) -> usize {
    (block.offset() / SPAN) as usize
}
