//! Copies of rows.

use cupola_sys::driver::*;

use crate::device::api::copies::region::{Corner, Region};
use crate::device::api::functions;
use crate::device::calls::args::{In, Reply};
use crate::device::calls::call::Call;

fn region(copy: &CUDA_MEMCPY2D) -> Region {
    Region {
        to: Corner {
            kind: copy.dstMemoryType,
            host: copy.dstHost,
            device: copy.dstDevice,
            at: [copy.dstXInBytes, copy.dstY, 0],
            pitch: copy.dstPitch,
            height: 0,
        },
        from: Corner {
            kind: copy.srcMemoryType,
            host: copy.srcHost.cast_mut(),
            device: copy.srcDevice,
            at: [copy.srcXInBytes, copy.srcY, 0],
            pitch: copy.srcPitch,
            height: 0,
        },
        extent: [copy.WidthInBytes, copy.Height, 1],
    }
}

/// Any pitch will do for a copy within the device, so this is `cuMemcpy2DUnaligned` too.
fn copy(call: &Call<'_>, copy: In<CUDA_MEMCPY2D>) -> Reply {
    let target = call.default_stream()?;
    let plan = region(&copy.get()?).plan(call, "cuMemcpy2D")?;
    plan.map_or(Ok(()), |plan| plan.run(call, target))
}

fn copy_async(call: &Call<'_>, copy: In<CUDA_MEMCPY2D>, stream: CUstream) -> Reply {
    let target = call.stream(stream)?;
    let plan = region(&copy.get()?).plan(call, "cuMemcpy2DAsync")?;
    plan.map_or(Ok(()), |plan| plan.run_async(call, target))
}

functions! {
    Initialized {
        cuMemcpy2D_v2, cuMemcpy2D_v2_ptds: (copy: *const CUDA_MEMCPY2D) = copy;
        cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds: (copy: *const CUDA_MEMCPY2D) = copy;
        cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz: (copy: *const CUDA_MEMCPY2D,
            stream: CUstream) = copy_async;
    }
}
