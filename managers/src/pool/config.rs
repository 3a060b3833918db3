//! How a pool is made.

use std::time::Duration;

use crate::pool::limit::device_limit::DeviceLimit;

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Most bytes that the pool may have from the driver at a time, in whole pages: memory in
    /// use, and memory that it keeps for reuse.
    pub limit: u64,
    /// A limit that the pool has in common with others, besides its own.
    pub within: Option<DeviceLimit>,
    /// How long an allocation that finds no memory waits on the host for work that still uses freed
    /// memory: all its waits together, but for those after an answer of
    /// [`on_refusal`](super::MemoryPool::on_refusal), which begins anew. Any duration will do;
    /// `Duration::MAX` waits for as long as work is under way. Memory that no completion can give
    /// is not waited for: a request that live blocks leave no room for, or that could be had only
    /// if blocks moved, is refused at once. On a full device that is known only where no other pool
    /// of the context, and none under a common limit, could make room.
    ///
    /// Where one stream uses the pool, a request at the limit waits for whole pages, five seconds
    /// and half of this at most, rather than take a place that would leave fewer of them to all
    /// that come later; without a wait, or after it, it takes that. So with zero it never waits:
    /// for hosts that a device may wait for, such as one thread that launches the parts of a
    /// collective on several devices.
    pub wait: Duration,
    /// How many of the last operations the pool remembers; 0 for none. Remembering takes two
    /// locks and a look at the clock for each operation, and 120 bytes of the host.
    pub history: usize,
    /// Where the memory comes from.
    pub source: Source,
    /// Which threads place blocks in memory of their own.
    pub arenas: Arenas,
}

/// Which threads get an arena: spans of 32 MiB and more, in which they place blocks of 8 KiB to
/// 4 MiB that no cache has, without the lock that all threads of the pool have in common.
///
/// What is free in a thread's arena no other thread gets, until memory runs short, the thread or the
/// stream ends, or the pool is trimmed: then its blocks stay where they are, and the rest is
/// everyone's. No arena grows that has an eighth or more of what is left of the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arenas {
    /// A thread that has often found that lock taken.
    #[default]
    WhereContended,
    /// No thread: for programs that want the least memory with many threads.
    Never,
    /// Every thread, from its first block on.
    Always,
}

/// Where a pool's memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Virtual memory management where the device has it, else chunks.
    #[default]
    Best,
    /// Chunks of `cuMemAlloc`, on any device: a chunk cannot be given back before all of it is
    /// free, and giving it back (`cuMemFree`) waits for all work of the context. For
    /// memory that other libraries register, and for comparison.
    Chunks,
}

impl PoolConfig {
    /// How long an allocation waits if not said otherwise. A host that is a thousand launches ahead
    /// of its device, as many as a queue takes, may be seconds ahead.
    pub const WAIT: Duration = Duration::from_secs(10);

    /// A pool of at most `bytes`.
    #[must_use]
    pub const fn limit(bytes: u64) -> Self {
        Self {
            limit: bytes,
            within: None,
            wait: Self::WAIT,
            history: 0,
            source: Source::Best,
            arenas: Arenas::WhereContended,
        }
    }

    /// Remembers the last `events` operations, for [`MemoryPool::history`].
    ///
    /// [`MemoryPool::history`]: super::MemoryPool::history
    #[must_use]
    pub const fn history(mut self, events: usize) -> Self {
        self.history = events;
        self
    }

    /// Waits no longer than this for work that still uses freed memory.
    #[must_use]
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Says which threads place blocks in memory of their own.
    #[must_use]
    pub const fn arenas(mut self, arenas: Arenas) -> Self {
        self.arenas = arenas;
        self
    }

    /// Shares a limit with other pools.
    #[must_use]
    pub fn within(mut self, limit: &DeviceLimit) -> Self {
        self.within = Some(limit.clone());
        self
    }
}
