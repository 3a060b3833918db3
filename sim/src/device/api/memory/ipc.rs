//! Memory that processes share. Events cannot be: none is made for it.

use std::ffi::{c_char, c_uint};
use std::sync::Arc;
use std::time::Duration;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::memory::allocation::wait_for_users;
use crate::device::api::streams::event;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::machine::Device;
use crate::device::memory::{Block, Name, Opened, Refusal, VMM, open};

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// How long an export waits until it looks again whether the memory is still in use.
const LOOK: Duration = Duration::from_micros(100);

fn supported(call: &Call<'_>, device: &Device) -> Reply {
    let text = match (VMM, device.config.kind().shares_memory()) {
        (true, true) => return Ok(()),
        (true, false) => "memory for other processes: an instance of a GPU (MIG) has none",
        (false, _) => "memory for other processes: the software device has it on Linux alone",
    };
    call.machine.messages.add(text.to_owned());
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// The address may be anywhere in the allocation. The first export of an allocation waits
/// until no work uses it any more.
fn get_memory(call: &Call<'_>, handle: Out<CUipcMemHandle>, address: CUdeviceptr) -> Reply {
    handle.check()?;
    supported(call, &call.context()?.device)?;
    let mut name = loop {
        if let Some(name) = call.machine.space.export(address)? {
            break name;
        }
        if let Some(schedule) = &call.machine.schedule {
            schedule.poll();
        }
        std::thread::sleep(LOOK);
    };
    let device = call.machine.device(name.device.cast_signed())?;
    name.device = u32::try_from(device.number).unwrap_or(u32::MAX);
    handle.set(CUipcMemHandle {
        reserved: name.to_bytes().map(|byte| byte as c_char),
    })
}

fn open_memory(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    handle: CUipcMemHandle,
    flags: c_uint,
) -> Reply {
    opened(call, place, handle, flags, true)
}

/// The first form, which does not open what is open.
fn open_once(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    handle: CUipcMemHandle,
    flags: c_uint,
) -> Reply {
    opened(call, place, handle, flags, false)
}

fn opened(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    handle: CUipcMemHandle,
    flags: c_uint,
    again: bool,
) -> Reply {
    place.check()?;
    // An H200 wants the flag, and looks at no other.
    if flags & CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0 == 0 {
        return Err(BAD);
    }
    supported(call, &call.context()?.device)?;
    find(call, handle, again).map_or_else(
        |refusal| {
            if let Some(why) = refusal.why {
                let text = format!("cuIpcOpenMemHandle: {why}");
                call.machine.messages.add(text);
            }
            Err(refusal.code)
        },
        |block| place.set(block.address),
    )
}

fn find(call: &Call<'_>, handle: CUipcMemHandle, again: bool) -> Result<Arc<Block>, Refusal> {
    let context = call.context()?;
    let name = Name::from_bytes(handle.reserved.map(|byte| byte as u8));
    let why = || "no software device made this handle".to_owned();
    let name = name.ok_or_else(|| Refusal::new(BAD, why()))?;
    // Also if another machine of this process made it.
    if name.process == std::process::id() {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT.into());
    }
    let number = usize::try_from(name.device).ok();
    let mut devices = call.machine.devices.iter();
    let device = devices.find(|device| Some(device.number) == number);
    let why = || format!("it is memory of device {}, which is not here", name.device);
    let device = device.ok_or_else(|| Refusal::new(BAD, why()))?;
    let own = context.device.ordinal == device.ordinal;
    if !own && !call.machine.can_access(&context.device, device) {
        return Err(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED.into());
    }
    open(&context, device, name, again)
}

/// Where it was opened more than once, the memory stays until the last close. That waits
/// for the work that may use it, as a free does.
fn close_memory(call: &Call<'_>, address: CUdeviceptr) -> Reply {
    call.context()?;
    let space = &call.machine.space;
    let block = space.block_at(address);
    let block = block.filter(|block| block.opened.is_some() && !block.is_doomed());
    let block = block.ok_or(BAD)?;
    if block.opened.as_ref().is_some_and(Opened::is_last) {
        call.machine.strict.frees_now(&block);
    }
    wait_for_users(call, &block)?;
    if let Some(closed) = space.close(address)? {
        space.remove(&closed);
    }
    Ok(())
}

/// No event is made for other processes, so none has a handle.
fn get_event(call: &Call<'_>, handle: Out<CUipcEventHandle>, event: CUevent) -> Reply {
    handle.check()?;
    event::get(call, event)?;
    Err(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

/// No handle is one of an event's.
fn open_event(call: &Call<'_>, event: Out<CUevent>, _: CUipcEventHandle) -> Reply {
    event.check()?;
    call.context()?;
    let text = "cuIpcOpenEventHandle: no software device makes handles of events";
    call.machine.messages.add(text.to_owned());
    Err(CUresult::CUDA_ERROR_MAP_FAILED)
}

functions! {
    Initialized {
        cuIpcGetMemHandle: (handle: *mut CUipcMemHandle, address: CUdeviceptr) = get_memory;
        cuIpcOpenMemHandle: (place: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint)
            = open_once;
        cuIpcOpenMemHandle_v2: (place: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint)
            = open_memory;
        cuIpcCloseMemHandle: (address: CUdeviceptr) = close_memory;
        cuIpcGetEventHandle: (handle: *mut CUipcEventHandle, event: CUevent) = get_event;
        cuIpcOpenEventHandle: (event: *mut CUevent, handle: CUipcEventHandle) = open_event;
    }
}
