//! `Account`: the figures of a memory pool when it refused.

use core::fmt;

/// The account of a [`MemoryPool`](crate::pool::MemoryPool) at the moment of a refusal,
/// in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes in blocks that are alive, as they were asked for.
    pub live: u64,
    /// Blocks that are alive.
    pub blocks: u64,
    /// Free bytes on mapped pages that nothing uses: too few in one piece, or on pages that
    /// live blocks share.
    pub ready: u64,
    /// Free bytes that work may still use.
    pub pending: u64,
    /// Bytes that the pool has from the driver. The limit is on these.
    pub mapped: u64,
    /// The pool's limit.
    pub limit: u64,
    /// Bytes in use and the limit, of a limit that is shared with other pools.
    pub shared: Option<(u64, u64)>,
    /// Bytes in use and the limit, of an account that the shared limit has in common with other
    /// processes ([`DeviceLimit::within`](crate::pool::DeviceLimit::within)).
    pub processes: Option<(u64, u64)>,
    /// The largest request that would fit without mapping a page.
    pub largest: u64,
    /// Bytes of a page: limits count whole pages.
    pub page: u64,
    /// Bytes of the device that are free; 0 if that could not be asked.
    pub device_free: u64,
    /// Bytes of the device that others use: other processes, contexts and libraries.
    pub foreign: u64,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            requested,
            live,
            blocks,
            ready,
            pending,
            mapped,
            limit,
            shared,
            processes,
            largest,
            page,
            device_free,
            foreign,
        } = self;
        write!(
            f,
            "{requested} bytes asked for, {live} bytes alive in {blocks} blocks, {mapped} of {limit} bytes mapped in pages of {page} ({ready} free, of which {largest} in one piece, {pending} freed but perhaps still in use)"
        )?;
        if let Some((used, limit)) = shared {
            write!(f, ", {used} of {limit} bytes of the shared limit in use")?;
        }
        if let Some((used, limit)) = processes {
            write!(
                f,
                ", {used} of {limit} bytes of all processes' limit in use"
            )?;
        }
        write!(
            f,
            "; of the device {device_free} bytes are free and {foreign} are used by others"
        )
    }
}
