//! Device and pinned memory: typed owners, views, and the manager that names them.

mod block;
mod device;
mod element;
mod pinned;

use std::sync::Arc;

use cupola_core::{Handle, tag};
use cupola_sys::driver::CUdeviceptr;

pub(crate) use block::Block;
pub use device::{Buffer, DeviceSlice, DeviceSliceMut};
pub use element::DeviceCopy;
pub use pinned::PinnedBuffer;

use crate::context::ContextCore;
use crate::error::{Error, Result};
use crate::registry::Registry;
use crate::stream::StreamHandle;

/// Names a device buffer of a [`BufferManager`].
pub type BufferHandle = Handle<tag::Buffer>;

/// What a [`BufferManager`] knows of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Device address; 0 when it has no bytes.
    pub address: CUdeviceptr,
    /// Size in bytes.
    pub bytes: u64,
    /// The stream it was allocated on.
    pub stream: StreamHandle,
}

/// The device buffers of one context, by handle, and where pinned memory comes from.
///
/// Device buffers come from a [`MemoryPool`](crate::memory::MemoryPool), which enters them
/// here; a [`Buffer`] owns its memory, so a handle keeps nothing alive.
#[derive(Debug)]
pub struct BufferManager {
    table: Arc<BufferTable>,
    core: Arc<ContextCore>,
}

/// The handles of the buffers that are alive.
#[derive(Debug)]
pub(crate) struct BufferTable(Registry<BufferInfo, tag::Buffer>);

impl BufferTable {
    pub(crate) fn insert(&self, info: BufferInfo) -> Result<BufferHandle> {
        let mut name = None;
        self.0.insert_with(|handle| {
            name = Some(handle);
            Ok(info)
        })?;
        name.ok_or(Error::Full { kind: "Buffer" })
    }

    pub(crate) fn remove(&self, handle: BufferHandle) {
        // Stale only if removed before: there is nothing left to do then.
        let _ = self.0.release(handle);
    }
}

impl BufferManager {
    pub(crate) fn new(core: &Arc<ContextCore>) -> Self {
        Self {
            table: Arc::new(BufferTable(Registry::new())),
            core: Arc::clone(core),
        }
    }

    /// Pinned host memory of `len` elements, all zero (`cuMemHostAlloc`). Slow: make it once
    /// and use it again.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::new(&self.core, len)
    }

    /// The buffer that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`] after the buffer was freed.
    pub fn info(&self, handle: BufferHandle) -> Result<BufferInfo> {
        self.table.0.lease(handle).map(|info| *info)
    }

    /// Handles of the buffers that are alive now.
    pub fn handles(&self) -> impl Iterator<Item = BufferHandle> + '_ {
        self.table.0.handles()
    }

    /// Number of buffers that are alive now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.table.0.live()
    }

    pub(crate) fn table(&self) -> &Arc<BufferTable> {
        &self.table
    }
}

/// Size of `len` elements in bytes.
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
