//! Copies of slices of rows, within a context and between contexts.

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::Plan;
use crate::device::api::copies::peer::{self, Contexts};
use crate::device::api::copies::region::{Corner, Region};
use crate::device::api::functions;
use crate::device::calls::args::{In, Reply};
use crate::device::calls::call::Call;

/// The region that a structure of a 3-D copy describes; the two kinds of structure have
/// these fields in common. Array levels must be zero.
macro_rules! region {
    ($copy:expr) => {{
        let copy = $copy;
        if copy.srcLOD != 0 || copy.dstLOD != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        Region {
            to: Corner {
                kind: copy.dstMemoryType,
                host: copy.dstHost,
                device: copy.dstDevice,
                at: [copy.dstXInBytes, copy.dstY, copy.dstZ],
                pitch: copy.dstPitch,
                height: copy.dstHeight,
            },
            from: Corner {
                kind: copy.srcMemoryType,
                host: copy.srcHost.cast_mut(),
                device: copy.srcDevice,
                at: [copy.srcXInBytes, copy.srcY, copy.srcZ],
                pitch: copy.srcPitch,
                height: copy.srcHeight,
            },
            extent: [copy.WidthInBytes, copy.Height, copy.Depth],
        }
    }};
}

/// The copy that a graph's node describes.
pub(in crate::device::api) fn node_plan(
    call: &Call<'_>,
    copy: &CUDA_MEMCPY3D,
) -> Reply<Option<Plan>> {
    region!(copy).plan(call, "a graph's copy")
}

fn copy(call: &Call<'_>, copy: In<CUDA_MEMCPY3D>) -> Reply {
    let target = call.default_stream()?;
    let plan = region!(copy.get()?).plan(call, "cuMemcpy3D")?;
    plan.map_or(Ok(()), |plan| plan.run(call, target))
}

fn copy_async(call: &Call<'_>, copy: In<CUDA_MEMCPY3D>, stream: CUstream) -> Reply {
    let target = call.stream(stream)?;
    let plan = region!(copy.get()?).plan(call, "cuMemcpy3DAsync")?;
    plan.map_or(Ok(()), |plan| plan.run_async(call, target))
}

/// The contexts of the ends in device memory; others have none.
fn contexts(call: &Call<'_>, copy: &CUDA_MEMCPY3D_PEER) -> Reply<Contexts> {
    let of = |kind, context: CUcontext| match kind {
        CUmemorytype::CU_MEMORYTYPE_DEVICE => peer::context(call, context).map(Some),
        _ => Ok(None),
    };
    let to = of(copy.dstMemoryType, copy.dstContext)?;
    Ok([to, of(copy.srcMemoryType, copy.srcContext)?])
}

fn peer(call: &Call<'_>, copy: In<CUDA_MEMCPY3D_PEER>) -> Reply {
    let (target, copy) = (call.default_stream()?, copy.get()?);
    let contexts = contexts(call, &copy)?;
    let plan = region!(copy).plan(call, "cuMemcpy3DPeer")?;
    plan.map_or(Ok(()), |plan| peer::run(call, plan, &contexts, target))
}

fn peer_async(call: &Call<'_>, copy: In<CUDA_MEMCPY3D_PEER>, stream: CUstream) -> Reply {
    let (target, copy) = (call.stream(stream)?, copy.get()?);
    let contexts = contexts(call, &copy)?;
    let plan = region!(copy).plan(call, "cuMemcpy3DPeerAsync")?;
    plan.map_or(Ok(()), |plan| {
        peer::run_async(call, plan, &contexts, target)
    })
}

functions! {
    Initialized {
        cuMemcpy3D_v2, cuMemcpy3D_v2_ptds: (copy: *const CUDA_MEMCPY3D) = copy;
        cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz: (copy: *const CUDA_MEMCPY3D,
            stream: CUstream) = copy_async;
        cuMemcpy3DPeer, cuMemcpy3DPeer_ptds: (copy: *const CUDA_MEMCPY3D_PEER) = peer;
        cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz: (copy: *const CUDA_MEMCPY3D_PEER,
            stream: CUstream) = peer_async;
    }
}
