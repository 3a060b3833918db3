//! Managed memory: one address for host and devices.
//!
//! It is host memory that kernels reach, like page-locked memory, so it is coherent at
//! all times and never moves. Advice and prefetches are checked and kept for the queries;
//! attaching memory to a stream matters only to devices without concurrent access.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply, Slots};
use crate::device::calls::call::Call;
use crate::device::memory::{Advice, Block, Location, Place, allocate_managed};

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The host, where a device's number is expected.
const HOST: c_int = -1;
/// No device.
const NOWHERE: c_int = -2;

const GLOBAL: c_uint = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
const HOST_ONLY: c_uint = CUmemAttach_flags::CU_MEM_ATTACH_HOST.0;
const SINGLE: c_uint = CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;

fn alloc(call: &Call<'_>, place: Out<CUdeviceptr>, len: usize, flags: c_uint) -> Reply {
    place.check()?;
    if flags != GLOBAL && flags != HOST_ONLY {
        return Err(INVALID);
    }
    let context = call.context()?;
    place.set(allocate_managed(&context, len, None)?.address)
}

/// Managed memory that a call names: an offset in a block, and a length that is not zero.
struct Range {
    block: Arc<Block>,
    offset: u64,
    len: u64,
}

impl Range {
    fn find(call: &Call<'_>, address: CUdeviceptr, len: usize) -> Reply<Self> {
        let len = len as u64;
        match call.machine.space.find(address) {
            Some(Place::Device(block))
                if block.managed.is_some() && len > 0 && block.holds(address, len) =>
            {
                let offset = address - block.address;
                Ok(Self { block, offset, len })
            }
            _ => Err(INVALID),
        }
    }

    fn change(&self, f: impl Fn(&mut Advice)) {
        if let Some(advices) = &self.block.managed {
            advices.change(self.offset, self.len, f);
        }
    }

    fn common<T: PartialEq>(&self, f: impl Fn(&Advice) -> T) -> Option<T> {
        let advices = self.block.managed.as_ref()?;
        advices.common(self.offset, self.len, f)
    }

    fn all(&self, f: impl Fn(&Advice) -> u32) -> u32 {
        let advices = self.block.managed.as_ref();
        advices.map_or(0, |advices| advices.all(self.offset, self.len, f))
    }
}

/// A place that the first forms of these functions name: a device, or -1 for the host.
fn by_number(call: &Call<'_>, number: CUdevice) -> Reply<Location> {
    match number {
        HOST => Ok(Location::Host),
        _ => Ok(Location::Device(call.machine.device(number)?.ordinal)),
    }
}

/// The host has one node, 0.
fn by_location(call: &Call<'_>, location: CUmemLocation) -> Reply<Location> {
    use CUmemLocationType as T;
    // SAFETY: every bit pattern of the union is an `id`.
    let id = unsafe { location.__bindgen_anon_1.id };
    match location.type_ {
        T::CU_MEM_LOCATION_TYPE_DEVICE => Ok(Location::Device(call.machine.device(id)?.ordinal)),
        T::CU_MEM_LOCATION_TYPE_HOST => Ok(Location::Host),
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA if id == 0 => Ok(Location::Numa(0)),
        T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(Location::Numa(0)),
        _ => Err(INVALID),
    }
}

/// Nothing moves, so nothing goes into the stream. The stream must be good all the same.
fn prefetch_to(
    call: &Call<'_>,
    (address, len): (CUdeviceptr, usize),
    location: Location,
    stream: CUstream,
) -> Reply {
    let (context, stream) = call.stream(stream)?;
    context.check_uncaptured(&stream)?;
    let range = Range::find(call, address, len)?;
    range.change(|advice| advice.prefetched = Some(location));
    Ok(())
}

fn prefetch(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    device: CUdevice,
    stream: CUstream,
) -> Reply {
    prefetch_to(call, (address, len), by_number(call, device)?, stream)
}

