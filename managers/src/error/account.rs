//! `Account`: what a memory pool held when it refused.

use core::fmt;

/// The account of a [`MemoryPool`](crate::memory::MemoryPool) at the moment of a refusal,
/// in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes in blocks that are alive.
    pub live: u64,
    /// The most bytes that were ever alive at a time.
    pub peak: u64,
    /// The pool's limit.
    pub limit: u64,
    /// Blocks that are alive.
    pub blocks: u64,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            requested,
            live,
            peak,
            limit,
            blocks,
        } = self;
        write!(
            f,
            "{requested} bytes asked for, {live} of {limit} bytes alive in {blocks} blocks (peak {peak})"
        )
    }
}
