//! The functions for any caller: memory, limits, figures and errors.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::time::Duration;

use cupola_sys::driver::CUstream;

use crate::blocks::{self, LiveBlock};
use crate::device_pool::{DevicePool, Wanted};
use crate::error::{self, CupolaStatus, Failure, catch, status};
use crate::process::{self, device_pool};

/// Bytes and counts of a device's pool.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CupolaUsage {
    /// The most bytes that the pool may have from the driver.
    pub limit: u64,
    /// Bytes that it has.
    pub mapped: u64,
    /// The most that it ever had at a time.
    pub peak_mapped: u64,
    /// Bytes of blocks, as they were asked for; the `returned` ones are among them.
    pub live: u64,
    /// Bytes that callers have given back by `cupola_free`, and that are not free yet.
    pub returned: u64,
    /// Bytes that are free and ready for every stream.
    pub cached: u64,
    /// Bytes that are free, but for work that may still use them.
    pub pending: u64,
    /// Blocks that callers have.
    pub blocks: u64,
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks taken back.
    pub frees: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// How often a request made its stream wait for another one.
    pub device_waits: u64,
    /// How often a request waited on the host.
    pub host_waits: u64,
    /// Bytes of the device that others have: other processes, libraries, and the driver.
    pub foreign: u64,
    /// Bytes of the device that are free.
    pub device_free: u64,
    /// Errors of this library in this process, of all devices and threads.
    pub errors: u64,
}

/// The text of the last error on this thread, or null. It is there until the next error on the thread.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_last_error() -> *const c_char {
    error::last()
}

/// Writes the last 16 errors of all threads, a line each and oldest first, and a null character: as much of
/// them as there is room for. Returns the bytes that all of it needs. For frameworks that free memory on
/// threads of their own, and tell nothing of errors.
///
/// # Safety
/// `buffer` has room for `room` bytes, or `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_errors(buffer: *mut c_char, room: usize) -> usize {
    let report = catch(|| Ok(error::report())).unwrap_or_default();
    let written = report.len().min(room.saturating_sub(1));
    if room > 0 && !buffer.is_null() {
        // SAFETY: the buffer has room for `room` bytes, by the condition of this function, which are more
        // than `written`.
        unsafe {
            ptr::copy_nonoverlapping(report.as_ptr(), buffer.cast(), written);
            buffer.add(written).write(0);
        }
    }
    report.len() + 1
}

/// Says how a device's pool is to be made, before its first allocation: the most bytes that it may have from
/// the driver (0 for what `CUPOLA_LIMIT` says, else all of the device but a reserve), and the longest time
/// that an allocation waits for work that still uses freed memory, in milliseconds (negative for 10 s).
#[unsafe(no_mangle)]
pub extern "C" fn cupola_configure(
    device: c_int,
    limit_bytes: u64,
    wait_milliseconds: i64,
) -> CupolaStatus {
    status(|| {
        let wait = u64::try_from(wait_milliseconds).ok();
        let wanted = Wanted {
            limit: (limit_bytes > 0).then_some(limit_bytes),
            wait: wait.map(Duration::from_millis),
        };
        process::configure(device, wanted)
    })
}

/// Changes the limit of a device's pool. Blocks that callers have stay theirs; what is over a lower limit
/// goes back to the device when they are freed.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_set_limit(device: c_int, limit_bytes: u64) -> CupolaStatus {
    status(|| device_pool(device)?.set_limit(limit_bytes))
}

/// `size` bytes of a device, at a multiple of 256, for work on any stream: as from `cudaMalloc`. Null for
/// 0 bytes, and where there is too little memory: `cupola_last_error` says why. Give it back by
/// `cupola_free`.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_allocate(device: c_int, size: usize) -> *mut c_void {
    pointer(|| device_pool(device)?.allocate(size as u64)).unwrap_or(ptr::null_mut())
}

/// `size` bytes of a device, at a multiple of 256, for work on a stream of its primary context
/// (`cudaStream_t` or `CUstream`; null for the default stream). Null for 0 bytes and after an error. Other streams may
/// use it behind this one: name them by `cupola_use_on`. Give it back by `cupola_free_on`, or by
/// `cupola_free`.
///
/// # Safety
/// The stream is of the device's primary context, and is not destroyed before the process ends or
/// `cupola_release_stream` has returned `CUPOLA_OK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_allocate_on(
    device: c_int,
    size: usize,
    stream: *mut c_void,
) -> *mut c_void {
    // SAFETY: the conditions of `allocate_on` are those of this function.
    pointer(|| unsafe { device_pool(device)?.allocate_on(size as u64, stream_of(stream)) })
        .unwrap_or(ptr::null_mut())
}

/// Work on a stream uses a block: it is free only behind the work that is there when it is freed.
///
/// # Safety
/// As of `cupola_allocate_on`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_use_on(block: *mut c_void, stream: *mut c_void) -> CupolaStatus {
    // SAFETY: the conditions are those of this function.
    status(|| unsafe { use_on(block, stream) })
}

