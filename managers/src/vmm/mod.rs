//! Virtual memory management: physical memory and addresses by themselves.
//!
//! A [pool](crate::pool) serves programs that want memory. This is for those that want to say which
//! memory is behind which addresses, and when: models that are evicted and come back where they were,
//! so that captured graphs and raw pointers stay valid, memory that moves between owners, layouts with
//! holes. [`VirtualMemory`] makes both halves; [`PhysicalMemory`] is charged to a
//! [`DeviceLimit`], which pools may share, before the driver is asked for it, so the limit is
//! exact; an [`AddressRange`] owns what is mapped in it.
//!
//! ```
//! use cupola_managers::pool::DeviceLimit;
//! use cupola_managers::vmm::Access;
//! use cupola_managers::{ExecutionManager, buffer::DeviceSliceMut, ops};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let stream = context.streams().create(Default::default())?;
//! let limit = DeviceLimit::new(32 << 20);
//! let memory = context.virtual_memory(&limit)?;
//!
//! let mut range = memory.reserve(64 << 20)?;
//! range.map(0, memory.create(16 << 20)?)?;
//! range.set_access(0..16 << 20, Access::ReadWrite)?;
//! // SAFETY: 4 KiB of what has just been mapped, which nothing else uses.
//! let mut front = unsafe { DeviceSliceMut::<u8>::from_raw(range.address(), 4096) };
//! ops::fill(front.reborrow(), 7, &stream)?;
//! stream.ticket()?.wait()?;
//!
//! // Nothing uses it any more: the same memory, somewhere else.
//! // SAFETY: the fill was waited for.
//! let piece = unsafe { range.unmap(0)? };
//! range.map(48 << 20, piece)?;
//! assert_eq!(limit.used(), 16 << 20);
//! drop(range);
//! assert_eq!(limit.used(), 0);
//! # Ok::<_, cupola_managers::Error>(())
//! ```
//!
//! # Several places
//! Clones of a [`PhysicalMemory`] are one memory, which may be mapped in several places: a ring that
//! is followed by itself, or a piece that gets its next address before it loses the last. The same byte is to be read
//! and written by one of its addresses in a kernel; later work sees what was written by any.
//!
//! # Other processes
//! On Unix, memory of [`VirtualMemory::create_exportable`] is [exported](PhysicalMemory::export) as a
//! file descriptor, which another process [imports](VirtualMemory::import). It is one memory then: it
//! lives until the last descriptor, handle and mapping in any process has gone, however that process
//! ended. The crate `cupola-sharing` sends descriptors over Unix sockets.

mod physical_memory;
mod range;

use std::fmt;
#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::Context;
use crate::device;
use crate::driver::ContextCore;
use crate::error::{Account, Error, Result};
use crate::pool::{
    DeviceLimit, DriverCalls, LimitCharge, MemoryHandle, Vmm, VmmCalls, is_out_of_memory,
};
#[cfg(unix)]
pub use physical_memory::ImportCharge;
use physical_memory::Origin;
pub use physical_memory::PhysicalMemory;
pub use range::{Access, AddressRange, MapError};

/// Makes physical memory and address ranges on the device of one context. Clones are the same.
#[derive(Clone)]
pub struct VirtualMemory(Arc<Shared>);

struct Shared {
    core: Arc<ContextCore>,
    vmm: Vmm,
    calls: Arc<VmmCalls>,
    limit: DeviceLimit,
    /// Bytes and pieces of [`PhysicalMemory`] that are alive.
    bytes: AtomicU64,
    pieces: AtomicU64,
}

