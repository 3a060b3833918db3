//! Occupancy: how many blocks fit on a multiprocessor.
//!
//! Threads, blocks, shared memory and registers are counted as on compute capability 8.0.
//! The registers are the kernel's own count ([`Kernel::regs`](crate::exec::Kernel)): an
//! upper bound, because PTX does not say how many a GPU's compiler would need.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::modules::attributes::SHARED_MOST;
use crate::device::modules::module::Function;

const THREADS: u64 = 2048;
const BLOCKS: u64 = 32;
const SHARED: u64 = 164 << 10;
/// What the system takes of each block's shared memory.
const RESERVED: u64 = 1 << 10;
/// Shared memory comes in pieces of so many bytes.
const SHARED_UNIT: u64 = 128;
const REGISTERS: u64 = 64 << 10;
/// A warp's registers come in pieces of so many, and warps get theirs four at a time.
const REGISTER_UNIT: u64 = 256;
const WARP_UNIT: u64 = 4;

/// How many blocks have threads and registers at the same time.
fn blocks_without_shared(function: &Function, threads: u64) -> u64 {
    if threads == 0 || threads > u64::from(function.kernel.max_threads) {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let registers = u64::from(function.kernel.regs.max(1)) * 32;
    let with_registers = REGISTERS / registers.next_multiple_of(REGISTER_UNIT);
    let by_registers = with_registers / WARP_UNIT * WARP_UNIT / warps;
    let by_threads = THREADS / (warps * 32);
    by_threads.min(by_registers).min(BLOCKS)
}

pub(super) fn blocks_per_multiprocessor(function: &Function, threads: u64, dynamic: u64) -> u64 {
    let shared = u64::from(function.kernel.static_shared).saturating_add(dynamic);
    if dynamic > function.most_dynamic() || shared > u64::from(SHARED_MOST) {
        return 0;
    }
    let by_shared = SHARED / (shared + RESERVED).next_multiple_of(SHARED_UNIT);
    blocks_without_shared(function, threads).min(by_shared)
}

/// A function or a library's kernel, for the current context.
fn get(call: &Call<'_>, function: CUfunction) -> Reply<Arc<Function>> {
    let context = call.context()?;
    crate::device::api::kernels::function::in_context(call, &context, function)
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
    let function = get(call, function)?;
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
    let function = get(call, function)?;
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
    let multiprocessors = match call.green()? {
        Some(green) => green.part.numbers.len() as u64,
        None => u64::from(context.device.config.multiprocessors),
    };
    grid.set(c_int::try_from(best.1 * multiprocessors).unwrap_or(c_int::MAX))?;
    block.set(best.2.cast_signed())
}

/// The dynamic shared memory of a block when so many share a multiprocessor: an equal part
/// of all, less what the system and the function take, and no more than the function may
/// have.
fn available_dynamic(
    call: &Call<'_>,
    bytes: Out<usize>,
    function: CUfunction,
    blocks: c_int,
    block_size: c_int,
) -> Reply {
    bytes.check()?;
    let function = get(call, function)?;
    let (blocks, threads) = (unsigned(blocks)?, unsigned(block_size)?);
    if blocks == 0 || blocks > blocks_without_shared(&function, threads) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let part = SHARED / blocks / SHARED_UNIT * SHARED_UNIT;
    let taken = RESERVED + u64::from(function.kernel.static_shared);
    let rest = part.saturating_sub(taken).min(function.most_dynamic());
    bytes.set(usize::try_from(rest).unwrap_or(usize::MAX))
}

/// Clusters are blocks that run together; this device has none, as before compute
/// capability 9.0.
fn clusters(
    call: &Call<'_>,
    count: Out<c_int>,
    function: CUfunction,
    config: In<CUlaunchConfig>,
) -> Reply {
    count.check()?;
    config.get()?;
    get(call, function)?;
    let text = "the occupancy of clusters is asked for: not supported";
    call.machine.messages.add(text.into());
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

functions! {
    Initialized {
        cuOccupancyAvailableDynamicSMemPerBlock: (bytes: *mut usize, function: CUfunction,
            blocks: c_int, block_size: c_int) = available_dynamic;
        cuOccupancyMaxPotentialClusterSize: (size: *mut c_int, function: CUfunction,
            config: *const CUlaunchConfig) = clusters;
        cuOccupancyMaxActiveClusters: (count: *mut c_int, function: CUfunction,
            config: *const CUlaunchConfig) = clusters;
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
