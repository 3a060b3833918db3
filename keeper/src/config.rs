//! `KeeperConfig`: how a keeper is made.

use std::time::Duration;

/// How a [`Keeper`](crate::Keeper) is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeeperConfig {
    /// The most bytes of device memory that the keeper's objects and what guests have under
    /// [`Guest::limit`](crate::Guest::limit) are at a time. [`Keeper::ledger`](crate::Keeper::ledger) changes it.
    pub limit: u64,
    /// The most bytes of page-locked host memory, for objects that are asleep.
    pub host_limit: u64,
    /// The most bytes of one allocation. An object of more has several: each is an open file of the keeper
    /// (`RLIMIT_NOFILE`), and costs a guest an import and a mapping.
    pub piece: u64,
    /// The most guests at a time.
    pub guests: usize,
    /// The most objects at a time.
    pub objects: usize,
    /// How long a guest may leave a frame unfinished or unread before it is cut off: all of the frame, however
    /// its bytes come.
    pub patience: Duration,
}

impl KeeperConfig {
    /// At most this much device memory, and as much host memory.
    #[must_use]
    pub const fn limit(bytes: u64) -> Self {
        Self {
            limit: bytes,
            host_limit: bytes,
            piece: 1 << 30,
            guests: 64,
            objects: 4096,
            patience: Duration::from_secs(10),
        }
    }

    /// At most this much host memory.
    #[must_use]
    pub const fn host_limit(self, bytes: u64) -> Self {
        Self {
            host_limit: bytes,
            ..self
        }
    }

    /// Allocations of at most this many bytes: rounded down to whole pages, and one at the least.
    #[must_use]
    pub const fn piece(self, bytes: u64) -> Self {
        Self {
            piece: bytes,
            ..self
        }
    }

    /// At most this many guests.
    #[must_use]
    pub const fn guests(self, most: usize) -> Self {
        Self {
            guests: most,
            ..self
        }
    }

    /// At most this many objects.
    #[must_use]
    pub const fn objects(self, most: usize) -> Self {
        Self {
            objects: most,
            ..self
        }
    }

    /// Guests may leave a frame unfinished or unread this long.
    #[must_use]
    pub const fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}
