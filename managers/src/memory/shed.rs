//! Giving back what a pool has beyond a limit that was lowered.

use std::time::Duration;

use super::mapper::Mapper;
use super::mapping::Mapping;
use super::patience::Wait;
use super::pool::Pool;
use crate::error::Result;
use crate::sync::lock;

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
    /// What the driver returned first.
    #[track_caller]
    pub(super) fn keep_limit(&self, mut mapper: Mapping<'_>, moment: Duration) -> Result<()> {
        // Before the look: what is freed from here on, threads do not keep.
        self.flag_lanes();
        let done = self.shed(&mut mapper, moment);
        self.flag_lanes();
        done
    }

    #[track_caller]
    fn shed(&self, mapper: &mut Mapper, moment: Duration) -> Result<()> {
        let over = self.over();
        if over == 0 {
            return Ok(());
        }
        let pages = over.div_ceil(self.page) as usize;
        let missing = pages.saturating_sub(mapper.cached() as usize);
        if missing > 0 {
            self.drain();
            self.settle_within(moment)?;
            self.unmap_idle(mapper, missing)?;
        }
        let keep = (mapper.cached() as usize).saturating_sub(pages);
        self.release_cache(mapper, keep)?;
        self.release_chunks(mapper, over)
    }

    fn flag_lanes(&self) {
        self.excess.flag(|| self.over() > 0, || lock(&self.lanes));
    }

    /// Off the hit path, with no lock: gives back what a lowered limit has no room for, at an
    /// operation on so many bytes.
    #[track_caller]
    pub(super) fn shed_at(&self, bytes: u64) {
        if self.excess.is_flagged() || self.over() > 0 {
            self.shed_now(bytes);
        }
    }

    #[cold]
    #[track_caller]
    fn shed_now(&self, bytes: u64) {
        let is_small = bytes < self.page && self.over() > 0;
        // A graph's memory stays where it is: the pool that it is in gives back.
        if self.parent.is_some()
            || (is_small && !self.excess.is_turn())
            || self.core.healthy().is_err()
        {
            return;
        }
        // It is not what was asked for, and the next operation tries again.
        if let Ok(mapper) = self.mapper_within(Wait::Never) {
            let _ = self.keep_limit(mapper, MOMENT);
        }
    }
}
