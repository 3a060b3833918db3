//! The driver calls of virtual memory management, and how often each was made.
//!
//! Facts that the rest of the pool builds on, measured on an H200: `cuMemCreate` takes
//! 8-12 us for 2 MiB, `cuMemMap` 1 us, `cuMemSetAccess` 21-31 us a call and nearly the same
//! for any number of pages, `cuMemUnmap` 17-19 us, `cuMemRelease` 13-44 us. Unmapping is
//! not ordered on streams: work that still runs on the range faults.

mod access;

#[cfg(unix)]
use std::ffi::{c_int, c_void};
use std::mem;
#[cfg(unix)]
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::SymbolId;
use cupola_sys::driver::{
    CUdeviceptr, CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType, CUresult,
    Driver, DriverError, id,
};

#[cfg(unix)]
use crate::device::has_file_handles;
use crate::device::has_virtual_memory;
use crate::driver::{ContextCore, Kind, RelaxedCapture};
use crate::error::{Error, Result, Site};
use crate::pool::inspect::history::{Action, History};
use crate::stream::timeline::{Switches, TimelineCalls};

/// The smallest page that the tables are made for: the granularity of every device so far.
pub(crate) const LEAST_PAGE: u64 = 2 << 20;

/// Physical memory of some pages (`cuMemCreate`).
pub(crate) type MemoryHandle = CUmemGenericAllocationHandle;

