//! Giving back the memory that a pool has beyond a limit that was lowered.

use std::time::Duration;

use crate::error::Result;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::mapper_guard::MapperGuard;
use crate::pool::request::Wait;
use crate::pool::state::Pool;

/// How long an operation waits for the events of streams with nothing to do.
const MOMENT: Duration = Duration::from_micros(20);

impl Pool {
    /// Bytes that the pool has and its own limit does not grant.
    fn over(&self) -> u64 {
        self.budget.used().saturating_sub(self.budget.limit())
    }

    /// Gives memory that nothing uses back until the limit is kept. Waits no longer than `moment`
    /// for work to complete.
    ///
    /// # Errors
    /// The driver's first error.
    #[track_caller]
    pub(crate) fn keep_limit(&self, mut mapper: MapperGuard<'_>, moment: Duration) -> Result<()> {
        // Before the look: threads do not keep memory that is freed from here on.
        self.flag_caches();
        let done = self.release_excess(&mut mapper, moment);
        self.flag_caches();
        done
    }

    #[track_caller]
    fn release_excess(&self, mapper: &mut Mapper, moment: Duration) -> Result<()> {
        let over = self.over();
        if over == 0 {
            return Ok(());
        }
        let pages = over.div_ceil(self.pages.page()) as usize;
        let missing = pages.saturating_sub(mapper.cached() as usize);
        if missing > 0 {
            self.drain();
            self.close_and_poll_within(moment)?;
            self.unmap_idle(mapper, missing)?;
        }
        let keep = (mapper.cached() as usize).saturating_sub(pages);
        self.pages.release_cache(self, mapper, keep)?;
        self.release_chunks(mapper, over)
    }

    fn flag_caches(&self) {
        self.over_limit
            .flag(|| self.over() > 0, || self.caches.lock());
    }

    /// Off the hit path, with no lock: gives back the memory that a lowered limit has no room for,
    /// at an operation on so many bytes.
    #[track_caller]
    pub(crate) fn maybe_release_excess(&self, bytes: u64) {
        if self.over_limit.is_flagged() || self.over() > 0 {
            self.release_excess_now(bytes);
        }
    }

    #[cold]
    #[track_caller]
    fn release_excess_now(&self, bytes: u64) {
        let is_small = bytes < self.pages.page() && self.over() > 0;
        // A graph's memory stays where it is: the pool that it is in gives back.
        if self.parent.is_some()
            || (is_small && !self.over_limit.is_turn())
            || self.core.healthy().is_err()
        {
            return;
        }
        // The caller did not ask for it, and the next operation tries again.
        if let Ok(mapper) = self.pages.lock_within(Wait::Never) {
            let _ = self.keep_limit(mapper, MOMENT);
        }
    }
}
