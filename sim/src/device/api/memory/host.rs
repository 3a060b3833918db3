//! Page-locked host memory.

use std::ffi::{c_uint, c_void};

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::memory::{Place, Space};
use crate::device::strict::Frees;
use crate::device::sync::read;

/// Takes a new range back if its context was destroyed in the meantime: the context took
/// along only what was there before.
fn keep_if_open(call: &Call<'_>, context: &Context, address: u64, allocated: bool) -> Reply {
    if context.is_closed() {
        let range = call.machine.space.remove_host(address, allocated);
        if let Some(range) = range.filter(|_| allocated) {
            context.device.settle_host(range.len);
        }
        return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    Ok(())
}

/// All page-locked memory is mapped. No bytes are no memory, and no error.
fn alloc(call: &Call<'_>, place: Out<*mut c_void>, len: usize, flags: c_uint) -> Reply {
    place.check()?;
    let known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if flags & !known != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = call.context()?;
    if len == 0 {
        return place.set(std::ptr::null_mut());
    }
    let (handle, device) = (context.handle, context.device.ordinal);
    let flags = flags | CU_MEMHOSTALLOC_DEVICEMAP;
    context.device.charge_host(len as u64)?;
    let space = &call.machine.space;
    let range = space
        .allocate_host(len as u64, flags, handle, device)
        .inspect_err(|_| context.device.settle_host(len as u64))?;
    keep_if_open(call, &context, range.address, true)?;
    place.set(range.host(range.address).cast())
}

fn alloc_host(call: &Call<'_>, place: Out<*mut c_void>, len: usize) -> Reply {
    alloc(call, place, len, 0)
}

/// Takes the page-locked range that starts at the address out, if it is of the kind.
/// Waits for the work of all contexts: any of them may still use the memory, and the
/// program's own will be gone.
///
/// # Errors
/// `missing` if no range holds the address. The fault of the range's context: the range
/// is gone then too, because the program will not come back for it.
fn remove(call: &Call<'_>, memory: *mut c_void, allocated: bool, missing: CUresult) -> Reply {
    let address = memory.expose_provenance() as u64;
    let (strict, space) = (&call.machine.strict, &call.machine.space);
    let frees = if allocated {
        Frees::PageLocked
    } else {
        Frees::Registered
    };
    let Some(Place::Pinned(range)) = space.find(address) else {
        strict.bad_free(space, address, frees);
        return Err(missing);
    };
    if range.address == address && range.is_allocated() == allocated {
        strict.unpins_now(&range);
    }
    drop(range);
    let contexts: Vec<_> = read(&call.machine.contexts).values().cloned().collect();
    contexts.iter().for_each(|context| context.wait_idle());
    let range = space.remove_host(address, allocated);
    // Not where it starts, or of the other kind.
    let range = range.ok_or_else(|| {
        strict.bad_free(space, address, frees);
        CUresult::CUDA_ERROR_INVALID_VALUE
    })?;
    if allocated && let Some(device) = call.machine.devices.get(range.device) {
        device.settle_host(range.len);
    }
    let owner = contexts
        .iter()
        .find(|context| context.handle == range.context);
    owner.map_or(Ok(()), |owner| owner.health.check())
}

fn free(call: &Call<'_>, memory: *mut c_void) -> Reply {
    if memory.is_null() {
        return Ok(());
    }
    remove(call, memory, true, CUresult::CUDA_ERROR_INVALID_VALUE)
}

fn register(call: &Call<'_>, memory: *mut c_void, len: usize, flags: c_uint) -> Reply {
    let known = CU_MEMHOSTREGISTER_PORTABLE
        | CU_MEMHOSTREGISTER_DEVICEMAP
        | CU_MEMHOSTREGISTER_IOMEMORY
        | CU_MEMHOSTREGISTER_READ_ONLY;
    if memory.is_null() || len == 0 || flags & !known != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // Device memory is not the host's to lock.
    let last = (memory.addr() as u64).checked_add(len as u64 - 1);
    if last.is_none_or(Space::is_device_address) || Space::is_device_address(memory.addr() as u64) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let context = call.context()?;
    check_registers(call, &context, "to be registered")?;
    let (handle, device) = (context.handle, context.device.ordinal);
    let space = &call.machine.space;
    space.register_host(memory.cast(), len as u64, flags, handle, device)?;
    keep_if_open(call, &context, memory.expose_provenance() as u64, false)
}

/// Whether the context's device takes memory of the program.
///
/// # Errors
/// The code of devices of its kind.
fn check_registers(call: &Call<'_>, context: &Context, what: &str) -> Reply {
    let profile = context.device.config.kind();
    profile.may_register().inspect_err(|_| {
        let text = format!("host memory is {what}: a device of the profile {profile:?} refuses it");
        call.machine.messages.add(text);
    })
}

fn unregister(call: &Call<'_>, memory: *mut c_void) -> Reply {
    let missing = CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    remove(call, memory, false, missing)
}

fn device_pointer(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    memory: *mut c_void,
    flags: c_uint,
) -> Reply {
    call.context()?;
    if flags != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let address = memory.expose_provenance() as u64;
    match call.machine.space.find(address) {
        Some(Place::Pinned(_)) => place.set(address),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn flags(call: &Call<'_>, flags: Out<c_uint>, memory: *mut c_void) -> Reply {
    call.context()?;
    match call.machine.space.find(memory.expose_provenance() as u64) {
        Some(Place::Pinned(range)) => flags.set(range.flags),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

functions! {
    Initialized {
        cuMemHostAlloc: (place: *mut *mut c_void, len: usize, flags: c_uint) = alloc;
        cuMemAllocHost_v2: (place: *mut *mut c_void, len: usize) = alloc_host;
        cuMemFreeHost: (memory: *mut c_void) = free;
        cuMemHostRegister_v2: (memory: *mut c_void, len: usize, flags: c_uint) = register;
        cuMemHostUnregister: (memory: *mut c_void) = unregister;
        cuMemHostGetDevicePointer_v2: (place: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint)
            = device_pointer;
        cuMemHostGetFlags: (flags: *mut c_uint, memory: *mut c_void) = flags;
    }
}