/// Declares the counters and their snapshot together.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident: $symbol:ident,)*) => {
        /// How often the pool called the driver, by function.
        ///
        /// That is every call that was made for the pool, by any thread, until its figures were
        /// asked for: those that make its context current and that look whether a stream is
        /// captured included. Closing the batches of a stream is counted by each pool that has used
        /// the stream. Not counted are the question which context is current (`cuCtxGetCurrent`,
        /// some ten nanoseconds before each of them), and the call that is fallen back on where the
        /// driver refuses to record an event at a stream's end, or to order the streams of a buffer
        /// (`cuStreamSynchronize`).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DriverCalls {
            $($(#[$doc])* pub $name: u64,)*
        }

        #[derive(Debug, Default)]
        pub(crate) struct Calls {
            $($name: AtomicU64,)*
        }

        impl Calls {
            pub(crate) fn read(&self) -> DriverCalls {
                DriverCalls { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl DriverCalls {
            /// Each function, and how often it was called.
            pub fn each(&self) -> impl Iterator<Item = (SymbolId, u64)> + use<> {
                [$((id::$symbol, self.$name),)*].into_iter()
            }

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
    reserve: cuMemAddressReserve,
    /// `cuMemAddressFree`.
    unreserve: cuMemAddressFree,
    /// `cuMemCreate`.
    create: cuMemCreate,
    /// `cuMemRelease`.
    release: cuMemRelease,
    /// `cuMemMap`.
    map: cuMemMap,
    /// `cuMemSetAccess`.
    set_access: cuMemSetAccess,
    /// `cuMemUnmap`.
    unmap: cuMemUnmap,
    /// `cuMemExportToShareableHandle`, which no pool calls: see [`vmm`](crate::vmm).
    export: cuMemExportToShareableHandle,
    /// `cuMemImportFromShareableHandle`, which no pool calls.
    import: cuMemImportFromShareableHandle,
    /// `cuMemAlloc`, where there is no virtual memory management.
    alloc: cuMemAlloc_v2,
    /// `cuMemFree`, where there is no virtual memory management.
    free: cuMemFree_v2,
    /// `cuMemGetInfo`.
    info: cuMemGetInfo_v2,
    /// `cuEventRecord`, to close a batch of frees, or to order the streams of a buffer.
    record: cuEventRecord,
    /// `cuEventQuery`, to see whether a batch is complete.
    query: cuEventQuery,
    /// `cuStreamWaitEvent`, to use memory that another stream has freed, or to order the streams of
    /// a buffer.
    wait: cuStreamWaitEvent,
    /// `cuEventCreate`, where no event waits for its next life.
    event: cuEventCreate,
    /// `cuStreamIsCapturing`, before and after each batch is closed: a captured stream is left
    /// alone.
    capturing: cuStreamIsCapturing,
    /// `cuThreadExchangeStreamCaptureMode`, around calls that a capture would forbid.
    capture_mode: cuThreadExchangeStreamCaptureMode,
    /// `cuCtxSetCurrent`, on threads where the pool's context is not current.
    set_current: cuCtxSetCurrent,
    /// `cuDeviceGetAttribute`, when the pool is made, and for each piece of memory that is for other
    /// processes.
    attribute: cuDeviceGetAttribute,
    /// `cuMemGetAllocationGranularity`, when the pool is made.
    granularity: cuMemGetAllocationGranularity,
}

impl DriverCalls {
    /// Adds those of the pool's streams.
    pub(crate) fn add(&mut self, timelines: TimelineCalls) {
        self.record += timelines.records;
        self.query += timelines.queries;
        self.wait += timelines.waits;
        self.event += timelines.events;
        self.capturing += timelines.captures;
        self.capture_mode += timelines.modes;
        self.set_current += timelines.switches;
    }
}

impl Calls {
    pub(crate) fn note_attribute(&self) {
        count(&self.attribute);
    }

    pub(crate) fn note_alloc(&self) {
        count(&self.alloc);
    }

    pub(crate) fn note_free(&self) {
        count(&self.free);
    }

    pub(crate) fn note_event(&self) {
        count(&self.event);
    }

    pub(crate) fn note_record(&self) {
        count(&self.record);
    }

    pub(crate) fn note_wait(&self) {
        count(&self.wait);
    }

    /// Counts the calls that make the context current until it is dropped.
    pub(crate) fn switches(&self) -> Switches<'_> {
        Switches::into(&self.set_current)
    }

    /// The mode in which captures are left alone, until it is dropped.
    pub(crate) fn relaxed<'a>(&'a self, driver: &'a Driver) -> RelaxedCapture<'a, impl Fn()> {
        RelaxedCapture::enter(driver, || count(&self.capture_mode))
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(unix)]
const FILE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// The functions that mapping needs, all of CUDA 10.2.
const NEEDED: [SymbolId; 8] = [
    id::cuMemCreate,
    id::cuMemRelease,
    id::cuMemMap,
    id::cuMemUnmap,
    id::cuMemSetAccess,
    id::cuMemAddressReserve,
    id::cuMemAddressFree,
    id::cuMemGetAllocationGranularity,
];

/// The driver of one context, for the calls below.
pub(crate) struct Vmm {
    core: Arc<ContextCore>,
    properties: CUmemAllocationProp,
    page: u64,
    calls: Arc<Calls>,
    history: Arc<History>,
}

// SAFETY: the descriptions are plain data; the pointer in them is null.
unsafe impl Send for Vmm {}
// SAFETY: the descriptions are plain data that nothing changes; the pointer in them is null.
unsafe impl Sync for Vmm {}

impl Vmm {
    /// `None` where the device or the driver has no virtual memory management.
    #[track_caller]
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        calls: &Arc<Calls>,
        history: &Arc<History>,
    ) -> Result<Option<Self>> {
        let _switches = calls.switches();
        let driver = core.enter()?;
        if !NEEDED.into_iter().all(|symbol| driver.has(symbol)) {
            return Ok(None);
        }
        count(&calls.attribute);
        if !core.check(has_virtual_memory(driver, core.device()))? {
            return Ok(None);
        }
        // SAFETY: plain data for which zero is the default of every field.
        let mut properties: CUmemAllocationProp = unsafe { mem::zeroed() };
        // SAFETY: plain data for which zero is the default of every field.
        let mut location: CUmemLocation = unsafe { mem::zeroed() };
        location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        location.__bindgen_anon_1.id = core.device();
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        properties.location = location;
        properties.win32HandleMetaData = ptr::null_mut();
        let mut page = 0usize;
        count(&calls.granularity);
        // SAFETY: both outlive the call.
        core.check(unsafe {
            driver.cuMemGetAllocationGranularity(
                &raw mut page,
                &raw const properties,
                CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
            )
        })?;
        // Not the driver's granularity as it is: the page tables of the pool are made of powers of
        // two, and smaller pages would only cost more calls.
        let page = (page as u64).max(LEAST_PAGE).next_power_of_two();
        Ok(Some(Self {
            core: Arc::clone(core),
            properties,
            page,
            calls: Arc::clone(calls),
            history: Arc::clone(history),
        }))
    }

    /// For a caller that has no use without it, and keeps no history.
    ///
    /// # Errors
    /// That the driver lacks a function, or the device the ability.
    #[track_caller]
    pub(crate) fn required(core: &Arc<ContextCore>, calls: &Arc<Calls>) -> Result<Self> {
        if let Some(vmm) = Self::new(core, calls, &Arc::new(History::new(0, None)))? {
            return Ok(vmm);
        }
        let driver = core.enter()?;
        for symbol in NEEDED {
            core.check(driver.address(symbol).map(drop))?;
        }
        Err(Error::invalid(
            "device",
            "it has no virtual memory management",
        ))
    }

    /// Counts an object that the driver has refused to take back.
    pub(crate) fn note_abandoned(&self) {
        self.core.ledger().add(Kind::Abandoned, 1);
    }

    /// Bytes of a page: the granularity of mappings.
    pub(crate) fn page(&self) -> u64 {
        self.page
    }

    /// Leaves captures of this thread's streams alone until it is dropped: for several calls at
    /// once, each of which would do so itself. `None` in a lost context.
    pub(crate) fn relaxed(&self) -> Option<impl Drop> {
        let _switches = self.calls.switches();
        let driver = self.core.enter().ok()?;
        Some(self.calls.relaxed(driver))
    }

    /// One call, with captures of this thread's streams left alone by it.
    #[track_caller]
    fn call<T>(
        &self,
        counter: &AtomicU64,
        call: impl FnOnce(&Driver) -> Result<T, DriverError>,
    ) -> Result<T> {
        let _switches = self.calls.switches();
        let driver = self.core.enter()?;
        count(counter);
        let _relaxed = self.calls.relaxed(driver);
        self.core.check(call(driver))
    }

    /// One call that gives something back; a driver that has shut down has taken it back already.
    #[track_caller]
    fn give_back(
        &self,
        counter: &AtomicU64,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        let _switches = self.calls.switches();
        count(counter);
        self.core.give_back(Site::here(), |driver| {
            let _relaxed = self.calls.relaxed(driver);
            call(driver)
        })
    }

    /// A range of addresses with nothing behind it.
    #[track_caller]
    pub(crate) fn reserve(&self, bytes: u64) -> Result<CUdeviceptr> {
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
    /// The range was reserved as a whole, nothing is mapped in it, and nothing uses it.
    #[track_caller]
    pub(crate) unsafe fn unreserve(&self, base: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: `cuMemAddressFree` needs a whole reserved range without a mapping: condition of
        // this function.
        self.give_back(&self.calls.unreserve, |driver| unsafe {
            driver.cuMemAddressFree(base, bytes as usize)
        })
    }

    /// Physical memory of `bytes` bytes, whole pages.
    #[track_caller]
    pub(crate) fn create(&self, bytes: u64) -> Result<MemoryHandle> {
        self.create_with(bytes, &self.properties)
    }

    #[track_caller]
    fn create_with(&self, bytes: u64, properties: &CUmemAllocationProp) -> Result<MemoryHandle> {
        let mut handle: MemoryHandle = 0;
        self.call(&self.calls.create, |driver| {
            // SAFETY: both outlive the call.
            unsafe {
                driver.cuMemCreate(
                    &raw mut handle,
                    bytes as usize,
                    ptr::from_ref(properties),
                    0,
                )
            }
        })?;
        Ok(handle)
    }

    /// As [`create`](Self::create), for other processes too.
    ///
    /// # Errors
    /// Also that the device gives no file descriptors of its memory.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn create_exportable(&self, bytes: u64) -> Result<MemoryHandle> {
        self.require_file_handles()?;
        let properties = CUmemAllocationProp {
            requestedHandleTypes: FILE,
            ..self.properties
        };
        self.create_with(bytes, &properties)
    }

    #[cfg(unix)]
    #[track_caller]
    fn require_file_handles(&self) -> Result<()> {
        let _switches = self.calls.switches();
        let driver = self.core.enter()?;
        count(&self.calls.attribute);
        if self
            .core
            .check(has_file_handles(driver, self.core.device()))?
        {
            return Ok(());
        }
        Err(Error::invalid(
            "device",
            "it shares no memory by file descriptors \
             (CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED is 0)",
        ))
    }

    /// A file descriptor of the memory, which keeps it alive. It is closed by `exec`.
    ///
    /// # Safety
    /// The handle comes from [`create_exportable`](Self::create_exportable) and was not released.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) unsafe fn export(&self, handle: MemoryHandle) -> Result<OwnedFd> {
        let mut file: c_int = -1;
        // SAFETY: `cuMemExportToShareableHandle` needs a handle that lives and was made for this kind:
        // condition of this function. For a file descriptor the place is that of an `int`, and
        // outlives the call.
        self.call(&self.calls.export, |driver| unsafe {
            driver.cuMemExportToShareableHandle((&raw mut file).cast(), handle, FILE, 0)
        })?;
        // SAFETY: the driver has opened it for its caller, who alone has the number.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        close_on_exec(&file);
        Ok(file)
    }

    /// Memory of a descriptor of [`export`](Self::export), of this process or another. It stays the
    /// caller's.
    ///
    /// # Errors
    /// Also that the device gives no file descriptors of its memory.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn import(&self, file: BorrowedFd<'_>) -> Result<MemoryHandle> {
        self.require_file_handles()?;
        let mut handle: MemoryHandle = 0;
        // The number itself is in the place of the pointer.
        let number = ptr::without_provenance_mut::<c_void>(file.as_raw_fd() as usize);
        self.call(&self.calls.import, |driver| {
            // SAFETY: the place outlives the call; the descriptor is open, and of whatever file: the
            // driver refuses what is none of its own.
            unsafe { driver.cuMemImportFromShareableHandle(&raw mut handle, number, FILE) }
        })?;
        Ok(handle)
    }

    /// # Safety
    /// The handle comes from `create`, `create_exportable` or `import`, is not mapped, and is not used
    /// again if this succeeds.
    #[track_caller]
    pub(crate) unsafe fn release(&self, handle: MemoryHandle) -> Result<()> {
        // SAFETY: `cuMemRelease` needs a handle of `create` that is not used again: condition of
        // this function.
        self.give_back(&self.calls.release, |driver| unsafe {
            driver.cuMemRelease(handle)
        })
    }

    /// Puts all memory of a handle behind the `bytes` bytes of addresses at `at`. No device may
    /// access it yet.
    ///
    /// # Safety
    /// The handle has as many, the addresses are reserved, and nothing is mapped there.
    #[track_caller]
    pub(crate) unsafe fn map(
        &self,
        at: CUdeviceptr,
        bytes: u64,
        handle: MemoryHandle,
    ) -> Result<()> {
        // SAFETY: `cuMemMap` needs reserved addresses without a mapping, as many as the handle has:
        // conditions of this function.
        self.call(&self.calls.map, |driver| unsafe {
            driver.cuMemMap(at, bytes as usize, 0, handle, 0)
        })
    }

    /// As [`unmap`](Self::unmap), for a caller that has a use for the handle: a driver that has shut down
    /// is an error.
    ///
    /// # Safety
    /// As [`unmap`](Self::unmap).
    #[track_caller]
    pub(crate) unsafe fn take_out(&self, at: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: `cuMemUnmap` needs a whole mapping that no work uses: conditions of this
        // function.
        self.call(&self.calls.unmap, |driver| unsafe {
            driver.cuMemUnmap(at, bytes as usize)
        })?;
        self.history.note_memory(Action::Unmap, at, bytes);
        Ok(())
    }

    /// # Safety
    /// A handle of `bytes` bytes is mapped at `at`, and no work that uses it runs or is on a
    /// stream.
    #[track_caller]
    pub(crate) unsafe fn unmap(&self, at: CUdeviceptr, bytes: u64) -> Result<()> {
        // SAFETY: `cuMemUnmap` needs a whole mapping that no work uses: conditions of this
        // function.
        self.give_back(&self.calls.unmap, |driver| unsafe {
            driver.cuMemUnmap(at, bytes as usize)
        })?;
        self.history.note_memory(Action::Unmap, at, bytes);
        Ok(())
    }
}

/// Programs that this process starts do not get the descriptor: they would keep the memory.
#[cfg(unix)]
fn close_on_exec(file: &OwnedFd) {
    unsafe extern "C" {
        /// `fcntl` of the system's library, which std links.
        fn fcntl(file: c_int, command: c_int, ...) -> c_int;
    }
    const SET_FLAGS: c_int = 2;
    const CLOSE_ON_EXEC: c_int = 1;
    // SAFETY: `F_SETFD` takes an `int` and changes a flag of the descriptor, which is open: so it cannot
    // fail.
    unsafe { fcntl(file.as_raw_fd(), SET_FLAGS, CLOSE_ON_EXEC) };
}

/// Free and total bytes of the device (`cuMemGetInfo_v2`).
#[track_caller]
pub(crate) fn memory_info(core: &ContextCore, calls: &Calls) -> Result<(u64, u64)> {
    let (mut free, mut total) = (0usize, 0usize);
    let _switches = calls.switches();
    let driver = core.enter()?;
    count(&calls.info);
    // SAFETY: both outlive the call, and the context is current.
    core.check(unsafe { driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
    Ok((free as u64, total as u64))
}

/// Whether the driver had no memory left.
pub(crate) fn is_out_of_memory<T>(result: &Result<T>) -> bool {
    matches!(result, Err(error) if error.status() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))
}
