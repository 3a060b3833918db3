//! What a pointer points to.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cupola_sys::driver::*;

use super::super::args::{In, Out, Reply};
use super::super::call::Call;
use super::super::memory::Place;
use super::context::pointer;
use super::functions;

/// Writes one attribute.
///
/// # Errors
/// The pointer has no such attribute, or the attribute is not modelled.
fn give(
    value: Out<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
    place: &Place,
) -> Reply {
    use CUpointer_attribute as A;
    let (context, device, id, start, len, pool) = match place {
        Place::Device(b) => (b.context, b.device, b.id, b.address, b.len, b.pool),
        Place::Pinned(r) => (r.context, r.device, r.id, r.address, r.len, None),
    };
    match attribute {
        A::CU_POINTER_ATTRIBUTE_CONTEXT => {
            // Memory of a pool belongs to no context.
            value.set_as::<CUcontext>(pointer(if pool.is_some() { 0 } else { context }))
        }
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => value.set_as::<c_uint>(match place {
            Place::Device(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE.0,
            Place::Pinned(_) => CUmemorytype::CU_MEMORYTYPE_HOST.0,
        }),
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => value.set_as::<CUdeviceptr>(address),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => match place {
            Place::Device(_) => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            Place::Pinned(range) => value.set_as::<*mut c_void>(range.host(address).cast()),
        },
        A::CU_POINTER_ATTRIBUTE_BUFFER_ID => value.set_as::<c_ulonglong>(id),
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => value.set_as::<c_int>(device as c_int),
        A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => value.set_as::<CUdeviceptr>(start),
        A::CU_POINTER_ATTRIBUTE_RANGE_SIZE => {
            value.set_as::<usize>(usize::try_from(len).unwrap_or(usize::MAX))
        }
        A::CU_POINTER_ATTRIBUTE_IS_MANAGED
        | A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
        | A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => value.set_as::<bool>(false),
        A::CU_POINTER_ATTRIBUTE_MAPPED => value.set_as::<bool>(true),
        A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => value.set_as::<c_uint>(
            CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS::CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE.0,
        ),
        A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            value.set_as::<CUmemoryPool>(pointer(pool.unwrap_or(0)))
        }
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
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
    give(value, attribute, address, &place)
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
            && give(value, attribute, address, place).is_ok()
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
            other if (1..=A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR.0).contains(&other.0) => {}
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok(())
}

functions! {
    Initialized {
        cuPointerGetAttribute: (value: *mut c_void, attribute: CUpointer_attribute,
            address: CUdeviceptr) = attribute;
        cuPointerGetAttributes: (count: c_uint, attributes: *mut CUpointer_attribute,
            values: *mut *mut c_void, address: CUdeviceptr) = attributes;
    }
}
