//! The central heap's side of [`Arena`]s: spans go out, blocks that other threads free come back by
//! mail, and an arena that is dissolved becomes part of the heap.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_core::tlsf::Block;

use super::Central;
use crate::pool::cache::size_class::Slot;
use crate::pool::heap::arena::{Arena, ArenaId, Part};
use crate::pool::heap::block_header::{BlockHeader, Home, PoolRef};
use crate::pool::streams::free_stamp::{Stamp, StreamIndex};

/// Headers that an arena gets at a time.
const HEADERS: usize = 64;

/// The blocks of arenas that other threads have brought back, by the number of the arena.
#[derive(Default)]
pub(super) struct Mailboxes {
    boxes: Vec<Option<Mailbox>>,
}

#[derive(Default)]
struct Mailbox {
    mail: Vec<(NonNull<BlockHeader>, Stamp)>,
    /// Whether there is any, for the arena's thread.
    has_mail: Arc<AtomicBool>,
}

// SAFETY: the owner of the boxes owns the pieces in them, whichever thread that is.
unsafe impl Send for Mailboxes {}

impl Mailboxes {
    /// A box for one more arena, unless there are as many as numbers.
    fn open(&mut self) -> Option<Arena> {
        // 0 is no arena.
        let at = match self.boxes.iter().skip(1).position(Option::is_none) {
            Some(at) => at + 1,
            None => self.boxes.len().max(1),
        };
        let id = ArenaId::try_from(at).ok()?;
        if self.boxes.len() <= at {
            self.boxes.resize_with(at + 1, || None);
        }
        let mailbox = self.boxes[at].insert(Mailbox::default());
        Some(Arena::new(id, &mailbox.has_mail))
    }

    fn of(&mut self, id: ArenaId) -> Option<&mut Mailbox> {
        self.boxes.get_mut(usize::from(id))?.as_mut()
    }

    /// A block of an arena comes back, which was used until `stamp`. False where there is no such
    /// arena.
    fn put(&mut self, header: &BlockHeader, piece: NonNull<BlockHeader>, stamp: Stamp) -> bool {
        let Some(mailbox) = self.of(header.arena()) else {
            return false;
        };
        mailbox.mail.push((piece, stamp));
        mailbox.has_mail.store(true, Ordering::Relaxed);
        true
    }

    /// Takes everything for an arena out.
    fn take(&mut self, id: ArenaId) -> Vec<(NonNull<BlockHeader>, Stamp)> {
        let Some(mailbox) = self.of(id) else {
            return Vec::new();
        };
        mailbox.has_mail.store(false, Ordering::Relaxed);
        std::mem::take(&mut mailbox.mail)
    }
}

impl Central {
    /// An arena without memory, for a thread's cache; `None` where there are as many as there can
    /// be.
    pub(crate) fn open_arena(&mut self) -> Option<Box<Arena>> {
        self.mailboxes.open().map(Box::new)
    }

    /// How many arenas there are.
    pub(crate) fn arenas(&self) -> u64 {
        self.mailboxes.boxes.iter().flatten().count() as u64
    }

    /// Bytes of blocks that other threads have brought back to their arenas: those that no work which
    /// runs uses, and the others.
    pub(crate) fn mail_bytes(&self) -> (u64, u64) {
        let rules = self.heap.rules();
        let boxes = self.mailboxes.boxes.iter().flatten();
        let mut bytes = (0, 0);
        for (piece, stamp) in boxes.flat_map(|mailbox| &mailbox.mail) {
            // SAFETY: the pieces are ours until they are put back.
            let more = unsafe { piece.as_ref() }.bytes();
            match rules.is_done(*stamp) {
                true => bytes.0 += more,
                false => bytes.1 += more,
            }
        }
        bytes
    }

    /// Makes a block that was just taken a span of an arena.
    pub(crate) fn extend_arena(
        &mut self,
        arena: &mut Arena,
        pool: PoolRef,
        (block, was): (Block, Stamp),
    ) {
        arena.add_span(block, self.heap.rules().is_done(was));
        self.add_headers(arena, pool);
    }

    /// Sees to it that an arena has headers for blocks to come.
    pub(crate) fn add_headers(&mut self, arena: &mut Arena, pool: PoolRef) {
        while arena.spares() < HEADERS {
            let header = self.headers.take(pool);
            // SAFETY: headers stay where they are, and `take` gave this one to this thread alone.
            unsafe { header.as_ref() }.begin(0, 0, Slot::NONE, Home::Nowhere);
            arena.add_spare(header);
        }
    }

    /// A block of an arena comes back. False where it is of none.
    #[inline]
    pub(super) fn put_in_arena(&mut self, piece: NonNull<BlockHeader>, stamp: Stamp) -> bool {
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        header.arena() != 0 && self.mailboxes.put(header, piece, stamp)
    }

    /// Puts the blocks into an arena that others have brought back, and that its stream may use. The
    /// others leave the arena, and go to the heap.
    pub(crate) fn collect(&mut self, arena: &mut Arena, stream: StreamIndex) {
        for (piece, stamp) in self.mailboxes.take(arena.id()) {
            let is_usable = stamp.stream() == stream || self.heap.rules().is_done(stamp);
            if is_usable || mutant!("arena_takes_what_others_use") {
                arena.free(piece);
            } else {
                self.take_out(arena, piece);
                self.put(piece, stamp);
            }
        }
    }

    /// Makes a block of an arena one of the heap, where it is.
    fn take_out(&mut self, arena: &mut Arena, piece: NonNull<BlockHeader>) {
        // SAFETY: the piece is the caller's, and its header stays where it is.
        let header = unsafe { piece.as_ref() };
        let Home::Heap(block) = header.home() else {
            return;
        };
        let Some(mut own) = arena.take_out(block) else {
            return;
        };
        if block.offset() > own.offset() {
            let (left, right) = self.heap.split(own, block.offset() - own.offset());
            arena.put_span(left);
            own = right.unwrap_or(left);
        }
        let (own, right) = self.heap.split(own, block.size());
        right.into_iter().for_each(|right| arena.put_span(right));
        header.move_home(Home::Heap(own));
    }

    /// Makes all blocks of an arena blocks of the heap, where they are, and frees the rest there,
    /// which its stream has used until `stamp`.
    ///
    /// The caller holds the arena's cache, so that no thread asks whose its blocks are.
    pub(crate) fn dissolve(&mut self, mut arena: Box<Arena>, stamp: Stamp) {
        self.collect(&mut arena, stamp.stream());
        self.heap.rules_mut().note_last(stamp);
        let mut spans = arena.spans().iter().copied();
        let mut rest = None;
        for (_, bytes, part) in arena.parts() {
            // Parts and spans are in the same order, and each span is made of its parts.
            let Some(span) = rest.take().or_else(|| spans.next()) else {
                break;
            };
            let (block, right) = self.heap.split(span, bytes);
            rest = right;
            match part {
                // SAFETY: headers stay where they are; a user of the piece does not look at its home,
                // and other threads do under the lock that this one has.
                Part::Used(piece) => unsafe { piece.as_ref() }.move_home(Home::Heap(block)),
                Part::Free { fresh } if fresh || mutant!("arena_leaves_all_ready") => {
                    self.heap.free(block, Stamp::READY);
                }
                Part::Free { .. } => self.heap.free(block, stamp),
            }
        }
        self.mailboxes.boxes[usize::from(arena.id())] = None;
        for header in arena.into_spare() {
            self.headers.put(header);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
