//! `SharedContext`: the state of a driver context that all execution managers have in common.

mod live_blocks;
mod peers;
mod recent;

use std::sync::{Arc, OnceLock};

use cupola_sys::driver::{
    CUcontext, CUdevice, CUdevice_attribute as Attribute, Driver, DriverError,
};

use super::current::Identity;
use crate::error::{Latch, Launches};
pub(crate) use live_blocks::{BlockHistory, Found, LiveBlocks};
pub(crate) use peers::{Enabler, GrantEnd, PeerTable, PeerUse, Peers};

/// The most blocks of a grid and threads of a block that the device takes, in x, y and z.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeLimits {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
}

impl ShapeLimits {
    fn read(driver: &Driver, device: CUdevice) -> Result<Self, DriverError> {
        let read = |attribute: Attribute| {
            let mut value = 0;
            // SAFETY: `value` outlives the call.
            unsafe { driver.cuDeviceGetAttribute(&raw mut value, attribute, device) }?;
            // A device that names no limit leaves it to the launch.
            let named = u32::try_from(value).ok().filter(|&most| most > 0);
            Ok(named.unwrap_or(u32::MAX))
        };
        Ok(Self {
            grid: [
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            block: [
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
        })
    }
}

/// What is true of the driver's context, whichever execution manager asks: its identity, the error
/// that it was lost to with the subscribers to that, and the kernels that may still run in it. The
/// [intern table](super::intern) has one for each context that an execution manager holds. What most
/// operations read is in its first cache line.
#[repr(C, align(64))]
pub(crate) struct SharedContext {
    raw: CUcontext,
    identity: Identity,
    latch: Latch,
    launches: Launches,
    live_blocks: Arc<LiveBlocks>,
    peers: PeerTable,
    /// Once a function was looked up.
    shape_limits: OnceLock<ShapeLimits>,
}

// SAFETY: a CUcontext may be used from any thread; the rest is Send and Sync.
unsafe impl Send for SharedContext {}
// SAFETY: a CUcontext may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for SharedContext {}

impl SharedContext {
    pub(super) fn new(raw: CUcontext) -> Self {
        Self {
            raw,
            identity: Identity::of(raw),
            latch: Latch::default(),
            launches: Launches::default(),
            live_blocks: Arc::default(),
            peers: PeerTable::default(),
            shape_limits: OnceLock::new(),
        }
    }

    /// The limits of the context's device, asked once.
    pub(super) fn shape_limits(
        &self,
        driver: &Driver,
        device: CUdevice,
    ) -> Result<ShapeLimits, DriverError> {
        match self.shape_limits.get() {
            Some(known) => Ok(*known),
            None => {
                let limits = ShapeLimits::read(driver, device)?;
                Ok(*self.shape_limits.get_or_init(|| limits))
            }
        }
    }

    #[inline]
    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    #[inline]
    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    // With every request of a pool.
    #[inline]
    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }

    #[inline]
    pub(super) fn launches(&self) -> &Launches {
        &self.launches
    }

    pub(super) fn live_blocks(&self) -> &Arc<LiveBlocks> {
        &self.live_blocks
    }

    #[inline]
    pub(super) fn peers(&self) -> &PeerTable {
        &self.peers
    }
}
