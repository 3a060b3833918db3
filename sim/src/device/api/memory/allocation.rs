//! Device memory: plain and stream-ordered allocations.

use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::graphs::NodeKind;
use crate::device::machine::Device;
use crate::device::memory::{Block, Place, allocate, allocate_pooled, settle};
use crate::device::operations::op::Op;
use crate::device::streams::stream::Stream;
use crate::device::strict::Frees;
use crate::device::sync::{lock, read};

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;

fn alloc(call: &Call<'_>, place: Out<CUdeviceptr>, len: usize) -> Reply {
    place.check()?;
    let context = call.context()?;
    place.set(allocate(&context, len, None)?.address)
}

fn alloc_pitch(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: c_uint,
) -> Reply {
    place.check()?;
    pitch.check()?;
    if width == 0 || height == 0 || ![4, 8, 16].contains(&element) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = call.context()?;
    let row = width.checked_next_multiple_of(PITCH);
    let len = row.and_then(|row| row.checked_mul(height));
    let len = len.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    let block = allocate(&context, len, None)?;
    pitch.set(len / height)?;
    place.set(block.address)
}

/// The live block that starts at the address and that the program may free.
fn freeable(call: &Call<'_>, address: CUdeviceptr) -> Reply<Arc<Block>> {
    // A graph's memory can be freed as soon as its launch is queued.
    let seat = call.machine.space.seat(address);
    let block = match seat {
        Some(seat) => seat.live(),
        None => call.machine.space.block_at(address),
    };
    let block = block.filter(|block| {
        let own = !block.module && block.opened.is_none();
        own && !block.is_doomed()
    });
    block.ok_or_else(|| {
        let (strict, space) = (&call.machine.strict, &call.machine.space);
        strict.bad_free(space, address, Frees::Device);
        CUresult::CUDA_ERROR_INVALID_VALUE
    })
}

/// Claims a block and ends its charge.
fn claim(device: &Device, block: &Block) -> Reply {
    if !block.doom() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    settle(device, block);
    Ok(())
}

/// Waits for all work on the block's device and in its context, as hardware does before
/// memory goes. The block knows its context, so none needs to be current.
pub(super) fn wait_for_users(call: &Call<'_>, block: &Block) -> Reply {
    let contexts: Vec<_> = read(&call.machine.contexts).values().cloned().collect();
    let owner = |context: &&Arc<Context>| context.handle == block.context;
    let here = contexts
        .iter()
        .filter(|context| context.device.ordinal == block.device || owner(context));
    here.for_each(|context| context.wait_idle());
    let owner = contexts.iter().find(owner);
    owner.map_or(Ok(()), |owner| owner.health.check())
}

fn free(call: &Call<'_>, address: CUdeviceptr) -> Reply {
    if address == 0 {
        return Ok(());
    }
    let block = freeable(call, address)?;
    call.machine.strict.frees_now(&block);
    wait_for_users(call, &block)?;
    claim(&call.machine.devices[block.device], &block)?;
    call.machine.space.remove(&block);
    Ok(())
}

fn info(call: &Call<'_>, free: Out<usize>, total: Out<usize>) -> Reply {
    let context = call.context()?;
    let account = &context.device.account;
    free.set(usize::try_from(account.free()).unwrap_or(usize::MAX))?;
    total.set(usize::try_from(account.total()).unwrap_or(usize::MAX))
}

fn address_range(
    call: &Call<'_>,
    base: Out<CUdeviceptr>,
    size: Out<usize>,
    address: CUdeviceptr,
) -> Reply {
    call.context()?;
    let (start, len) = match call.machine.space.find(address) {
        Some(Place::Device(block)) => (block.address, block.len),
        Some(Place::Pinned(range)) => (range.address, range.len),
        // The mapping, not all that adjoins it.
        Some(Place::Mapped(_)) => {
            let mapped = call.machine.space.mapped().find_mapping(address);
            let mapped = mapped.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
            (mapped.base, mapped.len)
        }
        None => return Err(CUresult::CUDA_ERROR_NOT_FOUND),
    };
    base.set_if(start);
    size.set_if(usize::try_from(len).unwrap_or(usize::MAX));
    Ok(())
}

/// The memory is there at once: no operation is needed in the stream.
fn alloc_async(call: &Call<'_>, place: Out<CUdeviceptr>, len: usize, stream: CUstream) -> Reply {
    let (context, stream) = call.stream(stream)?;
    let pool = context.device.current_pool.load(Ordering::Acquire);
    alloc_pooled(call, place, len, pool, (&context, &stream))
}

fn alloc_from_pool(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Reply {
    let (context, stream) = call.stream(stream)?;
    let pool = pool.addr() as u64;
    alloc_pooled(call, place, len, pool, (&context, &stream))
}

/// No bytes are no memory, and no error: the address is null, which can be freed.
fn alloc_pooled(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: usize,
    pool: u64,
    (context, stream): (&Context, &Stream),
) -> Reply {
    place.check()?;
    let device = call.machine.pool_device(pool)?;
    if stream.capture.is_taken() {
        let access = device.account.pool(pool, |pool| Arc::clone(&pool.access));
        let access = access.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        if len == 0 {
            return place.set(0);
        }
        let owner = (device.ordinal, context.handle);
        let seat = call.machine.space.take_seat(len, owner, access)?;
        let address = seat.address;
        context.capture(stream, NodeKind::Alloc(seat))?;
        return place.set(address);
    }
    call.check_undisturbed()?;
    if len == 0 {
        return place.set(0);
    }
    let block = allocate_pooled(context, device, pool, len)?;
    let strict = &call.machine.strict;
    strict.allocated(block.id, context.handle, stream);
    place.set(block.address)
}

fn free_async(call: &Call<'_>, address: CUdeviceptr, stream: CUstream) -> Reply {
    let (context, stream) = call.stream(stream)?;
    if address == 0 {
        return Ok(());
    }
    if let Some(capture) = stream.capture.capture() {
        // The capture of memory that is no graph's goes on.
        lock(&capture.graph.dag).check_free(call, address)?;
        return context.capture(&stream, NodeKind::Free(address));
    }
    let block = freeable(call, address)?;
    claim(&call.machine.devices[block.device], &block)?;
    // The block stays in the table until the stream gets there. If the host gives no
    // thread for the stream, it goes at once.
    let space = Arc::clone(&call.machine.space);
    let submitted = context.submit(&stream, Op::Free(Arc::clone(&block)));
    submitted.inspect_err(|_| space.remove(&block))
}

functions! {
    Initialized {
        cuMemAlloc_v2: (place: *mut CUdeviceptr, len: usize) = alloc;
        cuMemAllocPitch_v2: (place: *mut CUdeviceptr, pitch: *mut usize, width: usize,
            height: usize, element: c_uint) = alloc_pitch;
        cuMemFree_v2: (address: CUdeviceptr) = free;
        cuMemGetInfo_v2: (free: *mut usize, total: *mut usize) = info;
        cuMemGetAddressRange_v2: (base: *mut CUdeviceptr, size: *mut usize, address: CUdeviceptr)
            = address_range;
        cuMemAllocAsync, cuMemAllocAsync_ptsz: (place: *mut CUdeviceptr, len: usize,
            stream: CUstream) = alloc_async;
        cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz: (place: *mut CUdeviceptr, len: usize,
            pool: CUmemoryPool, stream: CUstream) = alloc_from_pool;
        cuMemFreeAsync, cuMemFreeAsync_ptsz: (address: CUdeviceptr, stream: CUstream) = free_async;
    }
}
