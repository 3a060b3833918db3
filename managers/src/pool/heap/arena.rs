//! `Arena`: a heap that a thread has for the blocks of one stream, where many threads miss.
//!
//! All blocks of a pool are placed under one lock. A thread that has found it taken too often takes
//! spans out of the central heap and places its own blocks in them, under the lock of its cache, as
//! threads do in the arenas of other allocators. A span is one used block of the central heap, so
//! what is in an arena is out of the reach of other threads, like all that a thread keeps: memory
//! for later. When memory runs short the arena is dissolved
//! ([`Central::dissolve`](super::central::Central::dissolve)): each of its blocks becomes a block of
//! the central heap, where it is, and all that is free becomes free there.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_core::Tlsf;
use cupola_core::tlsf::{AllocateError, Block, Entry, Hooks, Node, Piece, RangeError};

use crate::pool::cache::size_class::Slot;
use crate::pool::heap::best_fit::GRANULE;
use crate::pool::heap::block_header::{BlockHeader, Home};

/// The number of an arena in its pool, which no other has at the same time: not 0.
pub(crate) type ArenaId = u16;

/// What a cache gives back.
pub(crate) enum Drained {
    /// Blocks of one size, as a chain.
    Batch(NonNull<BlockHeader>),
    /// An arena: after all batches.
    Arena(Box<Arena>),
}

/// A part of a span.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Free, and whether nothing that runs used it when its span was taken, nor its stream since.
    Free { fresh: bool },
    /// The block of this header.
    Used(NonNull<BlockHeader>),
}

impl Part {
    fn is_fresh(self) -> bool {
        matches!(self, Self::Free { fresh: true })
    }
}

/// The spans of an arena by address: blocks of the central heap.
#[derive(Default)]
struct Spans(Vec<Block>);

impl Spans {
    /// How many begin below an address.
    fn below(&self, address: u64) -> usize {
        self.0.partition_point(|span| span.offset() < address)
    }

    fn put(&mut self, span: Block) {
        let at = self.below(span.offset());
        self.0.insert(at, span);
    }

    /// Takes the span out that holds this address.
    fn take(&mut self, address: u64) -> Option<Block> {
        let at = self.below(address + 1).checked_sub(1)?;
        Some(self.0.remove(at))
    }
}

impl Hooks for Spans {
    type Data = Part;
    type Request = ();
    const CANDIDATES: usize = 4;

    /// No block lies in two spans.
    fn may_merge(&self, _: &Piece<Part>, right: &Piece<Part>) -> bool {
        let at = self.below(right.offset);
        mutant!("arena_spans_merge")
            || self
                .0
                .get(at)
                .is_none_or(|span| span.offset() != right.offset)
    }

    fn merge(&self, left: &Piece<Part>, right: &Piece<Part>) -> Part {
        Part::Free {
            fresh: left.data.is_fresh() && right.data.is_fresh(),
        }
    }
}

pub(crate) struct Arena {
    id: ArenaId,
    heap: Tlsf<Vec<Node<Part>>, Spans, GRANULE>,
    /// Bytes that no block has.
    free: u64,
    /// Bytes in blocks.
    used: u64,
    /// Headers for blocks to come.
    spare: Vec<NonNull<BlockHeader>>,
    /// Whether other threads have brought blocks back.
    has_mail: Arc<AtomicBool>,
}

/// Bytes of a span where a limit is near.
const LEAST_SPAN: u64 = 8 << 20;
/// Bytes of the first spans.
const SPAN: u64 = 32 << 20;
/// Bytes of the largest.
const LARGEST_SPAN: u64 = 256 << 20;
/// A span is this part of what the arena has, and no more of what is left of the limit.
const SHARE: u64 = 8;

impl Arena {
    pub(super) fn new(id: ArenaId, has_mail: &Arc<AtomicBool>) -> Self {
        Self {
            id,
            heap: Tlsf::new(Vec::new(), Spans::default()),
            free: 0,
            used: 0,
            spare: Vec::new(),
            has_mail: Arc::clone(has_mail),
        }
    }

    pub(super) fn id(&self) -> ArenaId {
        self.id
    }

