//! `DeviceInfo`: the properties that a device reports.
//!
//! An attribute that an older driver does not know is an error there; where the absence of
//! a feature is a meaningful answer it is read as absent.

use core::ffi::c_int;

use cupola_sys::driver::{
    CUdevice, CUdevice_attribute as Attribute, CUresult, CUuuid, Driver, DriverError,
};

use super::architecture::Architecture;
use super::features::{self, Features};

/// A device's place on the PCI bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PciAddress {
    /// Domain.
    pub domain: u32,
    /// Bus.
    pub bus: u32,
    /// Device.
    pub device: u32,
}

impl core::fmt::Display for PciAddress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{:04x}:{:02x}:{:02x}.0",
            self.domain, self.bus, self.device
        )
    }
}

/// How many processes may use a device, as its administrator has set it (`CU_COMPUTEMODE_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ComputeMode(pub u32);

impl ComputeMode {
    /// Any number of processes.
    pub const DEFAULT: Self = Self(0);
    /// No process: no context can be made.
    pub const PROHIBITED: Self = Self(2);
    /// One process at a time.
    pub const EXCLUSIVE_PROCESS: Self = Self(3);
}

impl core::fmt::Display for ComputeMode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::DEFAULT => f.write_str("default"),
            Self::PROHIBITED => f.write_str("prohibited"),
            Self::EXCLUSIVE_PROCESS => f.write_str("exclusive process"),
            Self(other) => write!(f, "mode {other}"),
        }
    }
}

/// The properties and abilities of a device. Every figure comes from the driver.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the driver's order.
    pub ordinal: u32,
    /// The name that the driver gives it.
    pub name: String,
    /// Identity across processes and restarts.
    pub uuid: [u8; 16],
    /// Place on the PCI bus.
    pub pci: PciAddress,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Number of multiprocessors, as the driver counts them.
    pub multiprocessors: u32,
    /// Peak clock of the multiprocessors in kHz.
    pub clock_khz: u32,
    /// Peak clock of the memory in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Memory in bytes.
    pub total_memory: u64,
    /// Second-level cache in bytes.
    pub l2_bytes: u64,
    /// Copy engines: 2 or more carry both directions at once, 0 overlaps nothing.
    pub async_engines: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Most threads in a block.
    pub max_threads_per_block: u32,
    /// Most threads at a time on a multiprocessor.
    pub max_threads_per_multiprocessor: u32,
    /// Largest block in x, y and z.
    pub max_block: [u32; 3],
    /// Largest grid in x, y and z.
    pub max_grid: [u32; 3],
    /// Shared memory that a block may use without asking, in bytes.
    pub shared_per_block: u64,
    /// Shared memory that a block may use if its kernel asks, in bytes.
    pub shared_per_block_optin: u64,
    /// Shared memory of a multiprocessor in bytes.
    pub shared_per_multiprocessor: u64,
    /// 32-bit registers of a block.
    pub registers_per_block: u32,
    /// Its abilities.
    pub features: Features,
    /// How many processes may use it.
    pub compute_mode: ComputeMode,
    /// Device memory is the host's.
    pub integrated: bool,
    /// ECC is on.
    pub ecc: bool,
    /// Kernels are ended after some time, as a device with a display does.
    pub kernel_time_limit: bool,
    /// The process is a client of the Multi-Process Service.
    pub mps: bool,
    /// It is a part of a device that is divided (MIG): its UUID is the part's own. False
    /// also where the driver is too old to tell (CUDA 11.4).
    pub mig: bool,
    /// NUMA node of the host nearest to the device, where the driver says.
    pub host_numa: Option<u32>,
}

