//! Batches of copies. A batch runs in stream order; its copies have no order among themselves.

use std::ffi::c_ulonglong;

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::{Endpoint, Plan, Prepared};
use crate::device::api::copies::region::{Corner, Region};
use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::machine::OwnedStream;
use crate::device::streams::stream::Kind;

use CUmemcpySrcAccessOrder as Order;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// What the index of a failed copy says if no copy is at fault.
const NO_COPY: usize = usize::MAX;

/// Why a batch is refused: the code, and which copy is at fault.
struct Refused {
    code: CUresult,
    index: usize,
}

impl From<CUresult> for Refused {
    fn from(code: CUresult) -> Self {
        Self {
            code,
            index: NO_COPY,
        }
    }
}

/// Whether the source must have been read when the call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// In stream order, or at any time: both are served by the former.
    Later,
    DuringCall,
}

impl Source {
    /// # Errors
    /// There is no such order, or no such flag.
    fn new(order: Order, flags: u32) -> Reply<Self> {
        if flags & !CUmemcpyFlags::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE.0 != 0 {
            return Err(INVALID);
        }
        match order {
            Order::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM | Order::CU_MEMCPY_SRC_ACCESS_ORDER_ANY => {
                Ok(Self::Later)
            }
            Order::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL => Ok(Self::DuringCall),
            _ => Err(INVALID),
        }
    }
}

/// The stream of a batch: not the legacy one, nor one that is captured, which is so afterwards too. Unlike
/// other copies, R580 refuses a batch where no context is current.
fn target(call: &Call<'_>, stream: CUstream) -> Reply<OwnedStream> {
    if call.any_context().err() == Some(CUresult::CUDA_ERROR_INVALID_CONTEXT) {
        call.machine
            .messages
            .add("a batch of copies with no context current".into());
        return Err(INVALID);
    }
    let (context, stream) = call.stream(stream)?;
    if stream.kind == Kind::Legacy {
        let text = "a batch of copies in the legacy default stream, which takes none";
        call.machine.messages.add(text.into());
        return Err(INVALID);
    }
    context.check_implied(&stream)?;
    match stream.capture.is_taken() {
        true => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
        false => Ok((context, stream)),
    }
}

/// Submits the copies, all or none of them. Where a seed draws the order of work, it draws theirs.
fn submit(
    call: &Call<'_>,
    target: &OwnedStream,
    plans: Vec<(Option<Plan>, Source)>,
) -> Result<(), Refused> {
    let mut copies: Vec<(Prepared, Source)> = Vec::with_capacity(plans.len());
    for (index, (plan, source)) in plans.into_iter().enumerate() {
        let Some(plan) = plan else { continue };
        let prepared = plan.prepare(call, &target.0);
        let prepared = prepared.map_err(|code| Refused { code, index })?;
        copies.push((prepared, source));
    }
    if let Some(schedule) = &call.machine.schedule {
        schedule.shuffle(&mut copies);
    }
    for (prepared, source) in copies {
        match source {
            Source::Later => prepared.submit(target.clone())?,
            Source::DuringCall => prepared.submit_and_read(target.clone())?,
        }
    }
    Ok(())
}

/// Which attributes each copy has: `starts` says where those of each entry begin.
fn attributes(
    count: usize,
    attributes: In<CUmemcpyAttributes>,
    starts: In<usize>,
    given: usize,
) -> Reply<Vec<Source>> {
    if count == 0 || given == 0 || given > count {
        return Err(INVALID);
    }
    let mut sources = Vec::with_capacity(count);
    for entry in 0..given {
        let first = starts.at(entry)?;
        let end = match entry + 1 < given {
            true => starts.at(entry + 1)?,
            false => count,
        };
        if first != sources.len() || end <= first || end > count {
            return Err(INVALID);
        }
        let told = attributes.at(entry)?;
        sources.resize(end, Source::new(told.srcAccessOrder, told.flags)?);
    }
    Ok(sources)
}

/// The arrays of a batch.
struct Batch {
    to: In<CUdeviceptr>,
    from: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<CUmemcpyAttributes>,
    starts: In<usize>,
    given: usize,
}

