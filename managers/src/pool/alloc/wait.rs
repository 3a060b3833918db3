//! Waiting until a search may find more than the one before it did.

use std::iter;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::pool::alloc::patience::{News, Next, Patience};
use crate::pool::alloc::progress::{MemberProgress, Progress};
use crate::pool::inspect::counters::Happened;
use crate::pool::limit::device_limit::DeviceLimit;
use crate::pool::member::Member;
use crate::pool::state::Pool;
use crate::sync::event_count::EventCount;
use crate::sync::rundown::RundownGuard;

impl Pool {
    /// How often unused memory went into a cache, behind the back of threads that had looked
    /// through that. Unlike the other signs it is counted before a thread can miss the memory: a
    /// thread that finds it counted already waits for the cache.
    fn moves(&self) -> u64 {
        self.traffic().moves()
    }

    pub(crate) fn signs(&self) -> Progress {
        let mut of = vec![self.sign_for(true)];
        for other in self.others() {
            of.push(other.sign());
        }
        let shared = self.config.within.as_ref();
        Progress {
            of,
            shared: shared.map_or(0, DeviceLimit::changes),
        }
    }

    /// The pools that share a limit with this one, one after the other: those that do not end just
    /// now. The caller holds no lock of this pool meanwhile.
    pub(crate) fn others(&self) -> impl Iterator<Item = RundownGuard<dyn Member>> + use<> {
        let shared = self.config.within.as_ref();
        let mut others =
            shared.map_or_else(Vec::new, |shared| shared.others(ptr::from_ref(self).cast()));
        if let Some(parent) = &self.parent
            && !others
                .iter()
                .any(|other| other.points_to(Arc::as_ptr(parent).cast()))
        {
            others.push(parent.member());
        }
        let mut others = others.into_iter();
        iter::from_fn(move || {
            loop {
                let other = others.next()?.acquire();
                if other.is_some() {
                    return other;
                }
            }
        })
    }

    /// The counts of the pools that end, of the limits that this one is charged to.
    fn endings(&self) -> impl Iterator<Item = &EventCount> {
        let shared = self.config.within.as_ref();
        let shared = shared.map(DeviceLimit::ending);
        let own = self.parent.as_deref().unwrap_or(self);
        shared.into_iter().chain([own.observer.progress().ending()])
    }

    /// From now on no pool can ask this one for memory; its memory is on its way back.
    pub(crate) fn note_ending(&self) {
        if !mutant!("an_end_is_not_awaited") {
            self.endings().for_each(EventCount::note);
        }
    }

    /// Its memory is back, as far as it will ever be.
    pub(crate) fn note_ended(&self) {
        if !mutant!("an_end_is_not_awaited") {
            self.endings().for_each(EventCount::note_end);
        }
    }

    /// Waits on the host until a search may find more than the one that began with `before`, here
    /// or in a pool that shares the limit. False when nothing has come back, and nothing will
    /// in time.
    #[track_caller]
    pub(crate) fn wait_for_more(&self, before: &Progress, patience: &mut Patience) -> Result<bool> {
        let spin = Instant::now() + Duration::from_micros(20);
        let mut napped = false;
        loop {
            // No request is in a pool that ends, so it does not wait for itself.
            let mut pending = self.endings().any(|ending| ending.get() > 0);
            pending |= self.is_under_way()?;
            for other in self.others() {
                // Errors of their contexts are for their own callers.
                if let Some(other) = Self::of_member(&*other) {
                    pending |= other.is_under_way().unwrap_or(false);
                }
            }
            let now = self.signs();
            let news = if before.completed(&now) {
                News::Completed
            } else if *before != now {
                News::Changed
            } else {
                News::None
            };
            match patience.next(news, pending, napped) {
                Next::Search => return Ok(true),
                Next::Refuse => return Ok(false),
                Next::Wait => {}
            }
            if patience.begin_wait() {
                self.observer.note(Happened::WaitedOnHost);
            }
            if Instant::now() < spin {
                std::hint::spin_loop();
            } else {
                patience.nap();
                napped = true;
            }
        }
    }

    pub(crate) fn sign_for(&self, own: bool) -> MemberProgress {
        let moved = self.frees().wrapping_add(self.moves());
        MemberProgress::new(self.number, self.observer.progress(), moved, own)
    }

    /// Whether work that uses freed memory is under way, after a poll.
    #[track_caller]
    pub(crate) fn is_under_way(&self) -> Result<bool> {
        self.poll_streams()?;
        Ok(self.is_waiting())
    }
}
