//! Device and pinned memory: typed owners, views, and the manager that names them.

mod block;
mod device;
pub mod element;
pub(crate) mod entry;
mod pinned;
mod pointer;
mod table;

use std::sync::Arc;

pub(crate) use block::{Block, Output};
#[cfg(feature = "derive")]
#[doc(no_inline)]
pub use cupola_derive::DeviceCopy;
pub(crate) use device::resolve;
pub use device::{Buffer, CastError, DeviceSlice, DeviceSliceMut};
pub use element::DeviceCopy;
pub(crate) use element::{check, repair};
pub use entry::{BufferHandle, BufferInfo};
pub(crate) use pinned::{BlockOwner, Copies, Home, PinnedMemory, PinnedPart};
pub use pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut};
pub(crate) use pointer::check as check_pointer;
pub(crate) use table::BufferTable;

use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::event::EventPool;
use crate::limits::check_capacity;
use crate::registry::part;
use crate::shutdown_report::{LeasedObject, ShutdownReport};
use crate::stats::{ManagerStats, State};
use crate::stream::StreamsConfig;

/// The device buffers of one context, by handle, and where pinned memory comes from.
///
/// Device buffers come from a [`MemoryPool`](crate::pool::MemoryPool), which enters them
/// here; a [`Buffer`] owns its memory, so a handle keeps nothing alive.
pub struct BufferManager {
    table: Arc<BufferTable>,
    events: Arc<EventPool>,
    core: Arc<ContextCore>,
}

/// How a [`BufferManager`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuffersConfig {
    /// The most device buffers that may exist at a time.
    pub capacity: usize,
}

impl Default for BuffersConfig {
    fn default() -> Self {
        Self {
            capacity: StreamsConfig::MOST,
        }
    }
}

impl BufferManager {
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        config: BuffersConfig,
    ) -> Self {
        Self {
            table: Arc::new(BufferTable::new(core, config.capacity)),
            events: Arc::clone(events),
            core: Arc::clone(core),
        }
    }

    /// Figures of the device buffers so far. The peak is the most that was seen by this
    /// function and by shutdowns: allocating counts nothing that all threads share.
    #[must_use]
    pub fn stats(&self) -> ManagerStats {
        self.table.stats()
    }

    /// Whether buffers can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.table.is_shut())
    }

    /// Ends every handle, and refuses device and pinned memory until
    /// [`configure`](Self::configure). A buffer is its owner's, and stays good: the report
    /// lists the device buffers that are alive, each with one lease.
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.core.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport {
            leased: self.close(),
            ..ShutdownReport::default()
        };
        report.locate(&self.core);
        report
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field; [`Error::Forked`].
    pub fn configure(&self, config: BuffersConfig) -> Result<()> {
        self.core.not_forked()?;
        check_capacity("buffers.capacity", config.capacity)?;
        self.table.open(config.capacity);
        Ok(())
    }

    pub(crate) fn close(&self) -> Vec<LeasedObject> {
        let mut leased = Vec::new();
        for (handle, entry) in self.table.shut() {
            if let Err(leases) = part(entry) {
                leased.push(LeasedObject::new(handle, leases));
            }
        }
        leased
    }

    /// Pinned host memory of `len` elements, all zero (`cuMemHostAlloc`). Slow: make it once
    /// and use it again.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are more bytes than there are addresses; [`Error::ShutDown`],
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemHostAlloc")]
    #[track_caller]
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        if self.table.is_shut() {
            return Err(Error::ShutDown {
                kind: "PinnedBuffer",
            });
        }
        PinnedBuffer::new(&self.core, &self.events, len)
    }

    /// The buffer that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`] after the buffer was freed, or the manager shut down.
    #[track_caller]
    pub fn info(&self, handle: BufferHandle) -> Result<BufferInfo> {
        self.table.info(handle)
    }

    /// Handles of the buffers that are alive now. This gives a handle to each buffer that has none
    /// yet: a buffer costs nothing here before a caller asks.
    pub fn handles(&self) -> impl Iterator<Item = BufferHandle> + '_ {
        self.table.handles()
    }

    /// Number of buffers that are alive now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.table.live()
    }

    pub(crate) fn table(&self) -> &Arc<BufferTable> {
        &self.table
    }

    pub(crate) fn events(&self) -> &Arc<EventPool> {
        &self.events
    }
}

/// Size of `len` elements in bytes.
#[track_caller]
pub(crate) fn byte_len<T>(len: usize) -> Result<usize> {
    len.checked_mul(size_of::<T>())
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| {
            Error::invalid(
                "len",
                format!("{len} elements are more bytes than there are addresses"),
            )
        })
}

impl std::fmt::Debug for BufferManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.table, f)
    }
}
