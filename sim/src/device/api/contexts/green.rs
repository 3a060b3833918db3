//! Green contexts, and the resources that they are made of.
//!
//! Where the documentation leaves it open, an H200's driver (580.159, CUDA 13.0) was asked.
//! Stricter than that driver: a descriptor takes groups of one split only, as later
//! documentation says; no descriptor is an error, and so is one of nothing, which crashes it.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::contexts::primary::{release_green, retain_green};
use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::contexts::green::Green;
use crate::device::contexts::multiprocessors::{Grain, Multiprocessors, Resource};
use crate::device::machine::Device;
use crate::device::operations::op::Op;
use crate::device::strict;
use crate::device::sync::{read, write};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const CONFIGURATION: CUresult = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;

/// Gives the multiprocessors of a device or of a green context.
fn give(
    call: &Call<'_>,
    device: &Device,
    multiprocessors: Multiprocessors,
    place: Out<CUdevResource>,
    kind: CUdevResourceType,
) -> Reply {
    place.check()?;
    if kind != CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM {
        return Err(CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE);
    }
    let resource = Resource {
        device: device.ordinal as u32,
        split: None,
        multiprocessors,
    };
    place.set(resource.encode(call.machine.id.0, grain(device))?)
}

fn grain(device: &Device) -> Grain {
    Grain::of(device.config.capability)
}

fn all(device: &Device) -> Multiprocessors {
    Multiprocessors::first(device.config.multiprocessors)
}

fn of_device(
    call: &Call<'_>,
    device: CUdevice,
    resource: Out<CUdevResource>,
    kind: CUdevResourceType,
) -> Reply {
    let device = call.machine.device(device)?;
    give(call, device, all(device), resource, kind)
}

/// Null is not the current context here.
fn of_context(
    call: &Call<'_>,
    context: CUcontext,
    resource: Out<CUdevResource>,
    kind: CUdevResourceType,
) -> Reply {
    let handle = context.addr() as u64;
    let context = call.machine.context_or_primary(handle)?;
    context.health.check()?;
    let multiprocessors = match call.machine.green(handle)? {
        Some(green) => green.multiprocessors.clone(),
        None => all(&context.device),
    };
    give(call, &context.device, multiprocessors, resource, kind)
}

fn of_green(
    call: &Call<'_>,
    green: CUgreenCtx,
    resource: Out<CUdevResource>,
    kind: CUdevResourceType,
) -> Reply {
    let green = get(call, green)?;
    let multiprocessors = green.multiprocessors.clone();
    give(call, &green.primary.device, multiprocessors, resource, kind)
}

/// A green context that works.
fn get(call: &Call<'_>, green: CUgreenCtx) -> Reply<Arc<Green>> {
    let green = call.machine.green(green.addr() as u64)?;
    let green = green.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    green.primary.health.check()?;
    Ok(green)
}

/// What a program has given, and the device that it is of.
fn read_resource<'m>(call: &Call<'m>, given: &CUdevResource) -> Reply<(Resource, &'m Arc<Device>)> {
    let resource = Resource::decode(given, call.machine.id.0)?;
    let device = call.machine.devices.get(resource.device as usize);
    let device = device.ok_or(CONFIGURATION)?;
    let last = resource.multiprocessors.end();
    if last > device.config.multiprocessors || last == 0 {
        return Err(CONFIGURATION);
    }
    Ok((resource, device))
}

