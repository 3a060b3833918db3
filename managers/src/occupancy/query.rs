//! The driver's answers about the blocks of a kernel.

use core::ffi::c_int;

use cupola_sys::driver::flags::OccupancyFlags;
use cupola_sys::driver::{CUdevice_attribute, Driver, DriverError};

use crate::device::Attributes;
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::module::Function;

/// The block size that keeps the most threads on a multiprocessor, and the blocks that fill the
/// context's multiprocessors at that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PotentialBlockSize {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that run at the same time: those of one multiprocessor, times the multiprocessors that
    /// kernels of the context run on (of a green context its own).
    pub blocks: u32,
}

impl Function {
    /// How many blocks of `threads` threads and `shared_bytes` bytes of dynamic shared memory a
    /// multiprocessor holds at a time (`cuOccupancyMaxActiveBlocksPerMultiprocessor`). 0 when it cannot
    /// hold one: for a block that is larger than the kernel can have, or more shared memory than it
    /// [may have](Self::max_dynamic_shared).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a block without threads; [`Error::Poisoned`], [`Error::Forked`]; what the
    /// driver returned.
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    #[track_caller]
    pub fn active_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let count = block_size(threads)?;
        let driver = self.core().enter()?;
        self.core()
            .check(active_blocks(driver, self, count, shared_bytes))
    }

    /// The same under other assumptions (`cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`).
    ///
    /// # Errors
    /// As [`active_blocks`](Self::active_blocks).
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags")]
    #[track_caller]
    pub fn active_blocks_with(
        &self,
        threads: u32,
        shared_bytes: u32,
        flags: OccupancyFlags,
    ) -> Result<u32> {
        let count = block_size(threads)?;
        let driver = self.core().enter()?;
        let mut blocks = 0;
        // SAFETY: `blocks` outlives the call, and the function's module is loaded.
        let asked = unsafe {
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                &raw mut blocks,
                self.raw(),
                count,
                shared_bytes as usize,
                flags.bits(),
            )
        };
        self.core().check(asked)?;
        Ok(unsigned(blocks))
    }

    /// The block size that keeps the most threads on a multiprocessor, when each block has
    /// `shared_bytes` bytes of dynamic shared memory (`cuOccupancyMaxPotentialBlockSize`): the largest
    /// of those that do. `most_threads` limits it; `None` leaves it to the kernel.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `shared_bytes` when a multiprocessor holds no block with as much, and
    /// naming `most_threads` for 0; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    #[track_caller]
    pub fn potential_block_size(
        &self,
        shared_bytes: u32,
        most_threads: Option<u32>,
    ) -> Result<PotentialBlockSize> {
        let most = self.most_threads(most_threads)?;
        let core = self.core();
        let driver = core.enter()?;
        let (mut grid, mut block) = (0, 0);
        // SAFETY: both outlive the call, the function's module is loaded, and there is no callback.
        let asked = unsafe {
            driver.cuOccupancyMaxPotentialBlockSize(
                &raw mut grid,
                &raw mut block,
                self.raw(),
                None,
                shared_bytes as usize,
                signed(most),
            )
        };
        core.check(asked)?;
        let threads = unsigned(block);
        if threads == 0 || grid == 0 {
            return Err(fits_nowhere(shared_bytes));
        }
        let blocks = match core.multiprocessors() {
            // The call knows only the device.
            Some(part) => {
                let active = core.check(active_blocks(driver, self, block, shared_bytes))?;
                active.saturating_mul(part)
            }
            None => unsigned(grid),
        };
        Ok(PotentialBlockSize { threads, blocks })
    }

    /// The same when the dynamic shared memory depends on the block size: `shared_bytes` is given
    /// threads and returns bytes. The driver's own call for that
    /// takes a C function, which has no place for a panic; here the driver is asked for each size
    /// of whole warps, and for the largest size if that is none.
    ///
    /// # Errors
    /// As [`potential_block_size`](Self::potential_block_size).
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    #[track_caller]
    pub fn potential_block_size_by(
        &self,
        most_threads: Option<u32>,
        mut shared_bytes: impl FnMut(u32) -> u32,
    ) -> Result<PotentialBlockSize> {
        let most = self.most_threads(most_threads)?;
        let core = self.core();
        let driver = core.enter()?;
        let attributes = Attributes::new(driver, core.device());
        let warp = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
        let warp = core.check(attributes.number(warp))?;
        let (mut best, mut resident) = ((0, 0), 0);
        for threads in block_sizes(most, warp).rev() {
            let bytes = shared_bytes(threads);
            let active = core.check(active_blocks(driver, self, signed(threads), bytes))?;
            let threads_held = u64::from(active) * u64::from(threads);
            if threads_held > resident {
                (best, resident) = ((threads, active), threads_held);
            }
        }
        let (threads, active) = best;
        if active == 0 {
            return Err(fits_nowhere(shared_bytes(most)));
        }
        let blocks = active.saturating_mul(multiprocessors(core, driver)?);
        Ok(PotentialBlockSize { threads, blocks })
    }

    /// The dynamic shared memory, in bytes, that each of `blocks` blocks of `threads` threads can have
    /// when they are on one multiprocessor together (`cuOccupancyAvailableDynamicSMemPerBlock`). No
    /// more than the kernel [may have](Self::max_dynamic_shared). Where the driver leaves out what it
    /// reserves of each block's memory, as 580 does on Hopper, that is taken off: with this many bytes
    /// so many blocks are [active](Self::active_blocks).
    ///
    /// # Errors
    /// [`Error::Invalid`] for no blocks, or blocks without threads; [`Error::Unsupported`] by a driver
    /// before CUDA 10.2; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned:
    /// `CUDA_ERROR_INVALID_VALUE` when so many blocks do not fit for another reason.
    #[doc(alias = "cuOccupancyAvailableDynamicSMemPerBlock")]
    #[track_caller]
    pub fn available_dynamic_shared(&self, blocks: u32, threads: u32) -> Result<u32> {
        if blocks == 0 {
            return Err(Error::invalid("blocks", "there is no block"));
        }
        let threads = block_size(threads)?;
        let driver = self.core().enter()?;
        let mut bytes = 0;
        // SAFETY: `bytes` outlives the call, and the function's module is loaded.
        let asked = unsafe {
            driver.cuOccupancyAvailableDynamicSMemPerBlock(
                &raw mut bytes,
                self.raw(),
                signed(blocks),
                threads,
            )
        };
        let core = self.core();
        core.check(asked)?;
        let told = u32::try_from(bytes).unwrap_or(u32::MAX);
        if core.check(active_blocks(driver, self, threads, told))? >= blocks {
            return Ok(told);
        }
        let reserved = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK;
        let reserved = core.check(Attributes::new(driver, core.device()).or_zero(reserved))?;
        Ok(told.saturating_sub(reserved))
    }

    /// The most threads of a block, by the kernel and by what the caller allows.
    #[track_caller]
    fn most_threads(&self, allowed: Option<u32>) -> Result<u32> {
        let own = self.attributes().max_threads_per_block;
        match allowed {
            Some(0) => Err(Error::invalid("most_threads", "no block has 0 threads")),
            Some(allowed) => Ok(allowed.min(own)),
            None => Ok(own),
        }
    }
}

