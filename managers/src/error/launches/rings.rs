//! `Rings`: the newest launches of one stream.
//!
//! Most streams are launched on by one thread. The first that does has a [ring of its own](OwnerRing), all other
//! threads [share](SharedRing) a second one.

use core::panic::Location;

use super::owner_ring::OwnerRing;
use super::shared_ring::SharedRing;
use crate::sync::{AtomicBool, Ordering};

/// Entries of a ring. Under loom two, so that they are soon used again.
pub(super) const RING: u64 = if cfg!(loom) { 2 } else { 16 };

/// The newest launches of one stream.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Rings {
    owners: OwnerRing,
    others: SharedRing,
    closed: AtomicBool,
}

/// A launch that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launch {
    /// Of the owner, by number.
    Owners(u64),
    /// Of another thread, by number.
    Others(u64),
}

/// The launches that a wait covers: those below a number, by ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    owners: u64,
    others: u64,
}

#[cfg(loom)]
impl Mark {
    /// Whether a wait with this mark lets the launch off.
    pub(crate) fn covers(self, launch: Launch) -> bool {
        match launch {
            Launch::Owners(number) => number < self.owners,
            Launch::Others(number) => number < self.others,
        }
    }
}

impl Rings {
    pub(super) fn new() -> Self {
        Self {
            owners: OwnerRing::new(),
            others: SharedRing::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Records a launch that is about to be put on the stream, if it can be remembered. The owner
    /// needs no locked instruction for it, another thread one; streams share no word of it.
    pub(crate) fn begin(
        &self,
        kernel: u32,
        location: &'static Location<'static>,
        stream: u64,
    ) -> Option<Launch> {
        let record = Record {
            location,
            kernel,
            stream,
        };
        if self.owners.is_mine() || self.owners.claim(stream) {
            return Some(Launch::Owners(self.owners.begin(record)));
        }
        self.others.begin(record).map(Launch::Others)
    }

    /// Whether this thread has the first ring, and need not ask anything before it
    /// [begins](Self::begin_at_once) a launch ([`open_gate`](Self::open_gate)).
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.owners.is_open()
    }

    /// As [`begin`](Self::begin), of a thread that has seen that the gate [is open](Self::is_open).
    #[inline(always)]
    pub(crate) fn begin_at_once(
        &self,
        kernel: u32,
        location: &'static Location<'static>,
        stream: u64,
    ) -> u64 {
        self.owners.begin(Record {
            location,
            kernel,
            stream,
        })
    }

    /// Has the launches of the owner, which this thread is, begin [at once](Self::begin_at_once)
    /// from now on, as long as that is `allowed`.
    pub(crate) fn open_gate(&self, allowed: impl Fn() -> bool) {
        self.owners.open(allowed);
    }

    /// Has the owner ask again what `open_gate` was told, which has changed.
    pub(crate) fn close_gate(&self) {
        self.owners.close();
    }

    /// The driver has taken the newest launch of the owner, which this thread is.
    #[inline(always)]
    pub(crate) fn put_as_owner(&self, launch: u64) {
        self.owners.put(launch);
    }

    /// The driver has taken it.
    #[inline]
    pub(crate) fn put(&self, launch: Launch) {
        match launch {
            // The owner has begun no other since.
            Launch::Owners(number) => self.put_as_owner(number),
            Launch::Others(number) => self.others.put(number),
        }
    }

    /// The driver has refused it.
    #[cold]
    pub(crate) fn refused(&self, launch: Launch) {
        match launch {
            // The owner has begun no other since.
            Launch::Owners(number) => self.owners.refused(number),
            Launch::Others(number) => self.others.refused(number),
        }
    }

    /// The launches that a wait which begins now covers: those that the driver has by now.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            owners: self.owners.mark(),
            others: self.others.mark(),
        }
    }

    /// A wait that began with this mark has succeeded.
    pub(crate) fn complete(&self, mark: Mark) {
        self.owners.complete(mark.owners);
        self.others.complete(mark.others);
    }

    /// The stream is gone; work that was put on it may still run.
    pub(crate) fn close(&self) {
        // Release: a thread that sees this sees the launches too.
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether every launch that may still run is remembered.
    pub(crate) fn knows_all(&self) -> bool {
        self.owners.knows_all() && self.others.knows_all()
    }

    /// The launches that may still run: those of the owner, newest first, then those of other threads.
    pub(super) fn open(&self) -> Vec<Record> {
        let mut open = Vec::new();
        self.owners.add_open(&mut open);
        self.others.add_open(&mut open);
        open
    }
}

/// A launch that was read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) location: &'static Location<'static>,
    pub(super) kernel: u32,
    pub(super) stream: u64,
}
