//! `Ledger`: which item is where. No process, no time: the promise of the supervisor (each
//! item has one outcome, in order) is kept here and can be tested alone.

use std::collections::{BTreeMap, VecDeque};

use crate::loss::Loss;
use crate::refusal::ItemError;

/// The outcome of an item.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number that [`submit`](crate::Supervisor::submit) gave the item.
    pub sequence: u64,
    /// What the handler returned, or why there is nothing.
    pub result: Result<Vec<u8>, ItemError>,
}

/// Every item whose outcome was not received, in order, and nothing of any other.
#[derive(Debug)]
pub(super) struct Ledger {
    entries: BTreeMap<u64, Entry>,
    /// The number that the next item gets.
    next: u64,
    /// Bytes of the items and results in `entries`.
    bytes: usize,
    /// Items that are with the worker, in the order in which they were sent.
    sent: VecDeque<u64>,
    /// No item below this one waits to be sent.
    unsent: u64,
    pub(super) counts: Counts,
}

/// What happened to items since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) answered: u64,
    pub(super) resent: u64,
    pub(super) given_up: u64,
    pub(super) received: u64,
}

#[derive(Debug)]
struct Entry {
    /// Kept until there is an outcome.
    bytes: Vec<u8>,
    /// Workers that were lost with it.
    lost: u32,
    first: Option<Loss>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not with a worker.
    Waiting,
    Sent,
    Done(Result<Vec<u8>, ItemError>),
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            next: 1,
            bytes: 0,
            sent: VecDeque::new(),
            unsent: 1,
            counts: Counts::default(),
        }
    }

    /// Items whose outcome was not received.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number that the next item gets.
    pub(super) fn next_number(&self) -> u64 {
        self.next
    }

    /// Bytes of items without an outcome, and of results that were not received.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Takes an item.
    pub(super) fn push(&mut self, bytes: Vec<u8>) -> u64 {
        let sequence = self.next;
        self.next += 1;
        self.bytes += bytes.len();
        let entry = Entry {
            bytes,
            lost: 0,
            first: None,
            state: State::Waiting,
        };
        self.entries.insert(sequence, entry);
        sequence
    }

    /// How many items are with the worker.
    pub(super) fn in_flight(&self) -> usize {
        self.sent.len()
    }

    /// The item that the worker has had longest: the one that it works on.
    pub(super) fn head(&self) -> Option<u64> {
        self.sent.front().copied()
    }

    /// The next item to send, from now on with the worker: its number, which attempt it is,
    /// from 1, and its length.
    pub(super) fn send_next(&mut self) -> Option<(u64, u16, usize)> {
        for (&sequence, entry) in self.entries.range_mut(self.unsent..) {
            self.unsent = sequence + 1;
            if matches!(entry.state, State::Waiting) {
                entry.state = State::Sent;
                let attempt = u16::try_from(entry.lost + 1).unwrap_or(u16::MAX);
                self.sent.push_back(sequence);
                return Some((sequence, attempt, entry.bytes.len()));
            }
        }
        None
    }

    /// The bytes of an item without an outcome; nothing for any other.
    pub(super) fn bytes(&self, sequence: u64) -> &[u8] {
        self.entries
            .get(&sequence)
            .map_or(&[], |entry| &entry.bytes)
    }

    /// The worker has answered. `false` if that item is not the one that it works on: then
    /// nothing has changed.
    pub(super) fn answer(&mut self, sequence: u64, result: Result<Vec<u8>, ItemError>) -> bool {
        if self.head() != Some(sequence) {
            return false;
        }
        self.sent.pop_front();
        self.counts.answered += 1;
        self.finish(sequence, result);
        true
    }

    fn finish(&mut self, sequence: u64, result: Result<Vec<u8>, ItemError>) {
        if let Some(entry) = self.entries.get_mut(&sequence) {
            self.bytes -= std::mem::take(&mut entry.bytes).len();
            self.bytes += result.as_ref().map_or(0, Vec::len);
            entry.state = State::Done(result);
        }
    }

    /// The worker was lost. What was with it waits again. `charged` is the item that it may
    /// have been lost by, if it still has it: that one is given up if it was lost so often.
    pub(super) fn worker_lost(&mut self, cause: &Loss, charged: Option<u64>, attempts: u32) {
        if let Some(head) = self.head()
            && charged == Some(head)
            && let Some(entry) = self.entries.get_mut(&head)
        {
            entry.lost += 1;
            let first = entry.first.get_or_insert_with(|| cause.clone()).clone();
            if entry.lost >= attempts {
                let error = ItemError::GivenUp {
                    attempts: entry.lost,
                    first: Box::new(first),
                    last: Box::new(cause.clone()),
                };
                self.finish(head, Err(error));
                self.sent.pop_front();
                self.counts.given_up += 1;
            }
        }
        if let Some(first) = self.head() {
            self.unsent = first;
        }
        self.counts.resent += self.sent.len() as u64;
        while let Some(sequence) = self.sent.pop_front() {
            if let Some(entry) = self.entries.get_mut(&sequence) {
                entry.state = State::Waiting;
            }
        }
    }

    /// The outcome of the first item, once it has one.
    pub(super) fn receive(&mut self) -> Option<Outcome> {
        let (&first, _) = self.entries.first_key_value()?;
        self.receive_this(first)
    }

    /// The outcome of an item, once it has one, before those of earlier items.
    pub(super) fn receive_this(&mut self, sequence: u64) -> Option<Outcome> {
        if !matches!(self.entries.get(&sequence)?.state, State::Done(_)) {
            return None;
        }
        let State::Done(result) = self.entries.remove(&sequence)?.state else {
            return None;
        };
        self.bytes -= result.as_ref().map_or(0, Vec::len);
        self.counts.received += 1;
        Some(Outcome { sequence, result })
    }

    /// What was not received: outcomes, and items that have none.
    pub(super) fn into_rest(self) -> (Vec<Outcome>, Vec<(u64, Vec<u8>)>) {
        let (mut outcomes, mut unfinished) = (Vec::new(), Vec::new());
        for (sequence, entry) in self.entries {
            match entry.state {
                State::Done(result) => outcomes.push(Outcome { sequence, result }),
                State::Waiting | State::Sent => unfinished.push((sequence, entry.bytes)),
            }
        }
        (outcomes, unfinished)
    }
}

#[cfg(test)]
mod tests;
