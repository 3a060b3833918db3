//! `Magazine`: pieces of one size, and all the magazines of a cache.

use std::ptr::{self, NonNull};

use crate::lists;
use crate::pool::cache::size_class::{CLASSES, MOST_PIECES, SLOTS, Slot, capacity};
use crate::pool::cache::transfer_cache::TransferCache;
use crate::pool::heap::arena::{Arena, Drained};
use crate::pool::heap::block_header::BlockHeader;
use crate::sync::spin_lock::SpinLock;

/// Pieces of one size.
#[derive(Clone, Copy)]
struct Magazine {
    /// The size of its pieces; of a magazine for exact sizes, of those that it has now.
    bytes: u64,
    len: u32,
    pieces: [*const BlockHeader; MOST_PIECES],
}

impl Magazine {
    const EMPTY: Self = Self {
        bytes: 0,
        len: 0,
        pieces: [ptr::null(); MOST_PIECES],
    };

    #[inline]
    fn pop(&mut self, bytes: u64) -> Option<NonNull<BlockHeader>> {
        if self.bytes != bytes || self.len == 0 {
            return None;
        }
        self.len -= 1;
        NonNull::new(self.pieces[self.len as usize].cast_mut())
    }

    /// False when it is full, or has pieces of another size.
    #[inline]
    fn push(&mut self, bytes: u64, piece: NonNull<BlockHeader>) -> bool {
        if self.bytes != bytes {
            if self.len != 0 {
                return false;
            }
            self.bytes = bytes;
        }
        if self.len >= capacity(bytes) {
            return false;
        }
        self.pieces[self.len as usize] = piece.as_ptr();
        self.len += 1;
        true
    }

    /// Takes up to `count` pieces out, chained.
    fn chain(&mut self, count: u32) -> Option<NonNull<BlockHeader>> {
        let count = count.min(self.len);
        let mut first: *const BlockHeader = ptr::null();
        for _ in 0..count {
            self.len -= 1;
            let piece = self.pieces[self.len as usize];
            // SAFETY: a magazine owns its pieces, and their headers stay where they are.
            unsafe { (*piece).set_next(first) };
            first = piece;
        }
        let first = NonNull::new(first.cast_mut())?;
        // SAFETY: the piece is one of the magazine's, and its header stays where it is.
        unsafe { first.as_ref() }.begin_batch(count);
        Some(first)
    }

    /// Puts a batch in, which it has room for.
    fn fill(&mut self, bytes: u64, batch: NonNull<BlockHeader>) {
        self.bytes = bytes;
        let mut next: *const BlockHeader = batch.as_ptr();
        while !next.is_null() && (self.len as usize) < MOST_PIECES {
            self.pieces[self.len as usize] = next;
            self.len += 1;
            // SAFETY: `next` needs the piece in a batch of the caller's: the caller gives this
            // batch away, and the first piece of a batch owns the others.
            next = unsafe { (*next).next() };
        }
    }
}

/// The result of a cache's look into a transfer cache.
pub(crate) enum Batch {
    /// A piece; the others of its batch are in the cache.
    Piece(NonNull<BlockHeader>),
    /// A batch of another size, or that there is no room for. It is the heap's.
    Strange(NonNull<BlockHeader>),
    Nothing,
}

/// Pieces on their way into a magazine.
pub(crate) struct Found {
    pieces: [Option<NonNull<BlockHeader>>; MOST_PIECES],
    len: usize,
}

impl Found {
    pub(crate) const NOTHING: Self = Self {
        pieces: [None; MOST_PIECES],
        len: 0,
    };

    /// One more: no more than a magazine has room for.
    #[inline]
    pub(crate) fn push(&mut self, piece: NonNull<BlockHeader>) {
        self.pieces[self.len] = Some(piece);
        self.len += 1;
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = NonNull<BlockHeader>> + '_ {
        self.pieces.iter().flatten().copied()
    }
}

/// Most bytes of exact sizes that a cache keeps.
const MOST_EXACT: u64 = 16 << 20;

/// The content of a cache. Only the cache's owner, or a thread that holds its revocation, may touch
/// it.
pub(crate) struct Magazines {
    magazines: [Magazine; SLOTS],
    /// Bytes of exact sizes.
    exact: u64,
    /// Most bytes of exact sizes.
    most_exact: u64,
    /// Which magazines for exact sizes may have pieces.
    filled: u64,
    /// A heap of the thread's own.
    arena: Option<Box<Arena>>,
    /// How often the central lock was taken when a block was placed, lately.
    contention: u32,
}

