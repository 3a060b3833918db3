//! What may be loaded ahead of the requests that are announced, without a byte more than without it.
//!
//! The requests that come next are played through, each taking memory from the slots that would give it up first by
//! then. A piece that goes before its slot is used again is of no use until then: it may go at once, for the
//! slot that would get it later. Any other piece may not: it would be loaded once more.

use std::cmp::Reverse;

use crate::pieces::Layout;
use crate::policy::Candidate;

use super::{Entry, Table};

/// A slot that can be loaded ahead, and the memory for it.
#[derive(Debug)]
pub(crate) struct AheadTarget {
    pub(crate) slot: usize,
    /// Bytes that no slot has.
    pub(crate) free: u64,
    /// Pieces of slots, which are to go in this order.
    pub(crate) cuts: Vec<Cut>,
}

/// The last piece of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) slot: usize,
    /// Where it begins.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

impl Table {
    /// Whether one of the slots that are announced next lacks memory.
    pub(crate) fn wants_ahead(&self) -> bool {
        let next = self.announced.iter().take(self.ahead);
        next.filter_map(|&number| self.get(number))
            .any(|entry| !entry.is_whole())
    }

    /// What can be loaded ahead where so many bytes are free, the slot that is used first at first.
    pub(crate) fn plan_ahead(&mut self, mut free: u64, layout: Layout) -> Vec<AheadTarget> {
        let ranks = self.ranks();
        let mut levels: Vec<u64> = self.slots.iter().map(level).collect();
        let mut targets = Vec::new();
        for at in 0..self.announced.len().min(self.ahead) {
            let number = self.announced[at];
            let Some(entry) = self.get(number) else {
                continue;
            };
            let lacking = entry.rounded - levels[number];
            let mut target = AheadTarget {
                slot: number,
                free: free.min(lacking),
                cuts: Vec::new(),
            };
            let mut room = target.free;
            let mut is_useless = true;
            for victim in self.victims_at(at, &ranks) {
                let rounded = self.get(victim).map_or(0, |entry| entry.rounded);
                while room < lacking && levels[victim] > 0 {
                    let begin = layout.last_begin(levels[victim], rounded);
                    let bytes = levels[victim] - begin;
                    levels[victim] = begin;
                    room += bytes;
                    is_useless &= !self.announced.range(..at).any(|&it| it == victim);
                    if is_useless {
                        target.cuts.push(Cut {
                            slot: victim,
                            at: begin,
                            bytes,
                        });
                    }
                }
            }
            free = free - target.free + room.saturating_sub(lacking);
            // Else a request before it takes its end, and what is loaded now would go again.
            let keeps_its_own = entry.held() == entry.rounded - lacking;
            levels[number] = entry.rounded;
            if keeps_its_own && target.free + target.cuts.len() as u64 > 0 {
                targets.push(target);
            }
        }
        targets
    }

    /// The place of each slot in the policy's order.
    fn ranks(&mut self) -> Vec<usize> {
        let mut candidates: Vec<Candidate> = (self.each())
            .map(|(number, entry)| Self::candidate(number, entry))
            .collect();
        self.policy.sort(&mut candidates);
        let mut ranks = vec![0; self.slots.len()];
        for (rank, candidate) in candidates.iter().enumerate() {
            ranks[candidate.slot] = rank;
        }
        ranks
    }

    /// The slots that could give memory up for an announced request when it comes, in their order.
    fn victims_at(&self, at: usize, ranks: &[usize]) -> Vec<usize> {
        let next = |number| {
            let later = self.announced.iter().skip(at + 1);
            later.clone().position(|&it| it == number)
        };
        let may_give = |entry: &Entry| !entry.is_pinned || entry.is_given_up;
        let mut victims: Vec<_> = (self.each())
            .filter(|&(number, entry)| number != self.announced[at] && may_give(entry))
            .map(|(number, entry)| {
                let next = next(number);
                let key = (
                    !entry.is_given_up,
                    entry.priority,
                    next.is_some(),
                    Reverse(next),
                    // What is used until then has been used last by then.
                    self.announced.range(..at).rposition(|&it| it == number),
                    ranks[number],
                );
                (key, number)
            })
            .collect();
        victims.sort();
        victims.into_iter().map(|(_, number)| number).collect()
    }
}

fn level(entry: &Option<Entry>) -> u64 {
    entry.as_ref().map_or(0, Entry::held)
}