fn copy(call: &Call<'_>, batch: &Batch, stream: CUstream) -> Result<(), Refused> {
    let target = target(call, stream)?;
    let sources = attributes(batch.count, batch.attributes, batch.starts, batch.given)?;
    let plan = |(index, source)| {
        let end = |ends: In<CUdeviceptr>| ends.at(index).map(Endpoint::unified);
        let size = batch.sizes.at(index)?;
        if size == 0 {
            return Err(Refused {
                code: INVALID,
                index,
            });
        }
        let plan = Plan::flat(end(batch.to)?, end(batch.from)?, size);
        Ok((plan, source))
    };
    let plans = sources.into_iter().enumerate().map(plan);
    let plans = plans.collect::<Result<_, _>>()?;
    submit(call, &target, plans)
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn copy_v1(
    call: &Call<'_>,
    to: In<CUdeviceptr>,
    from: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<CUmemcpyAttributes>,
    starts: In<usize>,
    given: usize,
    failed: Out<usize>,
    stream: CUstream,
) -> Reply {
    let batch = Batch {
        to,
        from,
        sizes,
        count,
        attributes,
        starts,
        given,
    };
    tell(copy(call, &batch, stream), failed)
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn copy_v2(
    call: &Call<'_>,
    to: In<CUdeviceptr>,
    from: In<CUdeviceptr>,
    sizes: In<usize>,
    count: usize,
    attributes: In<CUmemcpyAttributes>,
    starts: In<usize>,
    given: usize,
    stream: CUstream,
) -> Reply {
    let none = Out::none();
    copy_v1(
        call, to, from, sizes, count, attributes, starts, given, none, stream,
    )
}

/// Tells which copy is at fault, if the function has a place for it.
fn tell(result: Result<(), Refused>, failed: Out<usize>) -> Reply {
    result.map_err(|refused| {
        failed.set_if(refused.index);
        refused.code
    })
}

/// One end of a 3-D copy. Elements of memory that is no array are bytes.
fn corner(operand: &CUmemcpy3DOperand) -> Reply<Corner> {
    use CUmemcpy3DOperandType as T;
    let corner = |kind, device, pitch, height| Corner {
        kind,
        host: std::ptr::null_mut(),
        device,
        at: [0; 3],
        pitch,
        height,
    };
    match operand.type_ {
        T::CU_MEMCPY_OPERAND_TYPE_POINTER => {
            // SAFETY: the type says which member of the union is set; it is made of numbers.
            let place = unsafe { operand.op.ptr };
            let kind = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
            Ok(corner(kind, place.ptr, place.rowLength, place.layerHeight))
        }
        T::CU_MEMCPY_OPERAND_TYPE_ARRAY => Ok(corner(CUmemorytype::CU_MEMORYTYPE_ARRAY, 0, 0, 0)),
        _ => Err(INVALID),
    }
}

fn plan_3d(call: &Call<'_>, operation: &CUDA_MEMCPY3D_BATCH_OP) -> Reply<(Option<Plan>, Source)> {
    let source = Source::new(operation.srcAccessOrder, operation.flags)?;
    let extent = &operation.extent;
    let region = Region {
        to: corner(&operation.dst)?,
        from: corner(&operation.src)?,
        extent: [extent.width, extent.height, extent.depth],
    };
    match region.plan(call, "cuMemcpy3DBatchAsync")? {
        // No side of a box is 0.
        None => Err(INVALID),
        plan => Ok((plan, source)),
    }
}

fn copy_3d(
    call: &Call<'_>,
    count: usize,
    operations: In<CUDA_MEMCPY3D_BATCH_OP>,
    flags: c_ulonglong,
    stream: CUstream,
) -> Result<(), Refused> {
    let target = target(call, stream)?;
    if count == 0 || flags != 0 {
        return Err(INVALID.into());
    }
    let plan = |index| {
        let plan = plan_3d(call, &operations.at(index)?);
        plan.map_err(|code| Refused { code, index })
    };
    let plans = (0..count).map(plan).collect::<Result<_, Refused>>()?;
    submit(call, &target, plans)
}

fn copy_3d_v1(
    call: &Call<'_>,
    count: usize,
    operations: In<CUDA_MEMCPY3D_BATCH_OP>,
    failed: Out<usize>,
    flags: c_ulonglong,
    stream: CUstream,
) -> Reply {
    tell(copy_3d(call, count, operations, flags, stream), failed)
}

fn copy_3d_v2(
    call: &Call<'_>,
    count: usize,
    operations: In<CUDA_MEMCPY3D_BATCH_OP>,
    flags: c_ulonglong,
    stream: CUstream,
) -> Reply {
    copy_3d_v1(call, count, operations, Out::none(), flags, stream)
}

functions! {
    Initialized {
        cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz: (to: *mut CUdeviceptr,
            from: *mut CUdeviceptr, sizes: *mut usize, count: usize,
            attributes: *mut CUmemcpyAttributes, starts: *mut usize, given: usize,
            failed: *mut usize, stream: CUstream) = copy_v1;
        cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz: (to: *mut CUdeviceptr,
            from: *mut CUdeviceptr, sizes: *mut usize, count: usize,
            attributes: *mut CUmemcpyAttributes, starts: *mut usize, given: usize,
            stream: CUstream) = copy_v2;
        cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz: (count: usize,
            operations: *mut CUDA_MEMCPY3D_BATCH_OP, failed: *mut usize, flags: c_ulonglong,
            stream: CUstream) = copy_3d_v1;
        cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz: (count: usize,
            operations: *mut CUDA_MEMCPY3D_BATCH_OP, flags: c_ulonglong, stream: CUstream)
            = copy_3d_v2;
    }
}
