//! `Table`: what is known of each slot, without its memory.
//!
//! A slot has memory from its beginning up to somewhere: pieces come in order and go from the end. So a
//! number of bytes says which.

mod entry;
#[cfg(all(test, loom))]
mod models;
mod monitor;
mod plan;
mod queue;

use std::collections::VecDeque;
use std::mem;
use std::time::Instant;

use crate::error::{LeasedSlot, ResidencyError};
use crate::metrics::Metrics;
use crate::policy::{Candidate, EvictionPolicy, Use, sort_all};

pub(crate) use entry::{Entry, Hold, Upload};
pub(crate) use monitor::{Change, Place, Sharers, TableMonitor, Turn};
pub(crate) use plan::{AheadTarget, Cut};
pub(crate) use queue::RoomQueue;

/// The slots, by number.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Entry>>,
    policy: Box<dyn EvictionPolicy>,
    /// Slots that will be used, in order.
    announced: VecDeque<usize>,
    /// How many of them are loaded ahead.
    ahead: usize,
    /// The number of the last use.
    clock: u64,
    /// Requests that lack memory.
    queue: RoomQueue,
    pub(crate) metrics: Metrics,
}

/// What comes of a request at first.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The slot is leased. All of it is there, or will be when the copy is over.
    Leased {
        upload: Option<Upload>,
        /// There may be something to load ahead.
        wants_ahead: bool,
    },
    /// The slot lacks memory.
    Short,
    /// The slot lacks none, but requests that wait have been passed so often that this one waits behind them.
    HeldBack,
}

/// Bytes of slots by what holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) leased: u64,
    pub(crate) pinned: u64,
}

impl Table {
    pub(crate) fn new(
        slots: usize,
        policy: Box<dyn EvictionPolicy>,
        queue: RoomQueue,
        ahead: usize,
    ) -> Self {
        Self {
            slots: (0..slots).map(|_| None).collect(),
            policy,
            announced: VecDeque::new(),
            ahead,
            clock: 0,
            queue,
            metrics: Metrics::default(),
        }
    }

    pub(crate) fn set_policy(&mut self, policy: Box<dyn EvictionPolicy>) {
        self.policy = policy;
    }

    /// Enters a slot; its number.
    ///
    /// # Errors
    /// All numbers are taken.
    pub(crate) fn insert(&mut self, entry: Entry) -> Result<usize, ResidencyError> {
        let vacant = self.slots.iter().position(Option::is_none);
        let slots = self.slots.len();
        let number = vacant.ok_or(ResidencyError::Full { slots })?;
        self.slots[number] = Some(entry);
        Ok(number)
    }