    /// Bytes that no block has.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.free
    }

    /// Bytes of the span that it should have next, in whole pages, where so many bytes are left of
    /// the limit; `None` where that would be too small to be worth it.
    pub(crate) fn next_span(&self, room: u64, page: u64) -> Option<u64> {
        let wanted = ((self.free + self.used) / SHARE).clamp(SPAN, LARGEST_SPAN);
        let bytes = wanted.min(room / SHARE) / page * page;
        (bytes >= LEAST_SPAN).then_some(bytes)
    }

    /// Whether so much of it is free that it should go back: a phase of the program is over.
    pub(crate) fn is_mostly_free(&self) -> bool {
        self.free > 3 * self.used + 4 * SPAN
    }

    /// Whether other threads have brought blocks back.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        // The mail itself is under the central lock: this only says that a look is worth it.
        self.has_mail.load(Ordering::Relaxed)
    }

    /// Whether a block is in it. The caller has the piece, and is within the arena's cache.
    #[inline]
    pub(crate) fn owns(&self, header: &BlockHeader) -> bool {
        header.arena() == self.id
    }

    /// A block of whole granules. `None` where it has no room, or no header.
    #[inline]
    pub(crate) fn allocate(&mut self, bytes: u64, slot: Slot) -> Option<NonNull<BlockHeader>> {
        let piece = self.spare.pop()?;
        loop {
            let heap = &mut self.heap;
            match heap.allocate_below(bytes, GRANULE, Part::Used(piece), (), u64::MAX) {
                Ok((block, was)) => {
                    self.used += block.size();
                    self.free -= block.size();
                    // SAFETY: a spare header is the arena's, and stays where it is.
                    let header = unsafe { piece.as_ref() };
                    header.begin(block.offset(), block.size(), slot, Home::Heap(block));
                    header.set_arena(self.id);
                    header.set_fresh(was.is_fresh());
                    return Some(piece);
                }
                Err(AllocateError::NoNodes(_)) => self.lend(),
                Err(_) => {
                    self.spare.push(piece);
                    return None;
                }
            }
        }
    }

    /// Takes a block of its own back, which its stream may use again at once.
    #[inline]
    pub(crate) fn free(&mut self, piece: NonNull<BlockHeader>) {
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        let Home::Heap(block) = header.home() else {
            return;
        };
        header.move_home(Home::Nowhere);
        self.used -= block.size();
        self.free += block.size();
        self.spare.push(piece);
        let freed = self.heap.free(block, Part::Free { fresh: false });
        debug_assert!(freed.is_ok(), "a block was freed twice");
    }

    #[cold]
    fn lend(&mut self) {
        let more = self.heap.blocks().len().max(64);
        let vacant = Node::new(Part::Free { fresh: false });
        self.heap.lend(std::iter::repeat_n(vacant, more));
    }

    /// Adds a block of the central heap, which its stream may use.
    pub(super) fn add_span(&mut self, span: Block, fresh: bool) {
        // First, so that it is not merged with a span that it touches.
        self.heap.hooks_mut().put(span);
        let part = Part::Free { fresh };
        let mut added = self.heap.add_range(span.offset(), span.size(), part);
        if added == Err(RangeError::NoNodes) {
            self.lend();
            added = self.heap.add_range(span.offset(), span.size(), part);
        }
        debug_assert!(added.is_ok(), "the central heap has given a block twice");
        self.free += span.size();
    }

    /// Takes a block out, and the span that it is in: the parts of that on both sides come back by
    /// [`put_span`](Self::put_span).
    pub(super) fn take_out(&mut self, block: Block) -> Option<Block> {
        self.heap.remove(block).ok()?;
        self.used -= block.size();
        self.heap.hooks_mut().take(block.offset())
    }

    /// A part of a span that was taken out.
    pub(super) fn put_span(&mut self, span: Block) {
        self.heap.hooks_mut().put(span);
    }

    /// How many headers it has for blocks to come.
    pub(super) fn spares(&self) -> usize {
        self.spare.len()
    }

    /// Adds a header for a block to come.
    pub(super) fn add_spare(&mut self, header: NonNull<BlockHeader>) {
        self.spare.push(header);
    }

    /// The blocks of the central heap that it is made of, by address.
    pub(crate) fn spans(&self) -> &[Block] {
        &self.heap.hooks().0
    }

    /// Free pieces by address: where each begins, and its bytes.
    pub(crate) fn free_pieces(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let parts = self.parts();
        parts.filter_map(|(at, bytes, part)| {
            matches!(part, Part::Free { .. }).then_some((at, bytes))
        })
    }

    /// All parts of its spans by address: where each begins, its bytes, and what it is.
    pub(super) fn parts(&self) -> impl Iterator<Item = (u64, u64, Part)> + '_ {
        self.heap.blocks().map(|entry| match entry {
            Entry::Used(block, part) => (block.offset(), block.size(), part),
            Entry::Free(_, piece) => (piece.offset, piece.size, piece.data),
        })
    }

    /// The headers that no block has.
    pub(super) fn into_spare(self) -> Vec<NonNull<BlockHeader>> {
        self.spare
    }
}