/// What [`Magazines::note_contention`] adds for a lock that was taken; it takes 1 off for one that
/// was not.
const TAKEN: u32 = 4;
/// From here on a thread should have an arena.
const CONTENDED: u32 = 128;

impl Magazines {
    /// Nothing yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            magazines: [Magazine::EMPTY; SLOTS],
            exact: 0,
            most_exact: MOST_EXACT,
            filled: 0,
            arena: None,
            contention: 0,
        }
    }

    /// The thread's own heap, if it has one.
    pub(crate) fn arena(&self) -> Option<&Arena> {
        self.arena.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn arena_mut(&mut self) -> Option<&mut Arena> {
        self.arena.as_deref_mut()
    }

    /// Takes the arena out.
    #[inline]
    pub(crate) fn take_arena(&mut self) -> Option<Box<Arena>> {
        self.arena.take()
    }

    /// Puts an arena in.
    #[inline]
    pub(crate) fn put_arena(&mut self, arena: Box<Arena>) {
        self.arena = Some(arena);
        self.contention = 0;
    }

    /// Notes whether the central lock was taken when a block was placed.
    #[inline]
    pub(crate) fn note_contention(&mut self, was_taken: bool) {
        self.contention = match was_taken {
            true => self.contention + TAKEN,
            false => self.contention.saturating_sub(1),
        };
    }

    /// Whether the central lock was taken so often that the thread should have an arena.
    #[inline]
    pub(crate) fn is_contended(&self) -> bool {
        self.contention >= CONTENDED
    }

    /// Whether other threads wait for the central lock while this one has it.
    #[inline]
    pub(crate) fn meets_others(&self) -> bool {
        self.arena.is_some() || self.is_contended()
    }

    /// The pieces that it keeps.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = *const BlockHeader> {
        let full = |magazine: &Magazine| magazine.len as usize;
        self.magazines
            .iter()
            .flat_map(move |magazine| magazine.pieces.iter().take(full(magazine)).copied())
    }

    /// A piece of this size.
    #[inline]
    pub(crate) fn pop(&mut self, slot: Slot, bytes: u64) -> Option<NonNull<BlockHeader>> {
        let piece = self.magazines.get_mut(slot.number())?.pop(bytes)?;
        if !slot.is_small() {
            self.exact -= bytes;
        }
        Some(piece)
    }

    /// False when there is no room for it.
    #[inline]
    pub(crate) fn push(&mut self, slot: Slot, bytes: u64, piece: NonNull<BlockHeader>) -> bool {
        let Some(magazine) = self.magazines.get_mut(slot.number()) else {
            return false;
        };
        if slot.is_small() {
            return magazine.push(bytes, piece);
        }
        if self.exact + bytes > self.most_exact || !magazine.push(bytes, piece) {
            return false;
        }
        self.exact += bytes;
        self.filled |= slot.bit();
        true
    }

    /// Takes pieces out, to make room for one of this size: all of another size, else half of
    /// the pieces that may be kept. The first of the chain and the size of each.
    pub(crate) fn spill(&mut self, slot: Slot, bytes: u64) -> Option<(NonNull<BlockHeader>, u64)> {
        let magazine = self.magazines.get_mut(slot.number())?;
        let (size, count) = if magazine.bytes == bytes {
            (bytes, (capacity(bytes) / 2).max(1))
        } else {
            (magazine.bytes, magazine.len)
        };
        let count = count.min(magazine.len);
        let batch = magazine.chain(count)?;
        if !slot.is_small() {
            self.exact -= size * u64::from(count);
        }
        Some((batch, size))
    }

    /// Puts a batch of this size in, of which there are none here. False when there is no room.
    pub(crate) fn fill(&mut self, slot: Slot, bytes: u64, batch: NonNull<BlockHeader>) -> bool {
        // SAFETY: the batch is the caller's.
        let more = u64::from(unsafe { batch.as_ref() }.batch()) * bytes;
        let Some(magazine) = self.magazines.get_mut(slot.number()) else {
            return false;
        };
        if magazine.len != 0 || (!slot.is_small() && self.exact + more > self.most_exact) {
            return false;
        }
        magazine.fill(bytes, batch);
        if !slot.is_small() {
            self.filled |= slot.bit();
            self.exact += more;
        }
        true
    }

    /// Takes a batch out of a transfer cache. `note` is called before a thread can miss the batch
    /// there: a thread that has looked through this cache before sees the note, and looks again. A
    /// thread that saw the note before it looked waits for this cache.
    pub(crate) fn take_batch(
        &mut self,
        transfer_cache: &TransferCache,
        (slot, bytes): (Slot, u64),
        note: impl FnMut(),
    ) -> Batch {
        let Some(batch) = transfer_cache.pop(slot, note) else {
            return Batch::Nothing;
        };
        // SAFETY: `pop` gives the batch to this thread alone, and headers stay where they are.
        let fits = unsafe { batch.as_ref() }.bytes() == bytes;
        if fits
            && self.fill(slot, bytes, batch)
            && let Some(piece) = self.pop(slot, bytes)
        {
            return Batch::Piece(piece);
        }
        Batch::Strange(batch)
    }

    /// Takes pieces of this size in that `find` finds in the heap: all but one, which it returns,
    /// and those that there is no room for, which `put` puts back. `note` is called before others
    /// can miss the pieces in the heap.
    pub(crate) fn refill<H>(
        &mut self,
        (slot, bytes): (Slot, u64),
        heap: &SpinLock<H>,
        (find, mut put): (
            impl FnOnce(&mut H, &mut Found),
            impl FnMut(&mut H, NonNull<BlockHeader>),
        ),
        note: impl FnOnce(),
    ) -> Option<NonNull<BlockHeader>> {
        let heap = &mut *heap.lock();
        let mut found = Found::NOTHING;
        find(heap, &mut found);
        if found.len > 1 && !mutant!("magazine_is_refilled_unseen") {
            note();
        }
        let mut pieces = found.all();
        let first = pieces.next();
        for piece in pieces {
            if !self.push(slot, bytes, piece) {
                put(heap, piece);
            }
        }
        first
    }

    /// Keeps no more than so many bytes of exact sizes from now on.
    #[inline]
    pub(crate) fn keep_exact(&mut self, most: u64) {
        self.most_exact = most.min(MOST_EXACT);
    }

    /// Whether it has pieces of exact sizes.
    #[inline]
    pub(crate) fn has_exact(&self) -> bool {
        self.exact != 0
    }

    /// Takes everything of exact sizes out, magazine by magazine.
    #[inline]
    pub(crate) fn drain_exact(&mut self) -> impl Iterator<Item = NonNull<BlockHeader>> + '_ {
        self.exact = 0;
        let mut filled = std::mem::take(&mut self.filled);
        std::iter::from_fn(move || {
            while filled != 0 {
                let at = filled.trailing_zeros() as usize;
                filled &= filled - 1;
                let batch = self.magazines[CLASSES + at].chain(u32::MAX);
                if batch.is_some() {
                    return batch;
                }
            }
            None
        })
    }

    /// Takes everything out, magazine by magazine, and then the arena.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Drained> + '_ {
        (self.exact, self.filled) = (0, 0);
        self.contention = 0;
        let mut magazines = self.magazines.iter_mut();
        let mut arena = self.arena.take();
        std::iter::from_fn(move || {
            for magazine in magazines.by_ref() {
                if let Some(batch) = magazine.chain(u32::MAX) {
                    return Some(Drained::Batch(batch));
                }
            }
            arena.take().map(Drained::Arena)
        })
    }

    /// Bytes that it keeps.
    pub(crate) fn kept(&self) -> u64 {
        let bytes = |magazine: &Magazine| magazine.bytes * u64::from(magazine.len);
        let in_arena = self.arena.as_ref().map_or(0, |arena| arena.free_bytes());
        lists::sum(&self.magazines, bytes) + in_arena
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a thread that meets the lock taken now and then would get memory of its own, which
    // others then lack, or one that waits for the lock all the time would get none.
    #[test]
    fn a_lock_counts_as_contended_where_it_is_often_taken() {
        let mut content = Box::new(Magazines::new());
        for step in 0..10_000 {
            content.note_contention(step % 8 == 0);
        }
        assert!(!content.is_contended());
        for step in 0..1_000 {
            content.note_contention(step % 2 == 0);
        }
        assert!(content.is_contended());
        content.drain().for_each(drop);
        assert!(!content.is_contended());
    }
}
