//! Values that a stream writes to memory, or waits for.

use std::ffi::c_uint;

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::permit;
use crate::device::api::functions;
use crate::device::calls::args::{In, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::graphs::{NodeKind, ValuesNode};
use crate::device::machine::OwnedStream;
use crate::device::memory::{Access, Rows};
use crate::device::operations::op::Op;
use crate::device::operations::value::{Compare, Step, Value, Width};

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MISSING: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;

/// A batch has fewer operations than this.
const MOST: c_uint = 256;

/// Device memory, mapped or page-locked, aligned to the value.
fn place(
    call: &Call<'_>,
    context: &Context,
    address: CUdeviceptr,
    width: Width,
    wanted: Access,
) -> Reply<Value> {
    let bytes = width.bytes();
    if address == 0 || !address.is_multiple_of(bytes) {
        return Err(BAD);
    }
    let rows = Rows::one(bytes);
    permit(call, context, address, rows, wanted)?;
    call.machine.space.check_rows(address, rows)?;
    Ok(Value { address, width })
}

/// Without the flag an H200 does not have either, which leaves out a barrier.
fn write_step(
    call: &Call<'_>,
    context: &Context,
    address: CUdeviceptr,
    width: Width,
    value: u64,
    flags: c_uint,
) -> Reply<Step> {
    if flags != CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_DEFAULT.0 {
        return Err(BAD);
    }
    let to = place(call, context, address, width, Access::Write)?;
    Ok(Step::Write { to, value })
}

fn wait_step(
    call: &Call<'_>,
    context: &Context,
    address: CUdeviceptr,
    width: Width,
    value: u64,
    flags: c_uint,
) -> Reply<Step> {
    use CUstreamWaitValue_flags as F;
    let flush = F::CU_STREAM_WAIT_VALUE_FLUSH.0;
    let compare = match F(flags & !flush) {
        F::CU_STREAM_WAIT_VALUE_GEQ => Compare::AtLeast,
        F::CU_STREAM_WAIT_VALUE_EQ => Compare::Equal,
        F::CU_STREAM_WAIT_VALUE_AND => Compare::And,
        F::CU_STREAM_WAIT_VALUE_NOR => Compare::Nor,
        _ => return Err(BAD),
    };
    if flags & flush != 0 {
        // `CAN_FLUSH_REMOTE_WRITES` is 0, as on an H200.
        return Err(MISSING);
    }
    let on = place(call, context, address, width, Access::Read)?;
    Ok(Step::Wait { on, value, compare })
}

type Make = fn(&Call<'_>, &Context, CUdeviceptr, Width, u64, c_uint) -> Reply<Step>;

fn one(
    call: &Call<'_>,
    (context, stream): OwnedStream,
    make: Make,
    (address, width, value): (CUdeviceptr, Width, u64),
    flags: c_uint,
) -> Reply {
    let step = make(call, &context, address, width, value, flags)?;
    context.submit(&stream, Op::Value(step))
}

fn write32(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> Reply {
    let target = call.stream(stream)?;
    let what = (address, Width::Word, u64::from(value));
    one(call, target, write_step, what, flags)
}

fn write64(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> Reply {
    let target = call.stream(stream)?;
    one(
        call,
        target,
        write_step,
        (address, Width::Double, value),
        flags,
    )
}

fn wait32(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    value: cuuint32_t,
    flags: c_uint,
) -> Reply {
    let target = call.stream(stream)?;
    let what = (address, Width::Word, u64::from(value));
    one(call, target, wait_step, what, flags)
}

fn wait64(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    value: cuuint64_t,
    flags: c_uint,
) -> Reply {
    let target = call.stream(stream)?;
    one(
        call,
        target,
        wait_step,
        (address, Width::Double, value),
        flags,
    )
}

/// All or nothing: a wrong operation is an error of the call, and none is queued.
fn batch(
    call: &Call<'_>,
    stream: CUstream,
    count: c_uint,
    operations: In<CUstreamBatchMemOpParams>,
    flags: c_uint,
) -> Reply {
    let (context, stream) = call.stream(stream)?;
    let node = node(call, &context, count, operations, flags)?;
    if stream.capture.is_taken() {
        return context.capture(&stream, NodeKind::Values(node));
    }
    let mut steps = node.steps.into_iter();
    steps.try_for_each(|step| context.submit(&stream, Op::Value(step)))
}

/// The operations of a batch, each of which was looked at.
pub(in crate::device::api) fn node(
    call: &Call<'_>,
    context: &Context,
    count: c_uint,
    operations: In<CUstreamBatchMemOpParams>,
    flags: c_uint,
) -> Reply<ValuesNode> {
    if flags != 0 || count >= MOST {
        return Err(BAD);
    }
    let (mut params, mut steps) = (Vec::new(), Vec::new());
    for index in 0..count as usize {
        let given = operations.at(index)?;
        steps.extend(step(call, context, &given)?);
        params.push(given);
    }
    Ok(ValuesNode {
        params,
        steps,
        context: context.handle,
    })
}

/// `None` for a barrier: whatever comes before in a stream is visible anyway.
fn step(
    call: &Call<'_>,
    context: &Context,
    parameters: &CUstreamBatchMemOpParams,
) -> Reply<Option<Step>> {
    use CUstreamBatchMemOpType as T;
    // SAFETY: every field of every form is a plain number, for which all bit patterns are
    // valid, and the array's elements have all their bytes.
    let (kind, wait, write) = unsafe {
        (
            parameters.operation,
            parameters.waitValue,
            parameters.writeValue,
        )
    };
    let (wanted, written) = (wait.__bindgen_anon_1, write.__bindgen_anon_1);
    // SAFETY: as above. The low half is the value of 32 bits.
    let (wanted32, wanted64) = unsafe { (u64::from(wanted.value), wanted.value64) };
    // SAFETY: as above.
    let (written32, written64) = unsafe { (u64::from(written.value), written.value64) };
    let (word, double) = (Width::Word, Width::Double);
    let step = match kind {
        T::CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
            wait_step(call, context, wait.address, word, wanted32, wait.flags)?
        }
        T::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
            wait_step(call, context, wait.address, double, wanted64, wait.flags)?
        }
        T::CU_STREAM_MEM_OP_WRITE_VALUE_32 => {
            write_step(call, context, write.address, word, written32, write.flags)?
        }
        T::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
            write_step(call, context, write.address, double, written64, write.flags)?
        }
        T::CU_STREAM_MEM_OP_BARRIER => return Ok(None),
        T::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES | T::CU_STREAM_MEM_OP_ATOMIC_REDUCTION => {
            return Err(MISSING);
        }
        _ => return Err(BAD),
    };
    Ok(Some(step))
}

functions! {
    Initialized {
        cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz: (stream: CUstream,
            address: CUdeviceptr, value: cuuint32_t, flags: c_uint) = write32;
        cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz: (stream: CUstream,
            address: CUdeviceptr, value: cuuint64_t, flags: c_uint) = write64;
        cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz: (stream: CUstream,
            address: CUdeviceptr, value: cuuint32_t, flags: c_uint) = wait32;
        cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz: (stream: CUstream,
            address: CUdeviceptr, value: cuuint64_t, flags: c_uint) = wait64;
        cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz: (stream: CUstream, count: c_uint,
            operations: *mut CUstreamBatchMemOpParams, flags: c_uint) = batch;
    }
}
