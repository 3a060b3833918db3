//! Blocks in memory that a thread has for itself, where many threads miss.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::pool::cache::counters::add;
use crate::pool::cache::magazine::Magazines;
use crate::pool::cache::size_class::Slot;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::config::Arenas;
use crate::pool::heap::arena::{Arena, Drained};
use crate::pool::heap::best_fit::GRANULE;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::heap::central::{Central, HeapRequest};
use crate::pool::request::Wait;
use crate::pool::state::Pool;

impl Pool {
    /// A block of the cache's arena, whose owner is inside the cache. `None` where it has none, or no
    /// room, and no span that is mapped is to be had.
    // Apart from the way of threads without an arena, whose code it would make slower.
    #[inline(never)]
    pub(super) fn place_in_arena(
        self: &Arc<Self>,
        content: &mut Magazines,
        want: HeapRequest,
        cache: &ThreadCache,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        if !slot.is_kept() || slot.is_small() {
            return None;
        }
        let mut arena = content.take_arena()?;
        let piece = self.place_within(&mut arena, content, want, cache, slot);
        content.put_arena(arena);
        piece
    }

    fn place_within(
        self: &Arc<Self>,
        arena: &mut Arena,
        content: &mut Magazines,
        want: HeapRequest,
        cache: &ThreadCache,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        if content.has_exact() {
            self.give_exact(arena, content, cache);
        }
        if arena.has_mail() {
            cache.counters().note_move(add);
            self.central.lock().collect(arena, want.stream);
        }
        if let Some(piece) = arena.allocate(want.bytes, slot) {
            return Some(piece);
        }
        let central = &mut *self.central.lock();
        central.add_headers(arena, self.reference());
        if let Some(piece) = arena.allocate(want.bytes, slot) {
            return Some(piece);
        }
        let span = self.span(central, arena, want)?;
        let found = central.ready(span)?;
        // Before others can miss it in the heap.
        cache.counters().note_move(add);
        central.extend_arena(arena, self.reference(), found);
        arena.allocate(want.bytes, slot)
    }

    /// Gives what the cache keeps of exact sizes back to the arena, or to the heap.
    fn give_exact(&self, arena: &mut Arena, content: &mut Magazines, cache: &ThreadCache) {
        let stamp = cache.state().stamp();
        for batch in content.drain_exact() {
            let mut next: *const BlockHeader = batch.as_ptr();
            while let Some(piece) = NonNull::new(next.cast_mut()) {
                // SAFETY: `drain_exact` gives the batch to this thread, and the first piece of a batch
                // owns the others; headers stay where they are.
                let header = unsafe { piece.as_ref() };
                // SAFETY: the piece is ours, and in a batch.
                next = unsafe { header.next() };
                if arena.owns(header) {
                    arena.free(piece);
                } else {
                    self.central.lock().put(piece, stamp);
                }
            }
        }
    }

    /// The span that an arena should have for a request that it has no room for, if it may have
    /// one: not where the limit is near.
    fn span(&self, central: &Central, arena: &Arena, want: HeapRequest) -> Option<HeapRequest> {
        if central.is_tight() || central.rules().has_scanned() {
            return None;
        }
        // What is free on pages of the pool, and what the limits leave of pages.
        let free = self.budget.used().saturating_sub(central.held());
        let room = free + self.available_pages() * self.pages.page();
        let bytes = arena.next_span(room, self.pages.page())?;
        (want.bytes <= bytes).then_some(HeapRequest {
            bytes,
            align: GRANULE,
            stream: want.stream,
        })
    }

    /// A block of the cache's arena, which gets a span more for it, from the driver if there is no
    /// other. `None` where there is no arena, or it may not grow.
    #[track_caller]
    pub(super) fn grow_arena(
        self: &Arc<Self>,
        want: HeapRequest,
        wait: Wait,
        cache: &ThreadCache,
        slot: Slot,
    ) -> Result<Option<NonNull<BlockHeader>>> {
        if !slot.is_kept() || slot.is_small() {
            return Ok(None);
        }
        let span = |content: &mut Magazines| {
            let arena = content.arena()?;
            self.span(&self.central.lock(), arena, want)
        };
        // SAFETY: the cache is this thread's, which is not within it.
        let Some(span) = (unsafe { cache.with(span) }) else {
            return Ok(None);
        };
        let mut piece = None;
        let grown = self.grow(span, wait, |found| {
            let extend = |content: &mut Magazines| {
                let central = &mut *self.central.lock();
                let Some(arena) = content.arena_mut() else {
                    // Drained meanwhile.
                    central.put_back(found);
                    return;
                };
                cache.counters().note_move(add);
                central.extend_arena(arena, self.reference(), found);
                piece = arena.allocate(want.bytes, slot);
            };
            // SAFETY: the cache is this thread's, which is not within it.
            unsafe { cache.with(extend) };
        });
        match grown {
            // A request that may not wait for others has memory that is there without pages.
            Ok(_) | Err(Error::Busy { .. }) => Ok(piece),
            Err(error) => Err(error),
        }
    }

    /// Whether [`open_or_dissolve`](Self::open_or_dissolve) may have something to do.
    #[inline]
    pub(super) fn may_change_arena(&self, central: &Central, content: &Magazines) -> bool {
        content.is_contended() || central.is_tight() || self.config.arenas == Arenas::Always
    }

    /// A thread is about to place a block in the heap, within its cache: it gets an arena for the
    /// next ones where it should have one, and loses the one that it has where a limit is near.
    #[cold]
    pub(super) fn open_or_dissolve(
        &self,
        central: &mut Central,
        content: &mut Magazines,
        cache: &ThreadCache,
        slot: Slot,
    ) {
        if central.is_tight() {
            if let Some(arena) = content.take_arena() {
                central.take_back(Drained::Arena(arena), cache.state().stamp());
            }
        } else if self.wants_arena(content)
            && slot.is_kept()
            && !slot.is_small()
            && let Some(arena) = central.open_arena()
        {
            content.put_arena(arena);
        }
    }

    fn wants_arena(&self, content: &Magazines) -> bool {
        // A graph's memory is small, and its pages stay; a chunk with a span would stay too.
        self.parent.is_none()
            && self.pages.vmm().is_some()
            && content.arena().is_none()
            && match self.config.arenas {
                Arenas::WhereContended => content.is_contended(),
                Arenas::Always => true,
                Arenas::Never => false,
            }
    }
}