fn prefetch_v2(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    location: CUmemLocation,
    flags: c_uint,
    stream: CUstream,
) -> Reply {
    if flags != 0 {
        return Err(INVALID);
    }
    prefetch_to(call, (address, len), by_location(call, location)?, stream)
}

/// Keeps advice; `location` is asked for only if the advice has one.
fn advise_for(
    call: &Call<'_>,
    (address, len): (CUdeviceptr, usize),
    advice: CUmem_advise,
    location: impl Fn() -> Reply<Location>,
) -> Reply {
    use CUmem_advise as A;
    let range = Range::find(call, address, len)?;
    match advice {
        A::CU_MEM_ADVISE_SET_READ_MOSTLY | A::CU_MEM_ADVISE_UNSET_READ_MOSTLY => {
            let on = advice == A::CU_MEM_ADVISE_SET_READ_MOSTLY;
            range.change(|advice| advice.read_mostly = on);
        }
        A::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => {
            let location = location()?;
            range.change(|advice| advice.preferred = Some(location));
        }
        A::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => range.change(|advice| advice.preferred = None),
        A::CU_MEM_ADVISE_SET_ACCESSED_BY | A::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
            let on = advice == A::CU_MEM_ADVISE_SET_ACCESSED_BY;
            match location()? {
                Location::Device(ordinal) => range.change(|advice| {
                    let bit = 1 << ordinal;
                    advice.accessed_by = advice.accessed_by & !bit | if on { bit } else { 0 };
                }),
                Location::Host => range.change(|advice| advice.accessed_by_host = on),
                Location::Numa(_) => return Err(INVALID),
            }
        }
        _ => return Err(INVALID),
    }
    Ok(())
}

fn advise(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    advice: CUmem_advise,
    device: CUdevice,
) -> Reply {
    advise_for(call, (address, len), advice, || by_number(call, device))
}

fn advise_v2(
    call: &Call<'_>,
    address: CUdeviceptr,
    len: usize,
    advice: CUmem_advise,
    location: CUmemLocation,
) -> Reply {
    advise_for(call, (address, len), advice, || by_location(call, location))
}

/// The number that stands for a place, or for none.
fn number(location: Option<Location>) -> c_int {
    match location {
        Some(Location::Device(ordinal)) => ordinal as c_int,
        Some(Location::Host | Location::Numa(_)) => HOST,
        None => NOWHERE,
    }
}

fn kind(location: Option<Location>) -> CUmemLocationType {
    use CUmemLocationType as T;
    match location {
        Some(Location::Device(_)) => T::CU_MEM_LOCATION_TYPE_DEVICE,
        Some(Location::Host) => T::CU_MEM_LOCATION_TYPE_HOST,
        Some(Location::Numa(_)) => T::CU_MEM_LOCATION_TYPE_HOST_NUMA,
        None => T::CU_MEM_LOCATION_TYPE_INVALID,
    }
}

/// The number that goes with [`kind`]; it means nothing for the host as a whole.
fn id(location: Option<Location>) -> c_int {
    match location {
        Some(Location::Device(ordinal)) => ordinal as c_int,
        Some(Location::Numa(node)) => node,
        Some(Location::Host) | None => 0,
    }
}

/// An attribute of a range: every one is made of 32-bit numbers. A list may be shorter than
/// `count`: no device follows.
fn answers(range: &Range, attribute: CUmem_range_attribute, count: usize) -> Reply<Vec<c_int>> {
    use CUmem_range_attribute as A;
    let preferred = || range.common(|advice| advice.preferred).flatten();
    let prefetched = || range.common(|advice| advice.prefetched).flatten();
    let one = match attribute {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            c_int::from(range.common(|advice| advice.read_mostly) == Some(true))
        }
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => number(preferred()),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => kind(preferred()).0.cast_signed(),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => id(preferred()),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => number(prefetched()),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => kind(prefetched()).0.cast_signed(),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => id(prefetched()),
        A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            let devices = range.all(|advice| advice.accessed_by);
            let named = (0..u32::BITS).filter(|ordinal| devices >> ordinal & 1 == 1);
            let mut named: Vec<_> = named.map(u32::cast_signed).collect();
            if range.common(|advice| advice.accessed_by_host) == Some(true) {
                named.push(HOST);
            }
            return Ok(named);
        }
        _ => return Err(INVALID),
    };
    if count == 1 {
        Ok(vec![one])
    } else {
        Err(INVALID)
    }
}

