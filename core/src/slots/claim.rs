//! Claiming a free slot, and growing the store when there is none.

use super::error::InsertError;
use super::group::Place;
use super::payload::Payload;
use super::word::Phase;
use super::{Layout, Policy, Slots};
use crate::handle::{Handle, Tag};
use crate::sync::GROUP;

/// A life without a value (yet): its slot, which is the caller's, and its handle.
pub(super) struct Begun<'p, C: Payload, G>(pub(super) Place<'p, C>, pub(super) Handle<G>);

impl<L: Layout, G: Tag, P: Policy> Slots<L, G, P> {
    /// Makes the caller owner of a free slot, the lowest of the first group that has one:
    /// its index and place. Resting slots are woken when no slot is free.
    pub(super) fn claim(&self) -> Result<(usize, Place<'_, L::Cell>), InsertError<()>> {
        let mut known = 0;
        loop {
            let count = self.layout.count().max(known);
            let claimed = self.claim_free(count).or_else(|| self.claim_resting(count));
            if let Some(claimed) = claimed {
                return Ok(claimed);
            }
            known = self.grow(count)?;
        }
    }

    /// Claims a free slot of the first `count` groups.
    fn claim_free(&self, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        for index in 0..count {
            if let Some(group) = self.layout.group(index)
                && let Some(at) = group.bitmap.claim(group.all())
                && let Some(place) = group.place(at)
            {
                return Some((index * GROUP + place.at, place));
            }
        }
        None
    }

    /// Claims a resting slot of the first `count` groups. The resting slots of the same
    /// group are free from then on.
    fn claim_resting(&self, count: usize) -> Option<(usize, Place<'_, L::Cell>)> {
        for index in 0..count {
            let Some(group) = self.layout.group(index) else {
                continue;
            };
            let woken = group.bitmap.claim_left(group.slots, Phase::Vacant, GROUP);
            if woken == 0 {
                continue;
            }
            let others = woken & (woken - 1);
            if others != 0 {
                group.bitmap.free(others);
            }
            let place = group.place(woken.trailing_zeros() as usize)?;
            return Some((index * GROUP + place.at, place));
        }
        None
    }

    /// Makes room when `count` groups have no slot for the caller: adds a group, or finds one
    /// more, or one with a free slot. Returns how many groups there are at least, for the
    /// next search: their number in the layout may be late, for as long as the thread that
    /// added one is kept from running.
    fn grow(&self, count: usize) -> Result<usize, InsertError<()>> {
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
    pub(super) fn begin(&self, phase: Phase) -> Result<Begun<'_, L::Cell, G>, InsertError<()>> {
        let (index, place) = self.claim()?;
        // SAFETY: `State::begin` needs an owner and a slot that is vacant and not used up.
        // `claim` made this thread the owner, and slots in other states keep their bit, so
        // `claim` does not find them.
        match unsafe { place.slot.state.begin(phase) } {
            Some(generation) => Ok(Begun(place, Handle::new(index, generation))),
            None => {
                place.free();
                Err(InsertError::Closed(()))
            }
        }
    }
}
