//! Kernels of libraries: functions that belong to no context.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::kernels::function::{check_cache, parameter};
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::modules::library::{Library, LibraryKernel};
use crate::exec::Kernel;

fn get(call: &Call<'_>, kernel: CUkernel) -> Reply<(Arc<LibraryKernel>, Arc<Library>)> {
    let kernel = call.machine.libraries.kernel(kernel.addr() as u64)?;
    let library = call.machine.libraries.library(kernel.library)?;
    Ok((kernel, library))
}

/// The code, as the machine's first kind of device has it.
fn code(call: &Call<'_>, kernel: CUkernel) -> Reply<Arc<Kernel>> {
    let (kernel, library) = get(call, kernel)?;
    library.first_code(kernel.name())
}

/// The kernel's function in the current context.
fn function(call: &Call<'_>, place: Out<CUfunction>, kernel: CUkernel) -> Reply {
    place.check()?;
    let context = call.context()?;
    let (kernel, library) = get(call, kernel)?;
    let module = library.module(call.machine, &context)?;
    let function = module.function(call.machine, kernel.name())?;
    place.set(pointer(function.handle))
}

fn library(call: &Call<'_>, place: Out<CUlibrary>, kernel: CUkernel) -> Reply {
    place.set(pointer(get(call, kernel)?.0.library))
}

/// The text lives as long as the library.
fn name(call: &Call<'_>, name: Out<*const c_char>, kernel: CUkernel) -> Reply {
    name.set(get(call, kernel)?.0.name.as_ptr())
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUfunction_attribute,
    kernel: CUkernel,
    device: CUdevice,
) -> Reply {
    value.check()?;
    let device = call.machine.device(device)?;
    let (kernel, library) = get(call, kernel)?;
    let device = (device.ordinal, device.config.capability);
    value.set(library.attribute(&kernel, device, attribute)?)
}

/// Holds for the kernel's functions in all contexts of the device, but for attributes that
/// were set of the function itself.
fn set_attribute(
    call: &Call<'_>,
    attribute: CUfunction_attribute,
    value: c_int,
    kernel: CUkernel,
    device: CUdevice,
) -> Reply {
    let device = call.machine.device(device)?;
    let (kernel, library) = get(call, kernel)?;
    let code = library.code(device.config.capability, kernel.name())?;
    let settings = kernel.settings(device.ordinal);
    let settings = settings.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    settings.set(attribute, value, &code)
}

/// A hint, and there is no cache.
fn set_cache_config(
    call: &Call<'_>,
    kernel: CUkernel,
    config: CUfunc_cache,
    device: CUdevice,
) -> Reply {
    call.machine.device(device)?;
    get(call, kernel)?;
    check_cache(config)
}

fn param_info(
    call: &Call<'_>,
    kernel: CUkernel,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Reply {
    parameter(&*code(call, kernel)?, index, offset, size)
}

fn param_count(call: &Call<'_>, kernel: CUkernel, count: Out<usize>) -> Reply {
    count.set(code(call, kernel)?.params.len())
}

functions! {
    Initialized {
        cuKernelGetFunction: (function: *mut CUfunction, kernel: CUkernel) = function;
        cuKernelGetLibrary: (library: *mut CUlibrary, kernel: CUkernel) = library;
        cuKernelGetName: (name: *mut *const c_char, kernel: CUkernel) = name;
        cuKernelGetAttribute: (value: *mut c_int, attribute: CUfunction_attribute,
            kernel: CUkernel, device: CUdevice) = attribute;
        cuKernelSetAttribute: (attribute: CUfunction_attribute, value: c_int, kernel: CUkernel,
            device: CUdevice) = set_attribute;
        cuKernelSetCacheConfig: (kernel: CUkernel, config: CUfunc_cache, device: CUdevice)
            = set_cache_config;
        cuKernelGetParamInfo: (kernel: CUkernel, index: usize, offset: *mut usize,
            size: *mut usize) = param_info;
        cuKernelGetParamCount: (kernel: CUkernel, count: *mut usize) = param_count;
    }
}
