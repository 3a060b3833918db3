//! `Heap`: one best-fit heap over all addresses of a pool, for all sizes and streams.
//!
//! One heap wastes least: memory that a stream or a size class has of its own is of no use to the
//! others. Every piece that is free knows on which stream it was freed and when, and
//! [`PlacementPolicy`] says which stream may have it.

mod crowded;
mod exhaustive;

pub(crate) use crowded::LEAST_LARGE;
use cupola_core::Tlsf;
use cupola_core::tlsf::{
    AllocateError, Block, Entry, FreeBlock, Hooks as _, Node, Piece, Place, RangeError, SplitError,
};
use cupola_sys::driver::CUdeviceptr;

use crate::lists::sort_by_number;
use crate::pool::heap::placement::PlacementPolicy;
use crate::pool::heap::requester::Requester;
use crate::pool::pages::page_table::{Extent, PageTable};
use crate::pool::streams::free_stamp::{RetiredStreams, Stamp, StreamIndex};

/// Sizes are whole granules: every CUDA allocation is aligned to one at least.
pub(crate) const GRANULE: u64 = 256;

/// Bytes, rounded up to whole granules; `None` where that is no number.
#[inline]
pub(crate) fn granular(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(GRANULE)
}

pub(crate) struct Heap {
    tlsf: Tlsf<Vec<Node<Stamp>>, PlacementPolicy, GRANULE>,
    /// Bytes in blocks.
    used: u64,
    /// Frees that will still note in their pages when they were.
    noting: u32,
    /// How often all free pieces were gone through for that.
    walks: u64,
    /// From how many bytes on a block is large, while the pool is crowded.
    large: Option<u64>,
}

/// The stamp of a place when it was taken, for a request that may give it back unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PriorStamp {
    stamp: Stamp,
    walks: u64,
}

impl PriorStamp {
    /// Good for as long as the place is out.
    pub(crate) fn stamp(self) -> Stamp {
        self.stamp
    }
}

/// Frees after a look for idle pages that note in their pages when they were.
const NOTED: u32 = 1 << 16;

/// Nodes that a heap begins with; there are twice as many whenever they run out.
const NODES: usize = 64;

impl Heap {
    pub(crate) fn new() -> Self {
        let nodes = vec![Node::new(Stamp::READY); NODES];
        Self {
            tlsf: Tlsf::new(nodes, PlacementPolicy::new()),
            used: 0,
            noting: 0,
            walks: 0,
            large: None,
        }
    }

    #[inline]
    pub(crate) fn rules(&self) -> &PlacementPolicy {
        self.tlsf.hooks()
    }

    #[inline]
    pub(crate) fn rules_mut(&mut self) -> &mut PlacementPolicy {
        self.tlsf.hooks_mut()
    }

    /// Adds a range of addresses, all of it free.
    ///
    /// # Errors
    /// It overlaps one that is there: the driver gave it twice.
    pub(crate) fn add_region(&mut self, region: PageTable) -> Result<(), RangeError> {
        let (base, bytes) = (region.base(), region.bytes());
        if self.rules().region(base).is_some() {
            return Err(RangeError::Overlap);
        }
        // First, so that it is not merged with a range that it touches.
        self.rules_mut().enter(region);
        let added = self.add(base, bytes);
        if added.is_err() {
            self.rules_mut().leave(base);
        }
        added
    }

    /// Adds free addresses to a region that is there.
    ///
    /// # Errors
    /// Some of them are there.
    pub(crate) fn add(&mut self, base: CUdeviceptr, bytes: u64) -> Result<(), RangeError> {
        let mut added = self.tlsf.add_range(base, bytes, Stamp::READY);
        if added == Err(RangeError::NoNodes) {
            self.lend();
            added = self.tlsf.add_range(base, bytes, Stamp::READY);
        }
        added.map(drop)
    }

    #[cold]
    #[inline(never)]
    fn lend(&mut self) {
        let more = self.tlsf.spare_nodes().max(NODES as u32) as usize;
        let more = more.max(self.blocks().len());
        self.tlsf
            .lend(std::iter::repeat_n(Node::new(Stamp::READY), more));
    }

    /// The best place for `bytes`, whole granules, that `stream` may use. Its rank says how many
    /// pages of it are missing. `None` where nothing that it may use holds the request.
    #[inline]
    pub(crate) fn look(&self, bytes: u64, align: u64, stream: StreamIndex) -> Option<Place<Stamp>> {
        let requester = Requester::new(stream);
        let align = align.max(GRANULE);
        match self.large {
            Some(large) => self.look_crowded(bytes, align, requester, large),
            None => self.tlsf.look(bytes, align, requester).ok(),
        }
    }

