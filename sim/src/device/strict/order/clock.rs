//! What comes before what, as far as a program has said.
//!
//! A clock has, for each stream, the number of the last operation that is known to have
//! ended. The host has one, for what any of its threads has waited for; threads tell each
//! other in ways that the device does not see, so they share it.

use std::collections::HashMap;

/// An operation: the stream's id, and its number in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::strict) struct Stamp {
    pub(in crate::device::strict) stream: u64,
    pub(in crate::device::strict) number: u64,
}

/// For each stream, up to which operation everything has come before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Clock {
    last: HashMap<u64, u64>,
    /// Waits for values among what has come before. Whatever is told to end one comes
    /// before too, and no call shows what that is: it may be everything, also what is queued
    /// later.
    open: Vec<Stamp>,
}

impl Clock {
    pub(in crate::device::strict) fn covers(&self, stamp: Stamp) -> bool {
        self.is_open() || self.of(stamp.stream) >= stamp.number
    }

    /// Whether it may cover more than it says.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A wait for a value comes before.
    pub(in crate::device::strict) fn open(&mut self, wait: Stamp) {
        self.open.push(wait);
    }

    /// Takes the waits out that are over; whether there were any.
    pub(in crate::device::strict) fn close(&mut self, over: impl Fn(Stamp) -> bool) -> bool {
        let before = self.open.len();
        self.open.retain(|wait| !over(*wait));
        self.open.len() < before
    }

    pub(in crate::device::strict) fn raise(&mut self, stamp: Stamp) {
        let number = self.last.entry(stamp.stream).or_insert(0);
        *number = (*number).max(stamp.number);
    }

    pub(in crate::device::strict) fn join(&mut self, other: &Self) {
        other.stamps().for_each(|stamp| self.raise(stamp));
        for wait in &other.open {
            if !self.open.contains(wait) {
                self.open.push(*wait);
            }
        }
    }

    /// The last covered operation of each stream.
    pub(super) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        let stamps = self.last.iter();
        stamps.map(|(&stream, &number)| Stamp { stream, number })
    }

    /// The last operation of a stream that is covered, or 0.
    pub(in crate::device::strict) fn of(&self, stream: u64) -> u64 {
        self.last.get(&stream).copied().unwrap_or(0)
    }

    pub(in crate::device::strict) fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        self.last.retain(|stream, _| keep(*stream));
    }
}
