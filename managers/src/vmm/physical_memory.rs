//! `PhysicalMemory`: memory of a device without an address.

use std::fmt;

use super::VirtualMemory;
use crate::error::Result;
use crate::pool::MemoryHandle;

/// Physical memory of a device, mapped nowhere (`cuMemCreate`). Dropping it gives it back
/// (`cuMemRelease`); where the driver refuses that, it counts as [abandoned](crate::Live::abandoned) and the
/// bytes stay charged to the limit.
#[doc(alias = "CUmemGenericAllocationHandle")]
#[doc(alias = "cuMemRelease")]
pub struct PhysicalMemory {
    memory: VirtualMemory,
    handle: MemoryHandle,
    bytes: u64,
    /// The driver holds on to it: it is not given back, and stays charged.
    abandoned: bool,
}

impl PhysicalMemory {
    pub(super) fn new(memory: VirtualMemory, handle: MemoryHandle, bytes: u64) -> Self {
        Self {
            memory,
            handle,
            bytes,
            abandoned: false,
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The driver's handle.
    #[must_use]
    pub fn as_raw(&self) -> MemoryHandle {
        self.handle
    }

    pub(super) fn is_of(&self, memory: &VirtualMemory) -> bool {
        self.memory.is_same(memory)
    }

    /// The memory cannot be unmapped, so it is still in use: the driver keeps it, and it counts as
    /// abandoned. Its context may end all the same.
    pub(super) fn abandon(mut self) {
        self.memory.vmm().note_abandoned();
        self.abandoned = true;
    }

    #[track_caller]
    fn release(&self) -> Result<()> {
        // SAFETY: the handle is this value's, which ends now; a range that has it mapped owns the value.
        unsafe { self.memory.vmm().release(self.handle) }
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if self.abandoned {
            return;
        }
        match self.release() {
            Ok(()) => self.memory.note_released(self.bytes),
            Err(_) => self.memory.vmm().note_abandoned(),
        }
    }
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhysicalMemory")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
