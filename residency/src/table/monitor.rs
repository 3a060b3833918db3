//! `TableMonitor`: the table under its lock, and threads that wait for it to change.

use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex, MutexGuard, lock, wait};

use super::queue::QueueTicket;
use super::{Admission, Entry, Table};

/// How often a request looks for memory of the limit that others than the residency may have given back, which
/// tell it nothing.
const RETRY: Duration = Duration::from_millis(10);

/// A table that threads share.
#[derive(Debug)]
pub(crate) struct TableMonitor {
    table: Mutex<Table>,
    /// Told when memory may have become free, and when a request leaves the queue.
    changed: Condvar,
}

/// What a request that waited is to do.
#[derive(Debug)]
pub(crate) enum Turn {
    /// Nothing: another request has loaded its slot, which is leased to it.
    Leased,
    /// To load the slot, which is leased to it.
    Load,
    /// To give up: its time is over.
    Expired,
}

/// What the first request, which found no room, is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// To look for memory once more.
    Happened,
    /// To give up: its time is over.
    Expired,
    /// To give up: if all leases ended, too little would be free.
    Hopeless,
}

/// Who has memory of the same limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharers {
    None,
    Some,
}

impl TableMonitor {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table: Mutex::new(table),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }

    /// A request for a slot, under a limit of so many bytes.
    pub(crate) fn admit(&self, number: usize, budget: u64) -> Admission {
        self.lock().admit(number, budget)
    }

    /// Changes the table in a way that may let slots give memory up: threads that wait look again.
    pub(crate) fn release(&self, change: impl FnOnce(&mut Table)) {
        let mut table = self.lock();
        change(&mut table);
        table.queue.note_change();
        let has_waiting = !table.queue.is_empty();
        drop(table);
        if has_waiting && !mutant!("residency_lease_ends_unsaid") {
            self.changed.notify_all();
        }
    }

    /// Ends a lease of a slot; `note` enters the work that may still use it.
    pub(crate) fn end_lease(&self, number: usize, note: impl FnOnce(&mut Entry)) {
        let mut table = self.lock();
        let is_last = table.end_lease(number, note);
        let has_waiting = is_last && !table.queue.is_empty();
        drop(table);
        if has_waiting && !mutant!("residency_lease_ends_unsaid") {
            self.changed.notify_all();
        }
    }

    /// A place in the queue, for as long as the value lives.
    pub(crate) fn queue(&self) -> Place<'_> {
        let ticket = self.lock().queue.join();
        Place {
            monitor: self,
            ticket,
        }
    }
}

/// A request's place in the queue. Dropping it lets the next one go first.
#[derive(Debug)]
pub(crate) struct Place<'m> {
    monitor: &'m TableMonitor,
    ticket: QueueTicket,
}

impl Place<'_> {
    /// Waits until this is the first request, or needs no memory any more.
    pub(crate) fn wait_for_turn(&self, number: usize, until: Instant) -> Turn {
        let mut table = self.monitor.lock();
        loop {
            let is_first = table.queue.is_first(self.ticket);
            let is_whole = table.get(number).is_some_and(Entry::is_whole);
            if is_first || (is_whole && table.may_pass(number)) {
                table.begin_lease(number);
                return match is_whole {
                    true => Turn::Leased,
                    false => Turn::Load,
                };
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Turn::Expired;
            }
            table = wait(&self.monitor.changed, table, left);
        }
    }

    /// How many requests are served before.
    pub(crate) fn before(&self) -> usize {
        self.monitor.lock().queue.before(self.ticket)
    }

    /// How often memory may have become free. A number of before a request looked for memory.
    pub(crate) fn changes(&self) -> u64 {
        self.monitor.lock().queue.changes()
    }

    /// Waits until memory may have become free since there were `seen` changes, for a slot that lacks so many bytes.
    pub(crate) fn wait_for_change(
        &self,
        seen: u64,
        number: usize,
        lacking: u64,
        sharers: Sharers,
        until: Instant,
    ) -> Change {
        let mut table = self.monitor.lock();
        let mut has_slept = false;
        loop {
            let now = Instant::now();
            if table.queue.changes() != seen {
                return Change::Happened;
            }
            if table.leased_beside(number) < lacking {
                return Change::Hopeless;
            }
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                return Change::Expired;
            }
            if !has_slept {
                table.note_wait(now);
            }
            // A thread that gives memory back which is not the residency's tells this one nothing.
            let left = match sharers {
                Sharers::Some if has_slept => return Change::Happened,
                Sharers::Some => left.min(RETRY),
                Sharers::None => left,
            };
            has_slept = true;
            table = wait(&self.monitor.changed, table, left);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut table = self.monitor.lock();
        table.queue.leave(self.ticket);
        let has_waiting = !table.queue.is_empty();
        drop(table);
        if has_waiting && !mutant!("residency_turn_passes_unsaid") {
            self.monitor.changed.notify_all();
        }
    }
}
