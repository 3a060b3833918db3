//! `Entry`: what is known of a slot.

use std::sync::Arc;
use std::time::Instant;

use cupola_managers::stream::{DeferredTicket, Stream, Ticket};

/// A part of a slot that is copied to the device, or was.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// It reaches from the end of the one before to here, in bytes from the slot's beginning.
    pub(crate) end: u64,
    pub(crate) ticket: Arc<Ticket>,
}

/// Work that uses a slot, on one stream.
#[derive(Clone, Debug)]
pub(super) struct StreamUse {
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
    /// Bytes of the memory that it has for what comes behind: set aside, or mapped by a load that is not over or has failed.
    pub(crate) reserved: u64,
    /// Copies that may still run, in order.
    uploads: Vec<Upload>,
    pub(crate) leases: usize,
    /// When a request that waits first saw it leased, since it was last leased by none.
    pub(crate) seen_leased: Option<Instant>,
    /// Where the bytes begin that were loaded ahead of a request, which has not come since.
    pub(crate) ahead_from: Option<u64>,
    /// Pieces behind `resident` are mapped, by a load that is not over or has failed.
    pub(crate) has_remains: bool,
    /// Work of leases that have ended, and copies that may have failed.
    pub(super) works: Vec<StreamUse>,
    pub(super) last_use: u64,
    pub(super) uses: u64,
    pub(crate) priority: u8,
    pub(crate) is_pinned: bool,
    /// The device has what the host copy has not: since the use of this number.
    pub(super) dirty_since: Option<u64>,
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
            reserved: 0,
            uploads: Vec::new(),
            leases: 0,
            seen_leased: None,
            ahead_from: None,
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

    /// Bytes of the memory that it has.
    pub(crate) fn held(&self) -> u64 {
        self.resident + self.reserved
    }

    /// Bytes of the memory that it needs and has not.
    pub(crate) fn lacking(&self) -> u64 {
        self.rounded.saturating_sub(self.held())
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

    /// Adds bytes up to `end`, which are copied by the work behind `ticket`; pieces are whole up to `whole` then.
    pub(crate) fn extend(&mut self, end: u64, whole: u64, ticket: Ticket) {
        let grown = whole.saturating_sub(self.resident);
        self.resident += grown;
        self.reserved = self.reserved.saturating_sub(grown);
        let ticket = Arc::new(ticket);
        self.uploads.push(Upload { end, ticket });
    }

    /// Forgets copies to pieces that did not become whole.
    pub(crate) fn forget_uploads(&mut self) {
        let resident = self.resident;
        self.uploads.retain(|upload| upload.end <= resident);
    }

    /// This copy is over, and those that were put before it.
    pub(crate) fn note_over(&mut self, upload: &Upload) {
        let is_it = |it: &Upload| Arc::ptr_eq(&it.ticket, &upload.ticket);
        if let Some(last) = self.uploads.iter().position(is_it) {
            self.uploads.drain(..=last);
        }
    }

    /// The ticket of the copy that brings the bytes before `end`, which come with or after all before
    /// them, and where it ends; `None` where they are there.
    pub(crate) fn upload_of(&self, end: u64) -> Option<Upload> {
        self.uploads.iter().find(|it| it.end >= end).cloned()
    }

    /// The last copy that may still run.
    pub(crate) fn last_upload(&self) -> Option<Upload> {
        self.uploads.last().cloned()
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
    pub(super) fn is_idle(&self) -> bool {
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
