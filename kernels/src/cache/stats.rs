//! `CacheStats`: what a cache did.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// How often a cache did what, since it was made.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct CacheStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The counters behind [`CacheStats`].
        #[derive(Debug, Default)]
        pub(super) struct Counters {
            $(pub(super) $name: Counter,)*
        }

        impl Counters {
            pub(super) fn stats(&self) -> CacheStats {
                CacheStats { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Entries that came from memory.
    memory_hits,
    /// Entries that came from the private folder.
    disk_hits,
    /// Entries that came from the shared folder.
    shared_hits,
    /// Failures of compiles that memory still had.
    failure_hits,
    /// Callers that waited for another thread's compile and took what came of it.
    joined,
    /// Compiles.
    compiles,
    /// Entries that were written to the private folder.
    stored,
    /// Entries that made room for others there.
    evicted,
    /// Temporaries and locks that dead processes had left.
    swept,
    /// Files that were no entry of their key: damaged, cut, of another version. They were removed.
    corrupt,
    /// Entries whose files have changed.
    stale,
    /// Entries that are not listed by the policy.
    unlisted,
    /// Entries that a driver rejected.
    rejected,
    /// Entries of foreign owners, links and folders that are not private: not looked into.
    refused,
    /// Calls of the file system that failed. Each cost a compile at most.
    io_failures,
    /// Waits for another process that took too long.
    lock_timeouts,
}

/// One of them. Nothing is ordered by it.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn note(&self) {
        self.add(1);
    }

    pub(super) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}