/// The sizes of whole warps up to `most`, and `most` itself, rising.
pub(super) fn block_sizes(most: u32, warp: u32) -> impl DoubleEndedIterator<Item = u32> {
    let warp = warp.max(1);
    let whole = (1..=most / warp).map(move |warps| warps * warp);
    whole.chain((!most.is_multiple_of(warp)).then_some(most))
}

pub(super) fn active_blocks(
    driver: &Driver,
    function: &Function,
    threads: c_int,
    shared_bytes: u32,
) -> Result<u32, DriverError> {
    let mut blocks = 0;
    // SAFETY: `blocks` outlives the call, and the function's module is loaded.
    unsafe {
        driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &raw mut blocks,
            function.raw(),
            threads,
            shared_bytes as usize,
        )
    }?;
    Ok(unsigned(blocks))
}

/// How many multiprocessors kernels of a context run on.
#[track_caller]
pub(super) fn multiprocessors(core: &ContextCore, driver: &Driver) -> Result<u32> {
    if let Some(part) = core.multiprocessors() {
        return Ok(part);
    }
    let all = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    core.check(Attributes::new(driver, core.device()).number(all))
}

/// A block size as the driver takes it.
#[track_caller]
pub(super) fn block_size(threads: u32) -> Result<c_int> {
    if threads == 0 {
        return Err(Error::invalid("threads", "a block has at least one"));
    }
    Ok(signed(threads))
}

#[cold]
pub(super) fn fits_nowhere(shared_bytes: u32) -> Error {
    let problem = format!(
        "a multiprocessor holds no such block of the kernel with {shared_bytes} bytes of dynamic shared \
         memory; Function::allow_dynamic_shared allows more, where the device has as much"
    );
    Error::invalid("shared_bytes", problem)
}

/// What is more than the driver's numbers can be is more than any device has.
fn signed(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

pub(super) fn unsigned(value: c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
