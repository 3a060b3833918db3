//! What comes before what, as far as a program has said.
//!
//! A clock has, for each stream, the number of the last operation that is known to have
//! ended. The host has one, for what any of its threads has waited for; threads tell each
//! other in ways that nobody sees, so they share it.

use std::collections::HashMap;

/// An operation: the stream's id, and its number in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) stream: u64,
    pub(super) number: u64,
}

/// For each stream, up to which operation everything has come before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Clock(HashMap<u64, u64>);

impl Clock {
    pub(super) fn covers(&self, stamp: Stamp) -> bool {
        self.0
            .get(&stamp.stream)
            .is_some_and(|n| *n >= stamp.number)
    }

    pub(super) fn raise(&mut self, stamp: Stamp) {
        let number = self.0.entry(stamp.stream).or_insert(0);
        *number = (*number).max(stamp.number);
    }

    pub(super) fn join(&mut self, other: &Self) {
        other.stamps().for_each(|stamp| self.raise(stamp));
    }

    /// The last covered operation of each stream.
    pub(super) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        let stamps = self.0.iter();
        stamps.map(|(&stream, &number)| Stamp { stream, number })
    }

    /// The last operation of a stream that is covered, or 0.
    pub(super) fn of(&self, stream: u64) -> u64 {
        self.0.get(&stream).copied().unwrap_or(0)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.0.retain(|stream, _| keep(*stream));
    }
}
