//! PyTorch's `CUDAPluggableAllocator`: the functions that it and its setters take.
//!
//! For a whole process it takes `cupola_torch_alloc` and `cupola_torch_free`, and each of the other functions
//! by the setter of its name. For `torch.cuda.MemPool` it takes `cupola_torch_segment_alloc` and
//! `cupola_torch_segment_free` alone: PyTorch's own allocator is in front then, and expects what
//! `cudaMalloc` and `cudaFree` do.

use std::ffi::{c_int, c_void};
use std::io::Write as _;
use std::ptr;

use crate::blocks;
use crate::error::{Failure, catch, status};
use crate::memory::{free, free_on, pointer, stream_of, use_on};
use crate::pool_id::PoolId;
use crate::process::{device_pool, device_pools, not_forked};
use crate::std_function::StreamFilter;

/// An allocation by PyTorch, in the order of its current stream. PyTorch takes null for a tensor's address
/// and goes on: so what the reason is goes to standard error as well.
///
/// # Safety
/// As of `cupola_allocate_on`: PyTorch never destroys its own streams; the owner of a
/// `torch.cuda.ExternalStream` calls `cupola_release_stream` before it destroys that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_torch_alloc(
    size: usize,
    device: c_int,
    stream: *mut c_void,
) -> *mut c_void {
    pointer(|| {
        // SAFETY: the conditions of `allocate_on` are those of this function.
        let taken = unsafe { device_pool(device)?.allocate_on(size as u64, stream_of(stream)) };
        taken.inspect_err(|failure| complain(size, failure))
    })
    .unwrap_or(ptr::null_mut())
}

/// A free by PyTorch, which names the stream of the allocation.
///
/// # Safety
/// As of `cupola_free_on`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_torch_free(
    block: *mut c_void,
    _size: usize,
    _device: c_int,
    stream: *mut c_void,
) {
    // SAFETY: the conditions of `free_on` are those of this function.
    let _kept = status(|| unsafe { free_on(block, stream) });
}

/// A segment for `torch.cuda.MemPool`, for work on any stream. PyTorch takes null for
/// `cudaErrorMemoryAllocation`: it gives back what it keeps, tries again, and raises `OutOfMemoryError`.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_segment_alloc(
    size: usize,
    device: c_int,
    _stream: *mut c_void,
) -> *mut c_void {
    pointer(|| device_pool(device)?.allocate(size as u64)).unwrap_or(ptr::null_mut())
}

/// A segment comes back, which work on any stream may still use.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_segment_free(
    block: *mut c_void,
    _size: usize,
    _device: c_int,
    _stream: *mut c_void,
) {
    let _kept = status(|| free(block));
}

/// For `set_init_fn`: loads the driver, so that what is wrong with it is told at once. A pool is made with a
/// device's first allocation.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_init(_device_count: c_int) {
    let _kept = status(crate::process::start);
}

/// For `set_reset_fn`, which `torch.cuda.empty_cache` calls: gives memory that nothing uses back to each
/// device.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_reset() {
    let _kept = status(|| {
        not_forked()?;
        let mut trimmed = Ok(());
        for pool in device_pools() {
            trimmed = trimmed.and(pool.trim().map(drop));
        }
        trimmed
    });
}

/// For `set_memory_fraction_fn`: limits a device's pool to a part of the device's memory.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_memory_fraction(fraction: f64, device: c_int) {
    let _kept = status(|| device_pool(device)?.set_fraction(fraction));
}

/// For `set_base_alloc_fn`: the block that a pointer of PyTorch's begins, and its bytes. Null for an address
/// within a block, or of none.
///
/// # Safety
/// `size` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_torch_base_alloc(
    block: *mut c_void,
    size: *mut usize,
) -> *mut c_void {
    let found = catch(|| {
        not_forked()?;
        blocks::with(block.addr() as u64, |block| block.bytes)
    });
    let Ok(bytes) = found else {
        return ptr::null_mut();
    };
    // SAFETY: null, or a place that can be written, by the condition of this function.
    if let Some(size) = unsafe { size.as_mut() } {
        *size = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    block
}

/// For `set_record_stream_fn`, which `Tensor.record_stream` calls.
///
/// # Safety
/// As of `cupola_use_on`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_torch_record_stream(block: *mut c_void, stream: *mut c_void) {
    // SAFETY: the conditions of `use_on` are those of this function.
    let _kept = status(|| unsafe { use_on(block, stream) });
}

/// For `set_begin_allocate_to_pool`: until the pool's end, requests on the streams that `filter` accepts are
/// for graphs that are captured, and stay where they are until the pool's release. `filter` is a
/// `std::function<bool(cudaStream_t)>` of libstdc++.
///
/// # Safety
/// `filter` is null or points to such a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_torch_begin_allocate_to_pool(
    device: c_int,
    pool: PoolId,
    filter: *const c_void,
) {
    let _kept = status(|| {
        // SAFETY: the condition of this function.
        let filter = unsafe { StreamFilter::copy(filter) }?;
        device_pool(device)?.begin_private(pool, filter)
    });
}

/// For `set_end_allocate_to_pool_fn`.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_end_allocate_to_pool(device: c_int, pool: PoolId) {
    let _kept = status(|| device_pool(device)?.end_private(pool));
}

/// For `set_release_pool`: a graph that used the pool was destroyed, or is about to be. Its memory can be
/// had again after all work of the device, which a request that finds no memory or `cupola_torch_reset`
/// waits for: launches of the graph may still run.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_torch_release_pool(device: c_int, pool: PoolId) {
    let _kept = status(|| device_pool(device)?.release_private(pool));
}

/// Says on standard error why PyTorch gets null, for it does not look.
fn complain(bytes: usize, failure: &Failure) {
    // A program without standard error goes on.
    let _ = writeln!(
        std::io::stderr(),
        "libcupola: an allocation of {bytes} bytes failed, and PyTorch goes on with a null pointer: {failure}"
    );
}