/// Divides into as many groups as there are places, or as there are multiprocessors for.
/// Groups have at least `least` each; hardware may make fewer than fit by number.
fn split(
    call: &Call<'_>,
    groups: Slots<CUdevResource>,
    count: Out<c_uint>,
    input: In<CUdevResource>,
    remainder: Out<CUdevResource>,
    flags: c_uint,
    least: c_uint,
) -> Reply {
    use CUdevSmResourceSplitByCount_flags as F;
    let wanted = count.get()?;
    let (input, device) = read_resource(call, &input.get()?)?;
    let ignore = flags & F::CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.0 != 0;
    let clusters = flags & F::CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE.0 != 0;
    if ignore && clusters || !groups.is_null() && wanted == 0 {
        return Err(INVALID);
    }
    let mut rest = input.multiprocessors;
    // What a split gave can be split again only once a green context has it.
    if input.split.is_some() || least > rest.count() {
        return Err(CONFIGURATION);
    }
    let grain = match ignore {
        true => grain(device).finest(),
        false => grain(device),
    };
    if grain.least > rest.count() {
        return Err(CONFIGURATION);
    }
    let size = grain.size(least, rest.count());
    let fitting = rest.count() / size;
    if groups.is_null() {
        return count.set(fitting);
    }
    let made = wanted.min(fitting);
    let (_, split) = call.machine.new_ids();
    let encode = |multiprocessors| {
        let resource = Resource {
            device: input.device,
            split: Some(split),
            multiprocessors,
        };
        resource.encode(call.machine.id.0, grain)
    };
    let parts = (0..made).map(|_| encode(rest.take(size)));
    let parts = parts.collect::<Reply<Vec<_>>>()?;
    let left = match rest.count() {
        0 => CUdevResource::default(),
        _ => encode(rest)?,
    };
    for (index, part) in parts.into_iter().enumerate() {
        groups.put(index, part)?;
    }
    remainder.set_if(left);
    count.set(made)
}

/// No call destroys a descriptor: it lives as long as the machine.
fn describe(
    call: &Call<'_>,
    descriptor: Out<CUdevResourceDesc>,
    resources: Slots<CUdevResource>,
    count: c_uint,
) -> Reply {
    descriptor.check()?;
    if resources.is_null() || count == 0 {
        return Err(INVALID);
    }
    let (mut whole, _) = read_resource(call, &resources.at(0)?)?;
    for index in 1..count as usize {
        let (other, _) = read_resource(call, &resources.at(index)?)?;
        // Of one split, and so of one device.
        if other.split.is_none() || other.split != whole.split {
            return Err(CONFIGURATION);
        }
        whole.multiprocessors = whole.multiprocessors.join(other.multiprocessors);
    }
    let handle = call.machine.new_handle();
    write(&call.machine.descriptors).insert(handle, Arc::new(whole));
    descriptor.set(pointer(handle))
}

/// Retains the primary context. The green one does not become current.
fn create(
    call: &Call<'_>,
    place: Out<CUgreenCtx>,
    descriptor: CUdevResourceDesc,
    device: CUdevice,
    flags: c_uint,
) -> Reply {
    place.check()?;
    let device = call.machine.device(device)?;
    if flags != CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0 {
        return Err(INVALID);
    }
    let descriptor = read(&call.machine.descriptors)
        .get(&(descriptor.addr() as u64))
        .cloned();
    let resource = descriptor.filter(|resource| resource.device as usize == device.ordinal);
    let multiprocessors = resource.ok_or(INVALID)?.multiprocessors.clone();
    let primary = retain_green(call, device);
    let green = primary
        .health
        .check()
        .and_then(|()| Green::new(&primary, multiprocessors, || call.machine.new_ids()));
    match green {
        Ok(green) => {
            let handle = green.part.handle;
            write(&call.machine.greens).insert(handle, Some(Arc::new(green)));
            place.set(pointer(handle))
        }
        Err(code) => {
            // The error that came first is the one to tell.
            let _ = release_green(call, device);
            Err(code)
        }
    }
}

