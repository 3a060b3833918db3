//! The driver's own stream-ordered allocator: `cuMemAllocAsync` and `cuMemFreeAsync` on the
//! device's default pool, which is told to keep what is freed.
//!
//! The threshold is what every user of these functions sets first. Without it the driver
//! returns the memory at each synchronisation, and every pair after that maps anew.

use std::ffi::c_void;
use std::ptr;

use cupola_managers::stream::Stream;
use cupola_managers::{Context, Device, StreamConfig, ops};
use cupola_sys::driver::{CUdevice, CUmemPool_attribute, CUmemoryPool, CUstream, Driver};

use super::Error;
use super::allocator::{Allocator, Fresh};

pub(super) const NAME: &str = "cuMemAllocAsync + cuMemFreeAsync";

/// The default pool of a device.
#[derive(Clone, Debug)]
pub(super) struct DriverPool {
    context: Context,
    driver: Driver,
    /// A `CUmemoryPool`, which lives as long as the device.
    pool: usize,
}

/// A stream, and its driver's handle: asking for it takes note of foreign work each time.
#[derive(Debug)]
pub(super) struct DriverStream {
    stream: Stream,
    raw: usize,
}

impl DriverStream {
    fn raw(&self) -> CUstream {
        self.raw as CUstream
    }
}

impl DriverPool {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let context = device.primary()?;
        context.make_current()?;
        let driver = context.driver().clone();
        let mut named: CUdevice = 0;
        // SAFETY: `named` outlives the call, and the context is current.
        unsafe { driver.cuCtxGetDevice(&raw mut named) }?;
        let mut pool: CUmemoryPool = ptr::null_mut();
        // SAFETY: `pool` outlives the call.
        unsafe { driver.cuDeviceGetDefaultMemPool(&raw mut pool, named) }?;
        let mut threshold = u64::MAX;
        // SAFETY: the pool is the device's; the attribute takes a pointer to a u64, which
        // outlives the call.
        unsafe {
            driver.cuMemPoolSetAttribute(
                pool,
                CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast::<c_void>(),
            )
        }?;
        let pool = pool as usize;
        Ok(Self {
            context,
            driver,
            pool,
        })
    }
}

impl Allocator for DriverPool {
    type Stream = DriverStream;
    type Block = u64;

    fn name(&self) -> String {
        NAME.into()
    }

    fn stream(&self) -> Result<DriverStream, Error> {
        let stream = self.context.streams().create(StreamConfig::default())?;
        let raw = stream.as_raw() as usize;
        Ok(DriverStream { stream, raw })
    }

    fn enter(&self) -> bool {
        self.context.make_current().is_ok()
    }

    fn allocate(&self, bytes: u64, stream: &DriverStream) -> Option<u64> {
        let bytes = usize::try_from(bytes).ok()?;
        let mut address = 0;
        // SAFETY: `address` outlives the call, and the stream is alive: it is leased here.
        let made = unsafe {
            self.driver
                .cuMemAllocAsync(&raw mut address, bytes, stream.raw())
        };
        made.is_ok().then_some(address)
    }

    fn free(&self, block: u64, stream: &DriverStream) -> bool {
        // SAFETY: allocated by `allocate`, and freed once because its owner gives it
        // away by value; nothing uses the memory.
        unsafe { self.driver.cuMemFreeAsync(block, stream.raw()) }.is_ok()
    }

    fn address(block: &u64) -> Option<u64> {
        Some(*block)
    }

    fn settle(&self, stream: &DriverStream) -> bool {
        ops::synchronize(&stream.stream).is_ok()
    }
}

impl Fresh for DriverPool {
    /// The same pool after a trim: a block that some row still holds stays mapped.
    fn fresh(&self) -> Result<Self, Error> {
        self.trim()?;
        Ok(self.clone())
    }

    fn trim(&self) -> Result<(), Error> {
        self.context.make_current()?;
        // SAFETY: the pool is the device's.
        unsafe { self.driver.cuMemPoolTrimTo(self.pool as CUmemoryPool, 0) }?;
        Ok(())
    }
}
