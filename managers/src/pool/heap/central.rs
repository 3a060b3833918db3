//! `Central`: the part that all threads share: the heap, the slabs over it, and the headers.

mod arenas;
mod holes;
pub(crate) mod plans;
mod waiting;

use std::ptr::NonNull;

use cupola_core::tlsf::{Block, RangeError};

use crate::pool::cache::size_class::{Slot, slots_of_slab};
use crate::pool::heap::arena::Drained;
use crate::pool::heap::best_fit::{Heap, LEAST_LARGE, PriorStamp};
use crate::pool::heap::block_header::{BlockHeader, BlockHeaders, Home, PoolRef, Withheld};
use crate::pool::heap::placement::PlacementPolicy;
use crate::pool::heap::requester::Requester;
use crate::pool::heap::slab::Slabs;
use crate::pool::pages::page_table::PageTable;
use crate::pool::streams::free_stamp::{RetiredStreams, Stamp, StreamIndex};
use crate::stream::timeline::EVERY;
use arenas::Mailboxes;
use waiting::WaitingPieces;

pub(crate) struct Central {
    heap: Heap,
    slabs: Slabs,
    headers: BlockHeaders,
    /// The most bytes that were ever out of the heap at a time.
    peak_held: u64,
    /// Headers of blocks without bytes that are in use.
    empty: u64,
    /// Pieces that no user will bring back.
    abandoned: u64,
    /// Pieces without a user that only become free when other streams have come so far.
    waiting: WaitingPieces,
    /// Blocks of arenas that other threads have brought back.
    mailboxes: Mailboxes,
    /// Blocks that stand for chunks without memory, and their bytes.
    holes: (u64, u64),
    /// While threads keep nothing of exact sizes.
    tight: Option<Tight>,
    /// Bytes that came back to a crowded pool since streams were asked how far they are.
    unasked: u64,
}

/// The conditions that end the time in which threads keep nothing of exact sizes.
#[derive(Clone, Copy, Debug)]
struct Tight {
    /// With no more than this out of the heap there is room again.
    roomy: u64,
    /// So many blocks that are still to be placed without the slow path.
    blocks: u32,
}

/// Blocks that are placed without the slow path until a limit counts as far away, with however
/// little room below it.
const EXACT_CACHE_PAUSE: u32 = 1 << 16;

/// There is room again where this part of the bytes that the pool could have is left beside those
/// out of the heap. With less, or with fewer blocks, a trace of a decoder needs 1.0205 times its
/// peak in place of 1.0170.
const ROOM: u64 = 2;

/// In a crowded pool streams are asked how far they are whenever so many bytes as this many large
/// blocks have come back: what one stream has freed is the best place for another's block only if it
/// is known to be complete. Where they are asked when nothing else is left, a trace of a decoder on
/// four streams needs 1.09 to 1.11 times its peak in place of 1.045.
const UNASKED: u64 = 4;

/// A caller's request of the heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeapRequest {
    /// Whole granules.
    pub(crate) bytes: u64,
    pub(crate) align: u64,
    pub(crate) stream: StreamIndex,
}

impl Central {
    pub(crate) fn new() -> Self {
        Self {
            heap: Heap::new(),
            slabs: Slabs::default(),
            headers: BlockHeaders::default(),
            peak_held: 0,
            empty: 0,
            abandoned: 0,
            waiting: WaitingPieces::default(),
            mailboxes: Mailboxes::default(),
            holes: (0, 0),
            tight: None,
            unasked: 0,
        }
    }

    /// The heap, to look at.
    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// What is known of streams and pages.
    #[inline]
    pub(crate) fn rules(&self) -> &PlacementPolicy {
        self.heap.rules()
    }

    /// The slabs, to look at.
    pub(crate) fn slabs(&self) -> &Slabs {
        &self.slabs
    }

    /// The headers of all pieces, to look at.
    pub(crate) fn headers(&self) -> &BlockHeaders {
        &self.headers
    }

    /// The pieces that wait for other streams than their own, to look at.
    pub(crate) fn waiting(&self) -> &WaitingPieces {
        &self.waiting
    }

    /// The most bytes that were ever out of the heap at a time, or since the reset.
    pub(crate) fn peak_held(&self) -> u64 {
        self.peak_held
    }

    /// Whether a piece was given up, which no user will bring back.
    pub(crate) fn has_abandoned(&self) -> bool {
        self.abandoned > 0
    }

