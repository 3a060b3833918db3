//! Streams and threads as a pool knows them: their states and caches, from the first use to the
//! end of the stream, the thread or the pool.

use std::sync::Arc;
use std::thread;

use crate::error::{Error, Result};
use crate::pool::cache::thread_cache::{CacheOwner, RECORDED, ROUTED, RevokedCache, ThreadCache};
use crate::pool::cache::thread_local;
use crate::pool::heap::arena::Drained;
use crate::pool::heap::central::Central;
use crate::pool::inspect::counters::Happened;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;
use crate::pool::streams::stream_state::StreamState;
use crate::stream::Stream;
use std::sync::Weak;

/// Looks for a place while other threads have states of streams in hand.
const TURNS: u32 = 1000;

impl Pool {
    /// The stream's place in this pool.
    #[track_caller]
    pub(crate) fn state_of(&self, stream: &Stream) -> Result<Arc<StreamState>> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let timeline = stream.timeline();
        let mut turns = 0;
        let mut is_full = false;
        loop {
            let add = |index, count| self.central.lock().add_stream(index, count);
            if let Some(state) = self.streams.find_or_add(timeline, add) {
                return Ok(state);
            }
            if is_full {
                return Err(Error::Full {
                    kind: "streams of a pool",
                });
            }
            let reaped = self.retire_streams();
            // Another thread may have retired them just before: one more look.
            is_full = reaped.streams == 0 && (reaped.held == 0 || turns == TURNS);
            // A thread that has a state in hand gives it back soon.
            turns += 1;
            thread::yield_now();
        }
    }

    /// This thread's cache for a stream. `None` when the thread ends or the pool is closed.
    #[track_caller]
    pub(crate) fn cache_of(self: &Arc<Self>, stream: &Stream) -> Result<Option<Arc<ThreadCache>>> {
        let mut state = None;
        if thread_local::recent(self.number, stream.serial()).is_none() {
            // Before the thread's list is borrowed: it may fail.
            state = Some(self.state_of(stream)?);
        }
        if self.is_closed() {
            return Ok(None);
        }
        let make = |list: &Arc<thread_local::List>| {
            let state = state.map_or_else(|| self.state_of(stream), Ok).ok()?;
            let owner: Weak<dyn CacheOwner> = Arc::<Self>::downgrade(self);
            let cache = ThreadCache::new(owner, &state).of_thread(list, self.number);
            let cache = Arc::new(cache);
            let mut caches = self.caches.lock();
            if self.is_closed() {
                return None;
            }
            if self.observer.history().is_on() {
                cache.set_flags(RECORDED);
            }
            if self.streams.graphs().of(stream.serial(), |_| ()).is_some() {
                cache.set_flags(ROUTED);
            }
            self.over_limit.enter(ThreadCache::as_ref(&cache));
            caches.add(&cache);
            Some(cache)
        };
        Ok(thread_local::find(
            (self.number, self.caches.exit()),
            stream.serial(),
            make,
        ))
    }

    /// Empties caches, which keep nothing from now on. The leases are the caller's to end, outside of
    /// locks: a stream may end with one.
    #[must_use]
    pub(crate) fn close_caches(&self, caches: &[Arc<ThreadCache>]) -> Vec<Stream> {
        let mut caches = ThreadCache::revoke_all(caches);
        let close = |cache: &mut RevokedCache<'_>| {
            cache.close(|drained, stamp| self.central.lock().take_back(drained, stamp))
        };
        caches.iter_mut().filter_map(close).collect()
    }

    /// Gives all that threads and transfer caches keep back to the heap.
    pub(crate) fn drain(&self) {
        self.drain_and(|_| ());
    }

    /// Drains all caches and transfer caches, and looks at the heap meanwhile: all memory that is
    /// not free then is alive, or on its way to a user.
    pub(crate) fn drain_and<R>(&self, look: impl FnOnce(&mut Central) -> R) -> R {
        self.observer.note(Happened::Drained);
        let caches = self.caches.lock();
        // Those of all caches that there can be meanwhile.
        let states = self.all_states();
        let mut seized = ThreadCache::revoke_all(&caches);
        for cache in &mut seized {
            cache.drain(|drained, stamp| self.central.lock().take_back(drained, stamp));
        }
        self.drain_transfer_caches(&states);
        let central = &mut *self.central.lock();
        central.release_slabs();
        look(central)
    }

    pub(crate) fn drain_transfer_caches(&self, states: &[Arc<StreamState>]) {
        for state in states {
            // Stamped when it is ours: until then others may put more in, used later.
            let give = |central: &mut Central, batch| central.put_all(batch, state.stamp());
            state.transfer_cache().give_all(&self.central, give);
        }
    }

    pub(crate) fn all_states(&self) -> Vec<Arc<StreamState>> {
        self.streams.all()
    }
}

impl CacheOwner for Pool {
    fn is_here(&self) -> bool {
        self.core.not_forked().is_ok()
    }

    fn take_back(&self, drained: Drained, stamp: Stamp) {
        self.central.lock().take_back(drained, stamp);
    }

    fn remove(&self, cache: &Arc<ThreadCache>) {
        self.caches.remove(|other| Arc::ptr_eq(other, cache));
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
