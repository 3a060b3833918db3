//! `MultiprocessorLimits`: what a multiprocessor has for the blocks that are on it at a time.

use cupola_sys::driver::{CUdevice_attribute as Attribute, DriverError};

use crate::device::Attributes;
use crate::driver::ContextCore;
use crate::error::Result;

/// The resources of a multiprocessor, as the driver tells them, and the units in which they are
/// given out. A figure that an older driver does not tell is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultiprocessorLimits {
    /// How many multiprocessors kernels of the context run on.
    pub(super) multiprocessors: u32,
    pub(super) warp_size: u32,
    pub(super) max_threads: u32,
    pub(super) max_blocks: u32,
    pub(super) registers: u32,
    pub(super) registers_per_block: u32,
    /// In bytes.
    pub(super) shared: u32,
    /// Bytes that the system takes of the shared memory of each block.
    pub(super) shared_reserved: u32,
    /// The most shared memory that any block may have, in bytes.
    pub(super) shared_per_block: u32,
    pub(super) units: AllocationUnits,
}

/// The units in which a multiprocessor gives its resources out. No attribute tells them: they are
/// those of the occupancy tables in NVIDIA's programming guide, by compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AllocationUnits {
    /// Registers of a warp.
    pub(super) registers: u32,
    /// Warps are spread evenly over so many schedulers, each with its part of the registers.
    pub(super) schedulers: u32,
    /// Bytes of shared memory of a block.
    pub(super) shared: u32,
}

impl AllocationUnits {
    /// Of a generation that is newer than this table, those of the newest known: where they are
    /// wrong, the driver's answer differs and is the one that is told.
    pub(super) const fn of(major: u32, minor: u32) -> Self {
        Self {
            registers: 256,
            schedulers: match (major, minor) {
                (6, 0) => 2,
                _ => 4,
            },
            shared: match major {
                0..=7 => 256,
                _ => 128,
            },
        }
    }
}

impl MultiprocessorLimits {
    /// Asks the driver, whose context `core` is (`cuDeviceGetAttribute`).
    #[track_caller]
    pub(super) fn read(core: &ContextCore) -> Result<Self> {
        let driver = core.enter()?;
        let attributes = Attributes::new(driver, core.device());
        core.check(Self::ask(&attributes, core.multiprocessors()))
    }

    fn ask(attributes: &Attributes<'_>, green: Option<u32>) -> Result<Self, DriverError> {
        let number = |attribute| attributes.number(attribute);
        let known = |attribute| attributes.or_zero(attribute);
        let (major, minor) = (
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        Ok(Self {
            multiprocessors: match green {
                Some(part) => part,
                None => number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            },
            warp_size: number(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?.max(1),
            max_threads: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            max_blocks: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            registers_per_block: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
            shared: known(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            shared_reserved: known(
                Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
            )?,
            shared_per_block: known(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            units: AllocationUnits::of(major, minor),
        })
    }

    /// Warps that a multiprocessor holds.
    pub(super) fn max_warps(&self) -> u32 {
        self.max_threads / self.warp_size
    }

    /// Warps of a block.
    pub(super) fn warps(&self, threads: u32) -> u32 {
        threads.div_ceil(self.warp_size)
    }
}
