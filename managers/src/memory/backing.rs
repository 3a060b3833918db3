//! Where a pool's memory comes from: a pool of the driver, or, on devices and drivers
//! without such pools, one allocation a block.

use core::ffi::c_void;
use core::fmt;
use core::ptr;
use std::sync::Arc;

use cupola_sys::driver::{
    CUdeviceptr, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType,
    CUmemPool_attribute as Attribute, CUmemPoolProps, CUmemoryPool, id,
};

use crate::context::{ContextCore, Kind};
use crate::device::has_memory_pools;
use crate::error::{Error, Result, Site};
use crate::stream::Stream;
use crate::submit;

/// What a pool's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// A pool of the driver (`cuMemAllocFromPoolAsync`): allocating and freeing are ordered
    /// on streams, and freed memory is kept for reuse.
    StreamOrdered,
    /// One `cuMemAlloc` a block, because the device or the driver has no pools. Slow, and
    /// freeing waits on the host for the block's stream.
    Direct,
}

impl fmt::Display for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StreamOrdered => "stream-ordered memory pool of the driver",
            Self::Direct => "one driver allocation a block (this device has no memory pools)",
        })
    }
}

/// A [`Backing`] and its driver object.
pub(super) struct Source {
    /// Null for `Direct`.
    pool: CUmemoryPool,
}

// SAFETY: a CUmemoryPool may be used from any thread.
unsafe impl Send for Source {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for Source {}

impl Source {
    #[track_caller]
    pub(super) fn new(core: &Arc<ContextCore>) -> Result<Self> {
        let driver = core.enter()?;
        let there = driver.has(id::cuMemPoolCreate)
            && driver.has(id::cuMemAllocFromPoolAsync)
            && core.check(has_memory_pools(driver, core.device()))?;
        if !there {
            return Ok(Self {
                pool: ptr::null_mut(),
            });
        }
        // SAFETY: plain data for which zero is the default of every field.
        let mut properties: CUmemPoolProps = unsafe { core::mem::zeroed() };
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        properties.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.__bindgen_anon_1.id = core.device();
        let mut pool: CUmemoryPool = ptr::null_mut();
        // SAFETY: both outlive the call.
        core.check(unsafe { driver.cuMemPoolCreate(&raw mut pool, &raw const properties) })?;
        core.ledger().add(Kind::Pool, 1);
        let mut source = Self { pool };
        // Keep everything: giving memory back at each synchronisation costs far more than
        // it brings. `trim` gives it back.
        let mut threshold = u64::MAX;
        let kept = source.attribute_call(core, |driver, pool| {
            // SAFETY: the attribute takes a pointer to a u64, which outlives the call.
            unsafe {
                driver.cuMemPoolSetAttribute(
                    pool,
                    Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                    (&raw mut threshold).cast::<c_void>(),
                )
            }
        });
        if let Err(error) = kept {
            source.destroy(core);
            return Err(error);
        }
        Ok(source)
    }

    pub(super) fn backing(&self) -> Backing {
        if self.pool.is_null() {
            Backing::Direct
        } else {
            Backing::StreamOrdered
        }
    }

    #[track_caller]
    pub(super) fn allocate(
        &self,
        core: &Arc<ContextCore>,
        bytes: usize,
        stream: &Stream,
    ) -> Result<CUdeviceptr> {
        let driver = core.enter()?;
        let mut address: CUdeviceptr = 0;
        let result = match self.backing() {
            // SAFETY: pool and stream are alive and of this context, which is current.
            Backing::StreamOrdered => unsafe {
                driver.cuMemAllocFromPoolAsync(&raw mut address, bytes, self.pool, stream.raw())
            },
            // SAFETY: `address` outlives the call, and the context is current.
            Backing::Direct => unsafe { driver.cuMemAlloc_v2(&raw mut address, bytes) },
        };
        stream.check(result)?;
        Ok(address)
    }

    #[track_caller]
    pub(super) fn free(
        &self,
        core: &Arc<ContextCore>,
        address: CUdeviceptr,
        stream: &Stream,
    ) -> Result<()> {
        match self.backing() {
            Backing::StreamOrdered => core.give_back(stream.site(), |driver| {
                // SAFETY: allocated from the pool and not freed before; the stream has
                // waited for every use.
                unsafe { driver.cuMemFreeAsync(address, stream.raw()) }
            }),
            Backing::Direct if submit::settle(stream, Site::here()) => {
                // SAFETY: allocated by `allocate` and not freed before; no use runs.
                core.give_back(stream.site(), |driver| unsafe {
                    driver.cuMemFree_v2(address)
                })
            }
            Backing::Direct => Err(Error::invalid(
                "buffer",
                "it cannot be freed: waiting for the work on its stream failed",
            )),
        }
    }

    /// Bytes that the driver holds for the pool.
    #[track_caller]
    pub(super) fn reserved(&self, core: &Arc<ContextCore>) -> Result<Option<u64>> {
        if self.pool.is_null() {
            return Ok(None);
        }
        let mut bytes = 0u64;
        self.attribute_call(core, |driver, pool| {
            // SAFETY: the attribute gives a u64, and `bytes` outlives the call.
            unsafe {
                driver.cuMemPoolGetAttribute(
                    pool,
                    Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
                    (&raw mut bytes).cast::<c_void>(),
                )
            }
        })?;
        Ok(Some(bytes))
    }

    #[track_caller]
    pub(super) fn trim(&self, core: &Arc<ContextCore>) -> Result<()> {
        if self.pool.is_null() {
            return Ok(());
        }
        // SAFETY: the pool is alive.
        self.attribute_call(core, |driver, pool| unsafe {
            driver.cuMemPoolTrimTo(pool, 0)
        })
    }

    #[track_caller]
    fn attribute_call(
        &self,
        core: &Arc<ContextCore>,
        call: impl FnOnce(
            &cupola_sys::driver::Driver,
            CUmemoryPool,
        ) -> Result<(), cupola_sys::driver::DriverError>,
    ) -> Result<()> {
        let driver = core.enter()?;
        core.check(call(driver, self.pool))
    }

    /// Destroys the driver's pool. The driver lets it live on until frees that are still on
    /// their streams have happened, and as long as a block that was given up is allocated.
    pub(super) fn destroy(&mut self, core: &Arc<ContextCore>) {
        let pool = core::mem::replace(&mut self.pool, ptr::null_mut());
        if !pool.is_null() {
            // SAFETY: created by `new`, and this was the only copy. Blocks that were given up,
            // and not freed, stay valid: they keep the driver's pool.
            let _ = core.dispose(Kind::Pool, |driver| unsafe {
                driver.cuMemPoolDestroy(pool)
            });
        }
    }
}
