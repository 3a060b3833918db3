//! The way of an allocation through the layers, down to where driver calls begin.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::Budget;

use super::central::{Central, Want};
use super::classes::{Slot, capacity};
use super::flow::{Flow, add};
use super::header::Header;
use super::heap::{GRANULE, granular};
use super::ladder::{Got, Request};
use super::lane::Lane;
use super::line::Line;
use super::local;
use super::magazine::{Batch, Content, Found};
use super::patience::Wait;
use super::pool::Pool;
use super::request::Ask;
use super::seam::Seam;
use crate::error::{Error, Result};
use crate::stream::Stream;

impl Pool {
    /// A piece of memory that work on `stream` may use from now on.
    #[inline]
    #[track_caller]
    pub(crate) fn take(self: &Arc<Self>, ask: Ask, stream: &Stream) -> Result<NonNull<Header>> {
        match &self.seam {
            None => self.take_untold(ask, stream),
            Some(seam) => self.take_told(seam, ask, stream),
        }
    }

    /// As `take`, and a driver that checks programs is told. Apart from the way of a hit, on which
    /// nothing listens.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn take_told(
        self: &Arc<Self>,
        seam: &Seam,
        ask: Ask,
        stream: &Stream,
    ) -> Result<NonNull<Header>> {
        let piece = self.take_untold(ask, stream)?;
        // SAFETY: the piece is ours.
        let header = unsafe { piece.as_ref() };
        // A graph's memory has told of its own.
        if header.pool() == self.reference() {
            seam.begin(header, stream, Location::caller());
        }
        Ok(piece)
    }

    #[inline(always)]
    #[track_caller]
    fn take_untold(self: &Arc<Self>, ask: Ask, stream: &Stream) -> Result<NonNull<Header>> {
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
        if slot.is_kept() {
            line.depot.note_miss(lane.name());
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
    pub(super) fn take_slow(
        self: &Arc<Self>,
        ask: Ask,
        stream: &Stream,
    ) -> Result<NonNull<Header>> {
        if self.graphs.is_any()
            && let Some(memory) = self.enter_graph(stream)
        {
            let taken = memory.take(ask, stream);
            // The graph's memory may have been dropped meanwhile: then what a thread was about to
            // keep for later it has put into a closed lane, and the memory goes with the last
            // piece.
            if memory.is_closed() {
                memory.drain();
            }
            drop(memory.keep.leave(|| memory.is_over()));
            return taken;
        }
        // It takes the mapper's lock, for as long as others have it.
        if ask.wait == Wait::AsConfigured {
            self.shed_at(ask.bytes);
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
                self.reap_if_due();
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
        if let Some(piece) = Self::take_hit(ask, lane) {
            // SAFETY: the piece is ours.
            let header = unsafe { piece.as_ref() };
            header.go_live(ask.bytes, ask.name, ask.stream(stream));
            return Ok(piece);
        }
        let piece = if ask.bytes == 0 {
            self.central.lock().nothing(self.reference())
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

    /// A hit that comes the slow way: a flag keeps the owner out of its lane.
    fn take_hit(ask: Ask, lane: Option<&Lane>) -> Option<NonNull<Header>> {
        let lane = lane?;
        if ask.bytes == 0 || ask.align > GRANULE {
            return None;
        }
        let (slot, bytes) = Slot::of(ask.bytes)?;
        // SAFETY: the lane is this thread's, which is not within it.
        unsafe {
            lane.with(|content| {
                let piece = content.pop(slot, bytes)?;
                lane.flow.note_out(ask.bytes, ask.buffer, add);
                add(&lane.flow.detours, 1);
                Some(piece)
            })
        }
    }

    /// Counts in the lane, else in what went past all lanes.
    pub(super) fn note(&self, lane: Option<&Lane>, count: impl FnOnce(&Flow, fn(&AtomicU64, u64))) {
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
        if let Some(lane) = lane {
            // A look first: without a batch there is no reason to enter the lane.
            let found = line.depot.has(slot).then(|| {
                let take = |content: &mut Content| self.take_batch(content, (slot, bytes), lane);
                // SAFETY: the lane is this thread's, which is not within it.
                unsafe { lane.with(take) }
            });
            match found {
                Some(Batch::Piece(piece)) => return Ok(piece),
                Some(Batch::Strange(_)) => {}
                Some(Batch::Nothing) | None if slot.is_small() => {}
                Some(Batch::Nothing) | None => line.depot.note_miss(lane.name()),
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
        let grown = self.grow(slab, ask.wait, |central, found| {
            let from = (line.index, line.stamp());
            central.add_slab(self.reference(), found, (slot, bytes), from);
        });
        let grown = match grown {
            // A request that may not wait for others has what is there without pages.
            Err(Error::Busy { .. }) => false,
            grown => grown?,
        };
        if grown {
            // Others may have looked for its slots already.
            self.note(lane, |flow, put| put(&flow.moves, 1));
        }
        if let Some(piece) = self.take_slots((slot, bytes), lane, line, true) {
            return Ok(piece);
        }
        self.take_block(ask, lane, line, stream, slot)
    }

    /// A batch of the lane's depot, within the lane; one that the lane cannot have is the heap's
    /// after this.
    fn take_batch(&self, content: &mut Content, what: (Slot, u64), lane: &Lane) -> Batch {
        let line = &lane.line;
        let note = || add(&lane.flow.moves, 1);
        let batch = if lane.may_keep() {
            content.take_batch(&line.depot, what, note)
        } else {
            let batch = line.depot.pop(what.0, note);
            batch.map_or(Batch::Nothing, Batch::Strange)
        };
        if let Batch::Strange(batch) = batch {
            self.central.lock().put_all(batch, line.stamp());
        }
        batch
    }

    /// A slot of the slabs, and some more for the magazine: within the lane, so that whoever looks
    /// for memory waits until they are there.
    fn take_slots(
        self: &Arc<Self>,
        what: (Slot, u64),
        lane: Option<&Lane>,
        line: &Line,
        others: bool,
    ) -> Option<NonNull<Header>> {
        let find = |central: &mut Central, found: &mut Found, want| {
            self.find_slots(central, (what, want), line, others, found);
        };
        let Some(lane) = lane else {
            let mut found = Found::NOTHING;
            find(&mut self.central.lock(), &mut found, 1);
            return found.all().next();
        };
        let refill = |content: &mut Content| {
            let want = match lane.may_keep() {
                true => capacity(what.1) / 2,
                false => 1,
            };
            let find = |central: &mut Central, found: &mut Found| find(central, found, want);
            let put = |central: &mut Central, piece| central.put(piece, line.stamp());
            let note = || add(&lane.flow.moves, 1);
            content.refill(what, &self.central, (find, put), note)
        };
        // SAFETY: the lane is this thread's, which is not within it.
        unsafe { lane.with(refill) }
    }

    /// Up to so many slots of the slabs.
    fn find_slots(
        self: &Arc<Self>,
        central: &mut Central,
        ((slot, bytes), want): ((Slot, u64), u32),
        line: &Line,
        others: bool,
        found: &mut Found,
    ) {
        let mut give = |piece| found.push(piece);
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
                central.add_slab(self.reference(), from, what, (line.index, now));
                let (slabs, heap) = (&mut central.slabs, &central.heap);
                taken = slabs.take(heap, slot, line.index, want, &mut give);
            } else if others {
                let (slabs, heap) = (&mut central.slabs, &central.heap);
                taken = slabs.take_from_others(heap, slot, line.index, 1, &mut give);
            }
        }
        debug_assert!(taken <= want);
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
            // Nobody could make room for it.
            _ => return Err(self.counted(self.refuse(ask.bytes))),
        };
        let want = Want {
            bytes,
            align: ask.align,
            stream: line.index,
        };
        self.look_if_scanned()?;
        // A small block is no slot: it goes to the heap again.
        let kept = if slot.is_small() { Slot::NONE } else { slot };
        if let Some(piece) = self.place(want, lane, line, kept) {
            return Ok(piece);
        }
        let request = Request {
            want,
            requested: ask.bytes,
            slot,
            line,
            stream,
            wait: ask.wait,
            patient: true,
            drains: true,
        };
        match self.climb(request)? {
            Got::Block(found) => {
                let mut central = self.central.lock();
                Ok(central.wrap(self.reference(), found, kept))
            }
            Got::Slot(piece) => Ok(piece),
        }
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
        let give = |central: &mut Central, batch| central.put_all(batch, line.stamp());
        line.depot.give_exact(&self.central, give);
        match lane {
            // SAFETY: the lane is this thread's, which is not within it.
            Some(lane) => unsafe { lane.with(|content| self.place_in(content, want, line, slot)) },
            None => {
                let mut central = self.central.lock();
                central.wrap_ready(self.reference(), want, slot)
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
        if central.heap.rules().scanned.get() {
            return None;
        }
        content.keep_exact(central.is_calm(want.bytes));
        if content.has_exact() {
            let stamp = line.stamp();
            let batches = content.drain_exact();
            batches.for_each(|batch| central.put_all(batch, stamp));
        }
        central.wrap_ready(self.reference(), want, slot)
    }
}
