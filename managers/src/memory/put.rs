//! The way of a free, and the end of pieces that cannot be freed.

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::flow::add;
use super::header::{Header, Withheld};
use super::history::Action;
use super::history::CallSite;
use super::lane::Lane;
use super::local;
use super::magazine::Content;
use super::pool::Pool;
use super::seam::Seam;
use super::stamp::Stamp;
use crate::driver::Kind;
use crate::error::Result;
use crate::stream::Stream;

impl Pool {
    /// Takes a piece back. Work that uses it must be on `stream`, or before it, by now.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: nothing uses it later than what is on the
    /// stream now. With an error nothing has happened, and it is still the caller's.
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
        let pool = unsafe { &*Self::of(piece.as_ref()) };
        if let Some(seam) = &pool.seam {
            // SAFETY: the piece is the caller's.
            pool.tell_end(seam, unsafe { piece.as_ref() }, stream, site)?;
        }
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

    /// Tells a driver that checks programs of a block's end. Apart from the way of a hit, on which
    /// nothing listens.
    ///
    /// # Errors
    /// What the free will be refused for: the block is its user's then as before.
    #[cold]
    #[inline(never)]
    fn tell_end(
        &self,
        seam: &Seam,
        header: &Header,
        stream: &Stream,
        site: CallSite,
    ) -> Result<()> {
        if self.core.not_forked().is_ok() {
            if local::lately(self.number, stream.serial()).is_none() {
                drop(self.line(stream)?);
            }
            seam.end(header, stream, site);
        }
        Ok(())
    }

    /// Takes a piece back that the lane's magazine has no room for. False when the lane cannot
    /// be had.
    ///
    /// While the owner is inside its lane the pool cannot end: closing seizes every lane first.
    /// So nobody has to count this.
    #[inline(never)]
    pub(super) fn put_over(&self, lane: &Lane, piece: NonNull<Header>) -> bool {
        // In a fork another thread may have left the central lock taken.
        if self.core.not_forked().is_err() {
            return false;
        }
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
                line.depot.push(slot, size * count, batch, lane.name())
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
    pub(super) fn put_slow(
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
        let bytes = header.bytes();
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
        self.shed_at(bytes);
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
    pub(super) fn forget_name(&self, header: &Header) {
        if header.is_named() {
            self.table.forget(header.entry());
        }
    }

    /// Gives a piece up that may still be used: nobody will bring it back, and its memory stays
    /// where it is for ever.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away.
    pub(crate) unsafe fn abandon(piece: NonNull<Header>) {
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
            // SAFETY: the piece is the caller's, who gives it away.
            let header = unsafe { piece.as_ref() };
            pool.note_put(header, Action::Abandon, (0, Stamp::READY), None);
            let mut central = pool.central.lock();
            pool.end(header);
            header.withhold(Some(Withheld::Abandoned));
            central.abandoned += 1;
        }
        // The last piece: the pool goes with this, after all locks.
        drop(pool.keep.let_go(|| pool.is_over()));
    }

    /// Whether nobody has a piece any more.
    pub(super) fn is_over(&self) -> bool {
        self.central.lock().outstanding() == 0
    }
}
