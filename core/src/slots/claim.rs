//! Free slots: how one is claimed, and what a store does when there is none.

use super::error::InsertError;
use super::group::{Group, Place};
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
        let mut known = 0;
        loop {
            let count = self.layout.count().max(known);
            // Groups that are used up stay so until the resting slots are woken: the cursor
            // passes them by.
            let cursor = if P::Reuse::is_round() {
                self.cursor.load(Ordering::Relaxed)
            } else {
                0
            };
            let first = hint.wrapping_add(cursor);
            let first = if first < count {
                first
            } else {
                first % count.max(1)
            };
            let claimed = self
                .claim_from(first, count)
                .or_else(|| self.claim_resting(first, count));
            if let Some((index, place)) = claimed {
                let group = index / GROUP;
                if P::Reuse::is_round() && group != first {
                    self.cursor
                        .store(group.wrapping_sub(hint), Ordering::Relaxed);
                }
                return Ok((index, place));
            }
            known = self.grow(count)?;
        }
    }

    /// As `claim` among the first `count` groups, beginning with group `first`.
    fn claim_from(&self, first: usize, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        let claim = |index: usize| {
            let group = self.layout.group(index)?;
            let place = group.place(group.bitmap.claim(group.all())?)?;
            Some((index * GROUP + place.at, place))
        };
        claim(first)
            .or_else(|| (first + 1..count).find_map(claim))
            .or_else(|| (0..first).find_map(claim))
    }

    /// Passes an owned, vacant slot on as the policy says.
    pub(super) fn reuse(place: Place<'_, L::Cell>) {
        if P::Reuse::is_round() {
            place.rest();
        } else {
            place.free();
        }
    }

    /// As `claim_from` among the slots that rest. Those of the same group are free from now
    /// on.
    fn claim_resting(&self, first: usize, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        let (index, group, woken) = self.wake(first, count)?;
        let others = woken & (woken - 1);
        if others != 0 {
            group.bitmap.free(others);
        }
        let place = group.place(woken.trailing_zeros() as usize)?;
        Some((index * GROUP + place.at, place))
    }

    /// Makes the caller owner of the resting slots of the first group that has any, of
    /// `count` groups from `first` on: its index, and a bit for each of them.
    pub(super) fn wake(
        &self,
        first: usize,
        count: usize,
    ) -> Option<(usize, Group<'_, L::Cell>, u64)> {
        (first..count).chain(0..first).find_map(|index| {
            let group = self.layout.group(index)?;
            let woken = group.bitmap.claim_left(group.slots, Phase::Vacant, GROUP);
            (woken != 0).then_some((index, group, woken))
        })
    }

    /// Makes room when `count` groups have no slot for the caller: adds a group, or finds one
    /// more, or one with a free slot. Returns how many groups there are at least, for the
    /// next search: their number in the layout may be late, for as long as the thread that
    /// added one is kept from running.
    pub(super) fn grow(&self, count: usize) -> Result<usize, InsertError<()>> {
        if self.is_closed() {
            return Err(InsertError::Closed(()));
        }
        // From the beginning: a group that was added may be seen late too.
        let mut end = 0;
        while let Some(group) = self.layout.group(end) {
            end += 1;
            if group.bitmap.has_free(group.all()) {
                return Ok(end);
            }
        }
        if end > count || self.layout.grow(end) {
            Ok(end + 1)
        } else {
            Err(InsertError::Full(()))
        }
    }

    /// Begins a life without a value, in `phase`.
    pub(super) fn begin(
        &self,
        hint: usize,
        phase: Phase,
    ) -> Result<Begun<'_, L::Cell, G>, InsertError<()>> {
        let (index, place) = self.claim(hint)?;
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
