//! `CacheCounters`: figures of the blocks that went through a cache, at the cost of plain stores.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the blocks that went through a cache. Only the cache's owner writes, with plain stores;
/// every thread may read.
#[derive(Debug, Default)]
pub(crate) struct CacheCounters {
    pub(crate) allocations: AtomicU64,
    pub(crate) frees: AtomicU64,
    /// Bytes that were asked for, of pieces that were handed out, and that came back.
    pub(crate) bytes_out: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    /// The same of buffers alone.
    pub(crate) buffers_out: AtomicU64,
    pub(crate) buffers_in: AtomicU64,
    pub(crate) buffer_bytes_out: AtomicU64,
    pub(crate) buffer_bytes_in: AtomicU64,
    /// Requests that the magazines had no piece for, and frees that they had no room for.
    pub(crate) misses: AtomicU64,
    pub(crate) spills: AtomicU64,
    /// Requests that they served by the slow way.
    pub(crate) detours: AtomicU64,
    /// How often unused memory came in here, out of a transfer cache or the slabs: a thread that
    /// has looked through the cache before looks again.
    pub(crate) moves: AtomicU64,
}

impl CacheCounters {
    /// A block was handed out. `put` adds.
    #[inline(always)]
    pub(crate) fn note_out(&self, bytes: u64, buffer: bool, put: fn(&AtomicU64, u64)) {
        put(&self.allocations, 1);
        put(&self.bytes_out, bytes);
        if buffer {
            put(&self.buffers_out, 1);
            put(&self.buffer_bytes_out, bytes);
        }
    }

    /// A block came back.
    #[inline(always)]
    pub(crate) fn note_in(&self, (bytes, buffer): (u64, bool), put: fn(&AtomicU64, u64)) {
        put(&self.frees, 1);
        put(&self.bytes_in, bytes);
        if buffer {
            put(&self.buffers_in, 1);
            put(&self.buffer_bytes_in, bytes);
        }
    }

    /// How often something came in: as long as it is the same, nothing has.
    pub(crate) fn came(&self) -> u64 {
        let frees = self.frees.load(Ordering::Relaxed);
        frees.wrapping_add(self.moves.load(Ordering::Relaxed))
    }

    /// Buffers that are alive, and their bytes.
    pub(crate) fn buffers(&self) -> (u64, u64) {
        let alive = |out: &AtomicU64, back: &AtomicU64| {
            let back = back.load(Ordering::Relaxed);
            out.load(Ordering::Relaxed).saturating_sub(back)
        };
        (
            alive(&self.buffers_out, &self.buffers_in),
            alive(&self.buffer_bytes_out, &self.buffer_bytes_in),
        )
    }

    /// Adds the figures of another cache, whose owner writes no more.
    pub(crate) fn absorb(&self, other: &Self) {
        let pairs = [
            (&self.allocations, &other.allocations),
            (&self.frees, &other.frees),
            (&self.bytes_out, &other.bytes_out),
            (&self.bytes_in, &other.bytes_in),
            (&self.buffers_out, &other.buffers_out),
            (&self.buffers_in, &other.buffers_in),
            (&self.buffer_bytes_out, &other.buffer_bytes_out),
            (&self.buffer_bytes_in, &other.buffer_bytes_in),
            (&self.misses, &other.misses),
            (&self.spills, &other.spills),
            (&self.detours, &other.detours),
            (&self.moves, &other.moves),
        ];
        for (to, from) in pairs {
            to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// Adds without a read-modify-write: the caller is the only writer.
#[inline]
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(more),
        Ordering::Relaxed,
    );
}
