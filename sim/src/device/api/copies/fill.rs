//! Memsets, in one row and in several.

use std::ffi::{c_uchar, c_uint, c_ushort};

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::{fill_waits, permit};
use crate::device::api::functions;
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::machine::OwnedStream;
use crate::device::memory::{Access, Fill, Rows};
use crate::device::operations::op::Op;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// What is written: the low `width` bytes of `value`, `count` times in each row.
#[derive(Clone, Copy)]
struct Pattern {
    value: u32,
    width: usize,
    count: usize,
}

impl Pattern {
    fn bytes(value: c_uchar, count: usize) -> Self {
        Self::words(value.into(), count, 1)
    }

    fn halves(value: c_ushort, count: usize) -> Self {
        Self::words(value.into(), count, 2)
    }

    fn words(value: c_uint, count: usize, width: usize) -> Self {
        Self {
            value,
            width,
            count,
        }
    }

    /// The operation; `None` if there is nothing to write.
    fn rows(self, address: CUdeviceptr, pitch: usize, height: usize) -> Reply<Option<Fill>> {
        let width = self.width as u64;
        let row = (self.count as u64).checked_mul(width).ok_or(INVALID)?;
        // The pitch is only looked at where there is a second row.
        let pitch = if height > 1 { pitch as u64 } else { row };
        if !address.is_multiple_of(width) || !pitch.is_multiple_of(width) || pitch < row {
            return Err(INVALID);
        }
        if row == 0 || height == 0 {
            return Ok(None);
        }
        let rows = Rows::new([row, height as u64, 1], pitch, 0).ok_or(INVALID)?;
        Ok(Some(Fill {
            address,
            rows,
            value: self.value,
            width: self.width,
        }))
    }
}

/// Where a memset writes: an address, and the pitch and number of its rows.
type Target = (CUdeviceptr, usize, usize);

/// Asynchronous, unless the host could see that it is not done.
fn fill(call: &Call<'_>, pattern: Pattern, target: Target) -> Reply {
    let (context, stream) = call.default_stream()?;
    context.check_uncaptured(&stream)?;
    let Some(fill) = check(call, &context, pattern, target)? else {
        return Ok(());
    };
    if fill_waits(call, fill.address) {
        context.submit_and_wait(&stream, Op::Fill(fill))
    } else {
        context.submit(&stream, Op::Fill(fill))
    }
}

fn fill_async(call: &Call<'_>, pattern: Pattern, target: Target, to: OwnedStream) -> Reply {
    let (context, stream) = to;
    match check(call, &context, pattern, target)? {
        Some(fill) => context.submit(&stream, Op::Fill(fill)),
        None => Ok(()),
    }
}

fn check(
    call: &Call<'_>,
    context: &Context,
    pattern: Pattern,
    (address, pitch, height): Target,
) -> Reply<Option<Fill>> {
    let fill = pattern.rows(address, pitch, height)?;
    if let Some(fill) = &fill {
        check_fill(call, context, fill)?;
    }
    Ok(fill)
}

/// Whether a memset's memory is there for the context, before it is queued.
pub(in crate::device) fn check_fill(call: &Call<'_>, context: &Context, fill: &Fill) -> Reply {
    permit(call, context, fill.address, fill.rows, Access::Write)?;
    call.machine.space.check_rows(fill.address, fill.rows)
}

/// The memset that a graph's node describes; `None` if there is nothing to write. Its memory is
/// looked at when the node is launched.
pub(in crate::device::api) fn node_fill(params: &CUDA_MEMSET_NODE_PARAMS) -> Reply<Option<Fill>> {
    let size = params.elementSize as usize;
    if ![1, 2, 4].contains(&size) {
        return Err(INVALID);
    }
    let pattern = Pattern::words(params.value, params.width, size);
    pattern.rows(params.dst, params.pitch, params.height)
}

fn fill8(call: &Call<'_>, address: CUdeviceptr, value: c_uchar, count: usize) -> Reply {
    fill(call, Pattern::bytes(value, count), (address, 0, 1))
}

fn fill16(call: &Call<'_>, address: CUdeviceptr, value: c_ushort, count: usize) -> Reply {
    fill(call, Pattern::halves(value, count), (address, 0, 1))
}

fn fill32(call: &Call<'_>, address: CUdeviceptr, value: c_uint, count: usize) -> Reply {
    fill(call, Pattern::words(value, count, 4), (address, 0, 1))
}

fn fill8_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_uchar,
    count: usize,
    stream: CUstream,
) -> Reply {
    let stream = call.stream(stream)?;
    fill_async(call, Pattern::bytes(value, count), (address, 0, 1), stream)
}

fn fill16_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_ushort,
    count: usize,
    stream: CUstream,
) -> Reply {
    let stream = call.stream(stream)?;
    fill_async(call, Pattern::halves(value, count), (address, 0, 1), stream)
}

fn fill32_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    value: c_uint,
    count: usize,
    stream: CUstream,
) -> Reply {
    let stream = call.stream(stream)?;
    fill_async(
        call,
        Pattern::words(value, count, 4),
        (address, 0, 1),
        stream,
    )
}

fn rows8(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
) -> Reply {
    fill(call, Pattern::bytes(value, width), (address, pitch, height))
}

fn rows16(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
) -> Reply {
    fill(
        call,
        Pattern::halves(value, width),
        (address, pitch, height),
    )
}

fn rows32(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
) -> Reply {
    fill(
        call,
        Pattern::words(value, width, 4),
        (address, pitch, height),
    )
}

fn rows8_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Reply {
    let (target, stream) = ((address, pitch, height), call.stream(stream)?);
    fill_async(call, Pattern::bytes(value, width), target, stream)
}

fn rows16_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Reply {
    let (target, stream) = ((address, pitch, height), call.stream(stream)?);
    fill_async(call, Pattern::halves(value, width), target, stream)
}

fn rows32_async(
    call: &Call<'_>,
    address: CUdeviceptr,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: CUstream,
) -> Reply {
    let (target, stream) = ((address, pitch, height), call.stream(stream)?);
    fill_async(call, Pattern::words(value, width, 4), target, stream)
}

functions! {
    Initialized {
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
        cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds: (address: CUdeviceptr, pitch: usize,
            value: c_uchar, width: usize, height: usize) = rows8;
        cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds: (address: CUdeviceptr, pitch: usize,
            value: c_ushort, width: usize, height: usize) = rows16;
        cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds: (address: CUdeviceptr, pitch: usize,
            value: c_uint, width: usize, height: usize) = rows32;
        cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz: (address: CUdeviceptr, pitch: usize,
            value: c_uchar, width: usize, height: usize, stream: CUstream) = rows8_async;
        cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz: (address: CUdeviceptr, pitch: usize,
            value: c_ushort, width: usize, height: usize, stream: CUstream) = rows16_async;
        cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz: (address: CUdeviceptr, pitch: usize,
            value: c_uint, width: usize, height: usize, stream: CUstream) = rows32_async;
    }
}
