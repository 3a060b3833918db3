//! `OverLimit`: whether a pool has memory beyond a limit that was lowered. That goes back as soon
//! as nothing uses it.
//!
//! A hit does not look at the limit. So while something is over, a flag keeps threads out of their
//! caches: memory that they free goes to the heap, and a thread that comes there gives idle memory
//! back.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::pool::cache::thread_cache::OVER_LIMIT;
use crate::sync::biased_lock::BiasedLock;
use crate::sync::{AtomicBool, Ordering};

/// Of operations on less than a page one in so many looks: few of them leave a page idle.
const SELDOM: u64 = 64;

/// Whether a pool is over its limit.
#[derive(Debug, Default)]
pub(crate) struct OverLimit {
    /// The caches have the flag. Changed under their lock.
    flagged: AtomicBool,
    /// Operations on less than a page meanwhile.
    small: AtomicU64,
}

impl OverLimit {
    pub(crate) fn is_flagged(&self) -> bool {
        self.flagged.load(Ordering::Relaxed)
    }

    /// Gives a new cache the flag that the others have. Under the lock of the caches.
    pub(crate) fn enter(&self, cache: &BiasedLock) {
        if self.is_flagged() && !mutant!("over_limit_forgets_new_caches") {
            cache.set_flags(OVER_LIMIT);
        }
    }

    /// Keeps threads out of their caches while the pool is over its limit: `caches` locks these.
    pub(crate) fn flag<T: AsRef<BiasedLock>, L: Deref<Target = Vec<Arc<T>>>>(
        &self,
        is_over: impl Fn() -> bool,
        caches: impl FnOnce() -> L,
    ) {
        let early = mutant!("over_limit_looks_before_the_lock").then(&is_over);
        let caches = caches();
        // A thread that changes the limit does so before it comes here, so the last look is right.
        let is_over = early.unwrap_or_else(is_over);
        if self.flagged.swap(is_over, Ordering::Relaxed) == is_over {
            return;
        }
        let all = caches
            .iter()
            .map(|cache| -> &BiasedLock { (**cache).as_ref() });
        if is_over {
            let seized = BiasedLock::revoke_all(all);
            for cache in &seized {
                cache.set_flags(OVER_LIMIT);
            }
        } else {
            for cache in all {
                cache.clear_flags(OVER_LIMIT);
            }
        }
    }

    /// Whether it is time for an operation on less than a page to look.
    pub(crate) fn is_turn(&self) -> bool {
        let count = self.small.fetch_add(1, Ordering::Relaxed);
        count.is_multiple_of(SELDOM)
    }
}
