//! Copies and memsets.
//!
//! Page-locked host memory is read and written when the stream gets to the copy.
//! Pageable memory cannot be: its bytes are taken at the call on the way up, and the call
//! waits on the way down, as with the real driver.

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use cupola_sys::driver::*;

use super::super::args::Reply;
use super::super::call::Call;
use super::super::engine::Direction;
use super::super::machine::OwnedStream;
use super::super::memory::{Fill, Place, Pointer, Side, Space, Transfer};
use super::super::op::Op;
use super::functions;

/// One end of a copy.
#[derive(Clone, Copy)]
enum End {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

impl End {
    /// A host argument. Device memory passes too, as it does where addresses are unified,
    /// and is checked like any other.
    fn host(pointer: *mut c_void) -> Self {
        let address = pointer.addr() as u64;
        if Space::is_device_address(address) {
            Self::Device(address)
        } else {
            Self::Host(pointer)
        }
    }

    /// An address of the unified space: host memory, unless it is in the device's range.
    fn unified(address: CUdeviceptr) -> Self {
        if Space::is_device_address(address) {
            Self::Device(address)
        } else {
            Self::Host(std::ptr::with_exposed_provenance_mut(address as usize))
        }
    }

    fn is_device(self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// Checks the range and says how a stream reaches it.
    fn side(self, call: &Call<'_>, len: usize) -> Reply<Side> {
        match self {
            Self::Device(address) => {
                call.machine.space.check(address, len as u64)?;
                Ok(Side::Device(address))
            }
            Self::Host(pointer) if pointer.is_null() => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            Self::Host(pointer) => {
                let address = pointer.expose_provenance() as u64;
                match call.machine.space.find(address) {
                    Some(Place::Pinned(range)) if range.holds(address, len as u64) => {
                        Ok(Side::Pinned(range, address))
                    }
                    _ => Ok(Side::Caller(Pointer(pointer.cast()))),
                }
            }
        }
    }
}

fn direction(to: End, from: End) -> Option<Direction> {
    match (to.is_device(), from.is_device()) {
        (true, false) => Some(Direction::Upload),
        (false, true) => Some(Direction::Download),
        _ => None,
    }
}

/// A copy whose call returns when it is done, unless it stays on the device.
fn copy(call: &Call<'_>, to: End, from: End, len: usize) -> Reply {
    let (context, stream) = call.default_stream()?;
    if len == 0 {
        return Ok(());
    }
    let direction = direction(to, from);
    let on_device = to.is_device() && from.is_device();
    let (to, from) = (to.side(call, len)?, from.side(call, len)?);
    let op = Op::Copy(Transfer {
        to,
        from,
        len,
        direction,
    });
    if on_device {
        context.submit(&stream, op)
    } else {
        context.submit_and_wait(&stream, op)
    }
}

fn copy_async(
    call: &Call<'_>,
    to: End,
    from: End,
    len: usize,
    (context, stream): OwnedStream,
) -> Reply {
    if len == 0 {
        return Ok(());
    }
    let direction = direction(to, from);
    let (to, mut from) = (to.side(call, len)?, from.side(call, len)?);
    let waits = matches!(to, Side::Caller(_));
    if let Side::Caller(pointer) = from
        && !waits
    {
        let mut staged = Vec::new();
        let room = staged.try_reserve_exact(len);
        room.map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        // SAFETY: the caller gave `len` readable bytes, and this call has not returned.
        staged.extend_from_slice(unsafe { std::slice::from_raw_parts(pointer.0, len) });
        from = Side::Staged(staged.into_boxed_slice());
    }
    let op = Op::Copy(Transfer {
        to,
        from,
        len,
        direction,
    });
    if waits {
        context.submit_and_wait(&stream, op)
    } else {
        context.submit(&stream, op)
    }
}

fn upload(call: &Call<'_>, to: CUdeviceptr, from: *const c_void, len: usize) -> Reply {
    copy(call, End::Device(to), End::host(from.cast_mut()), len)
}

fn download(call: &Call<'_>, to: *mut c_void, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, End::host(to), End::Device(from), len)
}

fn within(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, End::Device(to), End::Device(from), len)
}

fn unified(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, End::unified(to), End::unified(from), len)
}

