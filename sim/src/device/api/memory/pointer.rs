//! What a pointer points to.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::memory::{Access, Accessor, Place};

/// Writes one attribute.
///
/// # Errors
/// The pointer has no such attribute, or the attribute is not modelled.
fn give(
    call: &Call<'_>,
    value: Out<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
    place: &Place,
) -> Reply {
    use CUpointer_attribute as A;
    const NONE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    // What is mapped there may have gone since the place was found.
    let mapping = || {
        let mapping = call.machine.space.mapped().find_mapping(address);
        mapping.ok_or(NONE)
    };
    let mapped = matches!(place, Place::Mapped(_));
    let (context, device, id, start, len) = match place {
        Place::Device(b) => (b.context, b.device, b.id, b.address, b.len),
        Place::Pinned(r) => (r.context, r.device, r.id, r.address, r.len),
        // It belongs to no context, and the range is the reservation.
        Place::Mapped(_) => {
            let mapping = mapping()?;
            let (start, len) = mapping.reserved;
            (0, mapping.device, mapping.id, start, len)
        }
    };
    let block = match place {
        Place::Device(block) => Some(block),
        Place::Pinned(_) | Place::Mapped(_) => None,
    };
    let pool = block.and_then(|block| block.pool);
    let managed = block.is_some_and(|block| block.managed.is_some());
    match attribute {
        A::CU_POINTER_ATTRIBUTE_CONTEXT => {
            // Memory of a pool belongs to no context.
            value.set_as::<CUcontext>(pointer(if pool.is_some() { 0 } else { context }))
        }
        // Managed memory is the device's own to those who ask.
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => value.set_as::<c_uint>(match place {
            Place::Device(_) | Place::Mapped(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE.0,
            Place::Pinned(_) => CUmemorytype::CU_MEMORYTYPE_HOST.0,
        }),
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => match access(call, place)? {
            Access::None => Err(NONE),
            Access::Read | Access::Write => value.set_as::<CUdeviceptr>(address),
        },
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => match block {
            Some(_) if !managed => Err(NONE),
            None if mapped => Err(NONE),
            _ => value.set_as::<*mut c_void>(place.host(address).cast()),
        },
        A::CU_POINTER_ATTRIBUTE_BUFFER_ID | A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => {
            value.set_as::<c_ulonglong>(id)
        }
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => value.set_as::<c_int>(device as c_int),
        A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR if mapped => {
            value.set_as::<CUdeviceptr>(mapping()?.base)
        }
        A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE if mapped => {
            value.set_as::<usize>(usize::try_from(mapping()?.len).unwrap_or(usize::MAX))
        }
        A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES if mapped => {
            value.set_as::<c_ulonglong>(u64::from(mapping()?.exportable))
        }
        A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR | A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => {
            value.set_as::<CUdeviceptr>(start)
        }
        A::CU_POINTER_ATTRIBUTE_RANGE_SIZE | A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => {
            value.set_as::<usize>(usize::try_from(len).unwrap_or(usize::MAX))
        }
        A::CU_POINTER_ATTRIBUTE_IS_MANAGED => value.set_as::<bool>(managed),
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            let set = block.is_some_and(|block| block.sync_memops.load(Ordering::Acquire));
            value.set_as::<bool>(set)
        }
        A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
            let shares = call
                .machine
                .devices
                .get(device)
                .is_some_and(|device| device.config.kind().shares_memory());
            value.set_as::<bool>(shares && block.is_some_and(|block| block.can_export()))
        }
        A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => value.set_as::<bool>(false),
        A::CU_POINTER_ATTRIBUTE_MAPPED => value.set_as::<bool>(true),
        A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => value.set_as::<c_ulonglong>(0),
        A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
            use CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS as F;
            let flags = match access(call, place)? {
                Access::None => F::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE,
                Access::Read => F::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ,
                Access::Write => F::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE,
            };
            value.set_as::<c_uint>(flags.0)
        }
        A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            value.set_as::<CUmemoryPool>(pointer(pool.unwrap_or(0)))
        }
        A::CU_POINTER_ATTRIBUTE_P2P_TOKENS => {
            let text = "CU_POINTER_ATTRIBUTE_P2P_TOKENS: no kernel module knows the software \
                        device's memory";
            call.machine.messages.add(text.to_owned());
            Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
        }
        _ => Err(NONE),
    }
}

/// What kernels of the current context may do with the memory.
fn access(call: &Call<'_>, place: &Place) -> Reply<Access> {
    let context = call.context()?;
    Ok(Accessor::new(&context.device, &context.health).access(place))
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Reply {
    value.check()?;
    let place = call
        .machine
        .space
        .find(address)
        .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    give(call, value, attribute, address, &place)
}

/// One attribute can be set. What was begun before waits too: for a copy that runs, that is
/// the end of all work of the memory's context.
fn set_attribute(
    call: &Call<'_>,
    value: In<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Reply {
    const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
    call.context()?;
    if attribute != CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
        return Err(INVALID);
    }
    let on = value.get_as::<c_uint>()? != 0;
    let Some(Place::Device(block)) = call.machine.space.find(address) else {
        return Err(INVALID);
    };
    block.sync_memops.store(on, Ordering::Release);
    if on && let Some(owner) = call.machine.context(block.context) {
        owner.wait_idle();
    }
    Ok(())
}

/// Unlike the single question, a pointer that is not known is no error here: what has a
/// value that means nothing gets it, and the rest is left alone, as an H200 does.
fn attributes(
    call: &Call<'_>,
    count: c_uint,
    attributes: In<CUpointer_attribute>,
    values: In<*mut c_void>,
    address: CUdeviceptr,
) -> Reply {
    use CUpointer_attribute as A;
    let place = call.machine.space.find(address);
    for index in 0..count as usize {
        let (attribute, value) = (attributes.at(index)?, Out::of(values.at(index)?));
        value.check()?;
        if let Some(place) = &place
            && give(call, value, attribute, address, place).is_ok()
        {
            continue;
        }
        match attribute {
            A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => value.set_as::<c_uint>(0)?,
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => value.set_as::<c_int>(-2)?,
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED | A::CU_POINTER_ATTRIBUTE_MAPPED => {
                value.set_as::<bool>(false)?;
            }
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER if place.is_none() => {
                value.set_as::<u64>(address)?;
            }
            A::CU_POINTER_ATTRIBUTE_CONTEXT
            | A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER
            | A::CU_POINTER_ATTRIBUTE_HOST_POINTER => value.set_as::<u64>(0)?,
            other
                if (1..=A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE.0).contains(&other.0) => {}
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok(())
}

functions! {
    Initialized {
        cuPointerGetAttribute: (value: *mut c_void, attribute: CUpointer_attribute,
            address: CUdeviceptr) = attribute;
        cuPointerSetAttribute: (value: *const c_void, attribute: CUpointer_attribute,
            address: CUdeviceptr) = set_attribute;
        cuPointerGetAttributes: (count: c_uint, attributes: *mut CUpointer_attribute,
            values: *mut *mut c_void, address: CUdeviceptr) = attributes;
    }
}
