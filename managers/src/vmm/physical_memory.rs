//! `PhysicalMemory`: memory of a device without an address.

use std::fmt;
#[cfg(unix)]
use std::os::fd::OwnedFd;

use super::VirtualMemory;
#[cfg(unix)]
use crate::error::Error;
use crate::error::Result;
use crate::pool::MemoryHandle;

/// The limit that imported memory counts for.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportCharge {
    /// The importer's: charged before the driver is asked, and released with the value, as memory that
    /// the importer has created.
    ThisLimit,
    /// Another one, say that of the exporting process: the importer's is not charged.
    OtherLimit,
}

/// Where memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Created,
    #[cfg(unix)]
    Exportable,
    #[cfg(unix)]
    Imported(ImportCharge),
}

impl Origin {
    /// Whether the limit of this process has it.
    pub(super) fn is_charged(self) -> bool {
        #[cfg(unix)]
        return self != Self::Imported(ImportCharge::OtherLimit);
        #[cfg(not(unix))]
        true
    }
}

/// Physical memory of a device, mapped nowhere (`cuMemCreate`). Dropping it gives it back
/// (`cuMemRelease`), unless other processes have it too; where the driver refuses that, it counts as [abandoned](crate::Live::abandoned) and the
/// bytes stay charged to the limit.
#[doc(alias = "CUmemGenericAllocationHandle")]
#[doc(alias = "cuMemRelease")]
pub struct PhysicalMemory {
    memory: VirtualMemory,
    handle: MemoryHandle,
    bytes: u64,
    origin: Origin,
    /// Nothing is left to do when it is dropped: it was given back, or the driver holds on to it, and it stays
    /// charged.
    settled: bool,
}

impl PhysicalMemory {
    pub(super) fn new(
        memory: VirtualMemory,
        handle: MemoryHandle,
        bytes: u64,
        origin: Origin,
    ) -> Self {
        Self {
            memory,
            handle,
            bytes,
            origin,
            settled: false,
        }
    }

    /// What has made it.
    #[must_use]
    pub fn virtual_memory(&self) -> &VirtualMemory {
        &self.memory
    }

    /// A file descriptor by which another process [imports](VirtualMemory::import) this memory
    /// (`cuMemExportToShareableHandle`). As long as it, or a duplicate of it, is open the memory lives,
    /// though this value is dropped: it counts for no limit then. It is closed by `exec`, so a program
    /// that is started meanwhile does not get it.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the memory was not made by
    /// [`create_exportable`](VirtualMemory::create_exportable): what was imported is exported by its
    /// creator only; [`Error::Unsupported`] when the driver lacks the function; [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned.
    #[cfg(unix)]
    #[doc(alias = "cuMemExportToShareableHandle")]
    #[track_caller]
    pub fn export(&self) -> Result<OwnedFd> {
        if self.origin != Origin::Exportable {
            return Err(Error::invalid(
                "memory",
                "it was not made by VirtualMemory::create_exportable",
            ));
        }
        // SAFETY: the handle comes from `create_exportable`, as its origin says, and lives as long as
        // this value.
        unsafe { self.memory.vmm().export(self.handle) }
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

    /// Gives it back as dropping it does, and says whether the driver has taken it (`cuMemRelease`): for
    /// those that tell another process that this one has the memory no more.
    ///
    /// # Errors
    /// What the driver returned: the memory counts as [abandoned](crate::Live::abandoned) then, and stays
    /// charged.
    #[doc(alias = "cuMemRelease")]
    #[track_caller]
    pub fn give_back(mut self) -> Result<()> {
        let released = self.release();
        self.account(&released);
        self.settled = true;
        released
    }

    /// What became of the handle, for the accounts.
    fn account(&self, released: &Result<()>) {
        match released {
            Ok(()) => self.memory.note_released(self.bytes, self.origin),
            Err(_) => self.memory.vmm().note_abandoned(),
        }
    }

    /// The memory cannot be unmapped, so it is still in use: the driver keeps it, and it counts as
    /// abandoned. Its context may end all the same.
    pub(super) fn abandon(mut self) {
        self.memory.vmm().note_abandoned();
        self.settled = true;
    }

    #[track_caller]
    fn release(&self) -> Result<()> {
        // SAFETY: the handle is this value's, which ends now; a range that has it mapped owns the value.
        unsafe { self.memory.vmm().release(self.handle) }
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let released = self.release();
        self.account(&released);
    }
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhysicalMemory")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
