//! `PageMapper`: the owner of the mapper's lock, and of the driver's calls for memory.

use std::sync::{Arc, Mutex};

use cupola_sys::driver::CUdeviceptr;

use crate::driver::ContextCore;
use crate::error::{Result, Site};
use crate::pool::inspect::history::{Action, History};
use crate::pool::pages::device_memory::DeviceMemory;
use crate::pool::pages::mapper::Mapper;
use crate::pool::pages::mapper_guard::MapperGuard;
use crate::pool::pages::vmm::{Calls, LEAST_PAGE, Vmm, memory_info};
use crate::pool::request::Wait;

/// What memory is charged to.
pub(crate) trait Charges {
    /// Charges bytes to all limits: all of them or none.
    fn charge(&self, bytes: u64) -> bool;

    /// The driver has given the charged bytes.
    fn note_mapped(&self);

    /// Ends the charge of bytes that went back to the driver.
    fn release_charge(&self, bytes: u64);

    /// Ends the charge of bytes that the driver has not given.
    fn undo_charge(&self, bytes: u64);

    /// Pages were unmapped to be used elsewhere.
    fn note_moved(&self, pages: u64);
}

/// The driver's side of a pool: it makes the calls of plans, for a caller that has its lock.
pub(crate) struct PageMapper {
    core: Arc<ContextCore>,
    state: Mutex<Mapper>,
    /// `None`: chunks.
    vmm: Option<Vmm>,
    page: u64,
    memory: DeviceMemory,
    calls: Arc<Calls>,
    history: Arc<History>,
}

impl PageMapper {
    /// For memory of a context: virtual, unless `is_chunks` or the device has none. `like` maps for
    /// the same device.
    #[track_caller]
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        history: &Arc<History>,
        is_chunks: bool,
        like: Option<&Self>,
    ) -> Result<Self> {
        let calls = Arc::new(Calls::default());
        let vmm = match is_chunks {
            true => None,
            false => Vmm::new(core, &calls, history)?,
        };
        let memory = match like {
            Some(like) => like.memory.clone(),
            None => DeviceMemory::of(core, &calls)?,
        };
        Ok(Self {
            core: Arc::clone(core),
            state: Mutex::default(),
            page: vmm.as_ref().map_or(LEAST_PAGE, Vmm::page),
            vmm,
            memory,
            calls,
            history: Arc::clone(history),
        })
    }

    /// Locks the mapper.
    pub(crate) fn lock(&self) -> MapperGuard<'_> {
        MapperGuard::lock(&self.state)
    }

    /// Locks the mapper for a request that may wait so long.
    ///
    /// # Errors
    /// [`Error::Busy`](crate::Error::Busy) when another thread has it for longer.
    pub(crate) fn lock_within(&self, wait: Wait) -> Result<MapperGuard<'_>> {
        MapperGuard::lock_within(&self.state, wait)
    }

    /// Bytes of a page.
    #[inline]
    pub(crate) fn page(&self) -> u64 {
        self.page
    }

    /// The calls of virtual memory management. `None`: chunks.
    pub(crate) fn vmm(&self) -> Option<&Vmm> {
        self.vmm.as_ref()
    }

    /// Counts the driver's calls.
    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Free and total bytes of the device.
    #[track_caller]
    pub(crate) fn free_memory(&self) -> Result<(u64, u64)> {
        let (free, total) = memory_info(&self.core, &self.calls)?;
        Ok((self.memory.free((free, total)), total))
    }

    /// New memory of a chunk, charged: its address.
    #[track_caller]
    pub(crate) fn allocate_chunk(&self, bytes: u64) -> Result<CUdeviceptr> {
        let _switches = self.calls.switches();
        let driver = self.core.enter()?;
        let _relaxed = self.calls.relaxed(driver);
        self.calls.note_alloc();
        let mut base: CUdeviceptr = 0;
        // SAFETY: `base` outlives the call, and the context is current.
        let allocated = unsafe { driver.cuMemAlloc_v2(&raw mut base, bytes as usize) };
        self.core.check(allocated)?;
        self.history.note_memory(Action::Map, base, bytes);
        Ok(base)
    }

    /// Gives the memory of a chunk back.
    ///
    /// # Safety
    /// It is from [`allocate_chunk`](Self::allocate_chunk), was not given back, and no work uses it.
    #[track_caller]
    pub(crate) unsafe fn free_chunk(&self, base: CUdeviceptr) -> Result<()> {
        let _switches = self.calls.switches();
        self.calls.note_free();
        self.core.give_back(Site::here(), |driver| {
            let _relaxed = self.calls.relaxed(driver);
            // SAFETY: `cuMemFree` needs memory of `cuMemAlloc` that nothing uses: the conditions of
            // this function.
            unsafe { driver.cuMemFree_v2(base) }
        })
    }

    /// Where the free memory of the device is asked for.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn memory(&self) -> &DeviceMemory {
        &self.memory
    }
}