fn upload_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: *const c_void,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(
        call,
        End::Device(to),
        End::host(from.cast_mut()),
        len,
        target,
    )
}

fn download_async(
    call: &Call<'_>,
    to: *mut c_void,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(call, End::host(to), End::Device(from), len, target)
}

fn within_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(call, End::Device(to), End::Device(from), len, target)
}

fn unified_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(call, End::unified(to), End::unified(from), len, target)
}

/// Memsets of device memory are asynchronous in all their forms.
fn fill(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: u32,
    (width, count): (usize, usize),
    (context, stream): OwnedStream,
) -> Reply {
    let len = count
        .checked_mul(width)
        .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if !address.is_multiple_of(width as u64) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if len == 0 {
        return Ok(());
    }
    call.machine.space.check(address, len as u64)?;
    context.submit(
        &stream,
        Op::Fill(Fill {
            address,
            value,
            width,
            count,
        }),
    )
}

fn fill8(call: &Call<'_>, address: CUdeviceptr, value: c_uchar, count: usize) -> Reply {
    fill(
        call,
        address,
        value.into(),
        (1, count),
        call.default_stream()?,
    )
}

fn fill16(call: &Call<'_>, address: CUdeviceptr, value: c_ushort, count: usize) -> Reply {
    fill(
        call,
        address,
        value.into(),
        (2, count),
        call.default_stream()?,
    )
}

fn fill32(call: &Call<'_>, address: CUdeviceptr, value: c_uint, count: usize) -> Reply {
    fill(call, address, value, (4, count), call.default_stream()?)
}

fn fill8_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_uchar,
    count: usize,
    stream: CUstream,
) -> Reply {
    fill(
        call,
        address,
        value.into(),
        (1, count),
        call.stream(stream)?,
    )
}

fn fill16_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_ushort,
    count: usize,
    stream: CUstream,
) -> Reply {
    fill(
        call,
        address,
        value.into(),
        (2, count),
        call.stream(stream)?,
    )
}

fn fill32_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_uint,
    count: usize,
    stream: CUstream,
) -> Reply {
    fill(call, address, value, (4, count), call.stream(stream)?)
}

functions! {
    Initialized {
        cuMemcpy, cuMemcpy_ptds: (to: CUdeviceptr, from: CUdeviceptr, len: usize) = unified;
        cuMemcpyAsync, cuMemcpyAsync_ptsz: (to: CUdeviceptr, from: CUdeviceptr, len: usize,
            stream: CUstream) = unified_async;
        cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds: (to: CUdeviceptr, from: *const c_void, len: usize)
            = upload;
        cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds: (to: *mut c_void, from: CUdeviceptr, len: usize)
            = download;
        cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds: (to: CUdeviceptr, from: CUdeviceptr, len: usize)
            = within;
        cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz: (to: CUdeviceptr, from: *const c_void,
            len: usize, stream: CUstream) = upload_async;
        cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz: (to: *mut c_void, from: CUdeviceptr,
            len: usize, stream: CUstream) = download_async;
        cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz: (to: CUdeviceptr, from: CUdeviceptr,
            len: usize, stream: CUstream) = within_async;
        cuMemsetD8_v2, cuMemsetD8_v2_ptds: (address: CUdeviceptr, value: c_uchar, count: usize)
            = fill8;
        cuMemsetD16_v2, cuMemsetD16_v2_ptds: (address: CUdeviceptr, value: c_ushort, count: usize)
            = fill16;
        cuMemsetD32_v2, cuMemsetD32_v2_ptds: (address: CUdeviceptr, value: c_uint, count: usize)
            = fill32;
        cuMemsetD8Async, cuMemsetD8Async_ptsz: (address: CUdeviceptr, value: c_uchar, count: usize,
            stream: CUstream) = fill8_async;
        cuMemsetD16Async, cuMemsetD16Async_ptsz: (address: CUdeviceptr, value: c_ushort,
            count: usize, stream: CUstream) = fill16_async;
        cuMemsetD32Async, cuMemsetD32Async_ptsz: (address: CUdeviceptr, value: c_uint, count: usize,
            stream: CUstream) = fill32_async;
    }
}
