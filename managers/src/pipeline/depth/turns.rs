//! `Turns`: the stages of items in flight, and which slot each uses.

use std::num::NonZeroUsize;

use cupola_core::{Stage, StageRing, Turn};

/// The turns of so many slots, one after the other. Slots may be added: the ring has room for the
/// most that there can be, and the turns go round in those that there are.
pub(crate) struct Turns {
    ring: StageRing,
    slots: usize,
    /// A turn that used the first slot, since when there are so many slots.
    first: u64,
    /// Number of the next turn.
    next: u64,
}

impl Turns {
    pub(crate) fn new(slots: NonZeroUsize, most: NonZeroUsize) -> Self {
        Self {
            ring: StageRing::new(most.max(slots)),
            slots: slots.get(),
            first: 0,
            next: 0,
        }
    }

    /// How many slots there are.
    pub(crate) fn depth(&self) -> usize {
        self.slots
    }

    /// How many turns are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.ring.in_flight()
    }

    /// Whether a slot is free.
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight() < self.slots
    }

    /// Begins a turn in the next slot, if that is free.
    pub(crate) fn begin(&mut self) -> Option<Turn> {
        if !self.has_room() {
            return None;
        }
        let turn = self.ring.begin()?;
        self.next = turn.number() + 1;
        Some(turn)
    }

    fn slot_of(&self, number: u64) -> usize {
        // Turns in flight come after `first`; the remainder is below the number of slots.
        (number.wrapping_sub(self.first) % self.slots as u64) as usize
    }

    /// The slot of a turn that is in flight.
    pub(crate) fn slot(&self, turn: Turn) -> usize {
        self.slot_of(turn.number())
    }

    /// The slot of the next turn.
    pub(crate) fn next_slot(&self) -> usize {
        self.slot_of(self.next)
    }

    /// Whether a slot can be added now: behind the last one, while all are in flight and the first one
    /// is the next. Turns in flight have the slots then that they had before.
    pub(crate) fn may_grow(&self) -> bool {
        !self.has_room() && self.next_slot() == 0 && self.slots < self.ring.depth()
    }

    /// Adds a slot, which the next turn uses.
    pub(crate) fn grow(&mut self) {
        debug_assert!(self.may_grow(), "a turn in flight would change its slot");
        self.first = self.next.wrapping_sub(self.slots as u64);
        self.slots += 1;
    }

    pub(crate) fn stage(&self, turn: Turn) -> Option<Stage> {
        self.ring.stage(turn)
    }

    pub(crate) fn oldest(&self, stage: Stage) -> Option<Turn> {
        self.ring.oldest(stage)
    }

    /// Moves a turn on to its next stage, if it is the oldest in its own.
    pub(crate) fn advance(&mut self, turn: Turn) {
        // One that is not is stale, or behind one that has failed, which is left out.
        let _ = self.ring.advance(turn);
    }

    /// Ends every turn.
    pub(crate) fn reset(&mut self) {
        self.ring.reset();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Takes a turn through all its stages.
    fn end(turns: &mut Turns, turn: Turn) {
        for _ in 0..3 {
            turns.advance(turn);
        }
    }

    // Without it a slot that is added could change the slot of an item in flight.
    #[test]
    fn turns_in_flight_keep_their_slots_when_one_is_added() {
        let count = |slots| NonZeroUsize::new(slots).unwrap();
        for (slots, most) in [(1, 3), (2, 5), (3, 4)] {
            let mut turns = Turns::new(count(slots), count(most));
            let mut in_flight: Vec<(Turn, usize)> = Vec::new();
            for _ in 0..60 {
                while let Some(turn) = turns.begin() {
                    let slot = turns.slot(turn);
                    assert!(
                        in_flight.iter().all(|(_, used)| *used != slot),
                        "used twice"
                    );
                    in_flight.push((turn, slot));
                }
                assert_eq!(in_flight.len(), turns.depth());
                if turns.may_grow() {
                    turns.grow();
                    assert_eq!(turns.next_slot(), turns.depth() - 1, "the new one");
                }
                for (turn, slot) in &in_flight {
                    assert_eq!(turns.slot(*turn), *slot);
                }
                end(&mut turns, in_flight.remove(0).0);
            }
            assert_eq!(turns.depth(), most);
        }
    }
}
