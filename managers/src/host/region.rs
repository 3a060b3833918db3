//! `Region`: memory that a pinned pool has page-locked in one piece, and where it comes from.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use cupola_sys::driver::{
    CUdevice_attribute as Attribute, CUmemAttach_flags, CUresult, Driver, DriverError,
};

use cupola_sys::Status as _;

use super::config::HostCaching;
use super::error::HostMemoryError;
use super::mapping::Mapping;
use crate::driver::{ContextCore, Grave, Kind, PageLocked, RelaxedCapture};
use crate::error::{Error, Result, Site};

/// Regions are whole multiples of this: of the pages of every system.
pub(super) const QUANTUM: u64 = 64 << 10;

/// `CU_MEMHOSTALLOC_PORTABLE` and `CU_MEMHOSTREGISTER_PORTABLE`.
const PORTABLE: u32 = 1;
/// `CU_MEMHOSTALLOC_DEVICEMAP` and `CU_MEMHOSTREGISTER_DEVICEMAP`.
const MAPPED: u32 = 2;
/// `CU_MEMHOSTALLOC_WRITECOMBINED`.
const WRITE_COMBINED: u32 = 4;

/// What `cuMemHostRegister` says of fresh pages of the process where the device takes none: in
/// confidential computing, and where host and device have one memory.
const REFUSALS: [CUresult; 4] = [
    CUresult::CUDA_ERROR_NOT_SUPPORTED,
    CUresult::CUDA_ERROR_NOT_PERMITTED,
    CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    CUresult::CUDA_ERROR_INVALID_VALUE,
];

/// How a device gets page-locked host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PinnedBacking {
    /// Pages of the process that several threads have touched, then registered
    /// (`cuMemHostRegister`): the fast way.
    Registered,
    /// The driver allocates (`cuMemHostAlloc`).
    Allocated {
        /// The driver's answer to a registration; `None` where none was tried: for write-combined
        /// memory, and on systems other than Linux.
        refused: Option<CUresult>,
    },
    /// Managed memory (`cuMemAllocManaged`), where a device that has the host's memory gives no
    /// other.
    Managed {
        /// The driver's answer to `cuMemHostAlloc`.
        refused: CUresult,
    },
}

impl fmt::Display for PinnedBacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registered => {
                f.write_str("touched in parallel and registered (cuMemHostRegister)")
            }
            Self::Allocated { refused: None } => f.write_str("allocated (cuMemHostAlloc)"),
            Self::Allocated {
                refused: Some(code),
            } => write!(
                f,
                "allocated (cuMemHostAlloc), because the device refuses registrations ({})",
                code.name().unwrap_or("?")
            ),
            Self::Managed { refused } => write!(
                f,
                "managed (cuMemAllocManaged), because the device refuses page-locked memory ({})",
                refused.name().unwrap_or("?")
            ),
        }
    }
}

/// What a region's memory is.
pub(super) enum Memory {
    Registered(Mapping),
    Allocated(NonNull<u8>),
    Managed(NonNull<u8>),
}

// SAFETY: the memory is owned, and bytes are Send.
unsafe impl Send for Memory {}

impl PageLocked for Memory {
    unsafe fn give_back(self: Box<Self>, driver: &Driver) -> Result<(), DriverError> {
        match *self {
            Self::Registered(mapping) => {
                // SAFETY: registered when the region was made, and touched by nothing any more.
                let unregistered = unsafe { driver.cuMemHostUnregister(mapping.start().cast()) };
                if unregistered.is_err() {
                    // The device may still reach the pages.
                    let _kept = ManuallyDrop::new(mapping);
                }
                unregistered
            }
            // SAFETY: allocated so when the region was made, and touched by nothing any more.
            Self::Allocated(start) => unsafe { driver.cuMemFreeHost(start.as_ptr().cast()) },
            // SAFETY: as before.
            Self::Managed(start) => unsafe {
                driver.cuMemFree_v2(start.as_ptr().expose_provenance() as u64)
            },
        }
    }
}

/// Page-locked memory, all bytes of which are initialised. It is given back by
/// [`give_back`](Self::give_back) or [`bury`](Self::bury), not by dropping it.
pub(super) struct Region {
    memory: Memory,
    bytes: u64,
    /// Copies may still run of which nothing is known.
    pub(super) is_condemned: bool,
}

