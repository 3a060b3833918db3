//! CuPy's `CFunctionAllocator`: functions without a stream and without a size.
//!
//! What they hand out is for any stream, and comes back without one: as `cudaMalloc` and `cudaFree`. A
//! program that wants the order of streams takes `cupola_allocate_on` and `cupola_free_on` through
//! `cupy.cuda.set_allocator` (`examples/cupy_pool.py`).

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::error::status;
use crate::memory::{free, pointer};
use crate::process::device_pool;

/// An allocation by CuPy; null after an error. `param` is not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_cupy_malloc(
    _param: *mut c_void,
    size: usize,
    device: c_int,
) -> *mut c_void {
    pointer(|| device_pool(device)?.allocate(size as u64)).unwrap_or(ptr::null_mut())
}

/// A free by CuPy. `param` is not looked at.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_cupy_free(_param: *mut c_void, block: *mut c_void, _device: c_int) {
    let _kept = status(|| free(block));
}
