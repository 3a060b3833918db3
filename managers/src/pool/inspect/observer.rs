//! `Observer`: what is told of a pool, and who is told.

use std::sync::{Arc, Mutex};

use cupola_sys::driver::Driver;

use crate::error::Error;
use crate::pool::alloc::progress::ProgressCounters;
use crate::pool::inspect::counters::{Counters, Happened};
use crate::pool::inspect::history::History;
use crate::pool::inspect::region_hooks::RegionHooks;
use crate::pool::limit::levels::Levels;
use crate::sync::lock;

/// The user's callback, which is asked before a request is refused.
pub(crate) type Callback = Arc<dyn Fn(&Error) -> bool + Send + Sync>;

/// What is told of a pool, and who is told.
pub(crate) struct Observer {
    /// `None`: the driver checks nothing.
    region_hooks: Option<RegionHooks>,
    history: Arc<History>,
    counters: Counters,
    progress: ProgressCounters,
    levels: Levels,
    callback: Mutex<Option<Callback>>,
}

impl Observer {
    /// Of a pool with this history, on a driver that stays as long as the value.
    pub(crate) fn new(driver: &Driver, history: &Arc<History>) -> Self {
        Self {
            region_hooks: RegionHooks::of(driver),
            history: Arc::clone(history),
            counters: Counters::default(),
            progress: ProgressCounters::default(),
            levels: Levels::default(),
            callback: Mutex::new(None),
        }
    }

    /// The hooks of a driver that checks the uses of the pool's blocks, if it does.
    #[inline]
    pub(crate) fn region_hooks(&self) -> Option<&RegionHooks> {
        self.region_hooks.as_ref()
    }

    /// What the pool did.
    #[inline]
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Counts an event off the hit path.
    pub(crate) fn note(&self, what: Happened) {
        self.counters.note(what);
    }

    /// The counts of events off the hit path.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The counts of changes that a search may find more by.
    pub(crate) fn progress(&self) -> &ProgressCounters {
        &self.progress
    }

    /// How full the limits are.
    pub(crate) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Puts the user's callback in place of the one before it.
    pub(crate) fn set_callback(&self, callback: Callback) {
        let before = lock(&self.callback).replace(callback);
        // After the lock: it may be anything.
        drop(before);
    }

    /// The user's callback, to be called without a lock.
    pub(crate) fn callback(&self) -> Option<Callback> {
        lock(&self.callback).clone()
    }

    /// Keeps the callback's lock, as another thread would.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn lock_callback(&self) -> std::sync::MutexGuard<'_, Option<Callback>> {
        lock(&self.callback)
    }
}
