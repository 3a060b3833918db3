//! `PhysicalMemory`: memory of a device without an address.

use std::fmt;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::VirtualMemory;
use crate::error::{Error, Result};
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

/// Physical memory of a device (`cuMemCreate`). Clones are the same memory, which may be mapped in several places
/// at once; it is charged once. When the last one is dropped it is given back (`cuMemRelease`), unless other processes
/// have it too; where the driver refuses that, it counts as [abandoned](crate::Live::abandoned) and the bytes stay
/// charged to the limit.
#[doc(alias = "CUmemGenericAllocationHandle")]
#[doc(alias = "cuMemRelease")]
#[derive(Clone)]
pub struct PhysicalMemory(Arc<Allocation>);

struct Allocation {
    memory: VirtualMemory,
    handle: MemoryHandle,
    bytes: u64,
    origin: Origin,
    /// Nothing is left to do when it is dropped: it was given back, or the driver holds on to it, and it stays
    /// charged.
    is_settled: AtomicBool,
}

impl PhysicalMemory {
    pub(super) fn new(
        memory: VirtualMemory,
        handle: MemoryHandle,
        bytes: u64,
        origin: Origin,
    ) -> Self {
        Self(Arc::new(Allocation {
            memory,
            handle,
            bytes,
            origin,
            is_settled: AtomicBool::new(false),
        }))
    }

    /// What has made it.
    #[must_use]
    pub fn virtual_memory(&self) -> &VirtualMemory {
        &self.0.memory
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
        if self.0.origin != Origin::Exportable {
            return Err(Error::invalid(
                "memory",
                "it was not made by VirtualMemory::create_exportable",
            ));
        }
        // SAFETY: the handle comes from `create_exportable`, as its origin says, and lives as long as
        // this value.
        unsafe { self.0.memory.vmm().export(self.0.handle) }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// The driver's handle.
    #[must_use]
    pub fn as_raw(&self) -> MemoryHandle {
        self.0.handle
    }

    /// Whether this is the only one of its clones: those that ranges have mapped count too.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    pub(super) fn is_of(&self, memory: &VirtualMemory) -> bool {
        self.0.memory.is_same(memory)
    }

    /// Gives it back as dropping the last clone does, and says whether the driver has taken it (`cuMemRelease`): for
    /// those that tell another process that this one has the memory no more.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are other clones, which keep it; what the driver returned: the memory counts as
    /// [abandoned](crate::Live::abandoned) then, and stays charged.
    #[doc(alias = "cuMemRelease")]
    #[track_caller]
    pub fn give_back(self) -> Result<()> {
        match Arc::into_inner(self.0) {
            Some(allocation) if allocation.is_settled.load(Ordering::Relaxed) => {
                Err(Error::invalid(
                    "memory",
                    "it could not be unmapped somewhere, and is abandoned",
                ))
            }
            Some(allocation) => allocation.settle(),
            None => Err(Error::invalid("memory", "it has clones, which keep it")),
        }
    }

    /// The memory cannot be unmapped, so it is still in use: the driver keeps it, and it counts as
    /// abandoned. Its context may end all the same.
    pub(super) fn abandon(self) {
        if !self.0.is_settled.swap(true, Ordering::Relaxed) {
            self.0.memory.vmm().note_abandoned();
        }
    }
}

impl Allocation {
    /// Gives it back, unless that was done or cannot be.
    #[track_caller]
    fn settle(&self) -> Result<()> {
        if self.is_settled.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        // SAFETY: the handle is this value's, which ends now; a range that has it mapped owns a clone.
        let released = unsafe { self.memory.vmm().release(self.handle) };
        match &released {
            Ok(()) => self.memory.note_released(self.bytes, self.origin),
            Err(_) => self.memory.vmm().note_abandoned(),
        }
        released
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // What came of it is in the accounts.
        let _ = self.settle();
    }
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhysicalMemory")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
