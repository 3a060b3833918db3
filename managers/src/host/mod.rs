//! Host memory that devices reach: page-locked memory under a limit, memory of the program's own that
//! is page-locked in place, and managed memory.
//!
//! * [`PinnedPool`]: page-locked memory in regions (`region`), which are made of pages that several
//!   threads touch (`mapping`), cut into the memory of [`PinnedBuffer`](crate::PinnedBuffer)s by a heap
//!   (`state`).
//! * [`RegisteredBuffer`]: registered memory of the program's.
//! * [`ManagedBuffer`]: memory with one address for host and devices, which the driver moves.
//!
//! `docs/design/host.md` says why it is so.

mod config;
mod error;
mod managed;
mod mapping;
mod pool;
mod region;
mod registered;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod usage;

use std::sync::OnceLock;

pub use config::{HostCaching, PinnedPoolConfig};
pub use error::HostMemoryError;
pub use managed::{ManagedAdvice, ManagedBuffer, ManagedLocation};
pub use pool::PinnedPool;
pub use region::PinnedBacking;
pub use registered::{RegisterError, RegisteredBuffer};
pub(crate) use registered::{with_registered, with_registered_read_only};
pub use usage::PinnedUsage;

use crate::driver::ContextCore;
use crate::error::Result;

/// What a context knows of the host memory that its device takes.
#[derive(Debug, Default)]
pub(crate) struct HostMemory {
    /// Once it was tried.
    backing: OnceLock<PinnedBacking>,
}

impl HostMemory {
    /// How the device gets page-locked memory: tried at the first call, then remembered.
    ///
    /// # Errors
    /// What the driver returned, or the system.
    #[track_caller]
    pub(crate) fn backing(&self, core: &ContextCore) -> Result<PinnedBacking> {
        if let Some(backing) = self.backing.get() {
            return Ok(*backing);
        }
        let found = region::probe(core)?;
        if let PinnedBacking::Allocated { refused: Some(_) } | PinnedBacking::Managed { .. } = found
        {
            tracing::warn!(device = core.ordinal(), "pinned memory is {found}");
        }
        Ok(*self.backing.get_or_init(|| found))
    }
}