    /// A block whose pages are all mapped, and the stamp of the piece that it was cut from. `None`
    /// where the best place has not all of them.
    #[inline(always)]
    pub(crate) fn allocate_ready(
        &mut self,
        bytes: u64,
        align: u64,
        requester: Requester,
    ) -> Option<(Block, Stamp)> {
        let align = align.max(GRANULE);
        if let Some(large) = self.large {
            return self.allocate_crowded(bytes, align, requester, large);
        }
        self.allocate_quickly(bytes, align, requester)
    }

    /// As [`allocate_ready`](Self::allocate_ready), of the first few pieces that fit, however crowded
    /// the pool is: the search is short.
    #[inline(always)]
    pub(crate) fn allocate_quickly(
        &mut self,
        bytes: u64,
        align: u64,
        requester: Requester,
    ) -> Option<(Block, Stamp)> {
        let align = align.max(GRANULE);
        loop {
            let tlsf = &mut self.tlsf;
            match tlsf.allocate_below(bytes, align, Stamp::READY, requester, 0) {
                Ok((block, was)) => {
                    self.used += block.size();
                    return Some((block, was));
                }
                Err(AllocateError::NoNodes(_)) => self.lend(),
                Err(_) => return None,
            }
        }
    }

    /// Makes a place that was found for `stream` a block. `None` when it is not free any more, or
    /// not as it was found.
    #[inline]
    pub(crate) fn take(&mut self, place: Place<Stamp>, stream: StreamIndex) -> Option<Block> {
        let requester = Requester::new(stream);
        let piece = self.tlsf.piece(place.within())?;
        if piece.data != place.data {
            return None;
        }
        self.take_place(place, requester)
    }

    fn take_place(&mut self, place: Place<Stamp>, requester: Requester) -> Option<Block> {
        loop {
            match self.tlsf.take(place, Stamp::READY, requester) {
                Ok(block) => {
                    self.used += block.size();
                    return Some(block);
                }
                Err(AllocateError::NoNodes(_)) => self.lend(),
                Err(_) => return None,
            }
        }
    }

    /// Makes exactly these addresses a block. `None` when they are not free, or the one that asks
    /// may not use them.
    pub(crate) fn take_at(
        &mut self,
        address: CUdeviceptr,
        bytes: u64,
        requester: Requester,
    ) -> Option<Block> {
        loop {
            let tlsf = &mut self.tlsf;
            match tlsf.allocate_at(address, bytes, Stamp::READY, requester) {
                Ok(block) => {
                    self.used += block.size();
                    return Some(block);
                }
                Err(AllocateError::NoNodes(_)) => self.lend(),
                Err(_) => return None,
            }
        }
    }

    /// Makes exactly these addresses a block, if all work that used them is complete.
    pub(crate) fn take_idle_at(&mut self, address: CUdeviceptr, bytes: u64) -> Option<Block> {
        self.take_at(address, bytes, Requester::NONE)
    }

    /// Cuts a block in two: its first bytes, whole granules, and the rest, if there is any.
    pub(crate) fn split(&mut self, block: Block, bytes: u64) -> (Block, Option<Block>) {
        let mut parts = self.tlsf.split(block, bytes);
        if parts == Err(SplitError::NoNodes) {
            self.lend();
            parts = self.tlsf.split(block, bytes);
        }
        debug_assert_ne!(
            parts,
            Err(SplitError::Stale),
            "a block that is there is cut"
        );
        match parts {
            Ok((left, right)) => (left, Some(right)),
            Err(_) => (block, None),
        }
    }

    /// Gives a block back that was used until `stamp`.
    #[inline]
    pub(crate) fn free(&mut self, block: Block, stamp: Stamp) {
        if self.noting > 0 {
            self.noting -= 1;
            self.note_freed(block, stamp);
        }
        // A block is freed once: its owner gives it away with this call.
        self.used -= block.size();
        let freed = self.tlsf.free(block, stamp);
        debug_assert!(freed.is_ok(), "a block was freed twice");
    }

    #[cold]
    #[inline(never)]
    fn note_freed(&mut self, block: Block, stamp: Stamp) {
        let (address, bytes) = (block.offset(), block.size());
        self.rules_mut().note_freed(address, bytes, stamp);
    }

