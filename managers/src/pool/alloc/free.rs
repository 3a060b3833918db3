//! The way of a free, and the end of pieces that cannot be freed.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::driver::Kind;
use crate::error::Result;
use crate::pool::cache::counters::add;
use crate::pool::cache::magazine::Magazines;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::cache::thread_local;
use crate::pool::heap::arena::Drained;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::inspect::history::Action;
use crate::pool::inspect::history::CallSite;
use crate::pool::inspect::region_hooks::RegionHooks;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::stream::Stream;

impl Pool {
    /// Takes a piece back. Work that uses it must be on `stream`, or before it, by now.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: nothing uses it later than the work that is on
    /// the stream now. With an error nothing has happened, and it is still the caller's.
    #[inline]
    #[track_caller]
    pub(crate) unsafe fn free(piece: NonNull<BlockHeader>, stream: &Stream) -> Result<()> {
        // SAFETY: `free_at` needs the piece, of which the stream has the last work: as this does.
        unsafe { Self::free_at(piece, stream, Some(Location::caller())) }
    }

    /// Takes a piece back, at a source line of the user's, or at none.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: nothing uses it later than the work that is on
    /// the stream now. With an error nothing has happened, and it is still the caller's.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn free_at(
        piece: NonNull<BlockHeader>,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        // SAFETY: the piece is the caller's, so its pool is there.
        let pool = unsafe { &*Self::of(piece.as_ref()) };
        if let Some(region_hooks) = pool.observer.region_hooks() {
            // SAFETY: the piece is the caller's.
            pool.tell_end(region_hooks, unsafe { piece.as_ref() }, stream, site)?;
        }
        if let Some(cache) = thread_local::recent(pool.number, stream.serial()) {
            // SAFETY: the cache is this thread's, and its pool is there.
            let cache = unsafe { &*cache };
            // SAFETY: the piece is the caller's.
            if unsafe { cache.push(piece) } || pool.free_overflow(cache, piece) {
                return Ok(());
            }
        }
        // SAFETY: the piece is the caller's, so its pool is there, in an `Arc`; the count goes up
        // before the piece is given away.
        let pool = unsafe {
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        pool.free_slow(piece, stream, site)
    }