fn answer(
    range: &Range,
    data: Out<c_void>,
    bytes: usize,
    attribute: CUmem_range_attribute,
) -> Reply {
    data.check()?;
    let size = size_of::<c_int>();
    if bytes == 0 || !bytes.is_multiple_of(size) {
        return Err(INVALID);
    }
    let places: Slots<c_int> = data.slots();
    let count = bytes / size;
    let answers = answers(range, attribute, count)?;
    (0..count).try_for_each(|index| {
        let value = answers.get(index).copied();
        places.put(index, value.unwrap_or(NOWHERE))
    })
}

fn range_attribute(
    call: &Call<'_>,
    data: Out<c_void>,
    bytes: usize,
    attribute: CUmem_range_attribute,
    address: CUdeviceptr,
    len: usize,
) -> Reply {
    let range = Range::find(call, address, len)?;
    answer(&range, data, bytes, attribute)
}

fn range_attributes(
    call: &Call<'_>,
    data: In<*mut c_void>,
    sizes: In<usize>,
    attributes: In<CUmem_range_attribute>,
    count: usize,
    address: CUdeviceptr,
    len: usize,
) -> Reply {
    if count == 0 {
        return Err(INVALID);
    }
    let range = Range::find(call, address, len)?;
    (0..count).try_for_each(|index| {
        let place = Out::of(data.at(index)?);
        answer(&range, place, sizes.at(index)?, attributes.at(index)?)
    })
}

/// All devices have concurrent access, so that the association has no effect on any.
fn attach(
    call: &Call<'_>,
    stream: CUstream,
    address: CUdeviceptr,
    len: usize,
    flags: c_uint,
) -> Reply {
    let (context, target) = call.stream(stream)?;
    context.check_uncaptured(&target)?;
    match flags {
        GLOBAL | HOST_ONLY => {}
        // A default stream is no stream of its own.
        SINGLE if stream.addr() > 2 => {}
        _ => return Err(INVALID),
    }
    let range = Range::find(call, address, 1)?;
    if len != 0 && len as u64 != range.block.len {
        return Err(INVALID);
    }
    Ok(())
}

functions! {
    Initialized {
        cuMemAllocManaged: (place: *mut CUdeviceptr, len: usize, flags: c_uint) = alloc;
        cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz: (address: CUdeviceptr, len: usize,
            device: CUdevice, stream: CUstream) = prefetch;
        cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz: (address: CUdeviceptr, len: usize,
            location: CUmemLocation, flags: c_uint, stream: CUstream) = prefetch_v2;
        cuMemAdvise: (address: CUdeviceptr, len: usize, advice: CUmem_advise, device: CUdevice)
            = advise;
        cuMemAdvise_v2: (address: CUdeviceptr, len: usize, advice: CUmem_advise,
            location: CUmemLocation) = advise_v2;
        cuMemRangeGetAttribute: (data: *mut c_void, bytes: usize,
            attribute: CUmem_range_attribute, address: CUdeviceptr, len: usize)
            = range_attribute;
        cuMemRangeGetAttributes: (data: *mut *mut c_void, sizes: *mut usize,
            attributes: *mut CUmem_range_attribute, count: usize, address: CUdeviceptr,
            len: usize) = range_attributes;
        cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz: (stream: CUstream,
            address: CUdeviceptr, len: usize, flags: c_uint) = attach;
    }
}