    /// Sees to it that pages know when they were used last.
    ///
    /// Of a large free piece, which has the stamp of the last of all the blocks that it was made
    /// of, most pages are idle for longer. But only a search for idle pages asks for that: a free
    /// need not note it in every page as long as none searches. The first search finds that every
    /// page is as old as the piece that it is in.
    fn note_pages(&mut self) {
        if std::mem::replace(&mut self.noting, NOTED) > 0 {
            return;
        }
        self.walks += 1;
        let mut pieces = Vec::new();
        for piece in self.pieces() {
            pieces.push(piece);
        }
        let rules = self.rules_mut();
        rules
            .regions_mut()
            .iter_mut()
            .for_each(PageTable::forget_all);
        if mutant!("pages_begin_as_idle") {
            return;
        }
        for piece in &pieces {
            rules.note_freed(piece.offset, piece.size, piece.data);
        }
    }

    /// Forgets the stamps of pages: the next search for idle ones finds each as old as its piece.
    ///
    /// A page keeps the stamp of one stream. That will do as long as pieces of two streams whose
    /// work runs do not merge: a caller that lets them merge must call this.
    fn ask_pieces(&mut self) {
        if !mutant!("merged_pages_keep_their_stamps") {
            self.noting = 0;
        }
    }

    /// The form in which the stamp of a place that is taken now is kept: READY if it is complete,
    /// because the index of its stream may be another stream's before the stamp is looked at.
    pub(crate) fn lasting(&self, stamp: Stamp) -> PriorStamp {
        let is_done = self.rules().is_done(stamp);
        PriorStamp {
            stamp: if is_done { Stamp::READY } else { stamp },
            walks: self.walks,
        }
    }

    /// Gives an unused block back, so that the stamps stay as they were.
    pub(crate) fn undo(&mut self, block: Block, was: PriorStamp) {
        // Pages that were out when it was asked how old they are were not told.
        if was.walks != self.walks && !mutant!("undo_leaves_pages_idle") {
            self.note_freed(block, was.stamp);
        }
        self.put_back(block, was.stamp);
    }

    /// Gives an unused block back.
    pub(crate) fn put_back(&mut self, block: Block, was: Stamp) {
        self.used -= block.size();
        let freed = self.tlsf.free(block, was);
        debug_assert!(freed.is_ok(), "a block was freed twice");
    }

    /// Merges the pieces whose work has become complete.
    pub(crate) fn sweep(&mut self) {
        self.tlsf.coalesce_all();
    }

    /// Makes the memory ready that retired streams have freed, and merges it.
    pub(crate) fn forget(&mut self, gone: &RetiredStreams) {
        self.tlsf.update_free(|piece| gone.without(piece.data));
        for region in self.rules_mut().regions_mut() {
            region.forget(gone);
        }
        self.ask_pieces();
        self.sweep();
    }

    /// Extents that nothing uses, of `count` pages together or a few more, or all there are:
    /// the smallest first, and of these the highest. The address of each.
    pub(crate) fn idle(&mut self, count: usize) -> Vec<(CUdeviceptr, Extent)> {
        self.note_pages();
        let mut found = Vec::new();
        let mut pages = 0;
        let mut larger = Vec::new();
        for piece in self.pieces().rev() {
            for (address, extent) in self.rules().idle(&piece) {
                if pages == count {
                    return found;
                }
                if extent.pages > 1 {
                    larger.push((address, extent));
                } else {
                    found.push((address, extent));
                    pages += 1;
                }
            }
        }
        sort_by_number(&mut larger, |(_, extent)| u64::from(extent.pages));
        for &(address, extent) in &larger {
            if pages >= count {
                break;
            }
            pages = pages.saturating_add(extent.pages as usize);
            found.push((address, extent));
        }
        found
    }

    /// All blocks and free pieces by address.
    pub(crate) fn blocks(&self) -> cupola_core::tlsf::Blocks<'_, Stamp> {
        self.tlsf.blocks()
    }

    /// All free pieces by address.
    pub(crate) fn pieces(&self) -> impl DoubleEndedIterator<Item = Piece<Stamp>> + '_ {
        self.blocks().filter_map(|entry| match entry {
            Entry::Free(_, piece) => Some(piece),
            Entry::Used(..) => None,
        })
    }

    /// Bytes in blocks.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used
    }

    /// Blocks that were carved and not freed.
    pub(crate) fn used_blocks(&self) -> u64 {
        u64::from(self.tlsf.used_blocks())
    }
}

#[cfg(all(test, not(loom)))]
mod idle_tests;
#[cfg(all(test, not(loom)))]
mod tests;
