//! Modules: loading PTX, and finding what is in it.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;
use std::time::Instant;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::modules::jit::Jit;
use crate::device::calls::args::{In, Out, Reply, Slots, Text};
use crate::device::calls::call::Call;
use crate::device::memory::Space;
use crate::device::modules::image::{ImageError, image_at, image_in};
use crate::device::modules::module::{self, Module};

fn load(call: &Call<'_>, place: Out<CUmodule>, image: *const c_void) -> Reply {
    place.check()?;
    finish(call, place, load_image(call, image))
}

/// Loads an image and says what happened.
fn load_image(call: &Call<'_>, image: *const c_void) -> Result<Arc<Module>, ImageError> {
    let context = call.context().map_err(|code| (code, String::new()))?;
    if Space::is_device_address(image.addr() as u64) {
        return Err((
            CUresult::CUDA_ERROR_INVALID_VALUE,
            "the image is in device memory".into(),
        ));
    }
    // SAFETY: the caller gives an image that `cuModuleLoadData` takes.
    let image = unsafe { image_at(image.cast()) }?;
    let text = image.ptx(context.device.config.capability)?;
    module::load(call.machine, &context, &text, None)
}

fn finish(call: &Call<'_>, place: Out<CUmodule>, result: Result<Arc<Module>, ImageError>) -> Reply {
    match result {
        Ok(module) => place.set(pointer(module.handle)),
        Err((code, text)) => {
            if !text.is_empty() {
                call.machine.messages.add(text);
            }
            Err(code)
        }
    }
}

fn load_with_options(
    call: &Call<'_>,
    place: Out<CUmodule>,
    image: *const c_void,
    count: c_uint,
    options: In<CUjit_option>,
    values: Slots<*mut c_void>,
) -> Reply {
    place.check()?;
    let mut jit = Jit::read(count, options, values)?;
    let started = Instant::now();
    let result = load_image(call, image);
    jit.spent(started.elapsed());
    match &result {
        Ok(module) => jit.note(&module.remarks().join("\n")),
        Err((_, text)) => jit.complain(text),
    }
    jit.report()?;
    finish(call, place, result)
}

fn load_file(call: &Call<'_>, place: Out<CUmodule>, path: Text) -> Reply {
    place.check()?;
    let image = std::fs::read(path.path()?).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    let context = call.context()?;
    let capability = context.device.config.capability;
    let loaded = image_in(&image).and_then(|image| {
        let text = image.ptx(capability)?;
        module::load(call.machine, &context, &text, None)
    });
    finish(call, place, loaded)
}

/// Waits for the context's work, which may still use the module.
fn unload(call: &Call<'_>, module: CUmodule) -> Reply {
    let current = call.context()?;
    let handle = module.addr() as u64;
    let module = call.machine.modules.module(handle)?;
    if module.is_of_library() {
        return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
    }
    let context = call.machine.context(module.context);
    let context = context.ok_or(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
    call.machine.strict.unloads_now(handle);
    context.wait_idle();
    current.health.check()?;
    // Of two threads that unload it, one gets it.
    let module = call.machine.modules.remove(handle);
    module
        .ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?
        .release(&context);
    Ok(())
}

fn function(call: &Call<'_>, place: Out<CUfunction>, module: CUmodule, name: Text) -> Reply {
    place.check()?;
    call.context()?;
    let module = call.machine.modules.module(module.addr() as u64)?;
    let name = name.bytes()?;
    let name = std::str::from_utf8(&name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?;
    place.set(pointer(module.function(call.machine, name)?.handle))
}

fn global(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: Out<usize>,
    module: CUmodule,
    name: Text,
) -> Reply {
    call.context()?;
    let module = call.machine.modules.module(module.addr() as u64)?;
    variable(&module, place, len, name)
}

/// Address and size of a module's variable; the caller may want one of the two.
pub(in crate::device::api) fn variable(
    module: &Module,
    place: Out<CUdeviceptr>,
    len: Out<usize>,
    name: Text,
) -> Reply {
    if place.is_null() && len.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let name = name.bytes()?;
    let name = std::str::from_utf8(&name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?;
    let (address, size) = module.global(name).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    place.set_if(address);
    len.set_if(usize::try_from(size).unwrap_or(usize::MAX));
    Ok(())
}

/// Counts the kernels that can be executed.
fn function_count(call: &Call<'_>, count: Out<c_uint>, module: CUmodule) -> Reply {
    call.context()?;
    let module = call.machine.modules.module(module.addr() as u64)?;
    count.set(c_uint::try_from(module.kernel_names().len()).unwrap_or(c_uint::MAX))
}

fn enumerate(call: &Call<'_>, places: Slots<CUfunction>, count: c_uint, module: CUmodule) -> Reply {
    call.context()?;
    let module = call.machine.modules.module(module.addr() as u64)?;
    for (index, name) in module
        .kernel_names()
        .into_iter()
        .take(count as usize)
        .enumerate()
    {
        places.put(index, pointer(module.function(call.machine, name)?.handle))?;
    }
    Ok(())
}

/// There are no texture and surface references: what has such a name is not supported.
fn reference(call: &Call<'_>, module: CUmodule, name: Text) -> Reply {
    call.context()?;
    let module = call.machine.modules.module(module.addr() as u64)?;
    let name = name.bytes()?;
    let name = String::from_utf8_lossy(&name);
    if module.global(&name).is_none() {
        return Err(CUresult::CUDA_ERROR_NOT_FOUND);
    }
    let text = format!("{name} is asked for as a texture or surface reference: not supported");
    call.machine.messages.add(text);
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

fn texture(call: &Call<'_>, place: Out<CUtexref>, module: CUmodule, name: Text) -> Reply {
    place.check()?;
    reference(call, module, name)
}

fn surface(call: &Call<'_>, place: Out<CUsurfref>, module: CUmodule, name: Text) -> Reply {
    place.check()?;
    reference(call, module, name)
}

/// Modules are decoded when they are loaded.
fn loading_mode(_: &Call<'_>, mode: Out<CUmoduleLoadingMode>) -> Reply {
    mode.set(CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING)
}

functions! {
    Initialized {
        cuModuleLoad: (module: *mut CUmodule, path: *const c_char) = load_file;
        cuModuleLoadData: (module: *mut CUmodule, image: *const c_void) = load;
        cuModuleLoadFatBinary: (module: *mut CUmodule, image: *const c_void) = load;
        cuModuleLoadDataEx: (module: *mut CUmodule, image: *const c_void, count: c_uint,
            options: *mut CUjit_option, values: *mut *mut c_void) = load_with_options;
        cuModuleUnload: (module: CUmodule) = unload;
        cuModuleGetFunction: (function: *mut CUfunction, module: CUmodule, name: *const c_char)
            = function;
        cuModuleGetGlobal_v2: (place: *mut CUdeviceptr, len: *mut usize, module: CUmodule,
            name: *const c_char) = global;
        cuModuleGetFunctionCount: (count: *mut c_uint, module: CUmodule) = function_count;
        cuModuleEnumerateFunctions: (functions: *mut CUfunction, count: c_uint, module: CUmodule)
            = enumerate;
        cuModuleGetTexRef: (place: *mut CUtexref, module: CUmodule, name: *const c_char) = texture;
        cuModuleGetSurfRef: (place: *mut CUsurfref, module: CUmodule, name: *const c_char)
            = surface;
        cuModuleGetLoadingMode: (mode: *mut CUmoduleLoadingMode) = loading_mode;
    }
}
