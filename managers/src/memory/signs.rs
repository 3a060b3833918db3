//! `Signs`: whether a search may find more than the one before it did.
//!
//! What completes or comes back is seen by whoever looks first, so nobody may decide by what it
//! has seen itself. It is counted instead: a request that has found nothing, and that completion could
//! give what it wants, searches again if the counts are not those from before its search.

use std::sync::atomic::{AtomicU64, Ordering};

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
    pub(super) ending: AtomicU64,
}

pub(super) fn note(counter: &AtomicU64) {
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
    pub(super) of: Vec<Sign>,
    /// Of the limit that they share.
    pub(super) shared: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pool: u64,
    done: u64,
    room: u64,
}

impl Sign {
    /// Of the pool with this number, which has put memory back `moved` times; `own` of the pool that
    /// asks.
    pub(super) fn new(pool: u64, changes: &Changes, moved: u64, own: bool) -> Self {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        let undone = if own { 0 } else { read(&changes.undone) };
        Self {
            pool,
            done: read(&changes.done),
            room: read(&changes.room).wrapping_add(undone).wrapping_add(moved),
        }
    }
}

impl Signs {
    /// Whether work of a pool that is in both has completed in between.
    pub(super) fn completed(&self, now: &Self) -> bool {
        let is_same = |before: &Sign| {
            let now = now.of.iter().find(|now| now.pool == before.pool);
            now.is_none_or(|now| now.done == before.done)
        };
        !self.of.iter().all(is_same)
    }
}
