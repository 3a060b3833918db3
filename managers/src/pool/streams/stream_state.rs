//! `StreamState`: one stream as its pool sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pool::cache::counters::CacheCounters;
use crate::pool::cache::transfer_cache::TransferCache;
use crate::pool::streams::free_stamp::{Stamp, StreamIndex};
use crate::stream::timeline::{EVERY, Timeline};

/// A stream's place in a pool. Its timeline stamps the memory that the stream frees, and pieces
/// that a thread has too many of wait in its transfer cache.
pub(crate) struct StreamState {
    index: StreamIndex,
    timeline: Arc<Timeline>,
    transfer_cache: TransferCache,
    /// How often pieces came into those of its caches that are gone. These are changed under the
    /// lock of the caches.
    came_before: AtomicU64,
    /// How often pieces had come into its caches at the last look, and the ticket of all of them.
    looked: [AtomicU64; 2],
}

impl StreamState {
    pub(crate) fn new(index: StreamIndex, timeline: &Arc<Timeline>) -> Self {
        Self {
            index,
            timeline: Arc::clone(timeline),
            transfer_cache: TransferCache::new(),
            came_before: AtomicU64::new(0),
            looked: Default::default(),
        }
    }

    /// The index that its stamps have.
    #[inline]
    pub(crate) fn index(&self) -> StreamIndex {
        self.index
    }

    /// The clock of the stream.
    #[inline]
    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Pieces that a thread had too many of.
    #[inline]
    pub(crate) fn transfer_cache(&self) -> &TransferCache {
        &self.transfer_cache
    }

    /// How often pieces came into those of its caches that are gone.
    pub(crate) fn came_before(&self) -> u64 {
        self.came_before.load(Ordering::Relaxed)
    }

    /// Adds the count of a cache that goes, and whose owner writes no more. Under the lock of the
    /// caches.
    pub(crate) fn note_gone(&self, counters: &CacheCounters) {
        let before = self.came_before();
        let came = before.wrapping_add(counters.came());
        self.came_before.store(came, Ordering::Relaxed);
    }

    /// A ticket of all that caches and the transfer cache keep, when pieces came in so often. Under
    /// the lock of the caches, with all of them revoked.
    pub(crate) fn ticket_of(&self, came: u64) -> u64 {
        let [seen, ticket] = &self.looked;
        if seen.load(Ordering::Relaxed) != came {
            seen.store(came, Ordering::Relaxed);
            // After the revocations: an owner that put a piece in has its work on the stream now.
            ticket.store(self.timeline.stamp(), Ordering::Relaxed);
        }
        ticket.load(Ordering::Relaxed)
    }

    /// The number of the driver's stream.
    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.timeline.serial()
    }

    /// The stream is gone, and none of its work runs.
    pub(crate) fn is_over(&self) -> bool {
        self.timeline.done() == EVERY
    }

    /// The stamp of memory that is freed on the stream now.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::new(self.index, self.timeline.stamp())
    }
}
