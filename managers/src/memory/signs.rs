//! `Signs`: whether a search may find more than the one before it did.
//!
//! What completes or comes back is seen by whoever looks first, so nobody may decide by what it
//! has seen itself. It is counted instead: a request that has found nothing, and that completion could
//! give what it wants, searches again if the counts are not those from before its search.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::patience::{News, Next, Patience};
use super::pool::{Pool, count};
use crate::error::Result;
use crate::sync::rundown::RundownGuard;

/// What has changed in a pool so far. Each is counted after it has happened.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Work has completed that used what was freed.
    done: AtomicU64,
    /// Something went back to the driver, or a limit was raised.
    room: AtomicU64,
    /// Something was charged for a moment, for nothing: of no use to the pool itself, but others
    /// may have been refused by it.
    undone: AtomicU64,
    /// Graphs' memories of the pool that give all back, and can be asked for nothing any more.
    ending: AtomicU64,
}

fn note(counter: &AtomicU64) {
    // What it counts comes before it.
    counter.fetch_add(1, Ordering::Release);
}

impl Changes {
    pub(super) fn note_done(&self) {
        note(&self.done);
    }

    pub(super) fn note_room(&self) {
        note(&self.room);
    }

    pub(super) fn note_undone(&self) {
        note(&self.undone);
    }
}

/// The counts of a pool, and of those that share a limit with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signs {
    of: Vec<Sign>,
    /// Of the limit that they share.
    shared: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Sign {
    pool: u64,
    done: u64,
    room: u64,
}

impl Sign {
    fn of(pool: &Pool, own: bool) -> Self {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let changes = &pool.changes;
        let undone = if own { 0 } else { read(&changes.undone) };
        Self {
            pool: pool.number,
            done: read(&changes.done),
            room: read(&changes.room)
                .wrapping_add(undone)
                .wrapping_add(pool.frees())
                .wrapping_add(pool.moves()),
        }
    }
}

impl Signs {
    /// Whether work of a pool that is in both has completed in between.
    fn completed(&self, now: &Self) -> bool {
        let is_same = |before: &Sign| {
            let now = now.of.iter().find(|now| now.pool == before.pool);
            now.is_none_or(|now| now.done == before.done)
        };
        !self.of.iter().all(is_same)
    }
}

impl Pool {
    /// How often memory that nobody uses went into a lane, behind the back of whoever had looked
    /// through that. Unlike the other signs it is counted before anybody can miss it: who finds
    /// it counted already waits for the lane.
    fn moves(&self) -> u64 {
        self.flow().moves.load(Ordering::Relaxed)
    }

    pub(super) fn signs(&self) -> Signs {
        let others = self.others().map(|other| Sign::of(&other, false));
        let shared = self.config.within.as_ref();
        Signs {
            of: std::iter::once(Sign::of(self, true))
                .chain(others)
                .collect(),
            shared: shared.map_or(0, super::config::DeviceLimit::changes),
        }
    }

    /// The pools that share a limit with this one, one after the other: those that do not end just
    /// now. Nobody has a lock of this pool meanwhile.
    pub(super) fn others(&self) -> impl Iterator<Item = RundownGuard<Self>> + use<> {
        let shared = self.config.within.as_ref();
        let mut others = shared.map_or_else(Vec::new, |shared| shared.others(self));
        if let Some(parent) = &self.parent
            && !others
                .iter()
                .any(|other| other.points_to(&raw const **parent))
        {
            others.push(parent.host());
        }
        others.into_iter().filter_map(|other| other.acquire())
    }

    /// What counts the pools that end, of the limits that this one is charged to.
    fn endings(&self) -> impl Iterator<Item = &AtomicU64> {
        let shared = self.config.within.as_ref();
        let shared = shared.map(super::config::DeviceLimit::ending);
        let own = self.parent.as_deref().unwrap_or(self);
        shared.into_iter().chain([&own.changes.ending])
    }

    /// From now on nobody can ask this pool for memory; what it has is on its way back.
    pub(super) fn note_ending(&self) {
        if !mutant!("an_end_is_not_awaited") {
            self.endings().for_each(note);
        }
    }

    /// What it had is back, as far as it will ever be.
    pub(super) fn note_ended(&self) {
        if !mutant!("an_end_is_not_awaited") {
            for ending in self.endings() {
                // What came back comes before it.
                ending.fetch_sub(1, Ordering::Release);
            }
        }
    }

    /// Waits on the host until a search may find more than the one that began with `before`, here
    /// or in a pool that shares the limit. False when nothing has come back, and nothing will
    /// in time.
    #[track_caller]
    pub(super) fn wait_for_more(&self, before: &Signs, patience: &mut Patience) -> Result<bool> {
        let spin = Instant::now() + Duration::from_micros(20);
        let mut napped = false;
        loop {
            // No request is in a pool that ends, so it does not wait for itself.
            let mut pending = self.endings().any(|it| it.load(Ordering::Acquire) > 0);
            pending |= self.is_under_way()?;
            for other in self.others() {
                // What is wrong with them is for those who use them.
                pending |= other.is_under_way().unwrap_or(false);
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
                count(&self.counters.host_waits);
            }
            if Instant::now() < spin {
                std::hint::spin_loop();
            } else {
                patience.nap();
                napped = true;
            }
        }
    }

    /// Whether work is under way that uses what was freed, after a look at what has completed.
    #[track_caller]
    fn is_under_way(&self) -> Result<bool> {
        self.look_around()?;
        Ok(self.is_waiting())
    }
}
