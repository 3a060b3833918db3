//! What has completed: closing batches of frees, asking for their events, merging.

use std::time::{Duration, Instant};

use super::pool::Pool;
use super::vmm::is_out_of_memory;
use crate::error::Result;

/// How long an event on a stream with nothing to do may take.
pub(super) const MOMENT: Duration = Duration::from_micros(200);

impl Pool {
    /// Asks the driver which of the batches that were closed have completed, and merges what
    /// has become free for all.
    #[track_caller]
    pub(super) fn look_around(&self) -> Result<()> {
        let mut news = false;
        for line in self.all_lines() {
            let done = line.clock.poll(&self.core)?;
            let mut central = self.central.lock();
            if central.heap.rules_mut().set_done(line.index, done) {
                central.put_waiting();
                news = true;
                self.changes.note_done();
            }
        }
        if news {
            self.central.lock().heap.sweep();
        }
        Ok(())
    }

    /// Closes all batches, sees what has completed, and merges it.
    #[track_caller]
    pub(super) fn settle(&self) -> Result<()> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked()?;
        self.close_batches()?;
        self.look_around()?;
        self.central.lock().heap.sweep();
        Ok(())
    }

    /// As `settle`, with a moment's patience: the events that close batches are reached some
    /// microseconds after they were recorded, on streams with nothing to do too.
    #[track_caller]
    pub(super) fn settle_soon(&self) -> Result<()> {
        self.settle_within(MOMENT)
    }

    /// As `settle_soon`, within this time.
    #[track_caller]
    pub(super) fn settle_within(&self, moment: Duration) -> Result<()> {
        self.settle()?;
        let until = Instant::now() + moment;
        let is_pending = || self.all_lines().iter().any(|line| line.clock.is_pending());
        while is_pending() && Instant::now() < until {
            std::hint::spin_loop();
            self.look_around()?;
        }
        Ok(())
    }

    /// After a search that has gone through all pieces for those of one stream: sees which of the
    /// others are everybody's by now, so that they merge and the next search is short.
    #[track_caller]
    pub(super) fn look_if_scanned(&self) -> Result<()> {
        let scanned = self.central.lock().heap.rules().scanned.replace(false);
        if scanned {
            self.close_batches()?;
            self.look_around()?;
        }
        Ok(())
    }

    /// Closes the open batch of every stream that has freed something since its last one.
    #[track_caller]
    pub(super) fn close_batches(&self) -> Result<()> {
        for line in self.all_lines() {
            let last = self.central.lock().heap.rules().last_freed(line.index);
            match line.clock.close(&self.core, last) {
                // A full device has no events either: what was freed here stays pending.
                refused if is_out_of_memory(&refused) => {}
                closed => drop(closed?),
            }
        }
        Ok(())
    }

    /// Gives memory that nothing uses back to the driver: another pool needs it.
    #[track_caller]
    pub(super) fn give_up_idle(&self) -> Result<()> {
        self.core.healthy()?;
        let mut mapper = self.mapper();
        self.drain();
        self.settle_soon()?;
        self.unmap_idle(&mut mapper, usize::MAX)?;
        self.release_cache(&mut mapper, 0)?;
        self.release_chunks(&mut mapper, u64::MAX)
    }
}
