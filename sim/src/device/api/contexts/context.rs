//! Contexts and which one is current.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::current;

/// The API version that every context says it was made for.
const API_VERSION: c_uint = 3020;

/// A handle as the pointer that C sees.
pub(in crate::device::api) fn pointer<T>(handle: u64) -> *mut T {
    std::ptr::without_provenance_mut(handle as usize)
}

/// At most one way of waiting, and no unknown bits.
pub(in crate::device::api) fn check_flags(flags: c_uint) -> Reply {
    let known = CUctx_flags::CU_CTX_FLAGS_MASK.0;
    let scheduling = flags & CUctx_flags::CU_CTX_SCHED_MASK.0;
    if flags & !known != 0 || scheduling.count_ones() > 1 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

fn create(call: &Call<'_>, context: Out<CUcontext>, flags: c_uint, device: CUdevice) -> Reply {
    context.check()?;
    check_flags(flags)?;
    let device = call.machine.device(device)?;
    let handle = call.machine.new_handle();
    call.machine.create_context(handle, device, flags, false);
    current::push(call.machine, handle)?;
    context.set(pointer(handle))
}

fn create_v3(
    call: &Call<'_>,
    context: Out<CUcontext>,
    _: In<CUexecAffinityParam>,
    affinities: c_int,
    flags: c_uint,
    device: CUdevice,
) -> Reply {
    if affinities != 0 {
        return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    }
    create(call, context, flags, device)
}

fn create_v4(
    call: &Call<'_>,
    context: Out<CUcontext>,
    params: In<CUctxCreateParams>,
    flags: c_uint,
    device: CUdevice,
) -> Reply {
    if !params.is_null() {
        let params = params.get()?;
        if params.numExecAffinityParams != 0 {
            return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        }
        if !params.cigParams.is_null() {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
    }
    create(call, context, flags, device)
}

fn destroy(call: &Call<'_>, context: CUcontext) -> Reply {
    let handle = context.addr() as u64;
    // A green context has a call of its own.
    call.machine.green(handle)?;
    let context = call
        .machine
        .context(handle)
        .filter(|context| !context.primary);
    let context = context.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    call.machine.destroy_context(&context)?;
    // Other threads keep the handle on their stacks and learn that it is destroyed.
    if current::top(call.machine)? == Some(handle) {
        current::pop(call.machine)?;
    }
    Ok(())
}

fn check_context(call: &Call<'_>, handle: u64) -> Reply {
    if call.machine.is_context(handle) {
        return Ok(());
    }
    let green = call.machine.green(handle);
    if !matches!(green, Ok(Some(_))) {
        call.machine.strict.no_context(handle);
    }
    green?.map(drop).ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)
}

fn push(call: &Call<'_>, context: CUcontext) -> Reply {
    let handle = context.addr() as u64;
    check_context(call, handle)?;
    current::push(call.machine, handle)
}

fn pop(call: &Call<'_>, context: Out<CUcontext>) -> Reply {
    let handle = current::pop(call.machine)?.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    context.set_if(pointer(handle));
    Ok(())
}

fn set_current(call: &Call<'_>, context: CUcontext) -> Reply {
    let handle = context.addr() as u64;
    if handle == 0 {
        return current::replace(call.machine, None);
    }
    check_context(call, handle)?;
    current::replace(call.machine, Some(handle))
}

fn get_current(call: &Call<'_>, context: Out<CUcontext>) -> Reply {
    context.set(pointer(current::top(call.machine)?.unwrap_or(0)))
}

/// A context that has faulted is still of its device.
fn device(call: &Call<'_>, device: Out<CUdevice>) -> Reply {
    device.set(call.any_context()?.device.ordinal as CUdevice)
}

fn device_v2(call: &Call<'_>, device: Out<CUdevice>, context: CUcontext) -> Reply {
    let context = match context.addr() as u64 {
        0 => call.any_context()?,
        handle => call.machine.context_or_primary(handle)?,
    };
    device.set(context.device.ordinal as CUdevice)
}

fn flags(call: &Call<'_>, flags: Out<c_uint>) -> Reply {
    flags.set(call.context()?.flags())
}

fn set_flags(call: &Call<'_>, flags: c_uint) -> Reply {
    check_flags(flags)?;
    call.context()?.flags.store(flags, Ordering::Relaxed);
    Ok(())
}

fn id(call: &Call<'_>, context: CUcontext, id: Out<c_ulonglong>) -> Reply {
    let handle = context.addr() as u64;
    let context = call.context_or_current(handle)?;
    let green = call.green_or_current(handle)?;
    id.set(green.map_or(context.id, |green| green.id))
}

fn api_version(call: &Call<'_>, context: CUcontext, version: Out<c_uint>) -> Reply {
    call.context_or_current(context.addr() as u64)?;
    version.set(API_VERSION)
}

fn synchronize(call: &Call<'_>) -> Reply {
    let context = call.context()?;
    let captures = &call.machine.graphs.captures;
    captures.disturb_context(&context.health)?;
    context.synchronize(call.green()?.as_deref())
}

fn synchronize_v2(call: &Call<'_>, context: CUcontext) -> Reply {
    let handle = context.addr() as u64;
    let context = call.context_or_current(handle)?;
    let captures = &call.machine.graphs.captures;
    captures.disturb_context(&context.health)?;
    context.synchronize(call.green_or_current(handle)?.as_deref())
}

/// The scheduler of an ordered machine heeds priorities; streams' threads do not.
fn priority_range(call: &Call<'_>, least: Out<c_int>, greatest: Out<c_int>) -> Reply {
    call.context()?;
    least.set_if(LEAST_PRIORITY);
    greatest.set_if(GREATEST_PRIORITY);
    Ok(())
}

pub(in crate::device::api) const LEAST_PRIORITY: c_int = 0;
pub(in crate::device::api) const GREATEST_PRIORITY: c_int = -5;

fn limit(call: &Call<'_>, value: Out<usize>, limit: CUlimit) -> Reply {
    value.set(call.context()?.limit(limit)?)
}

fn set_limit(call: &Call<'_>, limit: CUlimit, value: usize) -> Reply {
    call.context()?.set_limit(limit, value)
}

fn cache_config(call: &Call<'_>, config: Out<CUfunc_cache>) -> Reply {
    config.set(CUfunc_cache(
        call.context()?.cache_config.load(Ordering::Relaxed),
    ))
}

fn set_cache_config(call: &Call<'_>, config: CUfunc_cache) -> Reply {
    crate::device::api::kernels::function::check_cache(config)?;
    call.context()?
        .cache_config
        .store(config.0, Ordering::Relaxed);
    Ok(())
}

/// Banks of shared memory have had one width since compute capability 5.0.
fn bank_width(call: &Call<'_>, config: Out<CUsharedconfig>) -> Reply {
    call.context()?;
    config.set(CUsharedconfig::CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE)
}

fn set_bank_width(call: &Call<'_>, config: CUsharedconfig) -> Reply {
    call.context()?;
    crate::device::api::kernels::function::check_bank_width(config)
}

/// There is no cache whose lines could persist.
fn reset_persisting(call: &Call<'_>) -> Reply {
    call.context().map(drop)
}

/// A context may use all multiprocessors, unless it is green: then this call does not apply.
fn affinity(
    call: &Call<'_>,
    affinity: Out<CUexecAffinityParam>,
    kind: CUexecAffinityType,
) -> Reply {
    let context = call.context()?;
    if call.green()?.is_some() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    if kind != CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT {
        return Err(CUresult::CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    }
    affinity.set(CUexecAffinityParam {
        type_: kind,
        param: CUexecAffinityParam_st__bindgen_ty_1 {
            smCount: CUexecAffinitySmCount {
                val: context.device.config.multiprocessors,
            },
        },
    })
}

functions! {
    Initialized {
        cuCtxGetSharedMemConfig: (config: *mut CUsharedconfig) = bank_width;
        cuCtxSetSharedMemConfig: (config: CUsharedconfig) = set_bank_width;
        cuCtxResetPersistingL2Cache: () = reset_persisting;
        cuCtxGetExecAffinity: (affinity: *mut CUexecAffinityParam, kind: CUexecAffinityType)
            = affinity;
        // The first forms differ from the next in nothing that 64-bit programs see.
        cuCtxCreate: (context: *mut CUcontext, flags: c_uint, device: CUdevice) = create;
        cuCtxDestroy: (context: CUcontext) = destroy;
        cuCtxPushCurrent: (context: CUcontext) = push;
        cuCtxPopCurrent: (context: *mut CUcontext) = pop;
        cuCtxCreate_v2: (context: *mut CUcontext, flags: c_uint, device: CUdevice) = create;
        cuCtxCreate_v3: (context: *mut CUcontext, params: *mut CUexecAffinityParam, count: c_int,
            flags: c_uint, device: CUdevice) = create_v3;
        cuCtxCreate_v4: (context: *mut CUcontext, params: *mut CUctxCreateParams, flags: c_uint,
            device: CUdevice) = create_v4;
        cuCtxDestroy_v2: (context: CUcontext) = destroy;
        cuCtxPushCurrent_v2: (context: CUcontext) = push;
        cuCtxPopCurrent_v2: (context: *mut CUcontext) = pop;
        cuCtxSetCurrent: (context: CUcontext) = set_current;
        cuCtxGetCurrent: (context: *mut CUcontext) = get_current;
        cuCtxGetDevice: (device: *mut CUdevice) = device;
        cuCtxGetDevice_v2: (device: *mut CUdevice, context: CUcontext) = device_v2;
        cuCtxGetFlags: (flags: *mut c_uint) = flags;
        cuCtxSetFlags: (flags: c_uint) = set_flags;
        cuCtxGetId: (context: CUcontext, id: *mut c_ulonglong) = id;
        cuCtxGetApiVersion: (context: CUcontext, version: *mut c_uint) = api_version;
        cuCtxSynchronize: () = synchronize;
        cuCtxSynchronize_v2: (context: CUcontext) = synchronize_v2;
        cuCtxGetStreamPriorityRange: (least: *mut c_int, greatest: *mut c_int) = priority_range;
        cuCtxGetLimit: (value: *mut usize, limit: CUlimit) = limit;
        cuCtxSetLimit: (limit: CUlimit, value: usize) = set_limit;
        cuCtxGetCacheConfig: (config: *mut CUfunc_cache) = cache_config;
        cuCtxSetCacheConfig: (config: CUfunc_cache) = set_cache_config;
    }
}
