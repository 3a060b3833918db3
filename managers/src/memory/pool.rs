//! `Pool`: what a [`MemoryPool`](super::MemoryPool) and its blocks share, and the way of a
//! request through the layers.
//!
//! ```text
//! magazine of this thread and stream      no lock, no driver call
//! depot of the stream                     one exchange for a batch
//! slabs and heap                          one short lock
//! mapper                                  driver calls, budget, ladder
//! ```

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cupola_core::Budget;

use super::barrier::Barrier;
use super::central::{Central, Want};
use super::classes::{MOST_PIECES, Slot, capacity};
use super::config::{PoolConfig, Source};
use super::control::Callback;
use super::graph::Graphs;
use super::header::Header;
use super::heap::{GRANULE, granular};
use super::history::{Action, History};
use super::keep::Keep;
use super::lane::{Content, Flow, Lane, RECORDED, ROUTED, add};
use super::line::Line;
use super::local;
use super::mapper::Mapper;
use super::names::Name;
use super::pages::LEAST_PAGE;
use super::record::CallSite;
use super::short::Short;
use super::stamp::{Stamp, StreamIndex};
use super::vmm::{Calls, Vmm};
use crate::buffer::BufferTable;
use crate::context::{ContextCore, Holds, Kind};
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) bytes: u64,
    /// A power of two.
    pub(crate) align: u64,
    pub(crate) name: Name,
    /// Whether it is for a buffer.
    pub(crate) buffer: bool,
}

impl Ask {
    /// What a header keeps of the stream.
    #[inline]
    fn stream(self, stream: &Stream) -> (u64, bool) {
        let stream = if self.buffer {
            stream.handle().to_bits()
        } else {
            stream.serial()
        };
        (stream, self.buffer)
    }
}

/// What happened off the hit path.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Requests that the limit refused.
    pub(super) refused: AtomicU64,
    /// Requests that the device refused.
    pub(super) exhausted: AtomicU64,
    pub(super) trims: AtomicU64,
    /// Requests that had to map pages.
    pub(super) grown: AtomicU64,
    /// Pages that were unmapped to be used elsewhere.
    pub(super) remapped: AtomicU64,
    /// Times that all lanes were seized.
    pub(super) drains: AtomicU64,
    /// Times that a request waited on the host.
    pub(super) host_waits: AtomicU64,
    /// Times that a request's stream was made to wait for another.
    pub(super) device_waits: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub(crate) struct Pool {
    /// No other pool of the process has it.
    pub(super) number: u64,
    pub(super) core: Arc<ContextCore>,
    /// `None`: chunks.
    pub(super) vmm: Option<Vmm>,
    pub(super) page: u64,
    pub(super) budget: Arc<Budget>,
    /// Of a graph's memory: the pool that it shares the limit with.
    pub(super) parent: Option<Arc<Self>>,
    pub(super) graphs: Graphs,
    pub(super) config: PoolConfig,
    pub(super) central: Short<Central>,
    pub(super) mapper: Mutex<Mapper>,
    pub(super) lines: Mutex<Vec<Option<Arc<Line>>>>,
    pub(super) lanes: Mutex<Vec<Arc<Lane>>>,
    /// What went through lanes that are gone, and past all lanes.
    pub(super) past: Flow,
    pub(super) counters: Counters,
    pub(super) calls: Arc<Calls>,
    pub(super) history: Arc<History>,
    pub(super) table: Arc<BufferTable>,
    barrier: Barrier,
    pub(super) callback: Mutex<Option<Callback>>,
    /// Closed under the lock of the lanes.
    keep: Keep<Arc<Self>>,
}

