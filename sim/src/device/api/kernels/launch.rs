//! Launches of kernels.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::kernels::shape::{Shape, apply, check_shape, not_supported};
use crate::device::calls::args::{In, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::machine::OwnedStream;
use crate::device::modules::module::Function;
use crate::device::operations::launch::{Launch, gather};
use crate::device::operations::op::Op;
use crate::exec::LaunchConfig;

/// The buffer that the `extra` list names: pairs of a word and a pointer, ended by 0.
fn packed(function: &Function, extra: Slots<*mut c_void>) -> Reply<Vec<u8>> {
    let (mut buffer, mut size) = (None, None);
    let mut index = 0;
    loop {
        let word = extra.at(index)?.addr();
        let value = || extra.at(index + 1);
        match u32::try_from(word).unwrap_or(u32::MAX) {
            CU_LAUNCH_PARAM_END_AS_INT => break,
            CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT => buffer = Some(value()?),
            CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT => {
                size = Some(In::of(value()?.cast::<usize>()).get()?);
            }
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
        index += 2;
    }
    let needed = function.kernel.param_bytes as usize;
    let (Some(buffer), Some(size)) = (buffer.filter(|buffer| !buffer.is_null()), size) else {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    };
    if size < needed {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller says that the buffer has `size` bytes.
    Ok(unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), needed) }.to_vec())
}

