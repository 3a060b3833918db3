//! `Table`: what is known of each slot, without its memory.
//!
//! A slot has memory from its beginning up to somewhere: pieces come in order and go from the end. So a
//! number of bytes says which.

use std::collections::VecDeque;
use std::sync::Arc;

use cupola_managers::stream::{DeferredTicket, Stream, Ticket};

use crate::error::ResidencyError;
use crate::metrics::Metrics;
use crate::policy::{Candidate, EvictionPolicy, Use, sort_all};

/// A part of a slot that is copied to the device, or was.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// It reaches from the end of the one before to here, in bytes from the slot's beginning.
    pub(crate) end: u64,
    pub(crate) ticket: Arc<Ticket>,
}

/// Work that uses a slot, on one stream.
#[derive(Clone, Debug)]
struct StreamUse {
    stream: u64,
    work: DeferredTicket,
}

/// A slot.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Arc<str>,
    /// Bytes of its contents.
    pub(crate) bytes: u64,
    /// Bytes of its pieces.
    pub(crate) rounded: u64,
    /// Bytes of the pieces that it has, of which each is loaded or is being copied.
    pub(crate) resident: u64,
    /// Copies that may still run, in order.
    uploads: Vec<Upload>,
    pub(crate) leases: usize,
    /// Pieces behind `resident` that a failure has left mapped.
    pub(crate) has_remains: bool,
    /// Work of leases that have ended, and copies that may have failed.
    works: Vec<StreamUse>,
    last_use: u64,
    uses: u64,
    pub(crate) priority: u8,
    pub(crate) is_pinned: bool,
    /// The device has what the host copy has not: since the use of this number.
    dirty_since: Option<u64>,
    /// Its owner has dropped it: its memory goes first, and then its number.
    pub(crate) is_given_up: bool,
}

/// Why a slot cannot be asked to give memory up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Leased,
    Pinned,
}

