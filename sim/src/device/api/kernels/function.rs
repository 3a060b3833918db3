//! What a function says about itself, and what can be set.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::modules::module::Function;
use crate::exec::Kernel;

pub(in crate::device::api) fn get(call: &Call<'_>, function: CUfunction) -> Reply<Arc<Function>> {
    call.machine.modules.function(function.addr() as u64)
}

/// A function for a launch or a question about one: `CUkernel`s are taken too, for the
/// context.
pub(super) fn in_context(
    call: &Call<'_>,
    context: &Context,
    function: CUfunction,
) -> Reply<Arc<Function>> {
    let handle = function.addr() as u64;
    if let Ok(function) = call.machine.modules.function(handle) {
        return Ok(function);
    }
    let kernel = call.machine.libraries.kernel(handle)?;
    let library = call.machine.libraries.library(kernel.library)?;
    let module = library.module(call.machine, context)?;
    module.function(call.machine, kernel.name())
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Reply {
    call.context()?;
    value.set(get(call, function)?.attribute(attribute)?)
}

fn set_attribute(
    call: &Call<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Reply {
    call.context()?;
    let function = get(call, function)?;
    function.settings.set(attribute, value, &function.kernel)
}

fn param_info(
    call: &Call<'_>,
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Reply {
    parameter(&get(call, function)?.kernel, index, offset, size)
}

/// Where a parameter lies; `size` may be null.
pub(in crate::device::api) fn parameter(
    kernel: &Kernel,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Reply {
    offset.check()?;
    let param = kernel.params.get(index);
    let param = param.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    size.set_if(param.size as usize);
    offset.set(param.offset as usize)
}

fn param_count(call: &Call<'_>, function: CUfunction, count: Out<usize>) -> Reply {
    count.set(get(call, function)?.kernel.params.len())
}

/// The text lives as long as the function's module.
fn name(call: &Call<'_>, name: Out<*const c_char>, function: CUfunction) -> Reply {
    name.set(get(call, function)?.name.as_ptr())
}

fn module(call: &Call<'_>, module: Out<CUmodule>, function: CUfunction) -> Reply {
    module.set(pointer(get(call, function)?.module))
}

fn load(call: &Call<'_>, function: CUfunction) -> Reply {
    call.context()?;
    get(call, function).map(drop)
}

fn is_loaded(call: &Call<'_>, state: Out<CUfunctionLoadingState>, function: CUfunction) -> Reply {
    get(call, function)?;
    state.set(CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
}

/// A hint, and there is no cache.
fn set_cache_config(call: &Call<'_>, function: CUfunction, config: CUfunc_cache) -> Reply {
    call.context()?;
    get(call, function)?;
    check_cache(config)
}

pub(in crate::device::api) fn check_cache(config: CUfunc_cache) -> Reply {
    if config.0 > CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL.0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

/// Banks of shared memory have had one width since compute capability 5.0.
fn set_bank_width(call: &Call<'_>, function: CUfunction, config: CUsharedconfig) -> Reply {
    call.context()?;
    get(call, function)?;
    check_bank_width(config)
}

pub(in crate::device::api) fn check_bank_width(config: CUsharedconfig) -> Reply {
    if config.0 > CUsharedconfig::CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE.0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

functions! {
    Initialized {
        cuFuncGetAttribute: (value: *mut c_int, attribute: CUfunction_attribute,
            function: CUfunction) = attribute;
        cuFuncSetAttribute: (function: CUfunction, attribute: CUfunction_attribute, value: c_int)
            = set_attribute;
        cuFuncGetParamInfo: (function: CUfunction, index: usize, offset: *mut usize,
            size: *mut usize) = param_info;
        cuFuncGetParamCount: (function: CUfunction, count: *mut usize) = param_count;
        cuFuncGetName: (name: *mut *const c_char, function: CUfunction) = name;
        cuFuncGetModule: (module: *mut CUmodule, function: CUfunction) = module;
        cuFuncLoad: (function: CUfunction) = load;
        cuFuncIsLoaded: (state: *mut CUfunctionLoadingState, function: CUfunction) = is_loaded;
        cuFuncSetCacheConfig: (function: CUfunction, config: CUfunc_cache) = set_cache_config;
        cuFuncSetSharedMemConfig: (function: CUfunction, config: CUsharedconfig) = set_bank_width;
    }
}
