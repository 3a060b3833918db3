//! Primary contexts: one for each device, counted.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::{check_flags, pointer};
use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::machine::{Device, Primary};
use crate::device::sync::lock;

fn retain(call: &Call<'_>, context: Out<CUcontext>, device: CUdevice) -> Reply {
    context.check()?;
    let device = call.machine.device(device)?;
    let handle = device.primary_handle;
    let mut primary = lock(&device.primary);
    get_or_create(call, device, &mut primary);
    let retained = device.retained.load(Ordering::Relaxed);
    device
        .retained
        .store(retained.saturating_add(1), Ordering::Relaxed);
    context.set(pointer(handle))
}

/// The context in the slot, which is made if there is none.
fn get_or_create(call: &Call<'_>, device: &Arc<Device>, primary: &mut Primary) -> Arc<Context> {
    let (handle, flags) = (device.primary_handle, primary.flags);
    let create = || call.machine.create_context(handle, device, flags, true);
    Arc::clone(primary.context.get_or_insert_with(create))
}

/// Ends the context, unless it has another end by then or `keep` says that it is wanted again.
///
/// Its work is waited for without the slot's lock, and it stays in the slot for so long:
/// a function of the program that is part of the work may wait for a thread which retains
/// the context. Such a retain counts as one before the end.
fn end(call: &Call<'_>, device: &Device, keep: impl Fn() -> bool) -> Reply {
    let Some(ending) = lock(&device.primary).context.clone() else {
        return Ok(());
    };
    ending.wait_idle();
    // Taken out under the lock, so that no other call ends it too, or has it back half ended.
    let mut primary = lock(&device.primary);
    let same = |context: &mut Arc<Context>| Arc::ptr_eq(context, &ending);
    let taken = match keep() {
        true => None,
        false => primary.context.take_if(same),
    };
    taken.map_or(Ok(()), |context| call.machine.destroy_context(&context))
}

fn release(call: &Call<'_>, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    let primary = lock(&device.primary);
    let retained = device.retained.load(Ordering::Relaxed).checked_sub(1);
    // As on an H200: what only green contexts hold is not the program's to release.
    let held = device.greens.load(Ordering::Relaxed) > 0;
    let retained = retained.ok_or(match held {
        true => CUresult::CUDA_ERROR_NOT_PERMITTED,
        false => CUresult::CUDA_ERROR_INVALID_CONTEXT,
    })?;
    device.retained.store(retained, Ordering::Relaxed);
    drop(primary);
    if is_held(device) {
        return Ok(());
    }
    end(call, device, || is_held(device))
}

/// Whether the program or a green context holds the primary context.
fn is_held(device: &Device) -> bool {
    device.retained.load(Ordering::Relaxed) > 0 || device.greens.load(Ordering::Relaxed) > 0
}

/// The primary context for a green context, which holds it until [`release_green`].
pub(super) fn retain_green(call: &Call<'_>, device: &Arc<Device>) -> Arc<Context> {
    let mut primary = lock(&device.primary);
    let context = get_or_create(call, device, &mut primary);
    device.greens.fetch_add(1, Ordering::Relaxed);
    context
}

/// A green context lets go of the primary context.
pub(super) fn release_green(call: &Call<'_>, device: &Device) -> Reply {
    let primary = lock(&device.primary);
    device.greens.fetch_sub(1, Ordering::Relaxed);
    drop(primary);
    match is_held(device) {
        true => Ok(()),
        false => end(call, device, || is_held(device)),
    }
}

/// Ends the context although it may be retained. The count stays: each retain still wants its
/// release. The context comes back with the next retain.
fn reset(call: &Call<'_>, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    // As on an H200.
    if device.greens.load(Ordering::Relaxed) > 0 {
        return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
    }
    end(call, device, || device.greens.load(Ordering::Relaxed) > 0)
}

fn state(call: &Call<'_>, device: CUdevice, flags: Out<c_uint>, active: Out<c_int>) -> Reply {
    flags.check()?;
    active.check()?;
    let primary = lock(&call.machine.device(device)?.primary);
    flags.set(primary.flags)?;
    active.set(c_int::from(primary.context.is_some()))
}

/// Flags may change at any time since CUDA 11; a live context takes the new ones over.
fn set_flags(call: &Call<'_>, device: CUdevice, flags: c_uint) -> Reply {
    check_flags(flags)?;
    let mut primary = lock(&call.machine.device(device)?.primary);
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

functions! {
    Initialized {
        cuDevicePrimaryCtxRetain: (context: *mut CUcontext, device: CUdevice) = retain;
        cuDevicePrimaryCtxRelease: (device: CUdevice) = release;
        cuDevicePrimaryCtxRelease_v2: (device: CUdevice) = release;
        cuDevicePrimaryCtxReset: (device: CUdevice) = reset;
        cuDevicePrimaryCtxReset_v2: (device: CUdevice) = reset;
        cuDevicePrimaryCtxGetState: (device: CUdevice, flags: *mut c_uint, active: *mut c_int)
            = state;
        cuDevicePrimaryCtxSetFlags: (device: CUdevice, flags: c_uint) = set_flags;
        cuDevicePrimaryCtxSetFlags_v2: (device: CUdevice, flags: c_uint) = set_flags;
    }
}