impl Entry {
    pub(crate) fn new(name: &str, bytes: u64, rounded: u64, priority: u8, is_pinned: bool) -> Self {
        Self {
            name: name.into(),
            bytes,
            rounded,
            resident: 0,
            uploads: Vec::new(),
            leases: 0,
            has_remains: false,
            works: Vec::new(),
            last_use: 0,
            uses: 0,
            priority,
            is_pinned,
            dirty_since: None,
            is_given_up: false,
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.resident == self.rounded
    }

    /// What keeps its memory where it is.
    pub(crate) fn hold(&self) -> Option<Hold> {
        if self.leases > 0 {
            Some(Hold::Leased)
        } else if self.is_pinned && !self.is_given_up {
            Some(Hold::Pinned)
        } else {
            None
        }
    }

    /// Adds pieces up to `end`, which are copied by the work behind `ticket`.
    pub(crate) fn extend(&mut self, end: u64, ticket: Ticket) {
        self.resident = end;
        let ticket = Arc::new(ticket);
        self.uploads.push(Upload { end, ticket });
    }

    /// Copies up to `end` are over.
    pub(crate) fn note_uploaded_to(&mut self, end: u64) {
        self.uploads.retain(|upload| upload.end > end);
    }

    /// The ticket of the copy that brings the bytes before `end`, which come with or after all before
    /// them, and where it ends; `None` where they are there.
    pub(crate) fn upload_of(&self, end: u64) -> Option<Upload> {
        self.uploads.iter().find(|it| it.end >= end).cloned()
    }

    /// Since when the device has what the host copy has not.
    pub(crate) fn dirty_since(&self) -> Option<u64> {
        self.dirty_since
    }

    /// The host copy has what the device had at that time.
    pub(crate) fn note_written_back(&mut self, since: u64) {
        if self.dirty_since == Some(since) {
            self.dirty_since = None;
        }
    }

    /// All copies are over.
    pub(crate) fn note_uploaded(&mut self) {
        self.uploads.clear();
    }

    /// Notes that a lease's work is on `stream` by now.
    pub(crate) fn note_work(&mut self, stream: &Stream) {
        let use_ = StreamUse {
            stream: stream.serial(),
            work: stream.deferred_ticket(),
        };
        self.works
            .retain(|it| it.stream != use_.stream && !it.work.is_known_done());
        self.works.push(use_);
    }

    /// The work that may still use its memory: of leases that have ended, and copies to it.
    pub(crate) fn open_work(&self) -> OpenWork {
        OpenWork {
            works: self.works.iter().map(|it| it.work.clone()).collect(),
            upload: self.uploads.last().map(|it| Arc::clone(&it.ticket)),
        }
    }

    /// Whether work may use its memory that is not known to be over, without a call of the driver.
    fn is_idle(&self) -> bool {
        self.uploads.is_empty() && self.works.iter().all(|it| it.work.is_known_done())
    }
}

/// Work that may use a slot's memory.
#[derive(Debug)]
pub(crate) struct OpenWork {
    works: Vec<DeferredTicket>,
    upload: Option<Arc<Ticket>>,
}

impl OpenWork {
    /// Whether all of it is over.
    #[track_caller]
    pub(crate) fn is_done(&self) -> cupola_managers::Result<bool> {
        if let Some(upload) = &self.upload
            && !upload.is_done()?
        {
            return Ok(false);
        }
        for work in &self.works {
            if !work.is_known_done() && !work.ticket()?.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for all of it on the host.
    #[track_caller]
    pub(crate) fn wait(&self) -> cupola_managers::Result<()> {
        if let Some(upload) = &self.upload {
            upload.wait()?;
        }
        for work in &self.works {
            work.ticket()?.wait()?;
        }
        Ok(())
    }
}

/// The slots, by number.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Entry>>,
    policy: Box<dyn EvictionPolicy>,
    /// Slots that will be used, in order.
    announced: VecDeque<usize>,
    /// The number of the last use.
    clock: u64,
    pub(crate) metrics: Metrics,
}

/// Bytes of slots by what holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) leased: u64,
    pub(crate) pinned: u64,
}

impl Table {
    pub(crate) fn new(slots: usize, policy: Box<dyn EvictionPolicy>) -> Self {
        Self {
            slots: (0..slots).map(|_| None).collect(),
            policy,
            announced: VecDeque::new(),
            clock: 0,
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
    pub(crate) fn note_use(&mut self, number: usize, budget: u64) {
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
            let has_some = entry.resident > 0 || entry.has_remains;
            if has_some && entry.hold().is_none() {
                candidates.push(Candidate {
                    slot: number,
                    bytes: entry.rounded,
                    resident: entry.resident,
                    last_use: entry.last_use,
                    uses: entry.uses,
                });
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

    /// Takes everything behind `to` bytes from a slot, unless it is held or work may use it.
    pub(crate) fn truncate(&mut self, number: usize, to: u64) -> bool {
        let Some(entry) = self.slots.get_mut(number).and_then(Option::as_mut) else {
            return false;
        };
        // What is changed in a slot without an owner is of no use.
        let is_dirty = entry.dirty_since.is_some() && !entry.is_given_up;
        if entry.hold().is_some() || !entry.is_idle() || is_dirty || to >= entry.resident {
            return false;
        }
        let given = entry.resident - to;
        let candidate = Candidate {
            slot: number,
            bytes: entry.rounded,
            resident: entry.resident,
            last_use: entry.last_use,
            uses: entry.uses,
        };
        entry.resident = to;
        // They are over: the next lease's are others.
        entry.works.clear();
        self.policy.note_eviction(candidate);
        self.metrics.bytes_evicted += given;
        true
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> Held {
        let mut held = Held::default();
        for (_, entry) in self.each() {
            match entry.hold() {
                Some(Hold::Leased) => held.leased += entry.resident,
                Some(Hold::Pinned) => held.pinned += entry.resident,
                None => {}
            }
        }
        held
    }
}
