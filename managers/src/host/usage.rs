//! `PinnedUsage`: the account of a pinned pool.

use std::fmt;

/// The account of a [`PinnedPool`](super::PinnedPool) at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PinnedUsage {
    /// The most bytes that the pool may have page-locked.
    pub limit: u64,
    /// Bytes that it has page-locked. The limit is on these.
    pub locked: u64,
    /// The most bytes that it ever had page-locked at a time.
    pub peak: u64,
    /// Regions that they are in.
    pub regions: usize,
    /// Bytes in buffers that are alive, rounded up to whole granules.
    pub live: u64,
    /// Buffers that are alive.
    pub blocks: usize,
    /// Bytes of dropped buffers that copies may still use.
    pub pending: u64,
    /// Bytes that nothing uses.
    pub free: u64,
    /// The largest request that would fit without another region.
    pub largest: u64,
}

impl fmt::Display for PinnedUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            limit,
            locked,
            regions,
            live,
            blocks,
            pending,
            free,
            largest,
            ..
        } = self;
        write!(
            f,
            "{live} bytes alive in {blocks} buffers, {locked} of {limit} bytes page-locked in {regions} \
             regions ({free} free, of which {largest} in one piece, {pending} dropped but perhaps still \
             copied)"
        )
    }
}
