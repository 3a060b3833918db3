//! Memory of another API (Vulkan, OpenGL, a driver of a capture device): imported by the file descriptor that it
//! has exported, and used through buffers that are mapped of it; and its semaphores.
//!
//! [`ExternalMemory`] owns what was imported, and [`ExternalBuffer`] a part of it that has addresses. A buffer keeps the
//! memory, so the driver gets buffers back first, in whichever order the program drops them. Nothing orders the
//! work of the other API but what the program puts on streams: signals of, and waits for, a semaphore of that API
//! ([`ExternalSemaphore`], [`ExternalTimeline`]).
//!
//! The other way round, device memory goes to other APIs as a file descriptor too: memory that is
//! [created for it](crate::vmm::VirtualMemory::create_exportable), which is [exported](crate::vmm::PhysicalMemory::export).
//! A driver takes the descriptors of its graphics interfaces here, and those of
//! `cuMemExportToShareableHandle` in [`VirtualMemory::import`](crate::vmm::VirtualMemory::import) alone, whose error says
//! so. The software device has no graphics interface: it takes those of its exportable memory, whose first 8 bytes are the
//! value of a semaphore.

mod semaphore;

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_sys::driver::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_DEDICATED,
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st__bindgen_ty_1,
    CUdeviceptr, CUexternalMemory, CUexternalMemoryHandleType_enum as HandleType, Driver,
    DriverError,
};

use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::driver::{ContextCore, Kind, RelaxedCapture};
use crate::error::{Account, Error, Result, Site};
use crate::pool::DeviceLimit;
use crate::stream::Stream;
pub use semaphore::{ExternalSemaphore, ExternalTimeline};

/// What memory of another API is imported with.
#[derive(Clone, Debug)]
pub struct ExternalMemoryConfig {
    /// Bytes that the other API has allocated.
    pub bytes: u64,
    /// How the other API has allocated them.
    pub allocation: ExternalAllocation,
    /// The limit that they are charged to as long as they are imported. None unless it is set: the other API
    /// accounts for them.
    pub limit: Option<DeviceLimit>,
}

/// What memory of another API belongs to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalAllocation {
    /// Whatever the API puts there.
    Shared,
    /// One resource alone (`VkMemoryDedicatedAllocateInfo`).
    Dedicated,
}

impl ExternalMemoryConfig {
    /// So many bytes, that are no resource's alone.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self {
            bytes,
            allocation: ExternalAllocation::Shared,
            limit: None,
        }
    }

    /// The same, of one resource alone.
    #[must_use]
    #[doc(alias = "CUDA_EXTERNAL_MEMORY_DEDICATED")]
    pub fn dedicated(self) -> Self {
        Self {
            allocation: ExternalAllocation::Dedicated,
            ..self
        }
    }

    /// The same, charged to a limit.
    #[must_use]
    pub fn within(self, limit: &DeviceLimit) -> Self {
        Self {
            limit: Some(limit.clone()),
            ..self
        }
    }
}

/// Memory of another API on the device of one context. Dropping it, and the buffers that are mapped of it, gives
/// the import back (`cuDestroyExternalMemory`); the memory is still the other API's.
#[doc(alias = "CUexternalMemory")]
pub struct ExternalMemory(Arc<Imported>);

/// The driver's import, which the owner and its buffers keep.
struct Imported {
    core: Arc<ContextCore>,
    raw: CUexternalMemory,
    bytes: u64,
    charge: Option<Charge>,
    /// Whether a buffer of it was abandoned. The import stays then, since the driver wants buffers back first.
    is_abandoned: AtomicBool,
}

// SAFETY: the driver's handle may be used on any thread.
unsafe impl Send for Imported {}
// SAFETY: as above; calls about it do not change it.
unsafe impl Sync for Imported {}

/// Bytes that a limit counts.
struct Charge {
    limit: DeviceLimit,
    bytes: u64,
}

impl Charge {
    fn new(limit: &DeviceLimit, bytes: u64) -> Result<Self> {
        let account = || Account {
            requested: bytes,
            limit: limit.limit(),
            shared: Some((limit.used(), limit.limit())),
            processes: limit.processes(),
            ..Account::default()
        };
        let charge = limit.charge(bytes);
        charge
            .ok_or_else(|| Error::OverLimit(Box::new(account())))?
            .keep();
        Ok(Self {
            limit: limit.clone(),
            bytes,
        })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.limit.budget().release(self.bytes);
        self.limit.note_room();
    }
}

