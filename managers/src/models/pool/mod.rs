//! The pool: its caches, its heap, its limit, its pages and its end.

mod block_header;
mod budget;
mod moves;
mod orphan;
mod over_limit;
mod pages;
mod stream_uses;
mod thread_cache;
mod transfer_cache;

use std::sync::{Arc, Weak};

use crate::pool::cache::thread_cache::{CacheOwner, ThreadCache};
use crate::pool::heap::arena::Drained;
use crate::pool::streams::free_stamp::Stamp;

/// The pool of a cache in a model, which has none: no thread of a model ends while the cache is open.
struct NoPool;

impl CacheOwner for NoPool {
    fn is_here(&self) -> bool {
        false
    }

    fn take_back(&self, _: Drained, _: Stamp) {}

    fn remove(&self, _: &Arc<ThreadCache>) {}
}

fn no_owner() -> Weak<dyn CacheOwner> {
    Weak::<NoPool>::new()
}
