//! What a function says about itself, and what can be set.

use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use super::super::args::{Out, Reply};
use super::super::call::Call;
use super::super::module::{Function, SHARED_MOST};
use super::context::pointer;
use super::functions;

pub(super) fn get(call: &Call<'_>, function: CUfunction) -> Reply<Arc<Function>> {
    call.machine.modules.function(function.addr() as u64)
}

fn signed(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> Reply {
    use CUfunction_attribute as A;
    let context = call.context()?;
    let function = get(call, function)?;
    let (major, minor) = context.device.config.capability;
    value.set(match attribute {
        A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => signed(function.kernel.max_threads),
        A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => signed(function.kernel.static_shared),
        A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => signed(function.kernel.local_bytes),
        // PTX has as many registers as it likes; a GPU's compiler would stop at 255.
        A::CU_FUNC_ATTRIBUTE_NUM_REGS => signed(function.kernel.regs.min(255)),
        A::CU_FUNC_ATTRIBUTE_PTX_VERSION => signed(function.target),
        A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => signed(major * 10 + minor),
        A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            function.max_dynamic_shared.load(Ordering::Relaxed)
        }
        A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            function.carveout.load(Ordering::Relaxed)
        }
        // Constants of its own, caching and clusters: there are none.
        other if other.0 < A::CU_FUNC_ATTRIBUTE_MAX.0 => 0,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    })
}

fn set_attribute(
    call: &Call<'_>,
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: c_int,
) -> Reply {
    use CUfunction_attribute as A;
    call.context()?;
    let function = get(call, function)?;
    let (slot, range) = match attribute {
        A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let most = SHARED_MOST.saturating_sub(function.kernel.static_shared);
            (&function.max_dynamic_shared, 0..=signed(most))
        }
        A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => (&function.carveout, -1..=100),
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    };
    if !range.contains(&value) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    slot.store(value, Ordering::Relaxed);
    Ok(())
}

fn param_info(
    call: &Call<'_>,
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Reply {
    offset.check()?;
    let function = get(call, function)?;
    let param = function
        .kernel
        .params
        .get(index)
        .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    offset.set(param.offset as usize)?;
    size.set_if(param.size as usize);
    Ok(())
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
    if config.0 > CUfunc_cache::CU_FUNC_CACHE_PREFER_EQUAL.0 {
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
    }
}