/// Work goes on; streams stay until their own calls destroy them, and do nothing else.
fn destroy(call: &Call<'_>, green: CUgreenCtx) -> Reply {
    let handle = green.addr() as u64;
    let mut greens = write(&call.machine.greens);
    let slot = greens.get_mut(&handle);
    let slot = slot.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    let green = slot.take();
    drop(greens);
    let green = green.ok_or(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
    strict::green_ends(call.machine, &green);
    call.machine.strict.context_destroyed(handle, &green.made);
    green.close();
    // Its own fault is no reason to keep the context.
    let health = green.primary.health.check();
    let device = Arc::clone(&green.primary.device);
    drop(green);
    release_green(call, &device)?;
    health
}

/// The context that a green context is when it is current: both have one handle.
fn convert(call: &Call<'_>, context: Out<CUcontext>, green: CUgreenCtx) -> Reply {
    context.check()?;
    context.set(pointer(get(call, green)?.part.handle))
}

/// Null is the current green context.
fn id(call: &Call<'_>, green: CUgreenCtx, id: Out<c_ulonglong>) -> Reply {
    let green = call.green_or_current(green.addr() as u64)?;
    let green = green.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
    green.primary.health.check()?;
    id.set(green.id)
}

/// Blocking streams cannot be made so.
fn create_stream(
    call: &Call<'_>,
    stream: Out<CUstream>,
    green: CUgreenCtx,
    flags: c_uint,
    priority: c_int,
) -> Reply {
    let green = get(call, green)?;
    stream.check()?;
    if flags != CUstream_flags::CU_STREAM_NON_BLOCKING.0 {
        return Err(INVALID);
    }
    let owner = (&green.primary, Some(&*green));
    stream.set(crate::device::api::streams::stream::add(
        call, owner, flags, priority,
    )?)
}

/// Of all work of the green context, in whichever stream, and of no other.
fn record(call: &Call<'_>, green: CUgreenCtx, event: CUevent) -> Reply {
    let green = get(call, green)?;
    let event = crate::device::api::streams::event::of_context(call, event, &green.primary)?;
    green.primary.record(&green.marker, &event)
}

/// All later work of the green context waits, in whichever stream. The event may be of
/// another context.
fn wait(call: &Call<'_>, green: CUgreenCtx, event: CUevent) -> Reply {
    let green = get(call, green)?;
    let event = crate::device::api::streams::event::get(call, event)?;
    event.check_uncaptured()?;
    match event.latest() {
        Some(record) => green.wait(Op::Wait(record)),
        None => Ok(()),
    }
}

functions! {
    Initialized {
        cuDeviceGetDevResource: (device: CUdevice, resource: *mut CUdevResource,
            kind: CUdevResourceType) = of_device;
        cuCtxGetDevResource: (context: CUcontext, resource: *mut CUdevResource,
            kind: CUdevResourceType) = of_context;
        cuGreenCtxGetDevResource: (green: CUgreenCtx, resource: *mut CUdevResource,
            kind: CUdevResourceType) = of_green;
        cuDevSmResourceSplitByCount: (groups: *mut CUdevResource, count: *mut c_uint,
            input: *const CUdevResource, remainder: *mut CUdevResource, flags: c_uint,
            least: c_uint) = split;
        cuDevResourceGenerateDesc: (descriptor: *mut CUdevResourceDesc,
            resources: *mut CUdevResource, count: c_uint) = describe;
        cuGreenCtxCreate: (green: *mut CUgreenCtx, descriptor: CUdevResourceDesc,
            device: CUdevice, flags: c_uint) = create;
        cuGreenCtxDestroy: (green: CUgreenCtx) = destroy;
        cuCtxFromGreenCtx: (context: *mut CUcontext, green: CUgreenCtx) = convert;
        cuGreenCtxGetId: (green: CUgreenCtx, id: *mut c_ulonglong) = id;
        cuGreenCtxStreamCreate: (stream: *mut CUstream, green: CUgreenCtx, flags: c_uint,
            priority: c_int) = create_stream;
        cuGreenCtxRecordEvent: (green: CUgreenCtx, event: CUevent) = record;
        cuGreenCtxWaitEvent: (green: CUgreenCtx, event: CUevent) = wait;
    }
}