impl DeviceInfo {
    /// The generation of GPUs that it belongs to.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        let (major, minor) = self.compute_capability;
        Architecture::new(major, minor)
    }

    /// Whether it has all of `features`.
    #[must_use]
    pub fn supports(&self, features: Features) -> bool {
        self.features.contains(features)
    }

    pub(crate) fn read(
        driver: &Driver,
        device: CUdevice,
        ordinal: u32,
    ) -> Result<Self, DriverError> {
        let ask = Attributes::new(driver, device);
        let (uuid, mig) = ask.uuid()?;
        Ok(Self {
            ordinal,
            name: ask.name()?,
            uuid,
            pci: PciAddress {
                domain: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
                bus: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
                device: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
            },
            compute_capability: (
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            clock_khz: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            memory_clock_khz: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            memory_bus_bits: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
            total_memory: ask.total_memory()?,
            l2_bytes: ask
                .or_zero(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?
                .into(),
            async_engines: ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?,
            warp_size: ask.number(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            max_threads_per_block: ask
                .number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_threads_per_multiprocessor: ask
                .or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            max_block: [
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid: [
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                ask.number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_per_block: ask
                .number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?
                .into(),
            shared_per_block_optin: ask
                .or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                .into(),
            shared_per_multiprocessor: ask
                .or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?
                .into(),
            registers_per_block: ask
                .or_zero(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
            features: ask.features()?,
            compute_mode: ComputeMode(ask.or_zero(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)?),
            integrated: ask.flag(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)?,
            ecc: ask.flag(Attribute::CU_DEVICE_ATTRIBUTE_ECC_ENABLED)?,
            kernel_time_limit: ask.flag(Attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)?,
            mps: ask.flag(Attribute::CU_DEVICE_ATTRIBUTE_MPS_ENABLED)?,
            mig,
            host_numa: ask
                .optional(Attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID)?
                .and_then(|node| u32::try_from(node).ok()),
        })
    }
}

/// Whether a device has virtual memory management, on drivers of any age.
pub(crate) fn has_virtual_memory(driver: &Driver, device: CUdevice) -> Result<bool, DriverError> {
    Attributes::new(driver, device)
        .flag(Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
}

/// Whether a device gives file descriptors of its memory to other processes.
#[cfg(unix)]
pub(crate) fn has_file_handles(driver: &Driver, device: CUdevice) -> Result<bool, DriverError> {
    Attributes::new(driver, device)
        .flag(Attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
}

/// The identity of a device, or of a part of a divided one, across processes.
pub(crate) fn uuid(driver: &Driver, device: CUdevice) -> Result<[u8; 16], DriverError> {
    Ok(Attributes::new(driver, device).uuid()?.0)
}

/// Whether a device has no memory but the host's.
pub(crate) fn is_integrated(driver: &Driver, device: CUdevice) -> Result<bool, DriverError> {
    Attributes::new(driver, device).flag(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)
}

/// The figures that the driver tells of one device.
pub(crate) struct Attributes<'d> {
    driver: &'d Driver,
    device: CUdevice,
}

impl<'d> Attributes<'d> {
    pub(crate) fn new(driver: &'d Driver, device: CUdevice) -> Self {
        Self { driver, device }
    }

    fn attribute(&self, attribute: Attribute) -> Result<c_int, DriverError> {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        unsafe {
            self.driver
                .cuDeviceGetAttribute(&raw mut value, attribute, self.device)
        }?;
        Ok(value)
    }

    /// The attribute; `None` when the driver does not know it.
    fn optional(&self, attribute: Attribute) -> Result<Option<c_int>, DriverError> {
        match self.attribute(attribute) {
            Err(call) if call.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => Ok(None),
            other => other.map(Some),
        }
    }

    pub(crate) fn number(&self, attribute: Attribute) -> Result<u32, DriverError> {
        Ok(u32::try_from(self.attribute(attribute)?).unwrap_or(0))
    }

    /// 0 when the driver does not know the attribute.
    pub(crate) fn or_zero(&self, attribute: Attribute) -> Result<u32, DriverError> {
        Ok(u32::try_from(self.optional(attribute)?.unwrap_or(0)).unwrap_or(0))
    }

    fn flag(&self, attribute: Attribute) -> Result<bool, DriverError> {
        Ok(self.or_zero(attribute)? != 0)
    }

    fn name(&self) -> Result<String, DriverError> {
        let mut name = [0u8; 256];
        // SAFETY: the buffer outlives the call and has the length given.
        unsafe {
            self.driver
                .cuDeviceGetName(name.as_mut_ptr().cast(), 256, self.device)
        }?;
        let end = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    fn features(&self) -> Result<Features, DriverError> {
        let mut features = Features::of_driver(self.driver);
        for (feature, attribute) in features::ATTRIBUTES {
            features.set(feature, self.flag(attribute)?);
        }
        Ok(features)
    }

    /// The identity, and whether it is that of a part of a divided device: the newer form
    /// then names the part and the older one the whole.
    fn uuid(&self) -> Result<([u8; 16], bool), DriverError> {
        // The header says char; these are bytes.
        let bytes = |uuid: CUuuid| uuid.bytes.map(|byte| byte as u8);
        let mut whole = CUuuid { bytes: [0; 16] };
        // SAFETY: `whole` outlives the call.
        let older = unsafe { self.driver.cuDeviceGetUuid(&raw mut whole, self.device) };
        let mut part = CUuuid { bytes: [0; 16] };
        // SAFETY: `part` outlives the call.
        let newer = unsafe { self.driver.cuDeviceGetUuid_v2(&raw mut part, self.device) };
        match (newer, older) {
            (Ok(()), Ok(())) => Ok((bytes(part), bytes(part) != bytes(whole))),
            // Each driver has at least one of the two.
            (Ok(()), Err(DriverError::Missing { .. })) => Ok((bytes(part), false)),
            (Err(DriverError::Missing { .. }), older) => older.map(|()| (bytes(whole), false)),
            (Err(error), _) | (Ok(()), Err(error)) => Err(error),
        }
    }

    fn total_memory(&self) -> Result<u64, DriverError> {
        let mut bytes = 0;
        // SAFETY: `bytes` outlives the call.
        unsafe { self.driver.cuDeviceTotalMem_v2(&raw mut bytes, self.device) }?;
        Ok(bytes as u64)
    }
}
