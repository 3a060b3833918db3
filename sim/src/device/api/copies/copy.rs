//! Copies of bytes in a row.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::{Endpoint, Plan};
use crate::device::api::functions;
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::machine::OwnedStream;

fn copy(call: &Call<'_>, to: Endpoint, from: Endpoint, len: usize) -> Reply {
    let target = call.default_stream()?;
    Plan::flat(to, from, len).map_or(Ok(()), |plan| plan.run(call, target))
}

fn copy_async(
    call: &Call<'_>,
    to: Endpoint,
    from: Endpoint,
    len: usize,
    target: OwnedStream,
) -> Reply {
    Plan::flat(to, from, len).map_or(Ok(()), |plan| plan.run_async(call, target))
}

fn upload(call: &Call<'_>, to: CUdeviceptr, from: *const c_void, len: usize) -> Reply {
    copy(
        call,
        Endpoint::Device(to),
        Endpoint::host(from.cast_mut()),
        len,
    )
}

fn download(call: &Call<'_>, to: *mut c_void, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, Endpoint::host(to), Endpoint::Device(from), len)
}

fn within(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, Endpoint::Device(to), Endpoint::Device(from), len)
}

fn unified(call: &Call<'_>, to: CUdeviceptr, from: CUdeviceptr, len: usize) -> Reply {
    copy(call, Endpoint::unified(to), Endpoint::unified(from), len)
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
        Endpoint::Device(to),
        Endpoint::host(from.cast_mut()),
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
    copy_async(
        call,
        Endpoint::host(to),
        Endpoint::Device(from),
        len,
        target,
    )
}

fn within_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(
        call,
        Endpoint::Device(to),
        Endpoint::Device(from),
        len,
        target,
    )
}

fn unified_async(
    call: &Call<'_>,
    to: CUdeviceptr,
    from: CUdeviceptr,
    len: usize,
    stream: CUstream,
) -> Reply {
    let target = call.stream(stream)?;
    copy_async(
        call,
        Endpoint::unified(to),
        Endpoint::unified(from),
        len,
        target,
    )
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
    }
}
