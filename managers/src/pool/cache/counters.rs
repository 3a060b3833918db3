//! `CacheCounters`: figures of the blocks that went through a cache, at the cost of plain stores.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the blocks that went through a cache. Only the cache's owner writes, with plain stores;
/// every thread may read.
#[derive(Debug, Default)]
pub(crate) struct CacheCounters {
    allocations: AtomicU64,
    frees: AtomicU64,
    /// Bytes that were asked for, of pieces that were handed out, and that came back.
    bytes_out: AtomicU64,
    bytes_in: AtomicU64,
    /// The same of buffers alone.
    buffers_out: AtomicU64,
    buffers_in: AtomicU64,
    buffer_bytes_out: AtomicU64,
    buffer_bytes_in: AtomicU64,
    /// Requests that the magazines had no piece for, and frees that they had no room for.
    misses: AtomicU64,
    spills: AtomicU64,
    /// Requests that they served by the slow way.
    detours: AtomicU64,
    /// How often unused memory came in here, out of a transfer cache or the slabs: a thread that
    /// has looked through the cache before looks again.
    moves: AtomicU64,
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

    /// The magazines had no piece for a request.
    #[inline]
    pub(crate) fn note_miss(&self, put: fn(&AtomicU64, u64)) {
        put(&self.misses, 1);
    }

    /// The magazines had no room for a piece.
    #[inline]
    pub(crate) fn note_spill(&self, put: fn(&AtomicU64, u64)) {
        put(&self.spills, 1);
    }

    /// The magazines served a request by the slow way.
    #[inline]
    pub(crate) fn note_detour(&self, put: fn(&AtomicU64, u64)) {
        put(&self.detours, 1);
    }

    /// Unused memory came in.
    #[inline]
    pub(crate) fn note_move(&self, put: fn(&AtomicU64, u64)) {
        put(&self.moves, 1);
    }

    /// Blocks that were handed out.
    pub(crate) fn allocations(&self) -> u64 {
        self.allocations.load(Ordering::Relaxed)
    }

    /// Blocks that came back.
    pub(crate) fn frees(&self) -> u64 {
        self.frees.load(Ordering::Relaxed)
    }

    /// Requests that the magazines had no piece for.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Pieces that the magazines had no room for.
    pub(crate) fn spills(&self) -> u64 {
        self.spills.load(Ordering::Relaxed)
    }

    /// Requests that the magazines served by the slow way.
    pub(crate) fn detours(&self) -> u64 {
        self.detours.load(Ordering::Relaxed)
    }

    /// How often unused memory came in.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Bytes that were asked for, of blocks that were handed out.
    pub(crate) fn bytes_out(&self) -> u64 {
        self.bytes_out.load(Ordering::Relaxed)
    }

    /// The same of blocks that came back.
    pub(crate) fn bytes_in(&self) -> u64 {
        self.bytes_in.load(Ordering::Relaxed)
    }

    /// Buffers that were handed out.
    pub(crate) fn buffers_out(&self) -> u64 {
        self.buffers_out.load(Ordering::Relaxed)
    }

    /// Bytes that were asked for and have not come back: of one cache alone fewer than none, where
    /// blocks came back elsewhere, which this takes for none.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.bytes_out().saturating_sub(self.bytes_in())
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
