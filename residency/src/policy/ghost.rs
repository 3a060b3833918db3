//! `Ghost`: what a policy would have had to reload.

use super::{Candidate, EvictionPolicy, Use};

/// Slots without memory, which follow the uses under one policy: the price of that policy, in bytes.
#[derive(Debug)]
pub(super) struct Ghost {
    policy: Box<dyn EvictionPolicy>,
    slots: Vec<Candidate>,
    /// Bytes that all slots have.
    used: u64,
    /// Bytes that were loaded, those of long ago less and less.
    price: f64,
}

/// What a byte of one use earlier counts.
const MEMORY: f64 = 1.0 - 1.0 / 256.0;

impl Ghost {
    pub(super) fn new(policy: impl EvictionPolicy + 'static) -> Self {
        Self {
            policy: Box::new(policy),
            slots: Vec::new(),
            used: 0,
            price: 0.0,
        }
    }

    pub(super) fn price(&self) -> f64 {
        self.price
    }

    pub(super) fn sort(&mut self, candidates: &mut [Candidate]) {
        self.policy.sort(candidates);
    }

    pub(super) fn forget(&mut self, slot: usize) {
        if let Some(gone) = self.slots.iter().position(|it| it.slot == slot) {
            self.used -= self.slots.swap_remove(gone).resident;
        }
        self.policy.forget(slot);
    }

    pub(super) fn note_use(&mut self, used: Use) {
        self.policy.note_use(used);
        let here = self.slots.iter().position(|it| it.slot == used.slot);
        let here = here.unwrap_or_else(|| {
            self.slots.push(Candidate {
                slot: used.slot,
                bytes: used.bytes,
                resident: 0,
                last_use: 0,
                uses: 0,
            });
            self.slots.len() - 1
        });
        let missing = used.bytes.saturating_sub(self.slots[here].resident);
        self.price = self.price * MEMORY + missing as f64;
        self.used += missing;
        let slot = &mut self.slots[here];
        slot.bytes = used.bytes;
        slot.resident += missing;
        slot.last_use = used.at;
        slot.uses += 1;
        self.shrink_to(used);
    }

    /// Gives up what is more than the budget, of other slots than the one in use.
    fn shrink_to(&mut self, used: Use) {
        if self.used <= used.budget {
            return;
        }
        self.policy.sort(&mut self.slots);
        for slot in &mut self.slots {
            let over = self.used.saturating_sub(used.budget);
            if over == 0 {
                break;
            }
            if slot.slot == used.slot || slot.resident == 0 {
                continue;
            }
            let given = over.min(slot.resident);
            slot.resident -= given;
            self.used -= given;
            self.policy.note_eviction(*slot);
        }
    }
}
