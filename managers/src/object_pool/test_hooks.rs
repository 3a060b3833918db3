//! Settings of an object pool for a test, and the state of its slots.

use cupola_core::Tag;

use super::word::Word;
use super::{ObjectPool, Reusable, table};
use crate::sync::Ordering;

/// The state of a slot, for a test.
pub(crate) struct SlotState {
    /// Its object is leased, or held by the manager.
    pub(crate) alive: bool,
    /// A handle names it.
    pub(crate) named: bool,
    /// It is not alive and has no name left.
    pub(crate) exhausted: bool,
}

impl<T: Reusable, G: Tag> ObjectPool<T, G> {
    /// Sets the most objects and slots, and how many lives each slot has; `false`, and nothing
    /// is changed, when there is a slot already.
    pub(crate) fn limit_for_test(
        &self,
        objects: Option<usize>,
        slots: Option<usize>,
        lives: Option<u64>,
    ) -> bool {
        let first = lives.map_or(Word::NEW, Word::before_last);
        self.table.limit_for_test(slots.unwrap_or(table::ROOM), || {
            self.idle.first.store(first.0, Ordering::Relaxed);
            if let Some(objects) = objects {
                self.set_capacity(objects);
            }
        })
    }

    pub(crate) fn is_limited_for_test(&self) -> bool {
        self.table.is_limited_for_test()
    }

    /// Every slot so far.
    pub(crate) fn slots_for_test(&self) -> impl Iterator<Item = SlotState> + '_ {
        self.nodes().map(|node| {
            let (word, awake) = node.look();
            let alive = node.leases() > 0;
            SlotState {
                alive,
                named: awake && word.is_named(),
                exhausted: !alive && word.is_worn(),
            }
        })
    }
}
