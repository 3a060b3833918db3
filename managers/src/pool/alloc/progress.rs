//! `Progress`: whether a search may find more than the one before it did.
//!
//! Only the first thread to look sees a completion or a return, so no thread may decide by its own
//! looks. They are counted instead: a request that has found nothing, and that a completion could
//! serve, searches again if the counts are not those from before its search.

use crate::sync::event_count::EventCount;

/// Counts of the changes in a pool so far. Each is counted after it has happened.
#[derive(Debug, Default)]
pub(crate) struct ProgressCounters {
    /// Work that used freed memory has completed.
    done: EventCount,
    /// Something went back to the driver, or a limit was raised.
    room: EventCount,
    /// Something was charged for a moment, for nothing: of no use to the pool itself, but others
    /// may have been refused by it.
    undone: EventCount,
    /// Graphs' memories of the pool that give all back, and can be asked for nothing any more.
    ending: EventCount,
}

impl ProgressCounters {
    pub(crate) fn note_done(&self) {
        self.done.note();
    }

    pub(crate) fn note_room(&self) {
        self.room.note();
    }

    /// Counts the graphs' memories of the pool that give all back.
    pub(crate) fn ending(&self) -> &EventCount {
        &self.ending
    }

    pub(crate) fn note_undone(&self) {
        self.undone.note();
    }
}

/// The counts of a pool, and of those that share a limit with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) of: Vec<MemberProgress>,
    /// Of the limit that they share.
    pub(crate) shared: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MemberProgress {
    pool: u64,
    done: u64,
    room: u64,
}

impl MemberProgress {
    /// Of the pool with this number, which has put memory back `moved` times; `own` of the pool
    /// that asks.
    pub(crate) fn new(pool: u64, changes: &ProgressCounters, moved: u64, own: bool) -> Self {
        let undone = if own { 0 } else { changes.undone.get() };
        Self {
            pool,
            done: changes.done.get(),
            room: changes.room.get().wrapping_add(undone).wrapping_add(moved),
        }
    }
}

impl Progress {
    /// Whether work of a pool that is in both has completed in between.
    pub(crate) fn completed(&self, now: &Self) -> bool {
        let is_same = |before: &MemberProgress| {
            let now = now.of.iter().find(|now| now.pool == before.pool);
            now.is_none_or(|now| now.done == before.done)
        };
        !self.of.iter().all(is_same)
    }
}
