//! Occupancy: how many blocks fit on a multiprocessor.
//!
//! Threads, blocks and shared memory are counted as on compute capability 8.0. Registers
//! are not: PTX does not say how many a GPU's compiler would use.

use std::ffi::{c_int, c_uint};

use cupola_sys::driver::*;

use super::super::args::{Out, Reply};
use super::super::call::Call;
use super::super::module::{Function, SHARED_MOST};
use super::functions;

const THREADS: u64 = 2048;
const BLOCKS: u64 = 32;
const SHARED: u64 = 164 << 10;
/// What the system takes of each block's shared memory.
const RESERVED: u64 = 1 << 10;

pub(super) fn blocks_per_multiprocessor(function: &Function, threads: u64, dynamic: u64) -> u64 {
    let shared = u64::from(function.kernel.static_shared) + dynamic;
    if threads == 0
        || threads > u64::from(function.kernel.max_threads)
        || shared > u64::from(SHARED_MOST)
    {
        return 0;
    }
    let by_threads = THREADS / threads.next_multiple_of(32);
    let by_shared = SHARED / (shared + RESERVED);
    by_threads.min(by_shared).min(BLOCKS)
}

fn unsigned(value: c_int) -> Reply<u64> {
    u64::try_from(value).map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)
}

fn max_active(
    call: &Call<'_>,
    blocks: Out<c_int>,
    function: CUfunction,
    block_size: c_int,
    dynamic: usize,
) -> Reply {
    max_active_with_flags(call, blocks, function, block_size, dynamic, 0)
}

/// The one flag is about a cache that is not modelled.
fn max_active_with_flags(
    call: &Call<'_>,
    blocks: Out<c_int>,
    function: CUfunction,
    block_size: c_int,
    dynamic: usize,
    flags: c_uint,
) -> Reply {
    call.context()?;
    let function = super::function::get(call, function)?;
    let threads = unsigned(block_size)?;
    if threads == 0 || flags > 1 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let count = blocks_per_multiprocessor(&function, threads, dynamic as u64);
    blocks.set(c_int::try_from(count).unwrap_or(c_int::MAX))
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn max_potential(
    call: &Call<'_>,
    grid: Out<c_int>,
    block: Out<c_int>,
    function: CUfunction,
    dynamic_of: CUoccupancyB2DSize,
    dynamic: usize,
    limit: c_int,
) -> Reply {
    max_potential_with_flags(call, grid, block, function, dynamic_of, dynamic, limit, 0)
}

/// The largest block size that keeps the most threads resident.
#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn max_potential_with_flags(
    call: &Call<'_>,
    grid: Out<c_int>,
    block: Out<c_int>,
    function: CUfunction,
    dynamic_of: CUoccupancyB2DSize,
    dynamic: usize,
    limit: c_int,
    flags: c_uint,
) -> Reply {
    grid.check()?;
    block.check()?;
    if flags > 1 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = call.context()?;
    let function = super::function::get(call, function)?;
    let most = match unsigned(limit)? {
        0 => function.kernel.max_threads,
        limit => function
            .kernel
            .max_threads
            .min(u32::try_from(limit).unwrap_or(u32::MAX)),
    };
    let mut best = (0, 0, 0);
    // Whole warps, and the limit itself if it is none.
    let sizes = std::iter::once(most).chain((1..=most / 32).rev().map(|warps| warps * 32));
    for threads in sizes {
        let dynamic = match dynamic_of {
            // SAFETY: the caller gave a function that takes any block size.
            Some(size) => unsafe { size(threads.cast_signed()) },
            None => dynamic,
        };
        let blocks = blocks_per_multiprocessor(&function, threads.into(), dynamic as u64);
        let resident = blocks * u64::from(threads);
        if resident > best.0 {
            best = (resident, blocks, threads);
        }
    }
    let multiprocessors = u64::from(context.device.config.multiprocessors);
    grid.set(c_int::try_from(best.1 * multiprocessors).unwrap_or(c_int::MAX))?;
    block.set(best.2.cast_signed())
}

functions! {
    Initialized {
        cuOccupancyMaxActiveBlocksPerMultiprocessor: (blocks: *mut c_int, function: CUfunction,
            block_size: c_int, dynamic: usize) = max_active;
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags: (blocks: *mut c_int,
            function: CUfunction, block_size: c_int, dynamic: usize, flags: c_uint)
            = max_active_with_flags;
        cuOccupancyMaxPotentialBlockSize: (grid: *mut c_int, block: *mut c_int,
            function: CUfunction, dynamic_of: CUoccupancyB2DSize, dynamic: usize, limit: c_int)
            = max_potential;
        cuOccupancyMaxPotentialBlockSizeWithFlags: (grid: *mut c_int, block: *mut c_int,
            function: CUfunction, dynamic_of: CUoccupancyB2DSize, dynamic: usize, limit: c_int,
            flags: c_uint) = max_potential_with_flags;
    }
}
