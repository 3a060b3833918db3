//! The end of streams, as a pool sees it: memory that they and their threads kept becomes ready for
//! all streams, and their places are given again.
//!
//! No call tells a pool that a stream is gone. The pool looks when as many new streams have come as
//! there were at its last look, when it is trimmed, and when it has no place left.
//!
//! A place must not be given again while a thread may still make a stamp of it, or note how far its
//! stream has come. Why no thread does:
//!
//! * A timeline completes [`EVERY`](crate::stream::timeline::EVERY) ticket only after the last handle of its stream is gone
//!   (`Timeline::retire`), and a thread that sees that comes after all that was done with the
//!   handle. So no thread is, or ever comes, inside a cache of the stream as its owner, finds one
//!   by its table, makes a new one, or asks for the state: all of these need the handle.
//! * All other threads (that drain, search, ask for figures or end, and the memory of graphs) have
//!   a count of the state, or of a cache, which has one. Counts come from the table of states,
//!   under its lock, from caches, and from other counts. When under that lock the table's is the
//!   only one there is no other thread, and there will be none; all that others did before they
//!   gave theirs up is over.
//!
//! Stamps that were read and not yet written back (by a request that undoes its search) are READY
//! if they were complete ([`lasting`](crate::pool::heap::best_fit::Heap::lasting)), or else of a
//! stream whose state the request has.

use std::collections::HashSet;
use std::sync::Arc;

use crate::pool::cache::thread_cache::ThreadCache;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::pool::streams::stream_state::StreamState;
use crate::sync::deferred::DeferCallbacks;

/// The findings of a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RetireReport {
    /// Streams that are gone.
    pub(crate) streams: usize,
    /// Streams that are gone, whose state a thread has in hand.
    pub(crate) held: usize,
}

impl Pool {
    /// Looks for streams that are gone, if there may be many. It may ask the driver: not for the
    /// way of a free.
    pub(crate) fn retire_if_due(&self) {
        if self.streams.is_look_due() {
            self.retire_streams();
        }
    }

    /// Gives up the states and caches of streams that are gone and all of whose work is complete.
    /// Not within the lock of the caches or of the states.
    pub(crate) fn retire_streams(&self) -> RetireReport {
        if self.core.not_forked().is_err() {
            return RetireReport::default();
        }
        // Policies come after the lock.
        let _defer = DeferCallbacks::new();
        let _turn = self.streams.begin_look();
        if !self.streams.poll_gone(&self.core) {
            self.streams.look_later(false);
            return RetireReport::default();
        }
        self.drop_caches();
        let (states, reaped) = self.take_states();
        self.streams.look_later(reaped.held > 0);
        // After the locks: events go with their timelines.
        drop(states);
        reaped
    }

    /// Closes the caches of streams that are gone, and takes them off the books.
    fn drop_caches(&self) {
        let caches = self.caches.of_gone_streams();
        // One by one, as not under the lock of the caches; while they are on the books: a caller
        // that looks for memory meanwhile waits at their locks.
        // A stream that is gone has no leases.
        for cache in caches.chunks(1) {
            drop(self.close_caches(cache));
        }
        let address = |cache: &Arc<ThreadCache>| Arc::as_ptr(cache).addr() as u64;
        let mut closed = HashSet::new();
        for cache in &caches {
            closed.insert(address(cache));
        }
        self.caches.remove(|cache| closed.contains(&address(cache)));
        for cache in &caches {
            cache.leave_thread();
        }
    }

    /// Takes states out that no other thread has, and makes the memory that their streams have left
    /// ready for all.
    fn take_states(&self) -> (Vec<Arc<StreamState>>, RetireReport) {
        let (taken, held) = self.streams.take_gone(|taken, gone, left| {
            let central = &mut *self.central.lock();
            for state in taken {
                if central.note_retired(state.index()) {
                    self.observer.progress().note_done();
                }
                for batch in state.transfer_cache().drain() {
                    central.put_all(batch, Stamp::READY);
                }
            }
            central.forget(gone, left);
        });
        let reaped = RetireReport {
            streams: taken.len(),
            held,
        };
        (taken, reaped)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
