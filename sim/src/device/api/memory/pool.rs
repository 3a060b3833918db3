//! Memory pools.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::machine::Device;
use crate::device::memory::{Access, Pool, PoolLimits};
use crate::device::sync::{read, write};

fn default_pool(call: &Call<'_>, pool: Out<CUmemoryPool>, device: CUdevice) -> Reply {
    pool.set(pointer(call.machine.device(device)?.default_pool))
}

fn pool(call: &Call<'_>, pool: Out<CUmemoryPool>, device: CUdevice) -> Reply {
    let device = call.machine.device(device)?;
    pool.set(pointer(device.current_pool.load(Ordering::Acquire)))
}

fn set_pool(call: &Call<'_>, device: CUdevice, pool: CUmemoryPool) -> Reply {
    let device = call.machine.device(device)?;
    let handle = pool.addr() as u64;
    // This lock keeps the pool from being destroyed before it is the current one: a destroy
    // makes the default pool the current one again.
    let pools = read(&call.machine.pools);
    if pools.get(&handle) != Some(&device.ordinal) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    device.current_pool.store(handle, Ordering::Release);
    Ok(())
}

fn create(call: &Call<'_>, pool: Out<CUmemoryPool>, props: In<CUmemPoolProps>) -> Reply {
    pool.check()?;
    let props = props.get()?;
    let kind = (props.allocType.0, props.location.type_.0);
    if kind.0 == 0 || kind.1 == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let missing = if props.allocType != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
        || props.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE
    {
        Some("a pool of managed memory or of the host's")
    } else if props.handleTypes != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE {
        Some("a pool for other processes")
    } else {
        None
    };
    if let Some(what) = missing {
        call.machine
            .messages
            .add(format!("{what} is asked for: not supported"));
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    // SAFETY: every bit pattern of the union is an `id`, and the location is a device.
    let ordinal = unsafe { props.location.__bindgen_anon_1.id };
    let device = call.machine.device(ordinal)?;
    let handle = call.machine.new_handle();
    let max_size = props.maxSize as u64;
    device.account.add_pool(
        handle,
        PoolLimits {
            max_size,
            threshold: 0,
            reuse: [1; 3],
        },
    );
    write(&call.machine.pools).insert(handle, device.ordinal);
    pool.set(pointer(handle))
}

/// Memory in use stays until it is freed. A device whose current pool goes takes its
/// default pool again.
fn destroy(call: &Call<'_>, pool: CUmemoryPool) -> Reply {
    let handle = pool.addr() as u64;
    let device = call.machine.pool_device(handle)?;
    if handle == device.default_pool {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let mut pools = write(&call.machine.pools);
    if pools.remove(&handle).is_none() {
        // Another thread has destroyed it meanwhile.
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    device.account.close_pool(handle);
    for device in &call.machine.devices {
        let (new, order) = (device.default_pool, Ordering::AcqRel);
        // Not the current one: nothing to do.
        let _ = device
            .current_pool
            .compare_exchange(handle, new, order, Ordering::Acquire);
    }
    Ok(())
}

fn trim(call: &Call<'_>, pool: CUmemoryPool, keep: usize) -> Reply {
    let handle = pool.addr() as u64;
    let device = call.machine.pool_device(handle)?;
    device
        .account
        .trim(handle, keep as u64)
        .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

type Attribute = CUmemPool_attribute;

/// Which of the three reuse policies an attribute is.
fn reuse_index(attribute: Attribute) -> Option<usize> {
    match attribute {
        Attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => Some(0),
        Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => Some(1),
        Attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => Some(2),
        _ => None,
    }
}

fn get(call: &Call<'_>, pool: CUmemoryPool, attribute: Attribute, value: Out<c_void>) -> Reply {
    let handle = pool.addr() as u64;
    let device = call.machine.pool_device(handle)?;
    let state = device.account.pool(handle, |pool| pool.clone());
    let state = state.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if let Some(index) = reuse_index(attribute) {
        return value.set_as::<c_int>(state.limits.reuse[index]);
    }
    value.set_as::<cuuint64_t>(match attribute {
        Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => state.limits.threshold,
        Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => state.reserved,
        Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => state.reserved_high,
        Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => state.used,
        Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH => state.used_high,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    })
}

fn set(call: &Call<'_>, pool: CUmemoryPool, attribute: Attribute, value: Out<c_void>) -> Reply {
    let handle = pool.addr() as u64;
    let device = call.machine.pool_device(handle)?;
    let done = if let Some(index) = reuse_index(attribute) {
        let on = c_int::from(value.get_as::<c_int>()? != 0);
        device
            .account
            .pool(handle, |pool| pool.limits.reuse[index] = on)
    } else {
        let number = value.get_as::<cuuint64_t>()?;
        match (attribute, number) {
            (Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, _) => device
                .account
                .pool(handle, |pool| pool.limits.threshold = number),
            // The peaks can only be set back.
            (Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0) => device
                .account
                .pool(handle, |pool| pool.reserved_high = pool.reserved),
            (Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0) => device
                .account
                .pool(handle, |pool| pool.used_high = pool.used),
            _ => None,
        }
    };
    done.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// The device that a location is; no other place has access of its own.
fn located<'m>(call: &Call<'m>, location: CUmemLocation) -> Reply<&'m Device> {
    if location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: every bit pattern of the union is an `id`, and the location is a device.
    let ordinal = unsafe { location.__bindgen_anon_1.id };
    call.machine.device(ordinal).map(|device| &**device)
}

fn access(
    call: &Call<'_>,
    flags: Out<CUmemAccess_flags>,
    pool: CUmemoryPool,
    location: In<CUmemLocation>,
) -> Reply {
    let handle = pool.addr() as u64;
    let own = call.machine.pool_device(handle)?;
    let device = located(call, location.get()?)?;
    if device.ordinal == own.ordinal {
        return flags.set(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    let access = own
        .account
        .pool(handle, |pool| pool.access.get(device.ordinal));
    flags.set(match access.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)? {
        Access::None => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        Access::Read => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
        Access::Write => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    })
}

/// All or nothing. The pool's own device keeps its access; others need a link.
fn set_access(
    call: &Call<'_>,
    pool: CUmemoryPool,
    map: In<CUmemAccessDesc>,
    count: usize,
) -> Reply {
    let handle = pool.addr() as u64;
    let own = call.machine.pool_device(handle)?;
    let mut changes = Vec::new();
    for index in 0..count {
        let wanted = map.at(index)?;
        let device = located(call, wanted.location)?;
        let access = match wanted.flags {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Access::None,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Access::Read,
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Access::Write,
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        if device.ordinal == own.ordinal {
            if access != Access::Write {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
        } else if access != Access::None && !call.machine.can_access(device, own) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        } else {
            changes.push((device.ordinal, access));
        }
    }
    let change = |pool: &mut Pool| {
        let set = |(device, access)| pool.access.set(device, access);
        changes.into_iter().for_each(set);
    };
    let done = own.account.pool(handle, change);
    done.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

functions! {
    Initialized {
        cuDeviceGetDefaultMemPool: (pool: *mut CUmemoryPool, device: CUdevice) = default_pool;
        cuDeviceGetMemPool: (pool: *mut CUmemoryPool, device: CUdevice) = pool;
        cuDeviceSetMemPool: (device: CUdevice, pool: CUmemoryPool) = set_pool;
        cuMemPoolCreate: (pool: *mut CUmemoryPool, props: *const CUmemPoolProps) = create;
        cuMemPoolDestroy: (pool: CUmemoryPool) = destroy;
        cuMemPoolTrimTo: (pool: CUmemoryPool, keep: usize) = trim;
        cuMemPoolGetAttribute: (pool: CUmemoryPool, attribute: CUmemPool_attribute,
            value: *mut c_void) = get;
        cuMemPoolSetAttribute: (pool: CUmemoryPool, attribute: CUmemPool_attribute,
            value: *mut c_void) = set;
        cuMemPoolSetAccess: (pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize)
            = set_access;
        cuMemPoolGetAccess: (flags: *mut CUmemAccess_flags, pool: CUmemoryPool,
            location: *mut CUmemLocation) = access;
    }
}