/// A launch that was checked, for a stream of this context or a graph's node.
fn prepare(
    call: &Call<'_>,
    context: &Context,
    function: Arc<Function>,
    places: Option<Arc<[u32]>>,
    shape: &Shape,
    (pointers, extra): (Slots<*mut c_void>, Slots<*mut c_void>),
) -> Reply<Launch> {
    if function.context != context.handle {
        let what = "the function's module is of another context than the stream";
        call.machine.strict.foreign(what);
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let refused = |code| {
        let kernel = &function.kernel.name;
        call.machine
            .strict
            .refused(kernel, "its shape or its arguments are invalid");
        code
    };
    let multiprocessors = match &places {
        Some(places) => places.len() as u64,
        None => u64::from(context.device.config.multiprocessors),
    };
    let resident = check_shape(multiprocessors, &function, shape).map_err(refused)?;
    let params = match (pointers.is_null(), extra.is_null()) {
        (false, false) => return Err(refused(CUresult::CUDA_ERROR_INVALID_VALUE)),
        (true, false) => packed(&function, extra).map_err(refused)?,
        // SAFETY: the caller gave a pointer to each parameter's value.
        _ => unsafe { gather(&function, pointers.start().cast::<*mut u8>()) }.map_err(refused)?,
    };
    let heap = match function.kernel.uses_heap {
        true => Some(context.heap()?),
        false => None,
    };
    let launch = Launch {
        heap,
        function,
        config: shape.config,
        params,
        cooperative: shape.cooperative,
        priority: shape.priority,
        places,
        resident,
    };
    launch.check().map_err(|(code, text)| {
        call.machine
            .strict
            .refused(&launch.function.kernel.name, &text);
        call.machine.messages.add(text);
        code
    })?;
    Ok(launch)
}

/// The launch that a graph's node describes. Without a context it is in that of the function, and a
/// `CUkernel`'s in the current one.
pub(in crate::device::api) fn node_launch(
    call: &Call<'_>,
    params: &CUDA_KERNEL_NODE_PARAMS,
) -> Reply<Launch> {
    let context = match (params.ctx.addr() as u64, params.func.is_null()) {
        (0, false) => match super::function::get(call, params.func) {
            Ok(function) => call.context_or_current(function.context)?,
            Err(_) => call.context()?,
        },
        (handle, _) => call.context_or_current(handle)?,
    };
    let function = match params.func.is_null() {
        true => params.kern.cast(),
        false => params.func,
    };
    let function = super::function::in_context(call, &context, function)?;
    let shape = Shape {
        config: LaunchConfig {
            grid: [params.gridDimX, params.gridDimY, params.gridDimZ],
            block: [params.blockDimX, params.blockDimY, params.blockDimZ],
            dynamic_shared: params.sharedMemBytes,
        },
        stream: std::ptr::null_mut(),
        cooperative: false,
        priority: None,
        after: Vec::new(),
    };
    let given = (Slots::of(params.kernelParams), Slots::of(params.extra));
    prepare(call, &context, function, None, &shape, given)
}

/// A launch that fails ends the use of its stream's capture.
fn submit(
    call: &Call<'_>,
    function: CUfunction,
    shape: &Shape,
    pointers: Slots<*mut c_void>,
    extra: Slots<*mut c_void>,
) -> Reply {
    let target = call.stream(shape.stream)?;
    let given = (pointers, extra);
    submit_to(call, function, shape, given, &target).inspect_err(|_| {
        target.1.capture.refuse();
    })
}

fn submit_to(
    call: &Call<'_>,
    function: CUfunction,
    shape: &Shape,
    given: (Slots<*mut c_void>, Slots<*mut c_void>),
    (context, stream): &OwnedStream,
) -> Reply {
    let function = super::function::in_context(call, context, function)?;
    // Before anything is queued: a call that fails has launched nothing.
    for event in &shape.after {
        crate::device::api::streams::event::of_context(call, *event, context)?;
    }
    let places = stream.part.as_ref().map(|part| Arc::clone(&part.numbers));
    let launch = prepare(call, context, function, places, shape, given)?;
    let launch = Op::Launch(Box::new(launch));
    match call.machine.launch_blocking && !stream.capture.is_taken() {
        true => context.submit_and_wait(stream, launch)?,
        false => context.submit(stream, launch)?,
    }
    // The events were looked at with the attributes.
    shape.after.iter().try_for_each(|event| {
        crate::device::api::streams::event::record(call, *event, shape.stream)
    })
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn kernel(
    call: &Call<'_>,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    stream: CUstream,
    pointers: Slots<*mut c_void>,
    extra: Slots<*mut c_void>,
) -> Reply {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let config = LaunchConfig {
        grid,
        block,
        dynamic_shared,
    };
    submit(
        call,
        function,
        &Shape {
            config,
            stream,
            cooperative: false,
            priority: None,
            after: Vec::new(),
        },
        pointers,
        extra,
    )
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn cooperative_kernel(
    call: &Call<'_>,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_shared: c_uint,
    stream: CUstream,
    pointers: Slots<*mut c_void>,
) -> Reply {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let config = LaunchConfig {
        grid,
        block,
        dynamic_shared,
    };
    let shape = Shape {
        config,
        stream,
        cooperative: true,
        priority: None,
        after: Vec::new(),
    };
    submit(call, function, &shape, pointers, Slots::none())
}

fn kernel_with_config(
    call: &Call<'_>,
    config: In<CUlaunchConfig>,
    function: CUfunction,
    pointers: Slots<*mut c_void>,
    extra: Slots<*mut c_void>,
) -> Reply {
    let given = config.get()?;
    let config = LaunchConfig {
        grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
        block: [given.blockDimX, given.blockDimY, given.blockDimZ],
        dynamic_shared: given.sharedMemBytes,
    };
    let mut shape = Shape {
        config,
        stream: given.hStream,
        cooperative: false,
        priority: None,
        after: Vec::new(),
    };
    let attributes = In::of(given.attrs);
    for index in 0..given.numAttrs as usize {
        apply(call, &mut shape, &attributes.at(index)?)?;
    }
    submit(call, function, &shape, pointers, extra)
}

/// A cooperative launch on several devices, whose blocks could wait for those of the
/// other devices. On one device it is a cooperative launch.
fn cooperative_multi(
    call: &Call<'_>,
    launches: In<CUDA_LAUNCH_PARAMS>,
    count: c_uint,
    flags: c_uint,
) -> Reply {
    let known = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC
        | CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;
    if count == 0 || flags & !known != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let launch = launches.get()?;
    // The default streams belong to no device.
    if launch.hStream.addr() < 3 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if count > 1 {
        return not_supported(call, "a cooperative kernel on several devices");
    }
    let config = LaunchConfig {
        grid: [launch.gridDimX, launch.gridDimY, launch.gridDimZ],
        block: [launch.blockDimX, launch.blockDimY, launch.blockDimZ],
        dynamic_shared: launch.sharedMemBytes,
    };
    let shape = Shape {
        config,
        stream: launch.hStream,
        cooperative: true,
        priority: None,
        after: Vec::new(),
    };
    let pointers = Slots::of(launch.kernelParams);
    submit(call, launch.function, &shape, pointers, Slots::none())
}

functions! {
    Initialized {
        cuLaunchKernel, cuLaunchKernel_ptsz: (function: CUfunction,
            grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
            block_x: c_uint, block_y: c_uint, block_z: c_uint,
            dynamic_shared: c_uint, stream: CUstream,
            pointers: *mut *mut c_void, extra: *mut *mut c_void) = kernel;
        cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz: (function: CUfunction,
            grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
            block_x: c_uint, block_y: c_uint, block_z: c_uint,
            dynamic_shared: c_uint, stream: CUstream,
            pointers: *mut *mut c_void) = cooperative_kernel;
        cuLaunchCooperativeKernelMultiDevice: (launches: *mut CUDA_LAUNCH_PARAMS, count: c_uint,
            flags: c_uint) = cooperative_multi;
        cuLaunchKernelEx, cuLaunchKernelEx_ptsz: (config: *const CUlaunchConfig,
            function: CUfunction, pointers: *mut *mut c_void, extra: *mut *mut c_void)
            = kernel_with_config;
    }
}
