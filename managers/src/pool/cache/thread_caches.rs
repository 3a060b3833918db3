//! `ThreadCaches`: the caches that threads have of one pool.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::lists;
use crate::pool::cache::counters::CacheCounters;
use crate::pool::cache::thread_cache::ThreadCache;
use crate::sync::asymmetric_fence::AsymmetricFence;
use crate::sync::lock;
use crate::sync::thread_exit::ThreadExit;

/// The caches that threads have of one pool, and what is left of those that are gone.
pub(crate) struct ThreadCaches {
    caches: Mutex<Vec<Arc<ThreadCache>>>,
    /// Threads that end while they have caches.
    exit: ThreadExit,
    /// Blocks that went through caches that are gone, and past all caches.
    past: CacheCounters,
    fence: AsymmetricFence,
}

impl ThreadCaches {
    /// No cache.
    pub(crate) fn new() -> Self {
        Self {
            caches: Mutex::default(),
            exit: ThreadExit::new(),
            past: CacheCounters::default(),
            fence: AsymmetricFence::of_process(),
        }
    }

    /// Locks the list: no cache comes or goes until the guard does.
    pub(crate) fn lock(&self) -> LockedCaches<'_> {
        LockedCaches(lock(&self.caches))
    }

    /// Where a thread that ends tells of it.
    pub(crate) fn exit(&self) -> &ThreadExit {
        &self.exit
    }

    /// The figures of blocks that went through caches that are gone, and past all caches.
    pub(crate) fn past(&self) -> &CacheCounters {
        &self.past
    }

    /// The side of the barrier of a thread that begins or ends a buffer's life.
    #[inline]
    pub(crate) fn light(&self) {
        self.fence.light();
    }

    /// The other side: a buffer's owner that allocates it after this call sees all stores from
    /// before it.
    pub(crate) fn heavy(&self) {
        self.fence.heavy();
    }

    /// How many caches there are.
    pub(crate) fn count(&self) -> usize {
        lock(&self.caches).len()
    }

    /// The caches of streams that are gone, and none of whose work runs.
    pub(crate) fn of_gone_streams(&self) -> Vec<Arc<ThreadCache>> {
        let mut over = Vec::new();
        for cache in lock(&self.caches).iter() {
            if cache.state().is_over() {
                over.push(Arc::clone(cache));
            }
        }
        over
    }

    /// Takes caches off the list that are closed, and whose owners write no more.
    pub(crate) fn remove(&self, is_gone: impl Fn(&Arc<ThreadCache>) -> bool) {
        lists::retain(&mut lock(&self.caches), |cache| {
            let is_gone = is_gone(cache);
            if is_gone {
                self.past.absorb(cache.counters());
                cache.state().note_gone(cache.counters());
            }
            !is_gone
        });
    }

    /// The figures of all blocks, through caches and past them.
    pub(crate) fn figures(&self) -> CacheCounters {
        let sum = CacheCounters::default();
        let caches = {
            let caches = lock(&self.caches);
            // Within the lock under which caches go: each counts here or there.
            sum.absorb(&self.past);
            caches.clone()
        };
        for cache in &caches {
            sum.absorb(cache.counters());
        }
        sum
    }
}

/// The list of caches, locked.
pub(crate) struct LockedCaches<'p>(MutexGuard<'p, Vec<Arc<ThreadCache>>>);

impl LockedCaches<'_> {
    /// Adds a cache.
    pub(crate) fn add(&mut self, cache: &Arc<ThreadCache>) {
        self.0.push(Arc::clone(cache));
    }

    /// The caches of a stream, by its serial.
    pub(crate) fn of_stream(&self, serial: u64) -> impl Iterator<Item = &ThreadCache> {
        let caches = self.0.iter().map(|cache| &**cache);
        caches.filter(move |cache| cache.state().serial() == serial)
    }
}

impl Deref for LockedCaches<'_> {
    type Target = Vec<Arc<ThreadCache>>;

    fn deref(&self) -> &Vec<Arc<ThreadCache>> {
        &self.0
    }
}
