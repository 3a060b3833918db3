//! `PinnedPoolConfig`: how a pinned pool is made.

use std::time::Duration;

/// How a processor's caches treat the memory of a [`PinnedPool`](super::PinnedPool).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostCaching {
    /// As other memory.
    #[default]
    Cached,
    /// Writes are combined and pass by the caches (`CU_MEMHOSTALLOC_WRITECOMBINED`); **reading is some
    /// hundred times slower**. Only for buffers that the host fills front to back and never reads,
    /// on buses where it was measured to help.
    WriteCombined,
}

/// How a [`PinnedPool`](super::PinnedPool) is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinnedPoolConfig {
    /// The most bytes that the pool may have page-locked at a time: in buffers that are alive, in
    /// dropped ones that copies still use, and kept for later.
    pub limit: u64,
    /// Bytes that are page-locked at a time at the least, as far as the limit has them: page-locking
    /// costs a call, and buffers are cut from what it gives.
    pub region_bytes: u64,
    /// How long an allocation that does not fit waits on the host for copies that still use dropped
    /// buffers. Without such copies it is refused at once.
    pub wait: Duration,
    /// How the host's caches treat the memory.
    pub caching: HostCaching,
}

impl PinnedPoolConfig {
    /// [`region_bytes`](Self::region_bytes) if not said otherwise.
    pub const REGION_BYTES: u64 = 64 << 20;
    /// [`wait`](Self::wait) if not said otherwise.
    pub const WAIT: Duration = Duration::from_secs(10);

    /// A pool of at most `bytes`, of memory that is cached as other memory is.
    #[must_use]
    pub const fn limit(bytes: u64) -> Self {
        Self {
            limit: bytes,
            region_bytes: Self::REGION_BYTES,
            wait: Self::WAIT,
            caching: HostCaching::Cached,
        }
    }

    /// Page-locks at least this much at a time.
    #[must_use]
    pub const fn region_bytes(self, bytes: u64) -> Self {
        Self {
            region_bytes: bytes,
            ..self
        }
    }

    /// Waits no longer than this for copies that still use dropped buffers.
    #[must_use]
    pub const fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Asks for [write-combined](HostCaching::WriteCombined) memory.
    #[must_use]
    pub const fn write_combined(self) -> Self {
        Self {
            caching: HostCaching::WriteCombined,
            ..self
        }
    }
}
