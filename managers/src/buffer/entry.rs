//! The table's entry of a buffer: its handle, and its address, size and stream.

use cupola_core::tag;
use cupola_sys::driver::CUdeviceptr;

use crate::handle::ManagedHandle;
use crate::stream::StreamHandle;

/// Names a device buffer of a [`BufferManager`](super::BufferManager).
pub type BufferHandle = ManagedHandle<tag::Buffer>;

/// The address, the size and the stream of a buffer.
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
