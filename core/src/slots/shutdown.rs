//! Shutting a store down in two phases: close, then drain until nothing is held.

use core::{fmt, iter};

use super::group::Group;
use super::word::Phase;
use super::{Layout, Policy, Release, Slots, ValueOf};
use crate::handle::{Handle, Tag};

/// The number of slots and leases that a store still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Slots with a value, or reserved for one.
    pub slots: usize,
    /// Leases out on them.
    pub leases: u64,
}

impl Held {
    /// Nothing is held any more.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A slot that holds something.
#[non_exhaustive]
pub struct HeldSlot<G> {
    /// The handle of its value, or of the value that it is reserved for.
    pub handle: Handle<G>,
    /// Leases out on it.
    pub leases: u64,
    /// It was released, and waits for its last lease or for `reap`.
    pub released: bool,
}

impl<G: Tag> fmt::Debug for HeldSlot<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldSlot")
            .field("handle", &self.handle)
            .field("leases", &self.leases)
            .field("released", &self.released)
            .finish()
    }
}

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// First phase of shutting down: refuses new values and new leases from now on, for
    /// ever, and grows no more. Values stay where they are, and releasing goes on.
    ///
    /// When this returns, no lease is granted any more: [`held`](Self::held) then only
    /// falls.
    pub fn close(&self) {
        let mut index = 0;
        while let Some(group) = self.layout.seal(index) {
            for slot in group.slots {
                slot.state.close();
            }
            index += 1;
        }
    }

    /// Closing has begun.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let first = self.layout.group(0).and_then(|group| group.slots.first());
        first.map_or_else(
            || self.layout.is_sealed_empty(),
            |slot| slot.state.word().is_closed(),
        )
    }

    /// Second phase of shutting down: releases every value that is there, passes each one
    /// that no thread leases to `destroy`, and returns what is still held. Call it again when
    /// leases have ended, until nothing is.
    pub fn drain(&self, mut destroy: impl FnMut(Handle<G>, ValueOf<L>)) -> Held {
        for slot in self.still_held() {
            if let Ok(Release::Now(value)) = self.release(slot.handle) {
                destroy(slot.handle, value);
            }
        }
        while let Some((handle, value)) = self.reap() {
            destroy(handle, value);
        }
        self.held()
    }

    /// The account of all values that the store holds now, released or not, and of their
    /// leases.
    #[must_use]
    pub fn held(&self) -> Held {
        let mut held = Held::default();
        for slot in self.still_held() {
            held.slots += 1;
            held.leases += slot.leases;
        }
        held
    }

    /// The slots that hold something now, with the number of leases on each.
    pub fn still_held(&self) -> impl Iterator<Item = HeldSlot<G>> + '_ {
        let mut slots = self.chosen(Group::all);
        iter::from_fn(move || {
            loop {
                let (index, slot) = slots.next()?;
                let word = slot.state.word();
                if !word.is_occupied() {
                    continue;
                }
                return Some(HeldSlot {
                    handle: Handle::new(index, word.generation()),
                    leases: match word.phase() {
                        Phase::Alive | Phase::Retiring => word.leases(),
                        // The count is of threads that wait for a value.
                        _ => 0,
                    },
                    released: word.phase() == Phase::Retiring,
                });
            }
        })
    }
}
