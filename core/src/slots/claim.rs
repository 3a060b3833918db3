//! Free slots: how one is claimed, and what a store does when there is none.

use super::error::InsertError;
use super::group::Place;
use super::payload::Payload;
use super::policy::sealed::Reuse as _;
use super::word::Phase;
use super::{Layout, Policy, Slots};
use crate::handle::{Handle, Tag};
use crate::sync::{GROUP, Ordering};

/// A life without a value (yet): its slot, which is the caller's, and its handle.
pub(super) struct Begun<'p, C: Payload, G>(pub(super) Place<'p, C>, pub(super) Handle<G>);

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// Makes the caller owner of a free slot: its index and place.
    pub(super) fn claim(
        &self,
        hint: usize,
    ) -> Result<(usize, Place<'_, L::Cell>), InsertError<()>> {
        loop {
            // Groups that are added meanwhile are found by growing.
            let count = self.layout.count();
            // Groups that are used up stay so until the resting slots are woken: the cursor
            // passes them by.
            let cursor = if P::Reuse::ROUND {
                self.cursor.load(Ordering::Relaxed)
            } else {
                0
            };
            let first = hint.wrapping_add(cursor);
            if let Some((index, place)) = self.claim_from(first, count) {
                let group = index / GROUP;
                if P::Reuse::ROUND && group != first % count.max(1) {
                    self.cursor
                        .store(group.wrapping_sub(hint), Ordering::Relaxed);
                }
                return Ok((index, place));
            }
            self.grow()?;
        }
    }

    /// As `claim` among the first `count` groups, beginning with group `first`.
    fn claim_from(&self, first: usize, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        let claim = |index: usize| {
            let group = self.layout.group(index)?;
            let place = group.place(group.bitmap.claim(group.all())?)?;
            Some((index * GROUP + place.at, place))
        };
        let first = if first < count {
            first
        } else {
            first % count.max(1)
        };
        claim(first)
            .or_else(|| (first + 1..count).find_map(claim))
            .or_else(|| (0..first).find_map(claim))
    }

    /// Passes an owned, vacant slot on as the policy says.
    pub(super) fn reuse(place: Place<'_, L::Cell>) {
        if P::Reuse::ROUND {
            place.rest();
        } else {
            place.free();
        }
    }

    /// Frees the slots that rest, if there are any.
    fn wake(&self) -> bool {
        let mut any = false;
        for (_, group) in self.groups() {
            let woken = group.bitmap.claim_left(group.slots, Phase::Vacant, GROUP);
            if woken != 0 {
                group.bitmap.free(woken);
                any = true;
            }
        }
        any
    }

    /// Makes room when no slot is free: has the resting slots used, adds a group, or finds
    /// one with a free slot. An error when there is none of these.
    pub(super) fn grow(&self) -> Result<(), InsertError<()>> {
        if self.is_closed() {
            return Err(InsertError::Closed(()));
        }
        if self.wake() {
            return Ok(());
        }
        // From the beginning: the number of groups and the groups themselves may be seen
        // late in any order.
        let mut end = 0;
        while let Some(group) = self.layout.group(end) {
            if group.bitmap.has_free(group.all()) {
                return Ok(());
            }
            end += 1;
        }
        if self.layout.grow(end) {
            Ok(())
        } else {
            Err(InsertError::Full(()))
        }
    }

    /// Begins a life without a value, in `phase`.
    pub(super) fn begin(&self, phase: Phase) -> Result<Begun<'_, L::Cell, G>, InsertError<()>> {
        let (index, place) = self.claim(0)?;
        // SAFETY: as in `insert_near`.
        match unsafe { place.slot.state.begin(phase) } {
            Some(generation) => Ok(Begun(place, Handle::new(index, generation))),
            None => {
                place.free();
                Err(InsertError::Closed(()))
            }
        }
    }
}