impl ExternalMemory {
    /// Imports memory by an opaque file descriptor (`cuImportExternalMemory`). The descriptor is the driver's from then
    /// on; it is closed when this fails.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are no bytes; [`Error::OverLimit`] when the limit has no room for them;
    /// [`Error::Unsupported`] when the driver lacks the function (CUDA 10.0); [`Error::Poisoned`],
    /// [`Error::Forked`]; what the driver returned, when it does not know the descriptor above all.
    ///
    /// # Safety
    /// The descriptor is one that another API has exported as an opaque one, of as many bytes as `config` says,
    /// allocated so; or it is of something that the driver refuses.
    #[doc(alias = "cuImportExternalMemory")]
    #[doc(alias = "CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD")]
    #[track_caller]
    pub unsafe fn import(
        context: &Context,
        file: OwnedFd,
        config: ExternalMemoryConfig,
    ) -> Result<Self> {
        let ExternalMemoryConfig {
            bytes,
            allocation,
            limit,
        } = config;
        if bytes == 0 {
            return Err(Error::invalid("bytes", "there are none"));
        }
        let core = context.core();
        // Another thread may have had the limit's turn when the process was forked.
        core.not_forked()?;
        let charge = limit.map(|limit| Charge::new(&limit, bytes)).transpose()?;
        let description = CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
            type_: HandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
            handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st__bindgen_ty_1 {
                fd: file.as_raw_fd(),
            },
            size: bytes,
            flags: match allocation {
                ExternalAllocation::Shared => 0,
                ExternalAllocation::Dedicated => CUDA_EXTERNAL_MEMORY_DEDICATED,
            },
            reserved: [0; 16],
        };
        let mut raw: CUexternalMemory = std::ptr::null_mut();
        call(core, |driver| {
            // SAFETY: `cuImportExternalMemory` needs a description of memory as it was exported: condition of this
            // function. Both places outlive the call.
            unsafe { driver.cuImportExternalMemory(&raw mut raw, &raw const description) }
        })?;
        // The driver closes it.
        let _ = file.into_raw_fd();
        Ok(Self(Arc::new(Imported {
            core: Arc::clone(core),
            raw,
            bytes,
            charge,
            is_abandoned: AtomicBool::new(false),
        })))
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// The driver's handle.
    #[must_use]
    pub fn as_raw(&self) -> CUexternalMemory {
        self.0.raw
    }

    /// A buffer of these bytes of it (`cuExternalMemoryGetMappedBuffer`). Buffers may overlap: they are one memory.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are no such bytes; [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned.
    #[doc(alias = "cuExternalMemoryGetMappedBuffer")]
    #[track_caller]
    pub fn map(&self, bytes: Range<u64>) -> Result<ExternalBuffer> {
        let memory = &self.0;
        if bytes.is_empty() || bytes.end > memory.bytes {
            let problem = format!("{bytes:?} of {} bytes", memory.bytes);
            return Err(Error::invalid("bytes", problem));
        }
        let description = CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
            offset: bytes.start,
            size: bytes.end - bytes.start,
            flags: 0,
            reserved: [0; 16],
        };
        let mut address: CUdeviceptr = 0;
        call(&memory.core, |driver| {
            // SAFETY: `cuExternalMemoryGetMappedBuffer` needs an import that was not given back, which this value
            // keeps, and bytes within it, as was checked. Both places outlive the call.
            unsafe {
                driver.cuExternalMemoryGetMappedBuffer(
                    &raw mut address,
                    memory.raw,
                    &raw const description,
                )
            }
        })?;
        Ok(ExternalBuffer {
            memory: Arc::clone(memory),
            address,
            bytes: description.size,
            streams: Vec::new(),
        })
    }
}

impl fmt::Debug for ExternalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalMemory")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let is_given_back = if *self.is_abandoned.get_mut() {
            self.core.ledger().add(Kind::Abandoned, 1);
            false
        } else {
            let destroyed = give_back(&self.core, |driver| {
                // SAFETY: `cuDestroyExternalMemory` needs an import that is not used again: each buffer has kept this
                // value until it was freed, and none was abandoned.
                unsafe { driver.cuDestroyExternalMemory(self.raw) }
            });
            destroyed.is_ok()
        };
        if !is_given_back {
            // The driver has the memory still, so the limit counts it on.
            let _ = self.charge.take().map(ManuallyDrop::new);
        }
    }
}

