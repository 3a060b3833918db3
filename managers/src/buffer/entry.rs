//! What a buffer is known by: its handle, and what the table says of it.

use cupola_core::tag;
use cupola_sys::driver::CUdeviceptr;

use crate::handle::ManagedHandle;
use crate::stream::StreamHandle;

/// Names a device buffer of a [`BufferManager`](super::BufferManager).
pub type BufferHandle = ManagedHandle<tag::Buffer>;

/// What a [`BufferManager`](super::BufferManager) knows of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Device address; 0 when it has no bytes.
    pub address: CUdeviceptr,
    /// Size in bytes.
    pub bytes: u64,
    /// The stream it was allocated on.
    pub stream: StreamHandle,
}

/// A buffer's place in the table. The buffer's header has a share of it.
#[derive(Debug)]
pub(crate) struct BufferEntry {
    pub(super) handle: BufferHandle,
    pub(super) info: BufferInfo,
}
