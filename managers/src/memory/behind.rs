//! Pieces that other streams than their own have used, on their way back.
//!
//! Such a piece goes back to its own stream, behind what that stream has been given so far, once
//! the others have come as far as they were at the free: then, and not before, is it in the heap.
//! Nothing is put on any stream for it. In particular its own stream does not wait for the others.
//! The batches of the others are closed like those of any stream that has freed something, when
//! a request wants memory.

use std::ptr::NonNull;
use std::sync::Arc;

use super::central::Central;
use super::classes::Slot;
use super::header::{Header, Withheld};
use super::history::Action;
use super::line::Line;
use super::pool::{Pool, count};
use super::record::CallSite;
use super::stamp::{Gone, Stamp};
use crate::error::Result;
use crate::event::{self, EventConfig};
use crate::stream::Stream;
use crate::stream::submit;

/// The streams of a piece that is about to be freed: its own, and others that have used it. Their
/// places in the pool stay theirs as long as this is there.
pub(crate) struct Behind {
    home: Arc<Line>,
    others: Vec<Arc<Line>>,
}

/// A piece without a user, which work on other streams than its own may still use.
struct Waiting {
    piece: NonNull<Header>,
    home: Stamp,
    others: Box<[Stamp]>,
}

/// The pieces of a pool that are on their way back.
#[derive(Default)]
pub(super) struct WaitingPieces {
    pieces: Vec<Waiting>,
    bytes: u64,
}

// SAFETY: the owner of this owns the pieces, whichever thread that is.
unsafe impl Send for WaitingPieces {}

impl WaitingPieces {
    pub(super) fn count(&self) -> u64 {
        self.pieces.len() as u64
    }

    /// Bytes of all of them.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = &Header> {
        let pieces = self.pieces.iter();
        // SAFETY: the pieces are ours until they are put back.
        pieces.map(|waiting| unsafe { waiting.piece.as_ref() })
    }

    /// Whether a piece of this class is among them.
    pub(super) fn has(&self, slot: Slot) -> bool {
        self.pieces().any(|header| header.slot.get() == slot)
    }
}

impl Central {
    /// Takes a piece back that its own stream has used until `home`, and others until theirs.
    fn put_behind(&mut self, piece: NonNull<Header>, home: Stamp, others: Box<[Stamp]>) {
        // SAFETY: the piece is the caller's, who gives it away.
        let header = unsafe { piece.as_ref() };
        header.withhold(Some(Withheld::Waiting));
        let rules = self.heap.rules_mut();
        // What closes batches, and who waits for the pool's last work, goes by these.
        rules.note_last(home);
        others.iter().for_each(|&stamp| rules.note_last(stamp));
        self.waiting.bytes += header.bytes();
        self.waiting.pieces.push(Waiting {
            piece,
            home,
            others,
        });
    }

    /// Puts into the heap what no other stream uses any more. In the section that has noted how
    /// far a stream has come: a request that sees that finds the memory.
    pub(super) fn put_waiting(&mut self) {
        let mut at = 0;
        while let Some(waiting) = self.waiting.pieces.get(at) {
            let rules = self.heap.rules();
            if !waiting.others.iter().all(|&stamp| rules.is_done(stamp)) {
                at += 1;
                continue;
            }
            let Waiting { piece, home, .. } = self.waiting.pieces.swap_remove(at);
            // SAFETY: the piece is ours.
            let header = unsafe { piece.as_ref() };
            self.waiting.bytes -= header.bytes();
            header.withhold(None);
            self.put(piece, home);
        }
    }

    /// Nothing waits for streams that are gone.
    pub(super) fn wait_without(&mut self, gone: &Gone) {
        for waiting in &mut self.waiting.pieces {
            waiting.home = gone.without(waiting.home);
            for stamp in &mut waiting.others {
                *stamp = gone.without(*stamp);
            }
        }
        self.put_waiting();
    }
}

impl Pool {
    /// The places of a piece's streams. `None` where its own stream has to be made to wait for the
    /// others instead: a graph's memory is ordered by what is captured, and in a lost context, in
    /// a fork, or without a place for one more stream nothing can be found out.
    pub(crate) fn behind<'a>(
        &self,
        home: &Stream,
        others: impl IntoIterator<Item = &'a Stream>,
    ) -> Option<Behind> {
        if self.core.healthy().is_err() || self.parent.is_some() || self.graphs.is_any() {
            return None;
        }
        let others = others.into_iter().map(|other| self.line(other));
        Some(Behind {
            home: self.line(home).ok()?,
            others: others.collect::<Result<_, _>>().ok()?,
        })
    }

    /// Puts what is on `first` now before whatever comes on `then`.
    ///
    /// # Errors
    /// [`Error::WrongContext`](crate::Error::WrongContext), [`Error::Full`](crate::Error::Full) when
    /// there are too many events for one more, [`Error::Poisoned`](crate::Error::Poisoned),
    /// [`Error::Forked`](crate::Error::Forked); what the driver returned.
    #[track_caller]
    pub(crate) fn order(&self, first: &Stream, then: &Stream) -> Result<()> {
        let _switches = self.calls.switches();
        let (calls, config) = (&self.calls, EventConfig::default());
        let note = || count(&calls.event);
        let event = event::acquire_noting(first.core(), first.events(), config, note)?;
        count(&calls.record);
        submit::record(&event, first)?;
        count(&calls.wait);
        // The event may have its next life at once: the wait is on the stream by then.
        submit::wait(then, &event)
    }

    /// Takes a piece back that other streams have used, behind all that is on them now.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: all work that uses it is on these streams by
    /// now. They are of the piece's pool.
    #[cold]
    pub(crate) unsafe fn put_behind(piece: NonNull<Header>, behind: &Behind, site: CallSite) {
        // SAFETY: the piece is the caller's, so its pool is there; the count goes up before the
        // piece is given away.
        let pool = unsafe {
            let pool = piece.as_ref().pool();
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        // SAFETY: the piece is the caller's, who gives it away.
        let header = unsafe { piece.as_ref() };
        let bytes = header.bytes();
        let home = behind.home.stamp();
        let others = behind.others.iter().map(|line| line.stamp()).collect();
        pool.note_put(header, Action::Free, (behind.home.serial(), home), site);
        {
            // Who names buffers has the lock.
            let mut central = pool.central.lock();
            pool.end(header);
            central.put_behind(piece, home, others);
        }
        pool.shed_at(bytes);
        // The last piece: the pool goes with this, after all locks.
        drop(pool.keep.let_go(|| pool.is_over()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
