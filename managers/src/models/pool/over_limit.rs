//! A limit that is lowered below a pool's memory, and raised again, beside new caches: in the end
//! each cache is open or not by the limit.

use std::sync::Arc as StdArc;

use cupola_core::Budget;
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::models::model;
use crate::pool::cache::thread_cache::OVER_LIMIT;
use crate::pool::limit::over_limit::OverLimit;
use crate::sync::biased_lock::BiasedLock;

/// The lock of a cache, which keeps its owner out.
struct ThreadCache(BiasedLock);

impl AsRef<BiasedLock> for ThreadCache {
    fn as_ref(&self) -> &BiasedLock {
        &self.0
    }
}

/// A pool of two bytes.
struct Pool {
    budget: Budget,
    over_limit: OverLimit,
    caches: Mutex<Vec<StdArc<ThreadCache>>>,
}

impl Pool {
    fn new() -> Arc<Self> {
        let budget = Budget::new(2);
        let _: u64 = budget.reserve(2).unwrap().commit();
        Arc::new(Self {
            budget,
            over_limit: OverLimit::default(),
            caches: Mutex::new(vec![StdArc::new(ThreadCache(BiasedLock::new()))]),
        })
    }

    fn is_over(&self) -> bool {
        self.budget.used() > self.budget.limit()
    }

    fn set_limit(&self, bytes: u64) {
        self.budget.set_limit(bytes);
        let caches = || self.caches.lock().unwrap();
        self.over_limit.flag(|| self.is_over(), caches);
    }

    fn add_cache(&self) {
        let cache = StdArc::new(ThreadCache(BiasedLock::new()));
        let mut caches = self.caches.lock().unwrap();
        self.over_limit.enter(&cache.0);
        caches.push(cache);
    }
}

// Without it a pool could keep threads out of their caches for nothing, or let one keep memory for
// itself that the limit has no room for.
#[test]
fn caches_are_open_as_the_last_limit_says() {
    model(&["over", "within"], |seen| {
        let pool = Pool::new();
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.set_limit(1)
        });
        let owner = thread::spawn({
            let pool = pool.clone();
            move || pool.add_cache()
        });
        pool.set_limit(3);
        other.join().unwrap();
        owner.join().unwrap();
        let is_over = pool.is_over();
        let caches = pool.caches.lock().unwrap();
        assert_eq!(caches.len(), 2);
        for cache in caches.iter() {
            assert_eq!(cache.0.flags() == OVER_LIMIT, is_over);
        }
        seen.note(if is_over { "over" } else { "within" });
    });
}