    /// Takes a slot out that has no memory any more.
    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(slot) = self.slots.get_mut(number) {
            *slot = None;
            self.policy.forget(number);
            self.announced.retain(|&it| it != number);
        }
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Entry> {
        self.slots.get(number)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Entry> {
        self.slots.get_mut(number)?.as_mut()
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Slots that will be used after those that were announced before.
    pub(crate) fn announce(&mut self, number: usize) {
        self.announced.push_back(number);
    }

    pub(crate) fn forget_announced(&mut self) {
        self.announced.clear();
    }

    /// A slot is used, under a limit of so many bytes.
    fn note_use(&mut self, number: usize, budget: u64) {
        if let Some(next) = self.announced.iter().position(|&it| it == number) {
            self.announced.remove(next);
        }
        self.clock += 1;
        let at = self.clock;
        let Some(entry) = self.slots.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        entry.last_use = at;
        entry.uses += 1;
        let bytes = entry.rounded;
        self.policy.note_use(Use {
            slot: number,
            bytes,
            budget,
            at,
        });
    }

    /// A slot is asked for: whether it is leased at once.
    fn admit(&mut self, number: usize, budget: u64) -> Admission {
        self.note_use(number, budget);
        let Some(entry) = self.get(number) else {
            return Admission::Short;
        };
        match (entry.is_whole(), entry.resident) {
            (true, _) => {}
            (false, 0) => {
                self.metrics.misses += 1;
                return Admission::Short;
            }
            (false, _) => {
                self.metrics.partial_hits += 1;
                return Admission::Short;
            }
        }
        self.metrics.hits += 1;
        if !self.may_pass(number) {
            self.metrics.hits_held_back += 1;
            return Admission::HeldBack;
        }
        self.begin_lease(number);
        let upload = self.get(number).and_then(Entry::last_upload);
        Admission::Leased {
            upload,
            wants_ahead: self.wants_ahead(),
        }
    }

    /// Whether a slot that is all there may be leased before the requests that wait are served. A pinned one gives
    /// them nothing, whether it is leased or not.
    fn may_pass(&mut self, number: usize) -> bool {
        self.get(number).is_some_and(|it| it.is_pinned) || self.queue.pass()
    }

    fn begin_lease(&mut self, number: usize) {
        let Some(entry) = self.slots.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        entry.leases += 1;
        if entry.ahead_from.take().is_some() {
            self.metrics.hits_ahead += 1;
        }
    }

    /// Bytes of a slot from some on were loaded ahead of its request.
    pub(crate) fn note_ahead(&mut self, number: usize, from: u64, bytes: u64) {
        self.metrics.bytes_loaded_ahead += bytes;
        if let Some(entry) = self.get_mut(number) {
            entry.ahead_from.get_or_insert(from);
        }
    }

    pub(crate) fn set_ahead(&mut self, requests: usize) {
        self.ahead = requests;
    }

    /// Whether requests wait for memory.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// A lease ends: whether it was the slot's last.
    fn end_lease(&mut self, number: usize, note: impl FnOnce(&mut Entry)) -> bool {
        let Some(entry) = self.get_mut(number) else {
            return false;
        };
        note(entry);
        entry.leases -= 1;
        let is_last = entry.leases == 0;
        if is_last {
            entry.seen_leased = None;
            self.queue.note_change();
        }
        is_last
    }

    /// Bytes that other slots than this one would give up if all leases ended.
    fn leased_beside(&self, number: usize) -> u64 {
        let others = self.each().filter(|&(other, _)| other != number);
        let leased = others.filter(|(_, it)| it.leases > 0 && !it.is_pinned);
        leased.map(|(_, entry)| entry.held()).sum()
    }

    /// A request begins to wait for leases: for how long each lasts is known from now on.
    fn note_wait(&mut self, now: Instant) {
        self.metrics.room_waits += 1;
        for entry in self.slots.iter_mut().flatten() {
            if entry.leases > 0 && entry.seen_leased.is_none() {
                entry.seen_leased = Some(now);
            }
        }
    }

    /// What other slots than this one are leased.
    pub(crate) fn leased_slots(&self, but: usize) -> Vec<LeasedSlot> {
        let now = Instant::now();
        let leased = self.each().filter(|&(number, _)| number != but);
        let leased = leased.filter(|(_, entry)| entry.leases > 0);
        let name = |(_, entry): (usize, &Entry)| LeasedSlot {
            slot: entry.name.to_string(),
            leases: entry.leases,
            bytes: entry.held(),
            seen_for: (entry.seen_leased)
                .map(|since| now.saturating_duration_since(since))
                .unwrap_or_default(),
        };
        leased.map(name).collect()
    }

    /// The device has, or will have, what the host copy has not.
    pub(crate) fn note_dirty(&mut self, number: usize) {
        self.clock += 1;
        let now = self.clock;
        if let Some(entry) = self.get_mut(number) {
            entry.dirty_since = Some(now);
        }
    }

    /// The slots that may give memory up, in the order in which they are to: those that were given up
    /// first.
    pub(crate) fn victims(&mut self) -> Vec<usize> {
        let mut candidates = Vec::with_capacity(self.slots.len());
        for (number, entry) in self.each() {
            let has_some = entry.held() > 0 || entry.has_remains;
            if has_some && entry.hold().is_none() {
                candidates.push(Self::candidate(number, entry));
            }
        }
        let (slots, announced) = (&self.slots, &self.announced);
        let entry = |number: usize| slots.get(number).and_then(Option::as_ref);
        sort_all(
            &mut *self.policy,
            &mut candidates,
            |slot| entry(slot).map_or(0, |entry| entry.priority),
            |slot| {
                announced
                    .iter()
                    .position(|&it| it == slot)
                    .map(|it| it as u64)
            },
        );
        let is_kept =
            |candidate: &Candidate| !entry(candidate.slot).is_some_and(|it| it.is_given_up);
        candidates.sort_by_key(is_kept);
        candidates.iter().map(|candidate| candidate.slot).collect()
    }

    fn candidate(number: usize, entry: &Entry) -> Candidate {
        Candidate {
            slot: number,
            bytes: entry.rounded,
            resident: entry.resident,
            last_use: entry.last_use,
            uses: entry.uses,
        }
    }

    /// Takes everything behind `to` bytes from a slot, unless it is held or work may use it.
    pub(crate) fn truncate(&mut self, number: usize, to: u64) -> bool {
        let Some(entry) = self.slots.get_mut(number).and_then(Option::as_mut) else {
            return false;
        };
        // What is changed in a slot without an owner is of no use.
        let is_dirty = entry.dirty_since.is_some() && !entry.is_given_up;
        let is_held = entry.hold().is_some() && !mutant!("residency_takes_from_leased_slots");
        // What it has behind would not be its own place's any more.
        let has_more = entry.reserved > 0 || entry.has_remains;
        if is_held || !entry.is_idle() || is_dirty || has_more || to >= entry.resident {
            return false;
        }
        let given = entry.resident - to;
        let candidate = Self::candidate(number, entry);
        if let Some(from) = entry.ahead_from {
            self.metrics.bytes_ahead_wasted += entry.resident - to.max(from);
            entry.ahead_from = Some(from).filter(|&from| from < to);
        }
        entry.resident = to;
        // They are over: the next lease's are others.
        entry.works.clear();
        self.policy.note_eviction(candidate);
        self.metrics.bytes_evicted += given;
        true
    }

    /// Takes what is set aside from a slot, unless that is held: how many bytes that were.
    pub(crate) fn take_reserved(&mut self, number: usize) -> u64 {
        let entry = self.get_mut(number);
        let entry = entry.filter(|it| it.hold().is_none() && !it.has_remains);
        entry.map_or(0, |entry| mem::take(&mut entry.reserved))
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> Held {
        let mut held = Held::default();
        for (_, entry) in self.each() {
            match entry.hold() {
                Some(Hold::Leased) => held.leased += entry.held(),
                Some(Hold::Pinned) => held.pinned += entry.held(),
                None => {}
            }
        }
        held
    }
}
