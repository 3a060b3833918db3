//! Memory of other APIs: imported by file descriptor, mapped as buffers.

#[cfg(target_os = "linux")]
use std::ffi::c_int;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
#[cfg(target_os = "linux")]
use crate::device::memory::Pages;
use crate::device::memory::map_external;

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn missing<T>(call: &Call<'_>, what: &str) -> Reply<T> {
    call.machine.messages.add(format!(
        "{what}: the software device imports opaque file descriptors alone, of its own exportable memory"
    ));
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// The file descriptor is the driver's if this succeeds, and the caller's still if not.
fn import(
    call: &Call<'_>,
    place: Out<CUexternalMemory>,
    description: In<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>,
) -> Reply {
    use CUexternalMemoryHandleType_enum as T;
    place.check()?;
    let description = description.get()?;
    let context = call.context()?;
    if description.size == 0
        || description.flags & !CUDA_EXTERNAL_MEMORY_DEDICATED != 0
        || description.reserved != [0; 16]
    {
        return Err(BAD);
    }
    match description.type_ {
        T::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD => {}
        T(1..=9) => return missing(call, "external memory of this kind"),
        _ => return Err(BAD),
    }
    let handle = call.machine.new_handle();
    let device = context.device.ordinal;
    adopt(call, handle, device, &description)?;
    place.set(std::ptr::without_provenance_mut(
        usize::try_from(handle).unwrap_or(usize::MAX),
    ))
}

#[cfg(target_os = "linux")]
fn adopt(
    call: &Call<'_>,
    handle: u64,
    device: usize,
    description: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
) -> Reply {
    // SAFETY: every bit pattern is a number, and the type says that the caller has set it.
    let number = unsafe { description.handle.fd };
    let pages = exported_pages(number, device)?;
    if description.size > pages.len() {
        return Err(BAD);
    }
    let externals = call.machine.space.externals();
    externals.import(handle, device, pages, description.size);
    close(number);
    Ok(())
}

/// The pages behind a descriptor of the device's exportable memory, which stays the caller's.
#[cfg(target_os = "linux")]
pub(in crate::device::api) fn exported_pages(number: c_int, device: usize) -> Reply<Pages> {
    use std::os::fd::BorrowedFd;

    use crate::device::api::memory::vmm::NAME;

    if number < 0 {
        return Err(BAD);
    }
    // SAFETY: the caller says that the number is an open file's, and it is not -1. If it is
    // wrong, all that happens to it here is that it cannot be duplicated.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    let file = file.try_clone_to_owned().map_err(|_| BAD)?;
    let (pages, name) = Pages::adopt(file).ok_or(BAD)?;
    let of = name.strip_prefix(NAME).and_then(|rest| rest.parse().ok());
    match of == Some(device) {
        true => Ok(pages),
        false => Err(BAD),
    }
}

/// Takes over a descriptor that was imported.
#[cfg(target_os = "linux")]
pub(in crate::device::api) fn close(number: c_int) {
    use std::os::fd::{FromRawFd, OwnedFd};

    // SAFETY: the file is open, since it was duplicated, and with a success the number is the driver's.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}

#[cfg(not(target_os = "linux"))]
fn adopt(call: &Call<'_>, _: u64, _: usize, _: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> Reply {
    missing(call, "external memory on this system")
}

fn key(memory: CUexternalMemory) -> u64 {
    memory.addr() as u64
}

/// The memory of the buffer is freed as any other.
fn map_buffer(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    memory: CUexternalMemory,
    description: In<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>,
) -> Reply {
    place.check()?;
    let description = description.get()?;
    if description.flags != 0 || description.reserved != [0; 16] {
        return Err(BAD);
    }
    let context = call.context()?;
    let (offset, size) = (description.offset, description.size);
    let block = map_external(&context, key(memory), offset, size)?;
    place.set(block.address)
}

fn destroy(call: &Call<'_>, memory: CUexternalMemory) -> Reply {
    call.context()?;
    call.machine.space.externals().destroy(key(memory))
}

functions! {
    Initialized {
        cuImportExternalMemory: (place: *mut CUexternalMemory,
            description: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) = import;
        cuExternalMemoryGetMappedBuffer: (place: *mut CUdeviceptr, memory: CUexternalMemory,
            description: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC) = map_buffer;
        cuDestroyExternalMemory: (memory: CUexternalMemory) = destroy;
    }
}
