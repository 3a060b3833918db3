//! `StreamUses`: the streams, other than its own, that work with a block was put on.
//!
//! Most blocks that another stream uses at all are used there again and again, so the stream of the newest
//! use is known without the lock.

use std::ops::Deref;
use std::sync::PoisonError;

use crate::lists;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// The streams of one block, each by a lease `L`.
#[repr(C)]
pub(crate) struct StreamUses<L> {
    /// The number of one of the streams, whose next use needs no preparation; 0 for none.
    prepared: AtomicU64,
    streams: Mutex<Vec<L>>,
}

impl<L> Default for StreamUses<L> {
    fn default() -> Self {
        Self {
            streams: Mutex::new(Vec::new()),
            prepared: AtomicU64::new(0),
        }
    }
}

impl<L> StreamUses<L> {
    /// Whether a use on the stream of this number, of which the caller has a lease, needs no preparation:
    /// it is among those that are here, in this life of it.
    ///
    /// A stream of which a caller has a lease stays here. One of which this has the last lease may be given
    /// up; a caller that leases it then, in its next life, or by its name just before this one ends, finds that
    /// [`retain`](LockedUses::retain) has taken the mark away.
    #[inline]
    pub(crate) fn is_prepared(&self, stream: u64) -> bool {
        // Acquire: the caller's work comes after the wait that the thread which set the mark has put there.
        self.prepared.load(Ordering::Acquire) == stream
    }

    pub(crate) fn lock(&self) -> LockedUses<'_, L> {
        let streams = self.streams.lock();
        LockedUses {
            streams: streams.unwrap_or_else(PoisonError::into_inner),
            prepared: &self.prepared,
        }
    }

    /// The streams, for the block's only user, who may take some away.
    pub(crate) fn get_mut(&mut self) -> &mut Vec<L> {
        self.prepared.store(0, Ordering::Relaxed);
        let streams = self.streams.get_mut();
        streams.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The streams, while no other thread changes them.
pub(crate) struct LockedUses<'b, L> {
    streams: MutexGuard<'b, Vec<L>>,
    prepared: &'b AtomicU64,
}

impl<L> Deref for LockedUses<'_, L> {
    type Target = [L];

    fn deref(&self) -> &[L] {
        &self.streams
    }
}

impl<L> LockedUses<'_, L> {
    /// Adds a stream, which comes after the block's allocation.
    pub(crate) fn push(&mut self, stream: L) {
        self.streams.push(stream);
    }

    /// Notes that a use on the stream of this number, which is here, needs no preparation any more.
    pub(crate) fn note_prepared(&mut self, stream: u64) {
        // Release: see `is_prepared`.
        self.prepared.store(stream, Ordering::Release);
    }

    /// Gives up the streams for which `is_kept` says no. It may do so only of a stream whose last lease this is, in
    /// such a way that a thread which leases it later finds the mark gone (`Leased::is_last_by_name`).
    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&L) -> bool) {
        if !mutant!("stream_uses_keep_the_mark") {
            // Relaxed: `is_kept`, or the end of the lease, passes it on.
            self.prepared.store(0, Ordering::Relaxed);
        }
        lists::retain(&mut self.streams, is_kept);
    }
}