    /// No user will bring this piece back: its memory stays where it is for ever.
    pub(crate) fn abandon(&mut self, header: &BlockHeader) {
        header.withhold(Some(Withheld::Abandoned));
        self.abandoned += 1;
    }

    /// A stream gets a place in the pool, which so many have now: nothing of the one that had the
    /// place before is left.
    pub(crate) fn add_stream(&mut self, stream: StreamIndex, count: usize) {
        let rules = self.heap.rules_mut();
        rules.renew(stream);
        rules.note_streams(count);
    }

    /// Notes how far streams have come, and merges what has become free by that, if anything may
    /// have. Whether it may.
    pub(crate) fn note_done(&mut self, seen: impl IntoIterator<Item = (StreamIndex, u64)>) -> bool {
        let rules = self.heap.rules_mut();
        let mut news = false;
        for (stream, done) in seen {
            news |= rules.set_done(stream, done);
        }
        if news {
            self.put_waiting();
            self.sweep();
        }
        news
    }

    /// All of a stream is complete, and it is gone. Whether something that was freed may be
    /// complete by that.
    pub(crate) fn note_retired(&mut self, stream: StreamIndex) -> bool {
        self.heap.rules_mut().set_done(stream, EVERY)
    }

    /// Merges the pieces whose work has become complete.
    pub(crate) fn sweep(&mut self) {
        self.heap.sweep();
    }

    /// Gives back to the heap every slab that is free as a whole.
    pub(crate) fn release_slabs(&mut self) {
        self.slabs.release_all(&mut self.heap, &mut self.headers);
    }

    /// Takes up to `want` slots of slabs that `stream` may use. How many.
    pub(crate) fn take_slots(
        &mut self,
        slot: Slot,
        stream: StreamIndex,
        want: u32,
        give: impl FnMut(NonNull<BlockHeader>),
    ) -> u32 {
        self.slabs.take(&self.heap, slot, stream, want, give)
    }

    /// Takes up to `want` slots that other streams have freed, and that are complete. How many.
    pub(crate) fn take_slots_of_others(
        &mut self,
        slot: Slot,
        stream: StreamIndex,
        want: u32,
        give: impl FnMut(NonNull<BlockHeader>),
    ) -> u32 {
        self.slabs
            .take_from_others(&self.heap, slot, stream, want, give)
    }

    /// Gives a block back that no user has seen.
    pub(crate) fn put_back(&mut self, (block, was): (Block, Stamp)) {
        self.heap.put_back(block, was);
    }

    /// Gives a block back that no user has seen, so that its stamp is as it was.
    pub(crate) fn undo(&mut self, block: Block, was: PriorStamp) {
        self.heap.undo(block, was);
    }

    /// Adds addresses, all of them free and without memory.
    ///
    /// # Errors
    /// They overlap some that are there: the driver gave them twice.
    pub(crate) fn add_region(&mut self, region: PageTable) -> Result<(), RangeError> {
        self.heap.add_region(region)
    }

    /// Takes all ranges of addresses out, at the pool's end.
    pub(crate) fn take_regions(&mut self) -> Vec<PageTable> {
        self.heap.rules_mut().take_regions()
    }

    /// The pool had no room beyond so many bytes: until there is room again below them, or that is
    /// long ago, threads keep nothing of exact sizes, because kept pieces are in the way of good
    /// places.
    pub(crate) fn pause_exact_caching(&mut self, could: u64) {
        self.tight = Some(Tight {
            roomy: could - could / ROOM,
            blocks: EXACT_CACHE_PAUSE,
        });
    }

    /// Notes how many of the bytes that the pool could have are mapped.
    pub(crate) fn note_mapped(&mut self, mapped: u64, could: u64) {
        self.heap.note_mapped(mapped, could);
    }