impl Context {
    /// Virtual memory management on this context's device, with the physical memory charged to `limit`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the driver lacks `cuMemCreate` (CUDA 10.2), [`Error::Invalid`] when the
    /// device has no virtual memory management; [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned.
    #[doc(alias = "cuMemCreate")]
    #[track_caller]
    pub fn virtual_memory(&self, limit: &DeviceLimit) -> Result<VirtualMemory> {
        let calls = Arc::<VmmCalls>::default();
        let vmm = Vmm::required(self.core(), &calls)?;
        Ok(VirtualMemory(Arc::new(Shared {
            core: Arc::clone(self.core()),
            vmm,
            calls,
            limit: limit.clone(),
            bytes: AtomicU64::new(0),
            pieces: AtomicU64::new(0),
        })))
    }
}

impl VirtualMemory {
    /// Bytes that sizes and offsets are multiples of: 2 MiB on every device so far.
    #[doc(alias = "cuMemGetAllocationGranularity")]
    #[must_use]
    pub fn granularity(&self) -> u64 {
        self.0.vmm.page()
    }

    /// The limit that physical memory is charged to, imported memory only where its importer says so.
    #[must_use]
    pub fn limit(&self) -> &DeviceLimit {
        &self.0.limit
    }

    /// Bytes of all [`PhysicalMemory`] of this that is alive, mapped or not.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// How often each function of the driver was called for this.
    #[must_use]
    pub fn driver_calls(&self) -> DriverCalls {
        self.0.calls.read()
    }

    /// `bytes` bytes of physical memory of the device, a multiple of the
    /// [granularity](Self::granularity) (`cuMemCreate`).
    ///
    /// # Errors
    /// [`Error::OverLimit`] when the limit has no room for it: nothing was created. Pools that share it
    /// are not asked to give up what they keep for reuse: see [`MemoryPool::trim`](crate::MemoryPool::trim).
    /// [`Error::OutOfMemory`] when the device has too little; [`Error::Invalid`] when the size will not do;
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuMemCreate")]
    #[track_caller]
    pub fn create(&self, bytes: u64) -> Result<PhysicalMemory> {
        self.check_size(bytes)?;
        let charge = self.charge(bytes)?;
        let created = self.0.vmm.create(bytes);
        self.finish(created, bytes, Some(charge), Origin::Created)
    }

    /// As [`create`](Self::create), of memory that other processes may have too:
    /// [`PhysicalMemory::export`] (`cuMemCreate` for POSIX file descriptors).
    ///
    /// # Errors
    /// As [`create`](Self::create); [`Error::Invalid`] also when the device shares no memory by file
    /// descriptors ([`Features::POSIX_FILE_HANDLES`](crate::device::Features::POSIX_FILE_HANDLES)).
    #[cfg(unix)]
    #[doc(alias = "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR")]
    #[track_caller]
    pub fn create_exportable(&self, bytes: u64) -> Result<PhysicalMemory> {
        self.check_size(bytes)?;
        let charge = self.charge(bytes)?;
        let created = self.0.vmm.create_exportable(bytes);
        self.finish(created, bytes, Some(charge), Origin::Exportable)
    }

    /// The memory behind a descriptor of [`PhysicalMemory::export`], of another process or this one
    /// (`cuMemImportFromShareableHandle`). The descriptor is closed, also when this fails.
    ///
    /// The driver does not say how many bytes there are, so `bytes` comes with the descriptor, from where
    /// that comes from. Where it is wrong the memory cannot be mapped, which is the driver's error: it
    /// maps the whole of an allocation or nothing. The bytes are charged as `charge` says; two imports
    /// of one memory are two charges.
    ///
    /// # Errors
    /// [`Error::OverLimit`] when the limit has no room for it; [`Error::Invalid`] when the size will not
    /// do, or the device shares no memory by file descriptors; [`Error::Unsupported`] when the driver lacks
    /// the function; [`Error::OutOfMemory`], [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned, when the descriptor is of no memory above all.
    #[cfg(unix)]
    #[doc(alias = "cuMemImportFromShareableHandle")]
    #[track_caller]
    pub fn import(
        &self,
        file: OwnedFd,
        bytes: u64,
        charge: ImportCharge,
    ) -> Result<PhysicalMemory> {
        self.check_size(bytes)?;
        let charged = match charge {
            ImportCharge::ThisLimit => Some(self.charge(bytes)?),
            ImportCharge::OtherLimit => None,
        };
        let imported = self.0.vmm.import(file.as_fd());
        drop(file);
        self.finish(imported, bytes, charged, Origin::Imported(charge))
    }

