//! The driver calls of virtual memory management, and how often each was made.
//!
//! Facts that the rest of the pool builds on, measured on an H200: `cuMemCreate` takes
//! 8-12 us for 2 MiB, `cuMemMap` 1 us, `cuMemSetAccess` 21-31 us a call and nearly the same
//! for any number of pages, `cuMemUnmap` 17-19 us, `cuMemRelease` 13-44 us. Unmapping is
//! not ordered on streams: work that still runs on the range faults.

use std::mem;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType, CUmemAllocationProp, CUmemAllocationType,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType, CUresult, CUstreamCaptureMode,
    Driver, DriverError, id,
};

use super::history::{Action, History};
use crate::context::ContextCore;
use crate::device::has_virtual_memory;
use crate::error::{Result, Site};

/// Physical memory of some pages (`cuMemCreate`).
pub(super) type MemoryHandle = CUmemGenericAllocationHandle;

/// Declares the counters and their snapshot together.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// How often the pool called the driver, by function.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DriverCalls {
            $($(#[$doc])* pub $name: u64,)*
        }

        #[derive(Debug, Default)]
        pub(super) struct Calls {
            $(pub(super) $name: AtomicU64,)*
        }

        impl Calls {
            pub(super) fn read(&self) -> DriverCalls {
                DriverCalls { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl DriverCalls {
            /// All of them.
            #[must_use]
            pub fn total(&self) -> u64 {
                0 $(+ self.$name)*
            }
        }
    };
}

calls! {
    /// `cuMemAddressReserve`.
    reserve,
    /// `cuMemAddressFree`.
    unreserve,
    /// `cuMemCreate`.
    create,
    /// `cuMemRelease`.
    release,
    /// `cuMemMap`.
    map,
    /// `cuMemSetAccess`.
    set_access,
    /// `cuMemUnmap`.
    unmap,
    /// `cuMemAlloc`, where there is no virtual memory management.
    alloc,
    /// `cuMemFree`, where there is no virtual memory management.
    free,
    /// `cuMemGetInfo`.
    info,
    /// `cuEventRecord`, to close a batch of frees.
    record,
    /// `cuEventQuery`, to see whether a batch is complete.
    query,
    /// `cuStreamWaitEvent`, to use what another stream has freed.
    wait,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The driver of one context, for the calls below.
pub(super) struct Vmm {
    core: Arc<ContextCore>,
    properties: CUmemAllocationProp,
    access: CUmemAccessDesc,
    page: u64,
    calls: Arc<Calls>,
    history: Arc<History>,
}

// SAFETY: the descriptions are plain data; the pointer in them is null.
unsafe impl Send for Vmm {}
// SAFETY: as above.
unsafe impl Sync for Vmm {}

impl Vmm {
    /// `None` where the device or the driver has no virtual memory management.
    #[track_caller]
    pub(super) fn new(
        core: &Arc<ContextCore>,
        calls: &Arc<Calls>,
        history: &Arc<History>,
    ) -> Result<Option<Self>> {
        let driver = core.enter()?;
        let needed = [
            id::cuMemCreate,
            id::cuMemRelease,
            id::cuMemMap,
            id::cuMemUnmap,
            id::cuMemSetAccess,
            id::cuMemAddressReserve,
            id::cuMemAddressFree,
            id::cuMemGetAllocationGranularity,
        ];
        let there = needed.into_iter().all(|symbol| driver.has(symbol))
            && core.check(has_virtual_memory(driver, core.device()))?;
        if !there {
            return Ok(None);
        }
        // SAFETY: plain data for which zero is the default of every field.
        let mut properties: CUmemAllocationProp = unsafe { mem::zeroed() };
        // SAFETY: as above.
        let mut location: CUmemLocation = unsafe { mem::zeroed() };
        location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        location.__bindgen_anon_1.id = core.device();
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        properties.location = location;
        properties.win32HandleMetaData = ptr::null_mut();
        let access = CUmemAccessDesc {
            location,
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        let mut page = 0usize;
        // SAFETY: both outlive the call.
        core.check(unsafe {
            driver.cuMemGetAllocationGranularity(
                &raw mut page,
                &raw const properties,
                CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
            )
        })?;
        // Whatever the driver says: the page tables of the pool are made of powers of two, and
        // smaller pages would only cost more calls.
        let page = (page as u64)
            .max(super::pages::LEAST_PAGE)
            .next_power_of_two();
        Ok(Some(Self {
            core: Arc::clone(core),
            properties,
            access,
            page,
            calls: Arc::clone(calls),
            history: Arc::clone(history),
        }))
    }

    /// Bytes of a page: the granularity of mappings.
    pub(super) fn page(&self) -> u64 {
        self.page
    }

    /// One call, with captures of this thread's streams left alone by it.
    #[track_caller]
    fn call<T>(
        &self,
        counter: &AtomicU64,
        call: impl FnOnce(&Driver) -> Result<T, DriverError>,
    ) -> Result<T> {
        let driver = self.core.enter()?;
        count(counter);
        let _relaxed = Relaxed::new(driver);
        self.core.check(call(driver))
    }

    /// As `call`, for what gives something back.
    #[track_caller]
    fn give_back(
        &self,
        counter: &AtomicU64,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        count(counter);
        self.core.give_back(Site::here(), |driver| {
            let _relaxed = Relaxed::new(driver);
            call(driver)
        })
    }

    /// A range of addresses with nothing behind it.
    #[track_caller]
    pub(super) fn reserve(&self, bytes: u64) -> Result<CUdeviceptr> {
        let mut base: CUdeviceptr = 0;
        self.call(&self.calls.reserve, |driver| {
            // SAFETY: `base` outlives the call.
            unsafe {
                driver.cuMemAddressReserve(&raw mut base, bytes as usize, self.page as usize, 0, 0)
            }
        })?;
        Ok(base)
    }

    /// # Safety
    /// The range was reserved as a whole, nothing is mapped in it, and nobody uses it.
    #[track_caller]
    pub(super) unsafe fn unreserve(&self, base: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        self.give_back(&self.calls.unreserve, |driver| unsafe {
            driver.cuMemAddressFree(base, bytes as usize)
        })
    }

    /// Physical memory of `bytes` bytes, whole pages.
    #[track_caller]
    pub(super) fn create(&self, bytes: u64) -> Result<MemoryHandle> {
        let mut handle: MemoryHandle = 0;
        self.call(&self.calls.create, |driver| {
            // SAFETY: both outlive the call.
            unsafe {
                driver.cuMemCreate(
                    &raw mut handle,
                    bytes as usize,
                    &raw const self.properties,
                    0,
                )
            }
        })?;
        Ok(handle)
    }

    /// # Safety
    /// The handle comes from `create`, is not mapped, and is not used again if this succeeds.
    #[track_caller]
    pub(super) unsafe fn release(&self, handle: MemoryHandle) -> Result<()> {
        // SAFETY: the caller's promise.
        self.give_back(&self.calls.release, |driver| unsafe {
            driver.cuMemRelease(handle)
        })
    }

    /// Puts all memory of a handle behind the `bytes` bytes of addresses at `at`. Nobody may
    /// access it yet.
    ///
    /// # Safety
    /// The handle has as many, the addresses are reserved, and nothing is mapped there.
    #[track_caller]
    pub(super) unsafe fn map(
        &self,
        at: CUdeviceptr,
        bytes: u64,
        handle: MemoryHandle,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        self.call(&self.calls.map, |driver| unsafe {
            driver.cuMemMap(at, bytes as usize, 0, handle, 0)
        })
    }

    /// Lets the device access `bytes` bytes from `at` on.
    ///
    /// # Safety
    /// All of them are mapped.
    #[track_caller]
    pub(super) unsafe fn set_access(&self, at: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise; the description outlives the call.
        self.call(&self.calls.set_access, |driver| unsafe {
            driver.cuMemSetAccess(at, bytes as usize, &raw const self.access, 1)
        })?;
        self.history.note_memory(Action::Map, at, bytes);
        Ok(())
    }

    /// # Safety
    /// A handle of `bytes` bytes is mapped at `at`, and no work that uses it runs or is on a
    /// stream.
    #[track_caller]
    pub(super) unsafe fn unmap(&self, at: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        self.give_back(&self.calls.unmap, |driver| unsafe {
            driver.cuMemUnmap(at, bytes as usize)
        })?;
        self.history.note_memory(Action::Unmap, at, bytes);
        Ok(())
    }
}

/// Free and total bytes of the device (`cuMemGetInfo_v2`).
#[track_caller]
pub(super) fn memory_info(core: &ContextCore, calls: &Calls) -> Result<(u64, u64)> {
    let (mut free, mut total) = (0usize, 0usize);
    let driver = core.enter()?;
    count(&calls.info);
    // SAFETY: both outlive the call, and the context is current.
    core.check(unsafe { driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
    Ok((free as u64, total as u64))
}

/// Whether the driver had no memory left.
pub(super) fn is_out_of_memory<T>(result: &Result<T>) -> bool {
    matches!(result, Err(error) if error.status() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))
}

/// While it lives, calls that a capture in another mode would forbid are allowed on this
/// thread (`cuThreadExchangeStreamCaptureMode`): none of ours puts anything on a stream.
pub(super) struct Relaxed<'d> {
    driver: &'d Driver,
    before: Option<CUstreamCaptureMode>,
}

impl<'d> Relaxed<'d> {
    pub(super) fn new(driver: &'d Driver) -> Self {
        let before = driver
            .has(id::cuThreadExchangeStreamCaptureMode)
            .then_some(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)
            .and_then(|relaxed| exchange(driver, relaxed));
        Self { driver, before }
    }
}

impl Drop for Relaxed<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _relaxed = exchange(self.driver, before);
        }
    }
}

/// Sets the mode and returns the one before; `None` when the driver refuses, which it does
/// where nothing is captured either.
fn exchange(driver: &Driver, mode: CUstreamCaptureMode) -> Option<CUstreamCaptureMode> {
    let mut mode = mode;
    // SAFETY: `mode` outlives the call, which changes what only this thread sees.
    let exchanged = unsafe { driver.cuThreadExchangeStreamCaptureMode(&raw mut mode) };
    exchanged.ok().map(|()| mode)
}
