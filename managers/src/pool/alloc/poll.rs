//! Finding out which frees are complete: closing their batches, asking for their events, merging.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::pool::pages::vmm::is_out_of_memory;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::pool::streams::stream_state::StreamState;

/// How long an event on a stream with nothing to do may take.
pub(crate) const MOMENT: Duration = Duration::from_micros(200);

impl Pool {
    /// Asks the driver which of the batches that were closed have completed, and merges the pieces
    /// that have become free for all streams.
    #[track_caller]
    pub(crate) fn poll_streams(&self) -> Result<()> {
        let waiting = self.waiting();
        let mut asked = Ok(());
        let mut seen = Vec::with_capacity(waiting.len());
        for (state, _) in &waiting {
            asked = state.timeline().poll(&self.core).map(|done| {
                seen.push((state.index(), done));
            });
            if asked.is_err() {
                break;
            }
        }
        if seen.is_empty() {
            return asked;
        }
        if self.central.lock().note_done(seen) {
            self.observer.progress().note_done();
        }
        asked
    }

    /// The streams that have freed something which is not known to be complete, and the last ticket
    /// of each.
    fn waiting(&self) -> Vec<(Arc<StreamState>, u64)> {
        let states = self.streams.table();
        let mut waiting = Vec::with_capacity(states.count());
        let central = self.central.lock();
        let rules = central.rules();
        for state in states.all() {
            if rules.is_waiting(state.index()) {
                waiting.push((Arc::clone(state), rules.last_freed(state.index())));
            }
        }
        waiting
    }

    /// Whether work that uses freed memory is under way, as far as is known.
    pub(crate) fn is_waiting(&self) -> bool {
        // Asked without the lock.
        let mut waiting = self.waiting().into_iter();
        waiting.any(|(state, _)| state.timeline().is_pending())
    }

    /// Closes all batches, polls them, and merges the pieces of those that are complete.
    #[track_caller]
    pub(crate) fn close_and_poll(&self) -> Result<()> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked()?;
        self.close_batches()?;
        self.poll_streams()?;
        self.central.lock().sweep();
        Ok(())
    }

    /// Closes and polls all batches, then polls for a moment more, because an event on an idle
    /// stream completes some microseconds after it is recorded.
    #[track_caller]
    pub(crate) fn close_and_poll_soon(&self) -> Result<()> {
        self.close_and_poll_within(MOMENT)
    }

    /// Closes and polls all batches, then polls for `moment` more.
    #[track_caller]
    pub(crate) fn close_and_poll_within(&self, moment: Duration) -> Result<()> {
        self.close_and_poll()?;
        let until = Instant::now() + moment;
        while self.is_waiting() && Instant::now() < until {
            std::hint::spin_loop();
            self.poll_streams()?;
        }
        Ok(())
    }

    /// After a search that has gone through all pieces for those of one stream: finds out which of
    /// the others are ready for all streams by now, so that they merge and the next search is
    /// short.
    #[track_caller]
    pub(crate) fn poll_if_scanned(&self) -> Result<()> {
        let has_scanned = self.central.lock().rules().take_scanned();
        if has_scanned {
            let asked = self.close_batches().and_then(|()| self.poll_streams());
            self.central.lock().rules().note_asked();
            asked?;
        }
        Ok(())
    }

    /// Closes the open batch of every stream that has freed something since its last one.
    #[track_caller]
    pub(crate) fn close_batches(&self) -> Result<()> {
        for (state, last) in self.waiting() {
            match state.timeline().close(&self.core, last) {
                // A full device has no events either: memory that was freed here stays pending.
                refused if is_out_of_memory(&refused) => {}
                closed => drop(closed?),
            }
        }
        Ok(())
    }

    /// Gives memory that nothing uses back to the driver, so many bytes or a little more: another
    /// pool needs it. Drains the caches of threads only if there is too little without. How many
    /// bytes.
    #[track_caller]
    pub(crate) fn give_up_idle(&self, wanted: u64, wait: Wait) -> Result<u64> {
        self.core.healthy()?;
        let mut mapper = self.pages.lock_within(wait)?;
        let before = self.budget.used();
        let pages = usize::try_from(wanted.div_ceil(self.pages.page())).unwrap_or(usize::MAX);
        for drains in [false, true] {
            let given = before.saturating_sub(self.budget.used());
            let short = pages.saturating_sub(mapper.cached() as usize);
            if short == 0 || given >= wanted {
                break;
            }
            if drains {
                self.drain();
                self.close_and_poll_soon()?;
            } else {
                self.close_and_poll()?;
            }
            self.unmap_idle(&mut mapper, short)?;
            self.release_chunks(&mut mapper, wanted - given)?;
        }
        let keep = (mapper.cached() as usize).saturating_sub(pages);
        self.pages.release_cache(self, &mut mapper, keep)?;
        Ok(before.saturating_sub(self.budget.used()))
    }
}
