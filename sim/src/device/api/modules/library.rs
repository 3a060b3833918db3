//! Libraries: code without a context.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;
use std::time::Instant;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::modules::jit::Jit;
use crate::device::api::modules::module::variable;
use crate::device::calls::args::{In, Out, Reply, Slots, Text};
use crate::device::calls::call::Call;
use crate::device::memory::Space;
use crate::device::modules::image::{Image, ImageError, image_at, image_in};
use crate::device::modules::library::{self, Library};

fn get(call: &Call<'_>, library: CUlibrary) -> Reply<Arc<Library>> {
    call.machine.libraries.library(library.addr() as u64)
}

/// The options of a library: tables of host functions mean nothing to a device that
/// compiles no host code, and the code is copied whether it is preserved or not.
fn check_options(count: c_uint, options: In<CUlibraryOption>) -> Reply {
    for index in 0..count as usize {
        if options.at(index)?.0 >= CUlibraryOption::CU_LIBRARY_NUM_OPTIONS.0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
    }
    Ok(())
}

/// Loads an image, for all kinds of devices there are.
fn finish(
    call: &Call<'_>,
    place: Out<CUlibrary>,
    mut jit: Jit,
    image: Result<Image<'_>, ImageError>,
) -> Reply {
    let started = Instant::now();
    let loaded = image.and_then(|image| library::load(call.machine, &image));
    jit.spent(started.elapsed());
    let result = loaded.map_err(|(code, text)| {
        jit.complain(&text);
        call.machine.messages.add(text);
        code
    });
    if let Ok(library) = &result {
        jit.note(&library.remarks());
    }
    jit.report()?;
    place.set(pointer(result?.handle))
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn load(
    call: &Call<'_>,
    place: Out<CUlibrary>,
    code: *const c_void,
    jit_options: In<CUjit_option>,
    jit_values: Slots<*mut c_void>,
    jit_count: c_uint,
    options: In<CUlibraryOption>,
    _: Slots<*mut c_void>,
    count: c_uint,
) -> Reply {
    place.check()?;
    let jit = Jit::read(jit_count, jit_options, jit_values)?;
    check_options(count, options)?;
    if Space::is_device_address(code.addr() as u64) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the caller gives an image that `cuModuleLoadData` takes, too.
    let image = unsafe { image_at(code.cast()) };
    finish(call, place, jit, image)
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn load_file(
    call: &Call<'_>,
    place: Out<CUlibrary>,
    path: Text,
    jit_options: In<CUjit_option>,
    jit_values: Slots<*mut c_void>,
    jit_count: c_uint,
    options: In<CUlibraryOption>,
    _: Slots<*mut c_void>,
    count: c_uint,
) -> Reply {
    place.check()?;
    let jit = Jit::read(jit_count, jit_options, jit_values)?;
    check_options(count, options)?;
    let bytes = std::fs::read(path.path()?).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    finish(call, place, jit, image_in(&bytes))
}

/// Waits for the work of the contexts that have loaded it.
fn unload(call: &Call<'_>, library: CUlibrary) -> Reply {
    let library = call.machine.libraries.remove(library.addr() as u64)?;
    library.unload(call.machine);
    Ok(())
}

fn kernel(call: &Call<'_>, place: Out<CUkernel>, library: CUlibrary, name: Text) -> Reply {
    place.check()?;
    let library = get(call, library)?;
    let name = name.bytes()?;
    let name = std::str::from_utf8(&name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?;
    place.set(pointer(library.kernel(call.machine, name)?.handle))
}

/// Counts the kernels that can be executed.
fn kernel_count(call: &Call<'_>, count: Out<c_uint>, library: CUlibrary) -> Reply {
    let kernels = get(call, library)?.kernel_names().len();
    count.set(c_uint::try_from(kernels).unwrap_or(c_uint::MAX))
}

fn kernels(call: &Call<'_>, places: Slots<CUkernel>, count: c_uint, library: CUlibrary) -> Reply {
    let library = get(call, library)?;
    let names = library.kernel_names().into_iter().take(count as usize);
    for (index, name) in names.enumerate() {
        places.put(index, pointer(library.kernel(call.machine, name)?.handle))?;
    }
    Ok(())
}

fn module(call: &Call<'_>, place: Out<CUmodule>, library: CUlibrary) -> Reply {
    place.check()?;
    let context = call.context()?;
    let module = get(call, library)?.module(call.machine, &context)?;
    place.set(pointer(module.handle))
}

fn global(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Reply {
    let context = call.context()?;
    let module = get(call, library)?.module(call.machine, &context)?;
    variable(&module, place, len, name)
}

/// Needs no context: the variables are the library's.
fn managed(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Reply {
    let library = get(call, library)?;
    let name = name.bytes()?;
    if place.is_null() && len.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let name = std::str::from_utf8(&name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?;
    let (address, size) = library.managed(name)?;
    place.set_if(address);
    len.set_if(usize::try_from(size).unwrap_or(usize::MAX));
    Ok(())
}

/// There are no unified functions; the code is that of an H200.
fn unified(call: &Call<'_>, place: Out<*mut c_void>, library: CUlibrary, name: Text) -> Reply {
    place.check()?;
    get(call, library)?;
    name.bytes()?;
    Err(CUresult::CUDA_ERROR_INVALID_VALUE)
}

functions! {
    Initialized {
        cuLibraryLoadData: (library: *mut CUlibrary, code: *const c_void,
            jit_options: *mut CUjit_option, jit_values: *mut *mut c_void, jit_count: c_uint,
            options: *mut CUlibraryOption, values: *mut *mut c_void, count: c_uint) = load;
        cuLibraryLoadFromFile: (library: *mut CUlibrary, path: *const c_char,
            jit_options: *mut CUjit_option, jit_values: *mut *mut c_void, jit_count: c_uint,
            options: *mut CUlibraryOption, values: *mut *mut c_void, count: c_uint) = load_file;
        cuLibraryUnload: (library: CUlibrary) = unload;
        cuLibraryGetKernel: (kernel: *mut CUkernel, library: CUlibrary, name: *const c_char)
            = kernel;
        cuLibraryGetKernelCount: (count: *mut c_uint, library: CUlibrary) = kernel_count;
        cuLibraryEnumerateKernels: (kernels: *mut CUkernel, count: c_uint, library: CUlibrary)
            = kernels;
        cuLibraryGetModule: (module: *mut CUmodule, library: CUlibrary) = module;
        cuLibraryGetGlobal: (place: *mut CUdeviceptr, len: *mut usize, library: CUlibrary,
            name: *const c_char) = global;
        cuLibraryGetManaged: (place: *mut CUdeviceptr, len: *mut usize, library: CUlibrary,
            name: *const c_char) = managed;
        cuLibraryGetUnifiedFunction: (place: *mut *mut c_void, library: CUlibrary,
            name: *const c_char) = unified;
    }
}
