//! The way of an allocation through the layers, down to where driver calls begin.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::Budget;

use crate::error::{Error, Result};
use crate::pool::alloc::slow_path::{Served, SlowRequest};
use crate::pool::cache::counters::{CacheCounters, add};
use crate::pool::cache::magazine::{Batch, Found, Magazines};
use crate::pool::cache::size_class::{Slot, capacity};
use crate::pool::cache::thread_cache::{Leased, ThreadCache};
use crate::pool::cache::thread_local;
use crate::pool::heap::best_fit::{GRANULE, granular};
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::heap::central::{Central, HeapRequest};
use crate::pool::inspect::region_hooks::RegionHooks;
use crate::pool::request::AllocRequest;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;

impl Pool {
    /// A piece of memory that work on `stream` may use from now on. A buffer's has a lease of the
    /// stream.
    #[inline]
    #[track_caller]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        ask: AllocRequest,
        stream: &Stream,
    ) -> Result<NonNull<BlockHeader>> {
        match self.observer.region_hooks() {
            None => self.allocate_untold(ask, stream),
            Some(region_hooks) => self.allocate_told(region_hooks, ask, stream),
        }
    }

    /// Allocates, and tells a driver that checks programs. Apart from the way of a hit without such
    /// a driver.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn allocate_told(
        self: &Arc<Self>,
        region_hooks: &RegionHooks,
        ask: AllocRequest,
        stream: &Stream,
    ) -> Result<NonNull<BlockHeader>> {
        let piece = self.allocate_untold(ask, stream)?;
        // SAFETY: the piece is ours.
        let header = unsafe { piece.as_ref() };
        // A graph's memory has told of its own.
        if header.pool() == self.reference() {
            region_hooks.begin(header, stream, Location::caller());
        }
        Ok(piece)
    }

    #[inline(always)]
    #[track_caller]
    fn allocate_untold(
        self: &Arc<Self>,
        ask: AllocRequest,
        stream: &Stream,
    ) -> Result<NonNull<BlockHeader>> {
        self.core.healthy()?;
        if ask.align <= GRANULE
            && ask.align.is_power_of_two()
            && ask.bytes > 0
            && let Some(cache) = thread_local::recent(self.number, stream.serial())
        {
            // SAFETY: the cache is this thread's, and its pool is there.
            let cache = unsafe { &*cache };
            let slot = Slot::of(ask.bytes);
            let buffer_on = ask.buffer.then_some(stream);
            // No closures: the compiler would make a call of the way that nearly all go.
            let mut found = None;
            if let Some(what) = slot {
                // SAFETY: the cache is this thread's, and the stream's.
                found = unsafe { cache.pop(what, ask.bytes, buffer_on) };
            }
            if found.is_none() {
                let placed = self.allocate_placed(ask, slot, cache);
                found = placed.map(|piece| (piece, Leased::No));
            }
            if let Some((piece, leased)) = found {
                if ask.buffer && leased != Leased::Yes {
                    // SAFETY: the piece is ours, without a lease, and the cache this thread's.
                    unsafe { Self::lease(piece, stream, Some(cache)) };
                }
                // SAFETY: the piece is ours.
                let header = unsafe { piece.as_ref() };
                header.go_live(ask.bytes, ask.name, ask.stream(stream));
                return Ok(piece);
            }
        }
        self.allocate_missed(ask, stream)
    }

    /// Puts a lease of its stream into a buffer's piece: one in stock, else one that is counted for
    /// itself, and some more for later where that pays.
    ///
    /// # Safety
    /// The caller has the piece, in which there is no lease; the cache is this thread's, which is not
    /// within it, and the stream's.
    #[inline(never)]
    unsafe fn lease(piece: NonNull<BlockHeader>, stream: &Stream, cache: Option<&ThreadCache>) {
        // SAFETY: the conditions of this function.
        let leased = cache.map_or(Leased::No, |cache| unsafe { cache.lease(piece, stream) });
        if leased == Leased::Yes {
            return;
        }
        // SAFETY: the piece is the caller's, and has no lease.
        unsafe { piece.as_ref().put_lease(stream.clone()) };
        if leased == Leased::Grow
            && let Some(cache) = cache
        {
            // SAFETY: the conditions of this function; the pool is there, as a piece of it is out.
            unsafe { cache.stock_leases(stream) };
        }
    }

    /// A block of the heap whose pages are all there, within one stay in the cache. `None` for
    /// small sizes, and where the transfer cache has pieces: then the slow way looks there first.
    #[inline(never)]
    fn allocate_placed(
        self: &Arc<Self>,
        ask: AllocRequest,
        slot: Option<(Slot, u64)>,
        cache: &ThreadCache,
    ) -> Option<NonNull<BlockHeader>> {
        let state = cache.state();
        let slot = slot.map_or(Slot::NONE, |(slot, _)| slot);
        if (slot.is_kept() && slot.is_small()) || state.transfer_cache().has_exact() {
            return None;
        }
        if slot.is_kept() {
            state.transfer_cache().note_miss(cache.name());
        }
        let want = HeapRequest {
            bytes: granular(ask.bytes)?,
            align: GRANULE,
            stream: state.index(),
        };
        let work = |content: &mut Magazines| {
            let piece = self.place_in(content, want, cache, slot)?;
            cache.counters().note_out(ask.bytes, ask.buffer, add);
            cache.counters().note_miss(add);
            Some(piece)
        };
        // SAFETY: the cache is this thread's, which is not within it.
        unsafe { cache.own(work) }?
    }

    /// A piece that the magazines do not have.
    #[inline(never)]
    #[track_caller]
    pub(crate) fn allocate_missed(
        self: &Arc<Self>,
        ask: AllocRequest,
        stream: &Stream,
    ) -> Result<NonNull<BlockHeader>> {
        if self.streams.graphs().is_any()
            && let Some((memory, home)) = self.enter_graph(stream)
        {
            let taken = memory.allocate(ask, home.as_ref().unwrap_or(stream));
            // The graph's memory may have been dropped meanwhile: then the thread has put pieces
            // for later into a closed cache, and the memory goes with the last piece.
            if memory.is_closed() {
                memory.drain();
            }
            drop(memory.orphan.end_request(|| memory.is_over()));
            return taken;
        }
        // It takes the mapper's lock, for as long as others have it.
        if ask.wait == Wait::AsConfigured {
            self.maybe_release_excess(ask.bytes);
        }
        let taken = self.allocate_on_miss(ask, stream);
        if self.observer.history().is_on() {
            self.note_allocation(ask, stream, &taken, Some(Location::caller()));
        }
        taken
    }

    #[track_caller]
    fn allocate_on_miss(
        self: &Arc<Self>,
        ask: AllocRequest,
        stream: &Stream,
    ) -> Result<NonNull<BlockHeader>> {
        if !ask.align.is_power_of_two() || ask.align > self.pages.page() {
            let problem = format!(
                "{} is no power of two up to {}, the size of a page",
                ask.align,
                self.pages.page()
            );
            return Err(Error::invalid("align", problem));
        }
        // SAFETY: the cache is this thread's, and its pool is there as long as its handle.
        let known =
            thread_local::recent(self.number, stream.serial()).map(|cache| unsafe { &*cache });
        let (found, alone);
        let (cache, state) = match known {
            Some(cache) => (Some(cache), cache.state()),
            None => {
                self.retire_if_due();
                found = self.cache_of(stream)?;
                match &found {
                    Some(cache) => (Some(&**cache), cache.state()),
                    None => {
                        alone = self.state_of(stream)?;
                        (None, &alone)
                    }
                }
            }
        };
        if let Some(piece) = Self::take_hit(ask, cache) {
            // SAFETY: the piece is ours.
            let header = unsafe { piece.as_ref() };
            if ask.buffer {
                // SAFETY: the piece is ours, without a lease, and the cache this thread's.
                unsafe { Self::lease(piece, stream, cache) };
            }
            header.go_live(ask.bytes, ask.name, ask.stream(stream));
            return Ok(piece);
        }
        let piece = if ask.bytes == 0 {
            self.central.lock().nothing(self.reference())
        } else {
            match Slot::of(ask.bytes).filter(|_| ask.align <= GRANULE) {
                Some((slot, bytes)) => self.take_kept((slot, bytes), cache, state, stream, ask)?,
                None => self.allocate_block(ask, cache, state, stream, Slot::NONE)?,
            }
        };
        // SAFETY: the piece is ours.
        let header = unsafe { piece.as_ref() };
        if ask.buffer {
            // SAFETY: the piece is ours, without a lease, and the cache this thread's.
            unsafe { Self::lease(piece, stream, cache) };
        }
        header.go_live(ask.bytes, ask.name, ask.stream(stream));
        self.note(cache, |counters, put| {
            counters.note_out(ask.bytes, ask.buffer, put);
            counters.note_miss(put);
        });
        Ok(piece)
    }

    /// A hit that comes the slow way: a flag keeps the owner out of its cache.
    fn take_hit(ask: AllocRequest, cache: Option<&ThreadCache>) -> Option<NonNull<BlockHeader>> {
        let cache = cache?;
        if ask.bytes == 0 || ask.align > GRANULE {
            return None;
        }
        let (slot, bytes) = Slot::of(ask.bytes)?;
        // SAFETY: the cache is this thread's, which is not within it.
        unsafe {
            cache.with(|content| {
                let piece = content.pop(slot, bytes)?;
                cache.counters().note_out(ask.bytes, ask.buffer, add);
                cache.counters().note_detour(add);
                Some(piece)
            })
        }
    }

    /// Counts in the cache, else in the figures of blocks that went past all caches.
    pub(crate) fn note(
        &self,
        cache: Option<&ThreadCache>,
        count: impl FnOnce(&CacheCounters, fn(&AtomicU64, u64)),
    ) {
        match cache {
            // SAFETY: the cache is this thread's, which is not within it.
            Some(cache) => unsafe { cache.with(|_| count(cache.counters(), add)) },
            None => count(self.caches.past(), |counter, more| {
                counter.fetch_add(more, Ordering::Relaxed);
            }),
        }
    }

    /// A piece of a size that magazines keep: from the transfer cache, the slabs or the heap, and
    /// some more of them for the magazine.
    #[track_caller]
    fn take_kept(
        self: &Arc<Self>,
        (slot, bytes): (Slot, u64),
        cache: Option<&ThreadCache>,
        state: &Arc<StreamState>,
        stream: &Stream,
        ask: AllocRequest,
    ) -> Result<NonNull<BlockHeader>> {
        if let Some(cache) = cache {
            // A look first: without a batch there is no reason to enter the cache.
            let found = state.transfer_cache().has(slot).then(|| {
                let take = |content: &mut Magazines| self.take_batch(content, (slot, bytes), cache);
                // SAFETY: the cache is this thread's, which is not within it.
                unsafe { cache.with(take) }
            });
            match found {
                Some(Batch::Piece(piece)) => return Ok(piece),
                Some(Batch::Strange(_)) => {}
                Some(Batch::Nothing) | None if slot.is_small() => {}
                Some(Batch::Nothing) | None => state.transfer_cache().note_miss(cache.name()),
            }
        }
        if !slot.is_small() {
            return self.allocate_block(ask, cache, state, stream, slot);
        }
        if let Some(piece) = self.take_slots((slot, bytes), cache, state, false) {
            return Ok(piece);
        }
        if self.central.lock().is_crowded() {
            return self.allocate_block(ask, cache, state, stream, slot);
        }
        // A new slab, if the limit has room for it; else a block of its own from wherever one
        // can be found.
        let slab = HeapRequest {
            bytes: Central::slab_bytes(bytes),
            align: GRANULE,
            stream: state.index(),
        };
        let grown = self.grow(slab, ask.wait, |found| {
            let from = (state.index(), state.stamp());
            let central = &mut *self.central.lock();
            central.add_slab(self.reference(), found, (slot, bytes), from);
        });
        let grown = match grown {
            // A request that may not wait for others has memory that is there without pages.
            Err(Error::Busy { .. }) => false,
            grown => grown?,
        };
        if grown {
            // Others may have looked for its slots already.
            self.note(cache, |counters, put| counters.note_move(put));
        }
        if let Some(piece) = self.take_slots((slot, bytes), cache, state, true) {
            return Ok(piece);
        }
        self.allocate_block(ask, cache, state, stream, slot)
    }

    /// A batch of the cache's transfer cache, within the cache; one that the cache cannot have is
    /// the heap's after this.
    fn take_batch(&self, content: &mut Magazines, what: (Slot, u64), cache: &ThreadCache) -> Batch {
        let state = cache.state();
        let note = || cache.counters().note_move(add);
        let batch = if cache.may_keep() {
            content.take_batch(state.transfer_cache(), what, note)
        } else {
            let batch = state.transfer_cache().pop(what.0, note);
            batch.map_or(Batch::Nothing, Batch::Strange)
        };
        if let Batch::Strange(batch) = batch {
            self.central.lock().put_all(batch, state.stamp());
        }
        batch
    }

    /// A slot of the slabs, and some more for the magazine: within the cache, so that a thread that
    /// looks for memory waits until they are there.
    fn take_slots(
        self: &Arc<Self>,
        what: (Slot, u64),
        cache: Option<&ThreadCache>,
        state: &StreamState,
        others: bool,
    ) -> Option<NonNull<BlockHeader>> {
        let find = |central: &mut Central, found: &mut Found, want| {
            self.find_slots(central, (what, want), state, others, found);
        };
        let Some(cache) = cache else {
            let mut found = Found::NOTHING;
            find(&mut self.central.lock(), &mut found, 1);
            return found.all().next();
        };
        let refill = |content: &mut Magazines| {
            let want = match cache.may_keep() {
                true => capacity(what.1) / 2,
                false => 1,
            };
            let find = |central: &mut Central, found: &mut Found| find(central, found, want);
            let put = |central: &mut Central, piece| central.put(piece, state.stamp());
            let note = || cache.counters().note_move(add);
            content.refill(what, &self.central, (find, put), note)
        };
        // SAFETY: the cache is this thread's, which is not within it.
        unsafe { cache.with(refill) }
    }

    /// Up to so many slots of the slabs.
    fn find_slots(
        self: &Arc<Self>,
        central: &mut Central,
        ((slot, bytes), want): ((Slot, u64), u32),
        state: &StreamState,
        others: bool,
        found: &mut Found,
    ) {
        let mut give = |piece| found.push(piece);
        let mut taken = central.take_slots(slot, state.index(), want, &mut give);
        if taken == 0 && central.is_crowded() {
            // A slab would keep a whole stretch for one size.
            let block = HeapRequest {
                bytes,
                align: GRANULE,
                stream: state.index(),
            };
            let piece = central.wrap_ready(self.reference(), block, slot);
            taken = u32::from(piece.map(&mut give).is_some());
        } else if taken == 0 {
            // A slab of memory that is mapped already.
            let slab = HeapRequest {
                bytes: Central::slab_bytes(bytes),
                align: GRANULE,
                stream: state.index(),
            };
            if let Some(from) = central.ready(slab) {
                let now = state.stamp();
                let what = (slot, bytes);
                central.add_slab(self.reference(), from, what, (state.index(), now));
                taken = central.take_slots(slot, state.index(), want, &mut give);
            } else if others {
                taken = central.take_slots_of_others(slot, state.index(), 1, &mut give);
            }
        }
        debug_assert!(taken <= want);
    }

    /// A block of the heap, by the slow path where that is needed.
    #[track_caller]
    fn allocate_block(
        self: &Arc<Self>,
        ask: AllocRequest,
        cache: Option<&ThreadCache>,
        state: &Arc<StreamState>,
        stream: &Stream,
        slot: Slot,
    ) -> Result<NonNull<BlockHeader>> {
        let bytes = match granular(ask.bytes) {
            Some(bytes) if bytes <= Budget::MAX_LIMIT => bytes,
            // No other pool or user could make room for it.
            _ => return Err(self.counted(self.refuse(ask.bytes))),
        };
        let want = HeapRequest {
            bytes,
            align: ask.align,
            stream: state.index(),
        };
        self.poll_if_scanned()?;
        if let Some(piece) = self.place(want, cache, state, slot) {
            return Ok(piece);
        }
        if let Some(cache) = cache
            && let Some(piece) = self.grow_arena(want, ask.wait, cache, slot)?
        {
            return Ok(piece);
        }
        let request = SlowRequest {
            want,
            requested: ask.bytes,
            slot,
            state,
            stream,
            wait: ask.wait,
            drains: true,
        };
        match self.allocate_slow(request)? {
            Served::Block(found) => {
                let mut central = self.central.lock();
                Ok(central.wrap(self.reference(), found, slot))
            }
            Served::Slot(piece) => Ok(piece),
        }
    }

    /// A block of memory that is mapped. The cache's pieces of exact sizes go back before: the heap
    /// places best when it sees all free pieces, and while magazines hit there is nothing to place.
    fn place(
        self: &Arc<Self>,
        want: HeapRequest,
        cache: Option<&ThreadCache>,
        state: &StreamState,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        let give = |central: &mut Central, batch| central.put_all(batch, state.stamp());
        state.transfer_cache().give_exact(&self.central, give);
        match cache {
            // SAFETY: the cache is this thread's, which is not within it.
            Some(cache) => unsafe {
                cache.with(|content| self.place_in(content, want, cache, slot))
            },
            None => {
                let mut central = self.central.lock();
                central.wrap_ready(self.reference(), want, slot)
            }
        }
    }

    /// The part of `place` that runs within the cache.
    #[inline]
    fn place_in(
        self: &Arc<Self>,
        content: &mut Magazines,
        want: HeapRequest,
        cache: &ThreadCache,
        slot: Slot,
    ) -> Option<NonNull<BlockHeader>> {
        if content.arena().is_some()
            && let Some(piece) = self.place_in_arena(content, want, cache, slot)
        {
            return Some(piece);
        }
        let (mut central, was_taken) = self.central.lock_contended();
        let central = &mut *central;
        content.note_contention(was_taken);
        if central.rules().has_scanned() {
            return None;
        }
        content.keep_exact(central.most_exact(want.bytes));
        if central.wants_room(want.bytes) {
            empty(content, central, cache);
        } else if content.has_exact() {
            let stamp = cache.state().stamp();
            let batches = content.drain_exact();
            batches.for_each(|batch| central.put_all(batch, stamp));
        }
        if self.may_change_arena(central, content) {
            self.open_or_dissolve(central, content, cache, slot);
        }
        if content.meets_others() {
            return central.wrap_quickly(self.reference(), want, slot);
        }
        central.wrap_ready(self.reference(), want, slot)
    }
}

/// Gives all that a cache keeps back to the heap.
#[cold]
fn empty(content: &mut Magazines, central: &mut Central, cache: &ThreadCache) {
    let stamp = cache.state().stamp();
    content
        .drain()
        .for_each(|drained| central.take_back(drained, stamp));
}