/// Bytes of [`ExternalMemory`] that have addresses. Dropping it waits for the work on the streams that it was used on, and
/// gives the addresses back (`cuMemFree`).
///
/// Where no wait succeeds the addresses stay: the buffer counts as [abandoned](crate::Live::abandoned), and the
/// import too, once it has no other owner, with the bytes of its limit.
#[derive(Debug)]
pub struct ExternalBuffer {
    memory: Arc<Imported>,
    address: CUdeviceptr,
    bytes: u64,
    /// Those that it was lent for.
    streams: Vec<Stream>,
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imported")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl ExternalBuffer {
    /// The address of its first byte.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Elements of it, for work on `stream`, which the drop of the buffer waits for.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are not in the buffer, or not aligned; [`Error::WrongContext`] when the
    /// stream is of a context that does not share the memory.
    ///
    /// # Safety
    /// All work that is given the slice is on `stream`, and before the buffer is dropped. The other API writes
    /// nothing there meanwhile, and what is there are values of the type.
    pub unsafe fn slice<T: DeviceCopy>(
        &mut self,
        elements: Range<usize>,
        stream: &Stream,
    ) -> Result<DeviceSlice<'_, T>> {
        let (address, len) = self.lend::<T>(elements, stream)?;
        // SAFETY: the elements are in the buffer and aligned, as was checked; it lives as long as the work, which is
        // on a stream that its drop waits for: condition of this function.
        Ok(unsafe { DeviceSlice::from_raw(address, len) })
    }

    /// Elements of it that work on `stream` may write, which the drop of the buffer waits for.
    ///
    /// # Errors
    /// Those of [`slice`](Self::slice).
    ///
    /// # Safety
    /// All work that is given the slice is on `stream`, and before the buffer is dropped. Neither the other
    /// API nor work through another buffer of the memory uses the elements meanwhile.
    pub unsafe fn slice_mut<T: DeviceCopy>(
        &mut self,
        elements: Range<usize>,
        stream: &Stream,
    ) -> Result<DeviceSliceMut<'_, T>> {
        let (address, len) = self.lend::<T>(elements, stream)?;
        // SAFETY: the elements are in the buffer and aligned, as was checked, and nothing else uses them; it lives
        // as long as the work, which is on a stream that its drop waits for: conditions of this function.
        Ok(unsafe { DeviceSliceMut::from_raw(address, len) })
    }

    /// Where the elements are, and how many; the stream is waited for from now on.
    fn lend<T>(&mut self, elements: Range<usize>, stream: &Stream) -> Result<(u64, usize)> {
        if !stream.core().shares_objects(&self.memory.core) {
            return Err(Error::WrongContext { what: "the stream" });
        }
        let size = size_of::<T>() as u64;
        let end = (elements.end as u64).checked_mul(size);
        let is_inside = elements.start <= elements.end && end.is_some_and(|end| end <= self.bytes);
        if !is_inside {
            return Err(Error::invalid(
                "elements",
                format!(
                    "{elements:?} of {size} bytes each are not in {}",
                    self.bytes
                ),
            ));
        }
        if !self.address.is_multiple_of(align_of::<T>() as u64) {
            let problem = format!("{:#x} is no address of such elements", self.address);
            return Err(Error::invalid("elements", problem));
        }
        let is_known = |known: &Stream| known.serial() == stream.serial();
        if !self.streams.iter().any(is_known) {
            self.streams.push(stream.clone());
        }
        Ok((
            self.address + elements.start as u64 * size,
            elements.end - elements.start,
        ))
    }
}

impl Drop for ExternalBuffer {
    fn drop(&mut self) {
        let core = &self.memory.core;
        let mut waits = self.streams.iter().map(|stream| stream.ticket()?.wait());
        let is_over = waits.all(|waited| waited.is_ok())
            || core.synchronize(Site::here()).is_ok()
            || core.poison().is_some();
        if !is_over {
            // Work may use it still: the addresses stay, and the memory behind them, which is counted when its last
            // owner ends. That comes after this, as the owner's count says, so that the mark needs no order of its own.
            core.ledger().add(Kind::Abandoned, 1);
            self.memory.is_abandoned.store(true, Ordering::Relaxed);
            return;
        }
        // Counted where the driver refuses it.
        let _ = give_back(core, |driver| {
            // SAFETY: `cuMemFree` needs the address of a buffer that no work uses: the work was waited for, or
            // nothing runs in a lost context.
            unsafe { driver.cuMemFree_v2(self.address) }
        });
    }
}

/// One call, which captures of streams are left alone by.
#[track_caller]
fn call<T>(
    core: &Arc<ContextCore>,
    call: impl FnOnce(&Driver) -> Result<T, DriverError>,
) -> Result<T> {
    let driver = core.enter()?;
    let _relaxed = RelaxedCapture::uncounted(driver);
    core.check(call(driver))
}

/// One call that gives something back; what the driver refuses to take is counted.
fn give_back(
    core: &Arc<ContextCore>,
    call: impl FnOnce(&Driver) -> Result<(), DriverError>,
) -> Result<()> {
    let given = core.give_back(Site::here(), |driver| {
        let _relaxed = RelaxedCapture::uncounted(driver);
        call(driver)
    });
    if given.is_err() {
        core.ledger().add(Kind::Abandoned, 1);
    }
    given
}
