//! Virtual memory management: addresses, memory, and what is mapped where. None of it
//! belongs to a context, so none needs to be current.

use std::ffi::{c_int, c_ulonglong, c_void};

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::machine::Device;
use crate::device::memory::{Access, Freed, PAGE, Pages, VMM};

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MISSING: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const FILE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// What files with shareable memory are called, before the device's ordinal.
pub(super) const NAME: &str = "cupola-physical-";

/// Refuses, and says why.
fn missing<T>(call: &Call<'_>, what: &str) -> Reply<T> {
    call.machine.messages.add(format!(
        "{what}: the software device's virtual memory management has none"
    ));
    Err(MISSING)
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The device of a location, by ordinal.
fn ordinal(location: CUmemLocation) -> c_int {
    // SAFETY: every bit pattern is a valid `id`, and callers have set the union's bytes.
    unsafe { location.__bindgen_anon_1.id }
}

fn device_location(device: usize) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 {
            id: c_int::try_from(device).unwrap_or(c_int::MAX),
        },
    }
}

fn reserve(
    call: &Call<'_>,
    place: Out<CUdeviceptr>,
    len: usize,
    align: usize,
    wanted: CUdeviceptr,
    flags: c_ulonglong,
) -> Reply {
    place.check()?;
    if flags != 0 {
        return Err(BAD);
    }
    if !VMM {
        return missing(call, "an address reservation");
    }
    let mapped = call.machine.space.mapped();
    place.set(mapped.reserve(len as u64, align as u64, wanted)?)
}

fn unreserve(call: &Call<'_>, address: CUdeviceptr, len: usize) -> Reply {
    call.machine.space.mapped().unreserve(address, len as u64)?;
    call.machine.strict.heap_gone(address);
    Ok(())
}

/// The same for all properties, as on an H200.
fn granularity(
    _: &Call<'_>,
    bytes: Out<usize>,
    properties: In<CUmemAllocationProp>,
    option: CUmemAllocationGranularity_flags,
) -> Reply {
    use CUmemAllocationGranularity_flags as G;
    bytes.check()?;
    properties.get()?;
    match option {
        G::CU_MEM_ALLOC_GRANULARITY_MINIMUM | G::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED => {
            bytes.set(size(PAGE))
        }
        _ => Err(BAD),
    }
}

/// What properties ask for: the device's ordinal, and whether the memory is for other
/// processes too. Compression may be asked for, and is not given: `properties` says so.
fn wanted(call: &Call<'_>, properties: &CUmemAllocationProp) -> Reply<(usize, bool)> {
    use CUmemLocationType as L;
    let flags = properties.allocFlags;
    let pinned = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    if properties.type_ != pinned || flags.compressionType > 1 || flags.reserved != [0; 4] {
        return Err(BAD);
    }
    match properties.location.type_ {
        L::CU_MEM_LOCATION_TYPE_DEVICE => {}
        L::CU_MEM_LOCATION_TYPE_HOST | L::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
            return missing(call, "physical memory on the host");
        }
        _ => return Err(BAD),
    }
    let device = call.machine.device(ordinal(properties.location))?.ordinal;
    if flags.gpuDirectRDMACapable != 0 {
        return missing(call, "memory for GPUDirect RDMA");
    }
    if flags.usage != 0 {
        return missing(call, "memory for sparse arrays");
    }
    let types = properties.requestedHandleTypes;
    match types {
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE => Ok((device, false)),
        FILE => Ok((device, true)),
        other if other.0 < 16 => missing(call, "a shareable handle that is no file descriptor"),
        _ => Err(BAD),
    }
}

fn create(
    call: &Call<'_>,
    place: Out<CUmemGenericAllocationHandle>,
    len: usize,
    properties: In<CUmemAllocationProp>,
    flags: c_ulonglong,
) -> Reply {
    place.check()?;
    let properties = properties.get()?;
    let len = len as u64;
    if flags != 0 || len == 0 || !len.is_multiple_of(PAGE) {
        return Err(BAD);
    }
    if !VMM {
        return missing(call, "physical memory");
    }
    let (device, shared) = wanted(call, &properties)?;
    let account = &call.machine.devices[device].account;
    account.take(len)?;
    let name = shared.then(|| format!("{NAME}{device}"));
    let handle = call.machine.new_handle();
    let mapped = call.machine.space.mapped();
    let made = mapped.create(handle, device, len, name.as_deref());
    made.inspect_err(|_| account.give(None, len))?;
    place.set(handle)
}

/// The account gets back what nothing refers to any more.
fn settle(call: &Call<'_>, freed: Freed) {
    if let Some(device) = call.machine.devices.get(freed.device) {
        device.account.give(None, freed.bytes);
    }
}

