//! What a pool has beyond a limit that was lowered. It goes back as soon as nothing uses it.
//!
//! A hit asks nobody for the limit. So while something is over, a flag keeps threads out of their
//! lanes: what they free goes to the heap, and who comes there gives back what is idle.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::lane::EXCESS;
use super::mapper::Mapper;
use super::mapping::Mapping;
use super::patience::Wait;
use super::pool::{Pool, lock};
use crate::error::Result;
use crate::sync::biased_lock::BiasedLock;
use crate::sync::{AtomicBool, Ordering};

/// Of operations on less than a page one in so many looks: few of them leave a page idle.
const SELDOM: u64 = 64;
/// How long an operation waits for the events of streams with nothing to do.
const MOMENT: Duration = Duration::from_micros(20);

/// Whether a pool is over its limit.
#[derive(Debug, Default)]
pub(crate) struct Excess {
    /// The lanes have the flag. Changed under their lock.
    flagged: AtomicBool,
    /// Operations on less than a page meanwhile.
    small: AtomicU64,
}

impl Excess {
    fn is_flagged(&self) -> bool {
        self.flagged.load(Ordering::Relaxed)
    }

    /// Gives a new lane the flag that the others have. Under the lock of the lanes.
    pub(crate) fn enter(&self, lane: &BiasedLock) {
        if self.is_flagged() && !mutant!("excess_forgets_new_lanes") {
            lane.set_flags(EXCESS);
        }
    }

    /// Keeps threads out of their lanes while the pool is over its limit: `lanes` locks these.
    pub(crate) fn flag<T: AsRef<BiasedLock>, L: Deref<Target = Vec<Arc<T>>>>(
        &self,
        is_over: impl Fn() -> bool,
        lanes: impl FnOnce() -> L,
    ) {
        let early = mutant!("excess_looks_before_the_lock").then(&is_over);
        let lanes = lanes();
        // Whoever changes the limit does so before he comes here, so the last to look is right.
        let is_over = early.unwrap_or_else(is_over);
        if self.flagged.swap(is_over, Ordering::Relaxed) == is_over {
            return;
        }
        let all = lanes.iter().map(|lane| (**lane).as_ref());
        if is_over {
            let seized = BiasedLock::revoke_all(all);
            seized.iter().for_each(|lane| lane.set_flags(EXCESS));
        } else {
            all.for_each(|lane: &BiasedLock| lane.clear_flags(EXCESS));
        }
    }

    /// Whether it is time for an operation on less than a page to look.
    fn is_turn(&self) -> bool {
        let count = self.small.fetch_add(1, Ordering::Relaxed);
        count.is_multiple_of(SELDOM)
    }
}

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
