//! The linker: several PTX inputs become one module.
//!
//! What `cuLinkComplete` gives is PTX text that ends with NUL; the size counts the NUL.

use std::ffi::{c_char, c_uint, c_void};

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::api::modules::jit::Jit;
use crate::device::calls::args::{In, Out, Reply, Slots, Text};
use crate::device::calls::call::Call;
use crate::device::modules::image::{Image, ImageError, image_in, no_ptx};
use crate::device::modules::link::State;
use crate::device::sync::lock;

fn create(
    call: &Call<'_>,
    count: c_uint,
    options: In<CUjit_option>,
    values: Slots<*mut c_void>,
    link: Out<CUlinkState>,
) -> Reply {
    link.check()?;
    let jit = Jit::read(count, options, values)?;
    let context = call.context()?;
    let handle = call.machine.new_handle();
    let capability = context.device.config.capability;
    let made = call.machine.strict.origin();
    call.machine.links.add(handle, capability, jit, made);
    link.set(pointer(handle))
}

/// The input as an image, if it is of a kind that has PTX.
fn image_of<'a>(
    kind: CUjitInputType,
    name: &str,
    bytes: &'a [u8],
) -> Result<Image<'a>, (bool, ImageError)> {
    use CUjitInputType as K;
    let spoils = |error| (true, error);
    let keeps = |error| (false, error);
    match kind {
        K::CU_JIT_INPUT_PTX | K::CU_JIT_INPUT_FATBINARY => {
            let image = image_in(bytes).map_err(spoils)?;
            let fat = matches!(image, Image::Fat(_));
            if fat == (kind == K::CU_JIT_INPUT_FATBINARY) {
                return Ok(image);
            }
            let text = format!("{name} is not what its input type says");
            Err(keeps((CUresult::CUDA_ERROR_INVALID_IMAGE, text)))
        }
        K::CU_JIT_INPUT_CUBIN => Err(spoils(no_ptx(&format!("{name} is a cubin")))),
        K::CU_JIT_INPUT_OBJECT => Err(spoils(no_ptx(&format!("{name} is a host object")))),
        K::CU_JIT_INPUT_LIBRARY => Err(spoils(no_ptx(&format!(
            "{name} is an archive of host objects"
        )))),
        K::CU_JIT_INPUT_NVVM => {
            let (_, text) = no_ptx(&format!(
                "{name} is intermediate code, for which this device has no compiler"
            ));
            Err(spoils((CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND, text)))
        }
        _ => {
            let text = format!("{name} is of no known input type");
            Err(keeps((CUresult::CUDA_ERROR_INVALID_VALUE, text)))
        }
    }
}

/// Adds the bytes of an input.
fn add(call: &Call<'_>, state: &mut State, input: &Input<'_>) -> Reply {
    let Input {
        capability,
        kind,
        name,
        bytes,
    } = *input;
    let result = match image_of(kind, name, bytes) {
        Ok(image) => state.add(call.machine.version, capability, name, &image),
        Err((true, error)) => Err(state.spoil(error)),
        Err((false, error)) => Err(error),
    };
    finish(call, state, result)
}

struct Input<'a> {
    capability: (u32, u32),
    kind: CUjitInputType,
    name: &'a str,
    bytes: &'a [u8],
}

/// Says what went wrong, in the program's log and among the machine's messages.
fn finish<T>(call: &Call<'_>, state: &mut State, result: Result<T, ImageError>) -> Reply<T> {
    let result = result.map_err(|(code, text)| {
        if !text.is_empty() {
            state.jit.complain(&text);
            call.machine.messages.add(text);
        }
        code
    });
    state.jit.report()?;
    result
}

/// Tuning options of an input are checked; its logs go where the link's go.
#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn add_data(
    call: &Call<'_>,
    link: CUlinkState,
    kind: CUjitInputType,
    data: *mut c_void,
    size: usize,
    name: Text,
    count: c_uint,
    options: In<CUjit_option>,
    values: Slots<*mut c_void>,
) -> Reply {
    let link = call.machine.links.get(link.addr() as u64)?;
    Jit::read(count, options, values)?;
    let mut state = lock(&link.state);
    if state.is_complete() || data.is_null() || size == 0 || isize::try_from(size).is_err() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let unnamed = state.next_name();
    let name = name.bytes_or(unnamed.as_bytes());
    // SAFETY: the caller says that the data has `size` bytes, good until the call returns.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) };
    let input = Input {
        capability: link.capability,
        kind,
        name: &String::from_utf8_lossy(&name),
        bytes,
    };
    add(call, &mut state, &input)
}

fn add_file(
    call: &Call<'_>,
    link: CUlinkState,
    kind: CUjitInputType,
    path: Text,
    count: c_uint,
    options: In<CUjit_option>,
    values: Slots<*mut c_void>,
) -> Reply {
    let link = call.machine.links.get(link.addr() as u64)?;
    Jit::read(count, options, values)?;
    let path = path.path()?;
    let mut state = lock(&link.state);
    if state.is_complete() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let bytes = std::fs::read(&path).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    let input = Input {
        capability: link.capability,
        kind,
        name: &path.to_string_lossy(),
        bytes: &bytes,
    };
    add(call, &mut state, &input)
}

fn complete(
    call: &Call<'_>,
    link: CUlinkState,
    image: Out<*mut c_void>,
    size: Out<usize>,
) -> Reply {
    image.check()?;
    let link = call.machine.links.get(link.addr() as u64)?;
    let mut state = lock(&link.state);
    let linked = state.complete();
    let linked = linked.map(|text| (text.as_ptr(), text.as_bytes_with_nul().len()));
    let (start, len) = finish(call, &mut state, linked)?;
    size.set_if(len);
    // The program reads it only: C has no other way to say so.
    image.set(start.cast_mut().cast())
}

fn destroy(call: &Call<'_>, link: CUlinkState) -> Reply {
    call.machine.links.remove(link.addr() as u64)
}

functions! {
    Initialized {
        cuLinkCreate: (count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void,
            link: *mut CUlinkState) = create;
        cuLinkCreate_v2: (count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void,
            link: *mut CUlinkState) = create;
        cuLinkAddData: (link: CUlinkState, kind: CUjitInputType, data: *mut c_void, size: usize,
            name: *const c_char, count: c_uint, options: *mut CUjit_option,
            values: *mut *mut c_void) = add_data;
        cuLinkAddData_v2: (link: CUlinkState, kind: CUjitInputType, data: *mut c_void,
            size: usize, name: *const c_char, count: c_uint, options: *mut CUjit_option,
            values: *mut *mut c_void) = add_data;
        cuLinkAddFile: (link: CUlinkState, kind: CUjitInputType, path: *const c_char,
            count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void) = add_file;
        cuLinkAddFile_v2: (link: CUlinkState, kind: CUjitInputType, path: *const c_char,
            count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void) = add_file;
        cuLinkComplete: (link: CUlinkState, image: *mut *mut c_void, size: *mut usize) = complete;
        cuLinkDestroy: (link: CUlinkState) = destroy;
    }
}
