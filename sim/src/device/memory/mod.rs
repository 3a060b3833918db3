//! Device memory, pinned host memory, and their accounts.
//!
//! A device address is not a host address: device memory lies in a range of its own, and
//! every access goes through the table of live allocations in [`space`].

mod access;
mod access_guard;
mod account;
mod advice;
mod backing;
mod block;
mod external;
mod fill;
mod heap;
mod host;
mod ipc;
mod mapped;
mod pages;
mod rows;
mod shadow;
mod space;
mod transfer;

use std::sync::Arc;

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::machine::Device;

pub(super) use access::{Access, AccessRequest, Accessor, Peers, PoolAccess};
pub(super) use account::{Account, Pool, PoolLimits};
pub(super) use advice::{Advice, Location};
pub(super) use block::{Block, HostRange};
#[cfg(target_os = "linux")]
pub(super) use external::import_semaphore;
pub(super) use external::{SemaphoreKind, map_external};
pub(super) use fill::Fill;
pub(super) use heap::{Around, Heap};
pub(super) use ipc::{Name, Opened, Refusal, open};
pub(super) use mapped::{Freed, PAGE, Unmapped};
pub(super) use pages::{Pages, SUPPORTED as VMM};
pub(super) use rows::Rows;
pub(super) use shadow::Shadow;
pub(super) use space::{GRANULE, Owner, Place, Seat, Space};
pub(super) use transfer::{End, Pointer, Side, Transfer};

/// Bytes of address space, and of memory outside of pools, that an allocation takes.
fn extent(len: usize) -> Reply<u64> {
    if len == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let extent = (len as u64).checked_next_multiple_of(GRANULE);
    extent.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)
}

/// Larger allocations outside of pools have addresses of a coarser grain. Smaller ones, and all
/// of pools, are packed by the granule (seen on an H100).
const LARGE: u64 = 1 << 20;

/// Managed memory starts at multiples of this, the smallest page of a host.
pub(super) const MANAGED_ALIGN: u64 = 4096;

/// Allocates outside of pools; `module` as in [`Owner`].
pub(super) fn allocate(context: &Context, len: usize, module: Option<bool>) -> Reply<Arc<Block>> {
    let align = match len as u64 > LARGE {
        true => context.device.config.large_alignment,
        false => GRANULE,
    };
    allocate_aligned(context, len, align, module)
}

/// Allocates outside of pools, at a multiple of `align`; `module` as in [`Owner`].
pub(super) fn allocate_aligned(
    context: &Context,
    len: usize,
    align: u64,
    module: Option<bool>,
) -> Reply<Arc<Block>> {
    let device = &context.device;
    let extent = extent(len)?;
    device.account.take(extent)?;
    let owner = Owner {
        device: device.ordinal,
        context: context.handle,
        pool: None,
        module,
    };
    let block = device
        .space
        .allocate(len as u64, (extent, align), extent, owner);
    let block = block.inspect_err(|_| device.account.give(None, extent))?;
    keep_if_open(context, device, block)
}

/// Makes the heap that kernels allocate from.
pub(super) fn make_heap(context: &Context, len: usize) -> Reply<Arc<Heap>> {
    let device = &context.device;
    let extent = extent(len)?;
    device.account.take(extent)?;
    let heap = device
        .space
        .make_heap(extent, device.ordinal, context.handle);
    heap.inspect_err(|_| device.account.give(None, extent))
}

/// Allocates managed memory; `module` as in [`Owner`].
pub(super) fn allocate_managed(
    context: &Context,
    len: usize,
    module: Option<bool>,
) -> Reply<Arc<Block>> {
    if len == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let device = &context.device;
    let owner = Owner {
        device: device.ordinal,
        context: context.handle,
        pool: None,
        module,
    };
    let block = device.space.allocate_managed(len as u64, owner)?;
    keep_if_open(context, device, block)
}

/// Allocates from a pool of `device`, for a context. Pools count the bytes asked for.
pub(super) fn allocate_pooled(
    context: &Context,
    device: &Device,
    pool: u64,
    len: usize,
) -> Reply<Arc<Block>> {
    let (extent, charge) = (extent(len)?, len as u64);
    let access = device.account.take_pooled(pool, charge)?;
    let owner = Owner {
        device: device.ordinal,
        context: context.handle,
        pool: Some((pool, access)),
        module: None,
    };
    let block = device
        .space
        .allocate(charge, (extent, GRANULE), charge, owner);
    let block = block.inspect_err(|_| device.account.give(Some(pool), charge))?;
    keep_if_open(context, device, block)
}

/// Ends the charge of a block that a call has claimed.
pub(super) fn settle(device: &Device, block: &Block) {
    match block.seat {
        Some(_) => device.account.give_graph(block.charge),
        None => device.account.give(block.pool, block.charge),
    }
}

/// Takes a new block back if its context was destroyed in the meantime: the context took
/// along only what was there before.
fn keep_if_open(context: &Context, device: &Device, block: Arc<Block>) -> Reply<Arc<Block>> {
    if !context.is_closed() {
        return Ok(block);
    }
    // Unless the context did take it.
    if block.doom() {
        settle(device, &block);
        device.space.remove(&block);
    }
    Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
}