    /// The identity of the device, the same in all processes: that of a part where the device is divided
    /// (MIG).
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuDeviceGetUuid")]
    #[track_caller]
    pub fn device_uuid(&self) -> Result<[u8; 16]> {
        let core = &self.0.core;
        let driver = core.enter()?;
        core.check(device::uuid(driver, core.device()))
    }

    /// `bytes` bytes of addresses, a multiple of the [granularity](Self::granularity), with nothing
    /// behind them (`cuMemAddressReserve`). They count for no limit.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the size will not do; [`Error::Poisoned`], [`Error::Forked`]; what the
    /// driver returned.
    #[doc(alias = "cuMemAddressReserve")]
    #[track_caller]
    pub fn reserve(&self, bytes: u64) -> Result<AddressRange> {
        self.check_size(bytes)?;
        let base = self.0.vmm.reserve(bytes)?;
        Ok(AddressRange::new(self.clone(), base, bytes))
    }

    fn check_size(&self, bytes: u64) -> Result<()> {
        let granularity = self.granularity();
        if bytes == 0 || !bytes.is_multiple_of(granularity) {
            return Err(Error::invalid(
                "bytes",
                format!("{bytes} is not a multiple of the granularity, {granularity}, or is 0"),
            ));
        }
        Ok(())
    }

    /// Charges the limit, before the driver is asked.
    fn charge(&self, bytes: u64) -> Result<LimitCharge<'_>> {
        // Another thread may have had the limit's turn when the process was forked.
        self.0.core.not_forked()?;
        let charge = self.0.limit.charge(bytes);
        charge.ok_or_else(|| Error::OverLimit(Box::new(self.account(bytes))))
    }

    /// What the driver has made is a value, and what it has refused is no charge.
    fn finish(
        &self,
        made: Result<MemoryHandle>,
        bytes: u64,
        charge: Option<LimitCharge<'_>>,
        origin: Origin,
    ) -> Result<PhysicalMemory> {
        if is_out_of_memory(&made)
            && let Err(error) = &made
            && let Some(cause) = error.cause()
        {
            return Err(Error::OutOfMemory {
                cause: Box::new(cause.clone()),
                account: Box::new(self.account(bytes)),
            });
        }
        let handle = made?;
        if let Some(charge) = charge {
            charge.keep();
        }
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.0.pieces.fetch_add(1, Ordering::Relaxed);
        Ok(PhysicalMemory::new(self.clone(), handle, bytes, origin))
    }

    fn account(&self, requested: u64) -> Account {
        let limit = &self.0.limit;
        let mapped = self.bytes();
        Account {
            requested,
            live: mapped,
            blocks: self.0.pieces.load(Ordering::Relaxed),
            mapped,
            limit: limit.limit(),
            shared: Some((limit.used(), limit.limit())),
            processes: limit.processes(),
            page: self.granularity(),
            ..Account::default()
        }
    }

    fn core(&self) -> &Arc<ContextCore> {
        &self.0.core
    }

    fn vmm(&self) -> &Vmm {
        &self.0.vmm
    }

    /// Physical memory is the driver's again, or only other processes' from now on.
    fn note_released(&self, bytes: u64, origin: Origin) {
        self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.pieces.fetch_sub(1, Ordering::Relaxed);
        if origin.is_charged() {
            self.0.limit.budget().release(bytes);
            self.0.limit.note_room();
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for VirtualMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualMemory")
            .field("bytes", &self.bytes())
            .field("limit", &self.0.limit)
            .finish_non_exhaustive()
    }
}