/// Gives a block back that work on any stream may still use: as `cudaFree`, but that the wait for that work
/// comes later, for many blocks at once: with the 64th, with 256 MiB or a sixteenth of the limit, a request
/// that finds no memory, or `cupola_trim`. Null is no block, and `CUPOLA_OK`.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_free(block: *mut c_void) -> CupolaStatus {
    status(|| free(block))
}

/// Gives a block back in the order of a stream: behind the work that is there now, on the stream that it was
/// allocated on and on those named by `cupola_use_on`. Null is no block, and `CUPOLA_OK`.
///
/// # Safety
/// As of `cupola_allocate_on`. All work that uses the block is on these streams by now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_free_on(block: *mut c_void, stream: *mut c_void) -> CupolaStatus {
    // SAFETY: the conditions are those of this function.
    status(|| unsafe { free_on(block, stream) })
}

/// A stream is about to be destroyed: nothing asks it any more after this. Refused while a block that was
/// allocated or used on it has not been freed.
///
/// # Safety
/// The stream is still alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_release_stream(device: c_int, stream: *mut c_void) -> CupolaStatus {
    status(|| device_pool(device)?.release_stream(stream_of(stream)))
}

/// Gives memory that nothing uses back to the device. Waits for all work of the device's primary context if
/// blocks were given back by `cupola_free`, or a private pool released.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_trim(device: c_int) -> CupolaStatus {
    status(|| device_pool(device)?.trim().map(drop))
}

/// Bytes that can still be allocated, and all bytes of the device.
///
/// # Safety
/// `free` and `total` are null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_mem_info(
    device: c_int,
    free: *mut usize,
    total: *mut usize,
) -> CupolaStatus {
    status(|| {
        let (free_bytes, total_bytes) = device_pool(device)?.memory_info()?;
        for (place, bytes) in [(free, free_bytes), (total, total_bytes)] {
            // SAFETY: null, or a place that can be written, by the condition of this function.
            if let Some(place) = unsafe { place.as_mut() } {
                *place = usize::try_from(bytes).unwrap_or(usize::MAX);
            }
        }
        Ok(())
    })
}

/// The figures of a device's pool.
///
/// # Safety
/// `usage` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupola_usage(device: c_int, usage: *mut CupolaUsage) -> CupolaStatus {
    status(|| {
        // SAFETY: null, or a place that can be written, by the condition of this function.
        let place = unsafe { usage.as_mut() }.ok_or(Failure::Null { name: "usage" })?;
        let (usage, returned) = device_pool(device)?.usage()?;
        *place = CupolaUsage {
            limit: usage.limit,
            mapped: usage.mapped,
            peak_mapped: usage.peak_mapped,
            live: usage.live,
            returned,
            cached: usage.cached,
            pending: usage.pending,
            blocks: usage.blocks,
            allocations: usage.allocations,
            frees: usage.frees,
            refused: usage.refused + usage.exhausted,
            device_waits: usage.device_waits,
            host_waits: usage.host_waits,
            foreign: usage.foreign,
            device_free: usage.device_free,
            errors: error::count(),
        };
        Ok(())
    })
}

/// The address that `work` returns.
pub(crate) fn pointer(
    work: impl FnOnce() -> Result<u64, Failure>,
) -> Result<*mut c_void, CupolaStatus> {
    catch(work).map(|address| ptr::without_provenance_mut(address as usize))
}

pub(crate) fn stream_of(stream: *mut c_void) -> CUstream {
    stream.cast()
}

/// Takes a block out of the table, with the pool that it is of.
fn take(block: *mut c_void) -> Result<(LiveBlock, &'static DevicePool), Failure> {
    process::not_forked()?;
    let block = blocks::remove(block.addr() as u64)?;
    let device = i32::try_from(block.device).unwrap_or(i32::MAX);
    match device_pool(device) {
        Ok(pool) => Ok((block, pool)),
        Err(failure) => {
            blocks::insert(block);
            Err(failure)
        }
    }
}

pub(crate) fn free(block: *mut c_void) -> Result<(), Failure> {
    if block.is_null() {
        return Ok(());
    }
    let (block, pool) = take(block)?;
    pool.return_block(block);
    Ok(())
}

/// # Safety
/// As of [`cupola_free_on`].
pub(crate) unsafe fn free_on(block: *mut c_void, stream: *mut c_void) -> Result<(), Failure> {
    if block.is_null() {
        return Ok(());
    }
    let (block, pool) = take(block)?;
    // SAFETY: the conditions of this function.
    unsafe { pool.free_on(block, stream_of(stream)) }
}

/// # Safety
/// As of [`cupola_use_on`].
pub(crate) unsafe fn use_on(block: *mut c_void, stream: *mut c_void) -> Result<(), Failure> {
    if block.is_null() {
        return Ok(());
    }
    process::not_forked()?;
    let address = block.addr() as u64;
    let device = blocks::with(address, |block| block.device)?;
    let pool = device_pool(i32::try_from(device).unwrap_or(i32::MAX))?;
    // SAFETY: the conditions of this function.
    unsafe { pool.use_on(address, stream_of(stream)) }
}