fn release(call: &Call<'_>, handle: CUmemGenericAllocationHandle) -> Reply {
    if let Some(freed) = call.machine.space.mapped().release(handle)? {
        settle(call, freed);
    }
    Ok(())
}

fn map(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> Reply {
    if flags != 0 {
        return Err(BAD);
    }
    // Not only here: no driver maps a part of an allocation.
    if offset != 0 {
        return Err(MISSING);
    }
    let space = &call.machine.space;
    let (mapped, len) = (space.mapped(), len as u64);
    mapped.map(address, len, handle, space.next_id())?;
    call.machine.strict.there(address, len);
    Ok(())
}

/// Work that runs keeps what it uses; work that comes to the addresses later faults.
fn unmap(call: &Call<'_>, address: CUdeviceptr, len: usize) -> Reply {
    let (freed, gone) = call.machine.space.mapped().unmap(address, len as u64)?;
    gone.iter()
        .for_each(|mapping| call.machine.strict.unmapped(mapping));
    freed.into_iter().for_each(|freed| settle(call, freed));
    Ok(())
}

fn set_access(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    descriptions: In<CUmemAccessDesc>,
    count: usize,
) -> Reply {
    use CUmemAccess_flags as F;
    use CUmemLocationType as L;
    if count == 0 {
        return Err(BAD);
    }
    let mut access = Vec::new();
    for index in 0..count {
        let description = descriptions.at(index)?;
        let may = match description.flags {
            F::CU_MEM_ACCESS_FLAGS_PROT_NONE => Access::None,
            F::CU_MEM_ACCESS_FLAGS_PROT_READ => Access::Read,
            F::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Access::Write,
            _ => return Err(BAD),
        };
        match description.location.type_ {
            L::CU_MEM_LOCATION_TYPE_DEVICE => {}
            // The host reaches memory that is on the host, and there is none here.
            L::CU_MEM_LOCATION_TYPE_HOST | L::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
                return missing(call, "access by the host");
            }
            _ => return Err(BAD),
        }
        let device = call.machine.device(ordinal(description.location));
        let device = device.map_err(|_| BAD)?;
        require_links(call, (address, len as u64), device, may)?;
        access.push((device.ordinal, may));
    }
    let mapped = call.machine.space.mapped();
    mapped.set_access(address, len as u64, &access)
}

/// Another device's access needs a link to each one that has memory there. Where nothing is mapped is for the call
/// itself to refuse.
fn require_links(
    call: &Call<'_>,
    (mut address, len): (CUdeviceptr, u64),
    device: &Device,
    may: Access,
) -> Reply {
    let (mapped, end) = (call.machine.space.mapped(), address.saturating_add(len));
    while may != Access::None
        && address < end
        && let Some(mapping) = mapped.find_mapping(address)
    {
        if let Some(owner) = call.machine.devices.get(mapping.device)
            && owner.ordinal != device.ordinal
            && !call.machine.can_access(device, owner)
        {
            return Err(MISSING);
        }
        address = mapping.base + mapping.len;
    }
    Ok(())
}

fn get_access(
    call: &Call<'_>,
    flags: Out<c_ulonglong>,
    location: In<CUmemLocation>,
    address: CUdeviceptr,
) -> Reply {
    use CUmemLocationType as L;
    flags.check()?;
    let location = location.get()?;
    let mapped = call.machine.space.mapped();
    let access = match location.type_ {
        L::CU_MEM_LOCATION_TYPE_DEVICE => {
            let device = call.machine.device(ordinal(location))?;
            mapped.access(address, device.ordinal)?
        }
        L::CU_MEM_LOCATION_TYPE_HOST | L::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
            mapped.find_mapping(address).ok_or(BAD)?;
            Access::None
        }
        _ => return Err(BAD),
    };
    flags.set(c_ulonglong::from(flags_of(access).0))
}

fn flags_of(access: Access) -> CUmemAccess_flags {
    use CUmemAccess_flags as F;
    match access {
        Access::None => F::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        Access::Read => F::CU_MEM_ACCESS_FLAGS_PROT_READ,
        Access::Write => F::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    }
}

fn properties(
    call: &Call<'_>,
    place: Out<CUmemAllocationProp>,
    handle: CUmemGenericAllocationHandle,
) -> Reply {
    place.check()?;
    let physical = call.machine.space.mapped().physical(handle)?;
    place.set(CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: if physical.exportable {
            FILE
        } else {
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE
        },
        location: device_location(physical.device),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: CUmemAllocationProp_st__bindgen_ty_1::default(),
    })
}