// SAFETY: headers are touched by their owners only, and the lock of the central heap hands them
// from thread to thread; the rest is Send and Sync.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// A lock whose holders leave what they guard whole at every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    #[track_caller]
    pub(super) fn new(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
    ) -> Result<Arc<Self>> {
        let budget = Arc::new(Budget::new(config.limit));
        let pool = Self::build(core, table, config, budget, None)?;
        if let Some(shared) = &pool.config.within {
            shared.enter(&pool);
        }
        Ok(pool)
    }

    /// A pool that shares another's limit, and gives nothing up before its end.
    #[track_caller]
    pub(super) fn within(parent: &Arc<Self>) -> Result<Arc<Self>> {
        let config = PoolConfig {
            history: 0,
            ..parent.config.clone()
        };
        let budget = Arc::clone(&parent.budget);
        let above = Some(Arc::clone(parent));
        Self::build(&parent.core, &parent.table, config, budget, above)
    }

    #[track_caller]
    fn build(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
        budget: Arc<Budget>,
        parent: Option<Arc<Self>>,
    ) -> Result<Arc<Self>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        core.healthy()?;
        let calls = Arc::new(Calls::default());
        let history = Arc::new(History::new(config.history));
        let vmm = match config.source {
            Source::Best => Vmm::new(core, &calls, &history)?,
            Source::Chunks => None,
        };
        let pool = Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            core: Arc::clone(core),
            page: vmm.as_ref().map_or(LEAST_PAGE, Vmm::page),
            vmm,
            budget,
            parent,
            graphs: Graphs::default(),
            config,
            central: Short::new(Central::new()),
            mapper: Mutex::default(),
            lines: Mutex::default(),
            lanes: Mutex::default(),
            past: Flow::default(),
            counters: Counters::default(),
            calls,
            history,
            table: Arc::clone(table),
            barrier: Barrier::of_process(),
            callback: Mutex::new(None),
            keep: Keep::new(),
        });
        core.ledger().add(Kind::Pool, 1);
        let holds: Weak<dyn Holds> = Arc::<Self>::downgrade(&pool) as Weak<dyn Holds>;
        core.ledger().watch(holds);
        table.enter(&pool);
        Ok(pool)
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    pub(crate) fn table(&self) -> &BufferTable {
        &self.table
    }

    /// A piece of memory that work on `stream` may use from now on.
    #[inline]
    #[track_caller]
    pub(crate) fn take(self: &Arc<Self>, ask: Ask, stream: &Stream) -> Result<NonNull<Header>> {
        self.core.healthy()?;
        if ask.align <= GRANULE
            && ask.align.is_power_of_two()
            && ask.bytes > 0
            && let Some(lane) = local::lately(self.number, stream.serial())
        {
            // SAFETY: the lane is this thread's, and its pool is there.
            let lane = unsafe { &*lane };
            let slot = Slot::of(ask.bytes);
            // SAFETY: the lane is this thread's.
            let pop = |(slot, bytes)| unsafe { lane.pop(slot, bytes, (ask.bytes, ask.buffer)) };
            let found = slot.and_then(pop);
            if let Some(piece) = found.or_else(|| self.take_placed(ask, slot, lane)) {
                // SAFETY: the piece is ours.
                let header = unsafe { piece.as_ref() };
                header.go_live(ask.bytes, ask.name, ask.stream(stream));
                return Ok(piece);
            }
        }
        self.take_slow(ask, stream)
    }

    /// A block of the heap whose pages are all there, within one stay in the lane. Of small
    /// sizes, and where others have left something for this stream, the slow way knows more.
    #[inline(never)]
    fn take_placed(
        self: &Arc<Self>,
        ask: Ask,
        slot: Option<(Slot, u64)>,
        lane: &Lane,
    ) -> Option<NonNull<Header>> {
        let line = &lane.line;
        let slot = slot.map_or(Slot::NONE, |(slot, _)| slot);
        if (slot.is_kept() && slot.is_small()) || line.depot.has_exact() {
            return None;
        }
        let want = Want {
            bytes: granular(ask.bytes)?,
            align: GRANULE,
            stream: line.index,
        };
        let work = |content: &mut Content| {
            let piece = self.place_in(content, want, line, slot)?;
            lane.flow.note_out(ask.bytes, ask.buffer, add);
            add(&lane.flow.misses, 1);
            Some(piece)
        };
        // SAFETY: the lane is this thread's, which is not within it.
        unsafe { lane.own(work) }?
    }

    /// What the magazines do not have.
    #[inline(never)]
    #[track_caller]
    fn take_slow(self: &Arc<Self>, ask: Ask, stream: &Stream) -> Result<NonNull<Header>> {
        if self.graphs.is_any()
            && let Some(memory) = self.graphs.memory_of(stream.serial())
        {
            return memory.take(ask, stream);
        }
        let taken = self.take_missed(ask, stream);
        if self.history.is_on() {
            self.note_taken(ask, stream, &taken, Some(Location::caller()));
        }
        taken
    }

    #[track_caller]
    fn take_missed(self: &Arc<Self>, ask: Ask, stream: &Stream) -> Result<NonNull<Header>> {
        if !ask.align.is_power_of_two() || ask.align > self.page {
            let problem = format!(
                "{} is no power of two up to {}, the size of a page",
                ask.align, self.page
            );
            return Err(Error::invalid("align", problem));
        }
        // SAFETY: the lane is this thread's, and its pool is there as long as its handle.
        let known = local::lately(self.number, stream.serial()).map(|lane| unsafe { &*lane });
        let (found, alone);
        let (lane, line) = match known {
            Some(lane) => (Some(lane), &lane.line),
            None => {
                found = self.lane_of(stream)?;
                match &found {
                    Some(lane) => (Some(&**lane), &lane.line),
                    None => {
                        alone = self.line(stream)?;
                        (None, &alone)
                    }
                }
            }
        };
        if let Some(piece) = self.take_hit(ask, lane) {
            // SAFETY: the piece is ours.
            let header = unsafe { piece.as_ref() };
            header.go_live(ask.bytes, ask.name, ask.stream(stream));
            return Ok(piece);
        }
        let piece = if ask.bytes == 0 {
            self.central.lock().nothing(Arc::as_ptr(self))
        } else {
            match Slot::of(ask.bytes).filter(|_| ask.align <= GRANULE) {
                Some((slot, bytes)) => self.take_kept((slot, bytes), lane, line, stream, ask)?,
                None => self.take_block(ask, lane, line, stream, Slot::NONE)?,
            }
        };
        // SAFETY: the piece is ours.
        let header = unsafe { piece.as_ref() };
        header.go_live(ask.bytes, ask.name, ask.stream(stream));
        self.note(lane, |flow, put| {
            flow.note_out(ask.bytes, ask.buffer, put);
            put(&flow.misses, 1);
        });
        Ok(piece)
    }

    /// Counts in the lane, else in what went past all lanes.
    fn note(&self, lane: Option<&Lane>, count: impl FnOnce(&Flow, fn(&AtomicU64, u64))) {
        match lane {
            // SAFETY: the lane is this thread's, which is not within it.
            Some(lane) => unsafe { lane.with(|_| count(&lane.flow, add)) },
            None => count(&self.past, |counter, more| {
                counter.fetch_add(more, Ordering::Relaxed);
            }),
        }
    }

    /// A piece of a size that magazines keep: from the depot, the slabs or the heap, and some
    /// more of them for the magazine.
    #[track_caller]
    fn take_kept(
        self: &Arc<Self>,
        (slot, bytes): (Slot, u64),
        lane: Option<&Lane>,
        line: &Arc<Line>,
        stream: &Stream,
        ask: Ask,
    ) -> Result<NonNull<Header>> {
        // A thread with more streams than its table remembers comes here for a hit.
        // SAFETY: the lane is this thread's, which is not within it.
        let kept = lane.and_then(|lane| unsafe { lane.with(|content| content.pop(slot, bytes)) });
        if let Some(piece) = kept {
            return Ok(piece);
        }
        if let Some(lane) = lane
            && let Some(batch) = line.depot.pop(slot)
        {
            // SAFETY: whoever takes a batch out owns it.
            let fits = unsafe { batch.as_ref() }.bytes() == bytes;
            // SAFETY: the lane is this thread's, which is not within it.
            let found = fits.then(|| unsafe {
                lane.with(|content| {
                    content
                        .fill(slot, bytes, batch)
                        .then(|| content.pop(slot, bytes))
                })
            });
            match found.flatten() {
                Some(Some(piece)) => return Ok(piece),
                Some(None) => {}
                // Another size, or the lane has been filled meanwhile.
                None => self.central.lock().put_all(batch, line.stamp()),
            }
        }
        if !slot.is_small() {
            return self.take_block(ask, lane, line, stream, slot);
        }
        if let Some(piece) = self.take_slots((slot, bytes), lane, line, false) {
            return Ok(piece);
        }
        // A new slab, if the limit has room for it; else a block of its own from whatever can
        // be found.
        let slab = Want {
            bytes: Central::slab_bytes(bytes),
            align: GRANULE,
            stream: line.index,
        };
        if let Some((block, was)) = self.grow(slab, line, stream)? {
            let now = line.stamp();
            let what = (slot, bytes);
            self.central
                .lock()
                .add_slab(Arc::as_ptr(self), (block, was), what, (line.index, now));
        }
        if let Some(piece) = self.take_slots((slot, bytes), lane, line, true) {
            return Ok(piece);
        }
        self.take_block(ask, lane, line, stream, Slot::NONE)
    }

    /// A slot of the slabs, and some more for the magazine.
    fn take_slots(
        self: &Arc<Self>,
        (slot, bytes): (Slot, u64),
        lane: Option<&Lane>,
        line: &Line,
        others: bool,
    ) -> Option<NonNull<Header>> {
        let want = if lane.is_some() {
            capacity(bytes) / 2
        } else {
            1
        };
        let mut found = [None; MOST_PIECES];
        let mut count = 0;
        let mut give = |piece| {
            found[count] = Some(piece);
            count += 1;
        };
        {
            let central = &mut *self.central.lock();
            let (slabs, heap) = (&mut central.slabs, &mut central.heap);
            let mut taken = slabs.take(heap, slot, line.index, want, &mut give);
            if taken == 0 {
                // A slab of memory that is mapped already.
                let slab = Want {
                    bytes: Central::slab_bytes(bytes),
                    align: GRANULE,
                    stream: line.index,
                };
                if let Some(from) = central.ready(slab) {
                    let now = line.stamp();
                    let what = (slot, bytes);
                    central.add_slab(Arc::as_ptr(self), from, what, (line.index, now));
                    let (slabs, heap) = (&mut central.slabs, &central.heap);
                    taken = slabs.take(heap, slot, line.index, want, &mut give);
                } else if others {
                    let (slabs, heap) = (&mut central.slabs, &central.heap);
                    taken = slabs.take_from_others(heap, slot, line.index, 1, &mut give);
                }
            }
            debug_assert!(taken <= want);
        }
        let mut found = found.into_iter().flatten();
        let first = found.next()?;
        if let Some(lane) = lane {
            // SAFETY: the lane is this thread's, which is not within it.
            let left = unsafe {
                lane.with(|content| {
                    found
                        .filter(|&piece| !content.push(slot, bytes, piece))
                        .collect::<Vec<_>>()
                })
            };
            if !left.is_empty() {
                let stamp = line.stamp();
                let mut central = self.central.lock();
                left.into_iter().for_each(|piece| central.put(piece, stamp));
            }
        }
        Some(first)
    }

    /// A block of the heap, by whatever it takes.
    #[track_caller]
    fn take_block(
        self: &Arc<Self>,
        ask: Ask,
        lane: Option<&Lane>,
        line: &Arc<Line>,
        stream: &Stream,
        slot: Slot,
    ) -> Result<NonNull<Header>> {
        let bytes = match granular(ask.bytes) {
            Some(bytes) if bytes <= Budget::MAX_LIMIT => bytes,
            _ => return Err(self.refuse(ask.bytes)),
        };
        let want = Want {
            bytes,
            align: ask.align,
            stream: line.index,
        };
        if let Some(piece) = self.place(want, lane, line, slot) {
            return Ok(piece);
        }
        let (block, _) = self.climb(want, ask.bytes, line, stream)?;
        Ok(self.central.lock().wrap(Arc::as_ptr(self), block, slot))
    }

    /// A block of memory that is mapped. What the lane keeps of exact sizes goes back before:
    /// the heap places best when it sees all that is free, and while magazines hit there is
    /// nothing to place.
    fn place(
        self: &Arc<Self>,
        want: Want,
        lane: Option<&Lane>,
        line: &Line,
        slot: Slot,
    ) -> Option<NonNull<Header>> {
        for batch in line.depot.drain_exact() {
            self.central.lock().put_all(batch, line.stamp());
        }
        match lane {
            // SAFETY: the lane is this thread's, which is not within it.
            Some(lane) => unsafe { lane.with(|content| self.place_in(content, want, line, slot)) },
            None => {
                let mut central = self.central.lock();
                let (block, _) = central.ready(want)?;
                Some(central.wrap(Arc::as_ptr(self), block, slot))
            }
        }
    }

    /// As `place`, within the lane.
    #[inline]
    fn place_in(
        self: &Arc<Self>,
        content: &mut Content,
        want: Want,
        line: &Line,
        slot: Slot,
    ) -> Option<NonNull<Header>> {
        let central = &mut *self.central.lock();
        content.keep_exact(central.is_calm());
        if content.has_exact() {
            let stamp = line.stamp();
            let batches = content.drain_exact();
            batches.for_each(|batch| central.put_all(batch, stamp));
        }
        let (block, _) = central.ready(want)?;
        Some(central.wrap(Arc::as_ptr(self), block, slot))
    }

    /// Takes a piece back. Work that uses it must be on `stream`, or before it, by now.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: nothing uses it later than what is on the
    /// stream now. (With an error it is nobody's, and stays out for ever.)
    #[inline]
    #[track_caller]
    pub(crate) unsafe fn put(piece: NonNull<Header>, stream: &Stream) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Self::put_at(piece, stream, Some(Location::caller())) }
    }

    /// As `put`, at a line of the user's, or at none.
    ///
    /// # Safety
    /// As `put`.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn put_at(
        piece: NonNull<Header>,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        // SAFETY: the piece is the caller's, so its pool is there.
        let pool = unsafe { &*piece.as_ref().pool() };
        if let Some(lane) = local::lately(pool.number, stream.serial()) {
            // SAFETY: the lane is this thread's, and its pool is there.
            let lane = unsafe { &*lane };
            // SAFETY: the piece is the caller's.
            if unsafe { lane.push(piece) } || pool.put_over(lane, piece) {
                return Ok(());
            }
        }
        // SAFETY: as above; the count goes up before the piece is given away.
        let pool = unsafe {
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        pool.put_slow(piece, stream, site)
    }

    /// Takes a piece back that the lane's magazine has no room for. False when the lane cannot
    /// be had.
    ///
    /// While the owner is inside its lane the pool cannot end: closing seizes every lane first.
    /// So nobody has to count this.
    #[inline(never)]
    fn put_over(&self, lane: &Lane, piece: NonNull<Header>) -> bool {
        // SAFETY: the lane is this thread's, which is not within it.
        unsafe { lane.own(|content| self.take_over(lane, content, piece)) }.is_some()
    }

    /// What `put_over` does within the lane.
    pub(super) fn take_over(&self, lane: &Lane, content: &mut Content, piece: NonNull<Header>) {
        // SAFETY: the piece is the caller's, who gives it away.
        let header = unsafe { piece.as_ref() };
        self.forget_name(header);
        lane.flow.note_in(header.end_life(), add);
        add(&lane.flow.spills, 1);
        let (slot, bytes) = (header.slot.get(), header.bytes());
        let line = &lane.line;
        if !slot.is_kept() {
            self.central.lock().put(piece, line.stamp());
            return;
        }
        if let Some((batch, size)) = content.spill(slot, bytes) {
            // SAFETY: whoever takes a batch out owns it.
            let count = u64::from(unsafe { batch.as_ref() }.batch.get());
            let pushed = if size == bytes {
                line.depot.push(slot, size * count, batch)
            } else {
                Err(batch)
            };
            if let Err(batch) = pushed {
                self.central.lock().put_all(batch, line.stamp());
            }
        }
        if !content.push(slot, bytes, piece) {
            self.central.lock().put(piece, line.stamp());
        }
    }

    #[inline(never)]
    #[track_caller]
    fn put_slow(
        self: Arc<Self>,
        piece: NonNull<Header>,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked()?;
        if self.graphs.is_any() && self.hold_for_graph(piece, stream, site) {
            return Ok(());
        }
        if let Some(lane) = self.lane_of(stream)?
            && (self.put_over(&lane, piece)
                || (self.history.is_on() && self.put_recorded(&lane, piece, site)))
        {
            return Ok(());
        }
        let line = self.line(stream)?;
        // SAFETY: the piece is the caller's, who gives it away.
        let header = unsafe { piece.as_ref() };
        self.note_put(header, Action::Free, (line.serial(), line.stamp()), site);
        {
            // Who names buffers has the lock.
            let mut central = self.central.lock();
            self.forget_name(header);
            self.note(None, |flow, put| {
                flow.note_in(header.end_life(), put);
                put(&flow.spills, 1);
            });
            central.put(piece, line.stamp());
        }
        // The last piece: the pool goes with this, after all locks.
        drop(self.keep.let_go(|| self.is_over()));
        Ok(())
    }

    /// A piece is no longer its user's, and nobody's yet. Within the central lock.
    pub(super) fn end(&self, header: &Header) {
        self.forget_name(header);
        self.note(None, |flow, put| flow.note_in(header.end_life(), put));
    }

    /// Takes the name of a buffer out of the table.
    fn forget_name(&self, header: &Header) {
        if header.is_named() {
            self.table.forget(header.entry());
        }
    }

    /// Gives a piece up that may still be used: nobody will bring it back, and its memory stays
    /// where it is for ever.
    pub(crate) fn abandon(&self, piece: NonNull<Header>) {
        if self.core.not_forked().is_err() {
            return;
        }
        {
            // SAFETY: the piece is the caller's, who gives it away.
            let header = unsafe { piece.as_ref() };
            self.note_put(header, Action::Abandon, (0, Stamp::READY), None);
            let mut central = self.central.lock();
            self.end(header);
            central.abandoned += 1;
        }
        // Last of all: the pool may go with this.
        drop(self.keep.let_go(|| self.is_over()));
    }

    /// Whether nobody has a piece any more.
    fn is_over(&self) -> bool {
        self.central.lock().outstanding() == 0
    }

    /// The caller's side of the barrier in `with_buffers`.
    #[inline]
    pub(crate) fn light(&self) {
        self.barrier.light();
    }

    /// How many buffers are alive.
    pub(crate) fn buffers_alive(&self) -> usize {
        self.flow().buffers().0 as usize
    }

    /// How many buffers were made.
    pub(crate) fn buffers_made(&self) -> u64 {
        self.flow().buffers_out.load(Ordering::Relaxed)
    }

    /// Calls `work` with every header of a buffer that is alive. Nothing is allocated or freed
    /// meanwhile, but for what is just on its way to its user.
    pub(crate) fn with_buffers(&self, mut work: impl FnMut(&Header)) {
        let lanes = lock(&self.lanes);
        // What was stored before this call is seen by whoever is alive only after it.
        self.barrier.heavy();
        let _seized: Vec<_> = lanes.iter().map(|lane| lane.bias.seize()).collect();
        let central = self.central.lock();
        central
            .headers
            .all()
            .filter(|header| header.is_buffer())
            .for_each(&mut work);
    }

    /// The stream's place in this pool.
    #[track_caller]
    pub(super) fn line(&self, stream: &Stream) -> Result<Arc<Line>> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let clock = stream.clock();
        let mut lines = lock(&self.lines);
        let is_it = |line: &&Arc<Line>| line.serial() == clock.serial();
        if let Some(line) = lines.iter().flatten().find(is_it) {
            return Ok(Arc::clone(line));
        }
        // Index 0 is no stream's.
        let vacant = lines.iter().skip(1).position(Option::is_none);
        let at = vacant.map_or(lines.len().max(1), |at| at + 1);
        let index = StreamIndex::try_from(at).map_err(|_| Error::Full {
            kind: "streams of a pool",
        })?;
        let line = Arc::new(Line::new(index, clock));
        if lines.len() <= at {
            lines.resize(at + 1, None);
        }
        lines[at] = Some(Arc::clone(&line));
        let streams = lines.iter().flatten().count();
        let mut central = self.central.lock();
        let rules = central.heap.rules_mut();
        rules.renew(index);
        if streams > 1 {
            rules.single = false;
        }
        Ok(line)
    }

    /// This thread's lane for a stream. `None` when the thread ends or the pool is closed.
    #[track_caller]
    fn lane_of(self: &Arc<Self>, stream: &Stream) -> Result<Option<Arc<Lane>>> {
        let mut line = None;
        if local::lately(self.number, stream.serial()).is_none() {
            // Before the thread's list is borrowed: it may fail.
            line = Some(self.line(stream)?);
        }
        if self.is_closed() {
            return Ok(None);
        }
        let make = || {
            let line = line.map_or_else(|| self.line(stream), Ok).ok()?;
            let lane = Arc::new(Lane::new(Arc::downgrade(self), &line));
            let mut lanes = lock(&self.lanes);
            if self.is_closed() {
                return None;
            }
            if self.history.is_on() {
                lane.bias.set_flags(RECORDED);
            }
            if self.graphs.memory_of(stream.serial()).is_some() {
                lane.bias.set_flags(ROUTED);
            }
            lanes.push(Arc::clone(&lane));
            Some(lane)
        };
        Ok(local::find(self.number, stream.serial(), make))
    }

    /// Takes a lane off the books: its thread ends.
    pub(super) fn retire_lane(&self, lane: &Arc<Lane>) {
        if self.core.not_forked().is_err() {
            return;
        }
        self.close_lane(lane);
        let mut lanes = lock(&self.lanes);
        let before = lanes.len();
        lanes.retain(|other| !Arc::ptr_eq(other, lane));
        if lanes.len() < before {
            self.past.absorb(&lane.flow);
        }
    }

    fn close_lane(&self, lane: &Lane) {
        lane.close(|batch, stamp| self.central.lock().put_all(batch, stamp));
    }

    /// Gives all that threads and depots keep back to the heap.
    pub(super) fn drain(&self) {
        count(&self.counters.drains);
        let lanes = lock(&self.lanes).clone();
        for lane in &lanes {
            lane.drain(|batch, stamp| self.central.lock().put_all(batch, stamp));
        }
        self.drain_depots();
        let central = &mut *self.central.lock();
        central
            .slabs
            .release_all(&mut central.heap, &mut central.headers);
    }

    fn drain_depots(&self) {
        for line in self.all_lines() {
            for batch in line.depot.drain() {
                // Stamped when it is ours: until then others may put more in, used later.
                let stamp = line.stamp();
                self.central.lock().put_all(batch, stamp);
            }
        }
    }

    pub(super) fn all_lines(&self) -> Vec<Arc<Line>> {
        lock(&self.lines).iter().flatten().map(Arc::clone).collect()
    }

    /// The last handle is gone. The pool lives on as long as somebody has a piece of it.
    pub(super) fn close(self: &Arc<Self>) {
        if self.core.not_forked().is_err() {
            return;
        }
        let lanes = {
            let lanes = lock(&self.lanes);
            self.keep.close();
            lanes.clone()
        };
        // They stay: threads that have pieces look for them.
        for lane in &lanes {
            self.close_lane(lane);
        }
        self.drain_depots();
        self.keep.hold(Arc::clone(self), || self.is_over());
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.keep.is_closed()
    }
}

impl Holds for Pool {
    fn buffers(&self) -> (u64, u64) {
        self.flow().buffers()
    }
}