impl Region {
    /// Page-locks `bytes`, a multiple of [`QUANTUM`]. `backing` is what is known of the device, and is
    /// changed where it turns out to be otherwise.
    ///
    /// # Errors
    /// What the driver returned, or the system ([`HostMemoryError::System`]).
    #[track_caller]
    pub(super) fn new(
        core: &ContextCore,
        bytes: u64,
        caching: HostCaching,
        backing: &mut PinnedBacking,
    ) -> Result<Self> {
        let driver = core.enter()?;
        let _relaxed = RelaxedCapture::uncounted(driver);
        let bytes_here = usize::try_from(bytes).map_err(|_| system(bytes, None))?;
        let memory = loop {
            match backing {
                PinnedBacking::Registered => {
                    let mapping = match Mapping::touched(bytes_here) {
                        Ok(mapping) => mapping,
                        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                            *backing = PinnedBacking::Allocated { refused: None };
                            continue;
                        }
                        Err(error) => return Err(system(bytes, error.raw_os_error())),
                    };
                    let start = mapping.start().cast();
                    // SAFETY: the mapping's bytes, which stay until they are unregistered.
                    let registered = unsafe {
                        driver.cuMemHostRegister_v2(start, bytes_here, PORTABLE | MAPPED)
                    };
                    match registered {
                        Ok(()) => break Memory::Registered(mapping),
                        Err(call) if is_refusal(&call) => {
                            *backing = PinnedBacking::Allocated {
                                refused: call.status(),
                            };
                        }
                        Err(call) => return Err(core.failed(call)),
                    }
                }
                PinnedBacking::Allocated { refused } => {
                    let mut start = ptr::null_mut();
                    let flags = PORTABLE
                        | MAPPED
                        | match caching {
                            HostCaching::Cached => 0,
                            HostCaching::WriteCombined => WRITE_COMBINED,
                        };
                    // SAFETY: `start` outlives the call, and the context is current.
                    let allocated =
                        unsafe { driver.cuMemHostAlloc(&raw mut start, bytes_here, flags) };
                    match allocated {
                        Ok(()) => break Memory::Allocated(zeroed(start.cast(), bytes_here)?),
                        // Only where registrations are refused too.
                        Err(call)
                            if refused.is_some()
                                && call.status() == Some(CUresult::CUDA_ERROR_NOT_SUPPORTED)
                                && takes_managed(core, driver) =>
                        {
                            let refused = CUresult::CUDA_ERROR_NOT_SUPPORTED;
                            *backing = PinnedBacking::Managed { refused };
                        }
                        Err(call) => return Err(core.failed(call)),
                    }
                }
                PinnedBacking::Managed { .. } => {
                    let mut start = 0;
                    let everywhere = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
                    // SAFETY: `start` outlives the call, and the context is current.
                    let allocated =
                        unsafe { driver.cuMemAllocManaged(&raw mut start, bytes_here, everywhere) };
                    core.check(allocated)?;
                    let start = ptr::with_exposed_provenance_mut(start as usize);
                    break Memory::Managed(zeroed(start, bytes_here)?);
                }
            }
        };
        core.ledger().add(Kind::PinnedRegion, 1);
        Ok(Self {
            memory,
            bytes,
            is_condemned: false,
        })
    }

    pub(super) fn start(&self) -> *mut u8 {
        match &self.memory {
            Memory::Registered(mapping) => mapping.start(),
            Memory::Allocated(start) | Memory::Managed(start) => start.as_ptr(),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives the memory back, to the driver and to the system.
    ///
    /// # Errors
    /// What the driver returned: the memory is abandoned then.
    ///
    /// # Safety
    /// Neither the device nor any code touches the memory.
    pub(super) unsafe fn give_back(self, core: &ContextCore, site: Site) -> Result<()> {
        let memory = Box::new(self.memory);
        core.ledger().remove(Kind::PinnedRegion, 1);
        let given_back = core.give_back(site, |driver| {
            let _relaxed = RelaxedCapture::uncounted(driver);
            // SAFETY: this function's own condition.
            unsafe { memory.give_back(driver) }
        });
        if given_back.is_err() {
            core.ledger().add(Kind::Abandoned, 1);
        }
        given_back
    }

    /// Leaves the memory to the end of the context: copies may still run.
    ///
    /// # Safety
    /// No code touches the memory.
    pub(super) unsafe fn bury(self, core: &ContextCore) {
        core.ledger().remove(Kind::PinnedRegion, 1);
        // SAFETY: the region is of this context, and no code touches it.
        core.bury(unsafe { Grave::new(self.memory, None) });
    }
}

/// What the device does with host memory, found by page-locking some and giving it back.
///
/// # Errors
/// As [`Region::new`].
#[track_caller]
pub(super) fn probe(core: &ContextCore) -> Result<PinnedBacking> {
    let mut backing = PinnedBacking::Registered;
    let region = Region::new(core, QUANTUM, HostCaching::Cached, &mut backing)?;
    // SAFETY: no other code has seen the region.
    unsafe { region.give_back(core, core.site()) }?;
    Ok(backing)
}

fn is_refusal(call: &DriverError) -> bool {
    call.status().is_none_or(|code| REFUSALS.contains(&code))
}

fn system(bytes: u64, code: Option<i32>) -> Error {
    Error::Host(Box::new(HostMemoryError::System { bytes, code }))
}

/// The memory, which the driver has allocated just now, with zeros in it.
fn zeroed(start: *mut u8, bytes: usize) -> Result<NonNull<u8>> {
    let start = NonNull::new(start);
    let start =
        start.ok_or_else(|| Error::invalid("pinned memory", "the driver gave a null address"))?;
    // SAFETY: `bytes` bytes were allocated there just now.
    unsafe { start.write_bytes(0, bytes) };
    Ok(start)
}

/// Whether the device has the host's memory, and lets the host touch managed memory at any time.
fn takes_managed(core: &ContextCore, driver: &Driver) -> bool {
    let has = |attribute| {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        let asked =
            unsafe { driver.cuDeviceGetAttribute(&raw mut value, attribute, core.device()) };
        asked.is_ok() && value != 0
    };
    has(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)
        && has(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
}