fn retain(
    call: &Call<'_>,
    handle: Out<CUmemGenericAllocationHandle>,
    address: *mut c_void,
) -> Reply {
    handle.check()?;
    let mapped = call.machine.space.mapped();
    handle.set(mapped.retain(address.addr() as u64)?)
}

/// The caller owns the file descriptor, as many times as it asks.
#[cfg(target_os = "linux")]
fn export(
    call: &Call<'_>,
    place: Out<c_void>,
    handle: CUmemGenericAllocationHandle,
    kind: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> Reply {
    use std::os::fd::IntoRawFd;
    place.check()?;
    let physical = call.machine.space.mapped().physical(handle)?;
    let file = physical.pages.file();
    let Some(file) = file.filter(|_| kind == FILE && flags == 0 && physical.exportable) else {
        return Err(BAD);
    };
    let file = file.try_clone_to_owned();
    let file = file.map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)?;
    place.set_as::<c_int>(file.into_raw_fd())
}

/// The file descriptor stays the caller's.
#[cfg(target_os = "linux")]
fn import(
    call: &Call<'_>,
    place: Out<CUmemGenericAllocationHandle>,
    file: *mut c_void,
    kind: CUmemAllocationHandleType,
) -> Reply {
    use std::os::fd::BorrowedFd;
    place.check()?;
    if kind != FILE {
        return Err(MISSING);
    }
    // The number is in the pointer's place.
    let number = c_int::try_from(file.addr()).map_err(|_| BAD)?;
    // SAFETY: the caller says that the number is an open file's, and it is not -1. If it is
    // wrong, all that happens to it here is that it cannot be duplicated.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    // As an H200 answers for a number that is no file.
    let file = file.try_clone_to_owned();
    let (pages, name) = file
        .map_err(|_| CUresult::CUDA_ERROR_UNKNOWN)
        .and_then(|file| Pages::adopt(file).ok_or(BAD))?;
    let device = name.strip_prefix(NAME).and_then(|rest| rest.parse().ok());
    let device = call.machine.device(device.ok_or(BAD)?)?.ordinal;
    if !pages.len().is_multiple_of(PAGE) {
        return Err(BAD);
    }
    let handle = call.machine.new_handle();
    call.machine.space.mapped().import(handle, device, pages);
    place.set(handle)
}

#[cfg(not(target_os = "linux"))]
fn export(
    call: &Call<'_>,
    _: Out<c_void>,
    _: CUmemGenericAllocationHandle,
    _: CUmemAllocationHandleType,
    _: c_ulonglong,
) -> Reply {
    missing(call, "a shareable handle")
}

#[cfg(not(target_os = "linux"))]
fn import(
    call: &Call<'_>,
    _: Out<CUmemGenericAllocationHandle>,
    _: *mut c_void,
    _: CUmemAllocationHandleType,
) -> Reply {
    missing(call, "a shareable handle")
}

functions! {
    Initialized {
        cuMemAddressReserve: (place: *mut CUdeviceptr, len: usize, align: usize,
            wanted: CUdeviceptr, flags: c_ulonglong) = reserve;
        cuMemAddressFree: (address: CUdeviceptr, len: usize) = unreserve;
        cuMemGetAllocationGranularity: (bytes: *mut usize, properties: *const CUmemAllocationProp,
            option: CUmemAllocationGranularity_flags) = granularity;
        cuMemCreate: (place: *mut CUmemGenericAllocationHandle, len: usize,
            properties: *const CUmemAllocationProp, flags: c_ulonglong) = create;
        cuMemRelease: (handle: CUmemGenericAllocationHandle) = release;
        cuMemMap: (address: CUdeviceptr, len: usize, offset: usize,
            handle: CUmemGenericAllocationHandle, flags: c_ulonglong) = map;
        cuMemUnmap: (address: CUdeviceptr, len: usize) = unmap;
        cuMemSetAccess: (address: CUdeviceptr, len: usize, descriptions: *const CUmemAccessDesc,
            count: usize) = set_access;
        cuMemGetAccess: (flags: *mut c_ulonglong, location: *const CUmemLocation,
            address: CUdeviceptr) = get_access;
        cuMemGetAllocationPropertiesFromHandle: (place: *mut CUmemAllocationProp,
            handle: CUmemGenericAllocationHandle) = properties;
        cuMemRetainAllocationHandle: (handle: *mut CUmemGenericAllocationHandle,
            address: *mut c_void) = retain;
        cuMemExportToShareableHandle: (place: *mut c_void, handle: CUmemGenericAllocationHandle,
            kind: CUmemAllocationHandleType, flags: c_ulonglong) = export;
        cuMemImportFromShareableHandle: (place: *mut CUmemGenericAllocationHandle,
            file: *mut c_void, kind: CUmemAllocationHandleType) = import;
    }
}