    /// Takes a buffer's piece back, with its lease, in the order of the lease's stream.
    ///
    /// # Safety
    /// As of [`free`](Self::free), on the stream of the lease, to which there is no reference.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn free_buffer(piece: NonNull<BlockHeader>, site: CallSite) -> Result<()> {
        // SAFETY: the piece is the caller's, so its pool is there, and its lease.
        let (pool, home) = unsafe { (&*Self::of(piece.as_ref()), piece.as_ref().lease()) };
        if let Some(region_hooks) = pool.observer.region_hooks() {
            // SAFETY: the piece is the caller's.
            pool.tell_end(region_hooks, unsafe { piece.as_ref() }, home, site)?;
        }
        if let Some(cache) = thread_local::recent(pool.number, home.serial()) {
            // SAFETY: the cache is this thread's, and its pool is there; the piece and its lease
            // are the caller's to give.
            if let Some(surplus) = unsafe { (*cache).push_leased(piece) } {
                // After the cache: the stream may end with it.
                drop(surplus);
                return Ok(());
            }
        }
        // SAFETY: needs the piece with its lease, as this does.
        unsafe { Self::free_buffer_slow(piece, site) }
    }

    /// # Safety
    /// As of [`free_buffer`](Self::free_buffer).
    #[inline(never)]
    #[track_caller]
    unsafe fn free_buffer_slow(piece: NonNull<BlockHeader>, site: CallSite) -> Result<()> {
        // SAFETY: the piece is the caller's, so its pool is there; its lease is taken out once.
        let (pool, home) = unsafe { (&*Self::of(piece.as_ref()), piece.as_ref().take_lease()) };
        if let Some(cache) = thread_local::recent(pool.number, home.serial()) {
            // SAFETY: the cache is this thread's, and its stream is there, which the lease keeps.
            let cache = unsafe { &*cache };
            if pool.free_overflow(cache, piece) {
                // SAFETY: the cache is this thread's, which is not within it.
                drop(unsafe { cache.keep_lease(home) });
                return Ok(());
            }
        }
        // SAFETY: as in `free_at`.
        let pool = unsafe {
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        let freed = pool.free_slow(piece, &home, site);
        if freed.is_err() {
            // SAFETY: nothing has happened: the piece is the caller's, and its lease is out.
            unsafe { piece.as_ref().put_lease(home) };
        }
        freed
    }

    /// Tells a driver that checks programs of a block's end. Apart from the way of a hit without
    /// such a driver.
    ///
    /// # Errors
    /// The error that the free will be refused with: the block is its user's then as before.
    #[cold]
    #[inline(never)]
    fn tell_end(
        &self,
        region_hooks: &RegionHooks,
        header: &BlockHeader,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        if self.core.not_forked().is_ok() {
            if thread_local::recent(self.number, stream.serial()).is_none() {
                drop(self.state_of(stream)?);
            }
            region_hooks.end(header, stream, site);
        }
        Ok(())
    }

    /// Takes a piece back that the cache's magazine has no room for. False when the cache cannot
    /// be had.
    ///
    /// While the owner is inside its cache the pool cannot end, because closing revokes every cache
    /// first. So this needs no count of the pool.
    #[inline(never)]
    pub(crate) fn free_overflow(&self, cache: &ThreadCache, piece: NonNull<BlockHeader>) -> bool {
        // In a fork another thread may have left the central lock taken.
        if self.core.not_forked().is_err() {
            return false;
        }
        // SAFETY: the cache is this thread's, which is not within it.
        unsafe { cache.own(|content| self.free_overflow_inside(cache, content, piece)) }.is_some()
    }

    /// The part of `free_overflow` that runs within the cache.
    pub(crate) fn free_overflow_inside(
        &self,
        cache: &ThreadCache,
        content: &mut Magazines,
        piece: NonNull<BlockHeader>,
    ) {
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        self.forget_name(header);
        cache.counters().note_in(header.end_life(), add);
        cache.counters().note_spill(add);
        let (slot, bytes) = (header.slot(), header.bytes());
        let state = cache.state();
        if let Some(arena) = content.arena_mut()
            && arena.owns(header)
        {
            arena.free(piece);
            if arena.is_mostly_free() {
                let arena = content.take_arena().map(Drained::Arena);
                let give = |arena| self.central.lock().take_back(arena, state.stamp());
                arena.into_iter().for_each(give);
            }
            return;
        }
        if !slot.is_kept() {
            self.central.lock().put(piece, state.stamp());
            return;
        }
        if let Some((batch, size)) = content.spill(slot, bytes) {
            // SAFETY: `spill` gave the batch to this thread, and headers stay where they are.
            let count = u64::from(unsafe { batch.as_ref() }.batch());
            let pushed = if size == bytes {
                state
                    .transfer_cache()
                    .push(slot, size * count, batch, cache.name())
            } else {
                Err(batch)
            };
            if let Err(batch) = pushed {
                self.central.lock().put_all(batch, state.stamp());
            }
        }
        if !content.push(slot, bytes, piece) {
            self.central.lock().put(piece, state.stamp());
        }
    }

    #[inline(never)]
    #[track_caller]
    pub(crate) fn free_slow(
        self: Arc<Self>,
        piece: NonNull<BlockHeader>,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked()?;
        if self.streams.graphs().is_any() && self.hold_for_graph(piece, stream, site) {
            return Ok(());
        }
        let home = self.home_of_captured(stream);
        let stream = home.as_ref().unwrap_or(stream);
        if let Some(cache) = self.cache_of(stream)?
            && (self.free_overflow(&cache, piece)
                || (self.observer.history().is_on() && self.free_recorded(&cache, piece, site)))
        {
            return Ok(());
        }
        let state = self.state_of(stream)?;
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        let bytes = header.bytes();
        self.note_free(header, Action::Free, (state.serial(), state.stamp()), site);
        {
            // A thread that names buffers holds the lock.
            let mut central = self.central.lock();
            self.forget_name(header);
            self.note(None, |counters, put| {
                counters.note_in(header.end_life(), put);
                counters.note_spill(put);
            });
            central.put(piece, state.stamp());
        }
        self.maybe_release_excess(bytes);
        // The last piece: the pool goes with this, after all locks.
        drop(self.orphan.try_reclaim(|| self.is_over()));
        Ok(())
    }

    /// A piece is no longer its user's, and has no owner yet. Within the central lock.
    pub(crate) fn end(&self, header: &BlockHeader) {
        self.forget_name(header);
        self.note(None, |counters, put| {
            counters.note_in(header.end_life(), put);
        });
    }

    /// Takes the name of a buffer out of the table.
    pub(crate) fn forget_name(&self, header: &BlockHeader) {
        if header.is_named() {
            self.table.forget(header.entry());
        }
    }

    /// Gives a piece up that may still be used: no user will bring it back, and its memory stays
    /// where it is for ever.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away.
    pub(crate) unsafe fn abandon(piece: NonNull<BlockHeader>) {
        // SAFETY: the piece is the caller's, so its pool is there; the count goes up before the
        // piece is given away, so that the pool outlives this.
        let pool = unsafe {
            let pool = Self::of(piece.as_ref());
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        // SAFETY: the piece is the caller's.
        let bytes = unsafe { piece.as_ref() }.bytes();
        pool.core.ledger().add(Kind::Abandoned, 1);
        pool.core.ledger().add(Kind::AbandonedBytes, bytes);
        if pool.core.not_forked().is_err() {
            return;
        }
        {
            // SAFETY: the header stays where it is, and the caller gives the piece away.
            let header = unsafe { piece.as_ref() };
            pool.note_free(header, Action::Abandon, (0, Stamp::READY), None);
            let mut central = pool.central.lock();
            pool.end(header);
            central.abandon(header);
        }
        // The last piece: the pool goes with this, after all locks.
        drop(pool.orphan.try_reclaim(|| pool.is_over()));
    }

    /// Whether no piece has a user any more.
    pub(crate) fn is_over(&self) -> bool {
        self.central.lock().outstanding() == 0
    }
}
