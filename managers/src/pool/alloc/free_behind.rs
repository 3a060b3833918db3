//! Freeing a piece that other streams than its own have used.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::Result;
use crate::event::{self, EventConfig};
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::inspect::history::Action;
use crate::pool::inspect::history::CallSite;
use crate::pool::state::Pool;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;
use crate::stream::submit;

/// The streams of a piece that is about to be freed: its own, and others that have used it. Their
/// places in the pool stay theirs as long as this is there.
pub(crate) struct UseOrder {
    home: Arc<StreamState>,
    others: Vec<Arc<StreamState>>,
}

impl Pool {
    /// The places of a piece's streams. `None` where its own stream has to be made to wait for the
    /// others instead: a graph's memory is ordered by the captured work, and in a lost context, in
    /// a fork, or without a place for one more stream no completion can be found out.
    pub(crate) fn behind<'a>(
        &self,
        home: &Stream,
        others: impl IntoIterator<Item = &'a Stream>,
    ) -> Option<UseOrder> {
        if self.core.healthy().is_err() || self.parent.is_some() || self.streams.graphs().is_any() {
            return None;
        }
        let home = self.state_of(home).ok()?;
        let mut states = Vec::new();
        for other in others {
            states.push(self.state_of(other).ok()?);
        }
        Some(UseOrder {
            home,
            others: states,
        })
    }

    /// Puts the work that is on `first` now before all that comes on `then` from now on.
    ///
    /// # Errors
    /// [`Error::WrongContext`](crate::Error::WrongContext), [`Error::Full`](crate::Error::Full)
    /// when there are too many events for one more, [`Error::Poisoned`](crate::Error::Poisoned),
    /// [`Error::Forked`](crate::Error::Forked); the error that the driver returned.
    #[track_caller]
    pub(crate) fn order(&self, first: &Stream, then: &Stream) -> Result<()> {
        let _switches = self.pages.calls().switches();
        let (calls, config) = (self.pages.calls(), EventConfig::default());
        let note = || calls.note_event();
        let event = event::acquire_noting(first.core(), first.events(), config, note)?;
        calls.note_record();
        submit::record(&event, first)?;
        calls.note_wait();
        // The event may have its next life at once: the wait is on the stream by then.
        submit::wait(then, &event)
    }

    /// Takes a piece back that other streams have used, behind all that is on them now.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away: all work that uses it is on these streams by
    /// now. They are of the piece's pool.
    #[cold]
    pub(crate) unsafe fn free_behind(
        piece: NonNull<BlockHeader>,
        behind: &UseOrder,
        site: CallSite,
    ) {
        // SAFETY: the piece is the caller's, so its pool is there; the count goes up before the
        // piece is given away.
        let pool = unsafe {
            let pool = Self::of(piece.as_ref());
            Arc::increment_strong_count(pool);
            Arc::from_raw(pool)
        };
        // SAFETY: the header stays where it is, and the caller gives the piece away.
        let header = unsafe { piece.as_ref() };
        let bytes = header.bytes();
        let home = behind.home.stamp();
        let others = behind.others.iter().map(|state| state.stamp()).collect();
        pool.note_free(header, Action::Free, (behind.home.serial(), home), site);
        {
            // A thread that names buffers holds the lock.
            let mut central = pool.central.lock();
            pool.end(header);
            central.put_behind(piece, home, others);
        }
        pool.maybe_release_excess(bytes);
        // The last piece: the pool goes with this, after all locks.
        drop(pool.orphan.try_reclaim(|| pool.is_over()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