    /// Whether so much of what the pool could have is mapped that a small block is placed by itself,
    /// without a slab.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.heap.crowded().is_some()
    }

    /// Whether a block of so many bytes is to find as much room as there is: a large one, while no
    /// exact sizes are kept.
    #[inline]
    pub(crate) fn wants_room(&self, bytes: u64) -> bool {
        self.tight.is_some() && self.heap.crowded().is_some_and(|large| bytes >= large)
    }

    /// Whether threads keep nothing of exact sizes.
    pub(crate) fn is_tight(&self) -> bool {
        self.tight.is_some()
    }

    /// A block of so many bytes is about to be placed. How many bytes of exact sizes a cache may keep
    /// until the next one: where memory is short no large block, because it would stay where it is.
    #[inline]
    pub(crate) fn most_exact(&mut self, bytes: u64) -> u64 {
        if let Some(Tight { roomy, blocks }) = self.tight {
            let is_over = blocks == 0 || self.held().saturating_add(bytes) <= roomy;
            self.tight = (!is_over).then(|| Tight {
                roomy,
                blocks: blocks - 1,
            });
        }
        match (&self.tight, self.heap.crowded()) {
            (Some(_), _) => 0,
            // A pool of 1 GiB and less keeps them as ever.
            (None, Some(large)) if large > LEAST_LARGE => large / 4,
            (None, _) => u64::MAX,
        }
    }

    /// Bytes out of the heap: in blocks that are alive, in magazines, transfer caches and slabs.
    pub(crate) fn held(&self) -> u64 {
        self.heap.used_bytes() - self.holes.1
    }

    /// A block whose pages are all there. `None` when there is none, or it would be dearer
    /// than asking the driver.
    #[inline(always)]
    pub(crate) fn ready(&mut self, want: HeapRequest) -> Option<(Block, Stamp)> {
        self.ready_for(want, Requester::new(want.stream))
    }

    /// As `ready`, for a request whose stream is made to wait for another's work up to this ticket
    /// before it uses the block.
    pub(crate) fn ready_behind(
        &mut self,
        want: HeapRequest,
        granted: Stamp,
    ) -> Option<(Block, PriorStamp)> {
        let requester = Requester::new(want.stream).behind(granted);
        let (block, was) = self.ready_for(want, requester)?;
        Some((block, self.heap.lasting(was)))
    }

    #[inline(always)]
    fn ready_for(&mut self, want: HeapRequest, requester: Requester) -> Option<(Block, Stamp)> {
        let found = self
            .heap
            .allocate_ready(want.bytes, want.align, requester)?;
        self.note_peak();
        Some(found)
    }

    /// Finds a block as `ready` does and gives it a header: its parts never leave the registers for
    /// long. In a crowded pool it finds none where streams should be asked how far they are first.
    #[inline(never)]
    pub(crate) fn wrap_ready(
        &mut self,
        pool: PoolRef,
        want: HeapRequest,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        let found = self.ready_for(want, Requester::new(want.stream).asking())?;
        Some(self.wrap(pool, found, slot))
    }

    /// As `wrap_ready`, for a thread that other threads wait for: with a short search, and without
    /// asking streams, however crowded the pool is.
    #[inline(never)]
    pub(crate) fn wrap_quickly(
        &mut self,
        pool: PoolRef,
        want: HeapRequest,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        let requester = Requester::new(want.stream);
        let heap = &mut self.heap;
        let found = heap.allocate_quickly(want.bytes, want.align, requester)?;
        self.note_peak();
        Some(self.wrap(pool, found, slot))
    }

    /// A block at any stretch of mapped pages within a free piece: dearer to look for than by
    /// `ready`, and cheaper than to move pages.
    pub(crate) fn in_mapped_stretch(&mut self, want: HeapRequest) -> Option<(Block, Stamp)> {
        let address = self
            .heap
            .mapped_stretch(want.bytes, want.align, want.stream)?;
        let found = self.heap.take_usable_at(address, want.bytes, want.stream)?;
        self.note_peak();
        Some(found)
    }

    /// A block at a stretch of mapped pages over several neighbours, which do not merge because
    /// others may not use all of them, but the requesting stream may. Only for a request that would
    /// have to wait otherwise: the rest of them is that stream's alone until its work is complete.
    pub(crate) fn in_joined_stretch(&mut self, want: HeapRequest) -> Option<(Block, Stamp)> {
        if self.rules().is_single() {
            return None;
        }
        let address = self
            .heap
            .join_stretch(want.bytes, want.align, want.stream)?;
        let found = self.heap.take_usable_at(address, want.bytes, want.stream)?;
        self.note_peak();
        Some(found)
    }

    #[inline]
    pub(crate) fn note_peak(&mut self) {
        self.peak_held = self.peak_held.max(self.held());
    }

    pub(crate) fn reset_peak(&mut self) {
        self.peak_held = self.held();
    }

    /// A header for a block of the heap, which was used until then.
    #[inline]
    pub(crate) fn wrap(
        &mut self,
        pool: PoolRef,
        (block, was): (Block, Stamp),
        slot: Slot,
    ) -> NonNull<BlockHeader> {
        let piece = self.headers.take(pool);
        // SAFETY: headers stay where they are, and `take` gave this one to this thread alone.
        let header = unsafe { piece.as_ref() };
        header.begin(block.offset(), block.size(), slot, Home::Heap(block));
        header.set_fresh(self.heap.rules().is_done(was));
        piece
    }

    /// A header for no bytes.
    pub(crate) fn nothing(&mut self, pool: PoolRef) -> NonNull<BlockHeader> {
        self.empty += 1;
        let header = self.headers.take(pool);
        // SAFETY: headers stay where they are, and `take` gave this one to this thread alone.
        unsafe { header.as_ref() }.begin(0, 0, Slot::NONE, Home::Nowhere);
        header
    }

    /// Makes a block that was just taken a slab. `now` is the stream's stamp.
    pub(crate) fn add_slab(
        &mut self,
        pool: PoolRef,
        (block, was): (Block, Stamp),
        (slot, bytes): (Slot, u64),
        (stream, now): (StreamIndex, Stamp),
    ) {
        let freed = if self.heap.rules().is_done(was) {
            Stamp::READY
        } else {
            self.heap.rules_mut().note_last(now);
            now
        };
        let what = (block, slot, bytes);
        self.slabs
            .add(&mut self.headers, pool, what, (stream, freed));
    }

    /// Bytes of a slab.
    pub(crate) fn slab_bytes(bytes: u64) -> u64 {
        u64::from(slots_of_slab(bytes)) * bytes
    }

    /// Takes a piece back that was used until `stamp`.
    #[inline]
    pub(crate) fn put(&mut self, piece: NonNull<BlockHeader>, stamp: Stamp) {
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        self.heap.rules_mut().note_last(stamp);
        if self.put_in_arena(piece, stamp) {
            return;
        }
        match header.home() {
            Home::Heap(block) => {
                self.headers.put(piece);
                self.heap.free(block, stamp);
                if let Some(large) = self.heap.crowded() {
                    self.note_unasked(block.size(), large);
                }
            }
            Home::Slab { slab, slot } => {
                let at = (slab, slot);
                self.slabs.put(&mut self.heap, &mut self.headers, at, stamp);
            }
            Home::Nowhere => {
                self.empty -= 1;
                self.headers.put(piece);
            }
        }
    }

    #[inline]
    fn note_unasked(&mut self, bytes: u64, large: u64) {
        // Sixteen threads that free tens of megabytes a step would ask again and again, all at once.
        if self.rules().is_asked() {
            return;
        }
        self.unasked += bytes;
        if self.unasked >= UNASKED * large {
            self.unasked = 0;
            self.rules().note_due();
        }
    }

    /// Takes the pieces of a chain back that were used until `stamp`.
    pub(crate) fn put_all(&mut self, batch: NonNull<BlockHeader>, stamp: Stamp) {
        let mut next: *const BlockHeader = batch.as_ptr();
        while let Some(piece) = NonNull::new(next.cast_mut()) {
            // SAFETY: `next` needs the piece in a batch of the caller's: the caller gives this
            // batch away, and the first piece of a batch owns the others.
            next = unsafe { piece.as_ref().next() };
            self.put(piece, stamp);
        }
    }

    /// Takes what a cache has kept back, which its stream has used until `stamp`.
    pub(crate) fn take_back(&mut self, drained: Drained, stamp: Stamp) {
        match drained {
            Drained::Batch(batch) => self.put_all(batch, stamp),
            Drained::Arena(arena) => self.dissolve(arena, stamp),
        }
    }

    /// Makes the memory ready that retired streams have left, so that so many are there.
    pub(crate) fn forget(&mut self, gone: &RetiredStreams, count: usize) {
        self.slabs.forget(&mut self.heap, &mut self.headers, gone);
        self.heap.forget(gone);
        self.wait_without(gone);
        self.heap.rules_mut().note_streams(count);
    }

    /// How many pieces have a user, who will bring them back.
    pub(crate) fn outstanding(&self) -> u64 {
        let (slots, slabs) = self.slabs.count();
        let blocks = self.heap.used_blocks() - self.holes.0 - slabs;
        blocks + slots + self.empty - self.abandoned - self.waiting.count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
