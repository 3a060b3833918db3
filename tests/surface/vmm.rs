//! Virtual memory management. Every code that is expected here was seen on an H200.

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const PAGE: usize = 2 << 20;
const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
const FILE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

fn code(called: Result<(), DriverError>) -> CUresult {
    match called {
        Ok(()) => OK,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

fn location(device: i32) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 { id: device },
    }
}

fn properties(device: i32) -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: location(device),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: CUmemAllocationProp_st__bindgen_ty_1::default(),
    }
}

/// A device that has virtual memory management; `None`, with a line that says so, where
/// there is none.
fn open() -> Option<Raw> {
    let raw = Raw::open();
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    if raw.attribute(attribute) == 0 {
        eprintln!("skipped: the device has no virtual memory management");
        return None;
    }
    Some(raw)
}

// Addresses and handles are the driver's own and live, and places outlive the calls.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
impl Raw {
    fn try_reserve(&self, len: usize, align: usize, flags: u64) -> (CUresult, CUdeviceptr) {
        let mut base = 0;
        let d = &self.driver;
        let called = unsafe { d.cuMemAddressReserve(&raw mut base, len, align, 0, flags) };
        (code(called), base)
    }

    fn reserve(&self, len: usize) -> CUdeviceptr {
        let (code, base) = self.try_reserve(len, 0, 0);
        assert_eq!(code, OK);
        base
    }

    fn unreserve(&self, base: CUdeviceptr, len: usize) -> CUresult {
        code(unsafe { self.driver.cuMemAddressFree(base, len) })
    }

    fn try_create(&self, len: usize, properties: &CUmemAllocationProp) -> (CUresult, u64) {
        let mut handle = 0;
        let called = unsafe { self.driver.cuMemCreate(&raw mut handle, len, properties, 0) };
        (code(called), handle)
    }

    fn create(&self, len: usize) -> u64 {
        let (code, handle) = self.try_create(len, &properties(self.device));
        assert_eq!(code, OK);
        handle
    }

    fn release(&self, handle: u64) {
        assert_eq!(code(unsafe { self.driver.cuMemRelease(handle) }), OK);
    }

    fn map(&self, base: CUdeviceptr, len: usize, handle: u64) -> CUresult {
        code(unsafe { self.driver.cuMemMap(base, len, 0, handle, 0) })
    }

    fn unmap(&self, base: CUdeviceptr, len: usize) -> CUresult {
        code(unsafe { self.driver.cuMemUnmap(base, len) })
    }

    fn access(&self, base: CUdeviceptr, len: usize, flags: CUmemAccess_flags) -> CUresult {
        let description = CUmemAccessDesc {
            location: location(self.device),
            flags,
        };
        code(unsafe {
            self.driver
                .cuMemSetAccess(base, len, &raw const description, 1)
        })
    }

    fn accessible(&self, address: CUdeviceptr) -> Result<CUmemAccess_flags, CUresult> {
        let (mut flags, location) = (0, location(self.device));
        let called = unsafe {
            self.driver
                .cuMemGetAccess(&raw mut flags, &raw const location, address)
        };
        match code(called) {
            OK => Ok(CUmemAccess_flags(u32::try_from(flags).unwrap())),
            code => Err(code),
        }
    }

    fn retain(&self, address: CUdeviceptr) -> (CUresult, u64) {
        let mut handle = 0;
        let address = std::ptr::without_provenance_mut(address as usize);
        let called = unsafe {
            self.driver
                .cuMemRetainAllocationHandle(&raw mut handle, address)
        };
        (code(called), handle)
    }

    fn try_upload(&self, to: CUdeviceptr, bytes: &[u8]) -> CUresult {
        let d = &self.driver;
        code(unsafe { d.cuMemcpyHtoD_v2(to, bytes.as_ptr().cast(), bytes.len()) })
    }

    fn try_download(&self, from: CUdeviceptr, len: usize) -> CUresult {
        let mut bytes = vec![0u8; len];
        let d = &self.driver;
        code(unsafe { d.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), from, len) })
    }

    fn pointer<T: Default>(&self, attribute: CUpointer_attribute, address: CUdeviceptr) -> T {
        let mut value = T::default();
        unsafe {
            self.driver
                .cuPointerGetAttribute((&raw mut value).cast(), attribute, address)
        }
        .expect("a pointer attribute");
        value
    }

    /// Two mappings side by side in a reservation of eight pages: one page, and two.
    fn two(&self) -> (CUdeviceptr, [u64; 2]) {
        let base = self.reserve(8 * PAGE);
        let handles = [self.create(PAGE), self.create(2 * PAGE)];
        assert_eq!(self.map(base, PAGE, handles[0]), OK);
        assert_eq!(self.map(base + PAGE as u64, 2 * PAGE, handles[1]), OK);
        (base, handles)
    }

    fn end_two(&self, base: CUdeviceptr, handles: [u64; 2]) {
        assert_eq!(self.unmap(base, 8 * PAGE), OK);
        handles.iter().for_each(|handle| self.release(*handle));
        assert_eq!(self.unreserve(base, 8 * PAGE), OK);
    }
}

/// Without it, sizes that a real driver refuses would be accepted.
#[test]
fn everything_is_a_multiple_of_two_mebibytes() {
    use CUmemAllocationGranularity_flags as G;
    let Some(raw) = open() else { return };
    let wanted = properties(raw.device);
    let options = [
        G::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
        G::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
    ];
    for option in options {
        let mut bytes = 0;
        // SAFETY: the places outlive the call.
        let asked = unsafe {
            raw.driver
                .cuMemGetAllocationGranularity(&raw mut bytes, &raw const wanted, option)
        };
        assert_eq!((code(asked), bytes), (OK, PAGE));
    }
    for len in [0, 1, 4096, 65536, PAGE - 1, PAGE + 65536] {
        assert_eq!(raw.try_reserve(len, 0, 0).0, INVALID, "reserve {len}");
        assert_eq!(raw.try_create(len, &wanted).0, INVALID, "create {len}");
    }
}

/// Without it, alignments and flags of reservations would be ignored.
#[test]
fn reservations_are_aligned_and_freed_whole() {
    let Some(raw) = open() else { return };
    for align in [3, 3 * PAGE] {
        assert_eq!(raw.try_reserve(PAGE, align, 0).0, INVALID, "{align}");
    }
    assert_eq!(raw.try_reserve(PAGE, 0, 1).0, INVALID, "flags");
    for align in [4096, PAGE, 1 << 30] {
        let (code, base) = raw.try_reserve(PAGE, align, 0);
        assert_eq!((code, base % (align.max(PAGE) as u64)), (OK, 0));
        assert_eq!(raw.unreserve(base, PAGE), OK);
    }
    let base = raw.reserve(4 * PAGE);
    assert_eq!(raw.unreserve(base, 2 * PAGE), INVALID);
    assert_eq!(raw.unreserve(base + PAGE as u64, PAGE), INVALID);
    assert_eq!(raw.unreserve(base, 8 * PAGE), INVALID);
    let handle = raw.create(PAGE);
    assert_eq!(raw.map(base, PAGE, handle), OK);
    assert_eq!(raw.unreserve(base, 4 * PAGE), INVALID, "mapped");
    assert_eq!(raw.unmap(base, PAGE), OK);
    assert_eq!(raw.unreserve(base, 4 * PAGE), OK);
    assert_eq!(raw.unreserve(base, 4 * PAGE), INVALID, "again");
    assert_eq!(raw.unreserve(0, 0), INVALID);
    raw.release(handle);
}

/// Without it, properties that mean nothing would make memory.
#[test]
fn wrong_properties_are_refused() {
    let Some(raw) = open() else { return };
    let good = properties(raw.device);
    let mut bad = good;
    bad.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED;
    assert_eq!(raw.try_create(PAGE, &bad).0, INVALID);
    bad = good;
    bad.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID;
    assert_eq!(raw.try_create(PAGE, &bad).0, INVALID);
    bad = good;
    bad.location = location(99);
    let device = CUresult::CUDA_ERROR_INVALID_DEVICE;
    assert_eq!(raw.try_create(PAGE, &bad).0, device);
    bad = good;
    bad.allocFlags.reserved = [0, 1, 0, 0];
    assert_eq!(raw.try_create(PAGE, &bad).0, INVALID);
    let memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    assert_eq!(raw.try_create(1 << 45, &good).0, memory);
}

/// Without it, mappings could overlap, leave their reservation, or be of parts.
#[test]
fn mappings_are_whole_and_apart() {
    let Some(raw) = open() else { return };
    let base = raw.reserve(8 * PAGE);
    let page = PAGE as u64;
    let handle = raw.create(2 * PAGE);
    // SAFETY: the handle lives; addresses are checked.
    unsafe {
        let d = &raw.driver;
        for offset in [PAGE, 4096] {
            assert_eq!(code(d.cuMemMap(base, PAGE, offset, handle, 0)), UNSUPPORTED);
        }
        assert_eq!(code(d.cuMemMap(base, 2 * PAGE, 0, handle, 1)), INVALID);
    }
    assert_eq!(raw.map(base, PAGE, handle), UNSUPPORTED, "a part");
    assert_eq!(raw.map(base, 4 * PAGE, handle), UNSUPPORTED, "more");
    assert_eq!(raw.map(base + 4096, 2 * PAGE, handle), INVALID);
    assert_eq!(raw.map(0, 2 * PAGE, handle), INVALID);
    assert_eq!(raw.map(base, 2 * PAGE, handle), OK);
    assert_eq!(raw.map(base, 2 * PAGE, handle), INVALID, "twice");
    assert_eq!(raw.map(base + page, 2 * PAGE, handle), INVALID, "overlap");
    assert_eq!(raw.map(base + 4 * page, 2 * PAGE, handle), OK, "an alias");
    for (at, len) in [(0, 1), (1, 1), (1, 2), (3, 2), (0, 5)] {
        let unmapped = raw.unmap(base + at * page, len * PAGE);
        assert_eq!(unmapped, INVALID, "{len} pages from page {at}");
    }
    assert_eq!(raw.unmap(base, 0), INVALID);
    assert_eq!(raw.unmap(base + 1, PAGE), INVALID);
    assert_eq!(raw.unmap(base + 6 * page, 2 * PAGE), OK, "nothing is there");
    assert_eq!(raw.unmap(base, 8 * PAGE), OK, "both, with a gap between");
    raw.release(handle);
    assert_eq!(raw.unreserve(base, 8 * PAGE), OK);
}

/// Without it, memory mapped twice would be two memories.
#[test]
fn aliases_are_one_memory() {
    let Some(raw) = open() else { return };
    let base = raw.reserve(4 * PAGE);
    let handle = raw.create(PAGE);
    let other = base + 2 * PAGE as u64;
    assert_eq!(raw.map(base, PAGE, handle), OK);
    assert_eq!(raw.map(other, PAGE, handle), OK);
    assert_eq!(raw.access(base, PAGE, READ_WRITE), OK);
    assert_eq!(raw.access(other, PAGE, READ), OK);
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(raw.try_upload(base + 1000, &bytes), OK);
    assert_eq!(raw.download(other + 1000, 256), bytes);
    // The handle is not needed any more, and the memory outlives one of its mappings.
    raw.release(handle);
    assert_eq!(raw.unmap(base, PAGE), OK);
    assert_eq!(raw.download(other + 1000, 256), bytes);
    assert_eq!(raw.unmap(other, PAGE), OK);
    assert_eq!(raw.unreserve(base, 4 * PAGE), OK);
}

/// Without it, a buffer over several mappings could not be used as one.
#[test]
fn copies_and_memsets_cross_mappings() {
    let Some(raw) = open() else { return };
    let (base, handles) = raw.two();
    assert_eq!(raw.access(base, 3 * PAGE, READ_WRITE), OK);
    let bytes: Vec<u8> = (0..3 * PAGE as u32).map(|i| (i * 31 % 251) as u8).collect();
    assert_eq!(raw.try_upload(base, &bytes), OK);
    assert_eq!(raw.download(base, 3 * PAGE), bytes);
    let edge = base + PAGE as u64 - 64;
    // SAFETY: both ranges are mapped.
    unsafe {
        let d = &raw.driver;
        d.cuMemcpyDtoD_v2(base + 2 * PAGE as u64, edge, 128)
            .expect("copy");
        d.cuMemsetD32_v2(edge, 0x0102_0304, 32).expect("memset");
    }
    assert_eq!(
        raw.download(base + 2 * PAGE as u64, 128),
        bytes[PAGE - 64..PAGE + 64]
    );
    assert_eq!(raw.download(edge, 128), [4, 3, 2, 1].repeat(32));
    raw.end_two(base, handles);
}

/// Without it, memory could be accessed without access to it being set.
#[test]
fn access_is_what_was_set() {
    let Some(raw) = open() else { return };
    let (base, handles) = raw.two();
    let page = PAGE as u64;
    let bytes = [3u8; 64];
    assert_eq!(raw.accessible(base), Ok(NONE));
    assert_eq!(raw.accessible(base + 5 * page), Err(INVALID));
    assert_eq!(raw.access(base, 4 * PAGE, READ_WRITE), INVALID, "a gap");
    assert_eq!(raw.access(base + page, PAGE, READ_WRITE), INVALID, "a part");
    assert_eq!(raw.access(base, 4096, READ_WRITE), INVALID);
    assert_eq!(raw.access(base, 0, READ_WRITE), INVALID);
    for flags in [2, 4] {
        assert_eq!(raw.access(base, PAGE, CUmemAccess_flags(flags)), INVALID);
    }
    assert_eq!(raw.accessible(base), Ok(NONE), "nothing was changed");
    assert_eq!(raw.try_upload(base, &bytes), INVALID);
    assert_eq!(raw.try_download(base, 64), INVALID);
    assert_eq!(raw.access(base, 3 * PAGE, READ_WRITE), OK);
    assert_eq!(raw.access(base, PAGE, READ), OK);
    assert_eq!(raw.accessible(base), Ok(READ));
    assert_eq!(raw.accessible(base + page + 5), Ok(READ_WRITE));
    assert_eq!(raw.try_download(base, 64), OK);
    assert_eq!(raw.try_upload(base, &bytes), INVALID);
    // Over the edge between the two.
    assert_eq!(raw.try_download(base + page - 32, 64), OK);
    assert_eq!(raw.try_upload(base + page - 32, &bytes), INVALID);
    assert_eq!(
        raw.try_download(base + 2 * page, 2 * PAGE),
        INVALID,
        "over the end"
    );
    // SAFETY: device memory is checked.
    let set = code(unsafe { raw.driver.cuMemsetD8_v2(base, 1, 64) });
    assert_eq!(set, INVALID);
    // Mapped again, it is as new.
    assert_eq!(raw.unmap(base, PAGE), OK);
    assert_eq!(raw.accessible(base), Err(INVALID));
    assert_eq!(raw.map(base, PAGE, handles[0]), OK);
    assert_eq!(raw.accessible(base), Ok(NONE));
    raw.end_two(base, handles);
}

/// Without it, programs could not tell what a pointer of theirs is.
#[test]
fn pointers_know_their_mapping() {
    use CUpointer_attribute as A;
    let Some(raw) = open() else { return };
    let (base, handles) = raw.two();
    assert_eq!(raw.access(base, 3 * PAGE, READ_WRITE), OK);
    let (second, inside) = (base + PAGE as u64, base + PAGE as u64 + 5);
    let device = CUmemorytype::CU_MEMORYTYPE_DEVICE.0;
    assert_eq!(
        raw.pointer::<u32>(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
        device
    );
    assert_eq!(
        raw.pointer::<usize>(A::CU_POINTER_ATTRIBUTE_CONTEXT, inside),
        0
    );
    assert_eq!(
        raw.pointer::<u64>(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside),
        base
    );
    assert_eq!(
        raw.pointer::<usize>(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside),
        8 * PAGE
    );
    assert_eq!(
        raw.pointer::<u64>(A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside),
        second
    );
    assert_eq!(
        raw.pointer::<usize>(A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside),
        2 * PAGE
    );
    let (mut first, mut len) = (0, 0);
    // SAFETY: the places outlive the calls; the address is checked.
    unsafe {
        let d = &raw.driver;
        d.cuMemGetAddressRange_v2(&raw mut first, &raw mut len, inside)
            .expect("a range");
        assert_eq!((first, len), (second, 2 * PAGE));
        assert_eq!(code(d.cuMemFree_v2(base)), INVALID, "it was not allocated");
    }
    raw.end_two(base, handles);
}

/// Without it, a handle could be released while a mapping or another holder counts on it.
#[test]
fn handles_are_counted() {
    let Some(raw) = open() else { return };
    let base = raw.reserve(4 * PAGE);
    let handle = raw.create(2 * PAGE);
    assert_eq!(raw.map(base, 2 * PAGE, handle), OK);
    assert_eq!(raw.retain(base), (OK, handle));
    assert_eq!(raw.retain(base + PAGE as u64 + 5), (OK, handle));
    assert_eq!(raw.retain(base + 3 * PAGE as u64).0, INVALID);
    raw.release(handle);
    raw.release(handle);
    let mut told = properties(99);
    // SAFETY: the handle is held once, and the place outlives the call.
    unsafe {
        raw.driver
            .cuMemGetAllocationPropertiesFromHandle(&raw mut told, handle)
            .expect("properties");
        assert_eq!(told.location.__bindgen_anon_1.id, raw.device);
    }
    assert_eq!(
        told.location.type_,
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE
    );
    raw.release(handle);
    assert_eq!(raw.retain(base), (OK, handle), "the memory is mapped still");
    assert_eq!(raw.unmap(base, 2 * PAGE), OK);
    assert_eq!(raw.map(base, 2 * PAGE, handle), OK);
    raw.release(handle);
    assert_eq!(raw.unmap(base, 2 * PAGE), OK);
    assert_eq!(raw.unreserve(base, 4 * PAGE), OK);
}

/// Without it, memory could not go to another process, or would go there unasked.
#[cfg(target_os = "linux")]
#[test]
fn files_carry_memory() {
    use std::os::fd::{FromRawFd, OwnedFd};
    let Some(raw) = open() else { return };
    let attribute =
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED;
    if raw.attribute(attribute) == 0 {
        eprintln!("skipped: the device gives no file descriptors");
        return;
    }
    let export = |handle, kind, flags| {
        let mut file = -1i32;
        let place = (&raw mut file).cast();
        // SAFETY: the handle lives, and the place outlives the call.
        let called = unsafe {
            raw.driver
                .cuMemExportToShareableHandle(place, handle, kind, flags)
        };
        (code(called), file)
    };
    let import = |file: i32| {
        let mut handle = 0;
        let file = std::ptr::without_provenance_mut(file as usize);
        // SAFETY: the place outlives the call.
        let called = unsafe {
            raw.driver
                .cuMemImportFromShareableHandle(&raw mut handle, file, FILE)
        };
        (code(called), handle)
    };
    let plain = raw.create(PAGE);
    assert_eq!(export(plain, FILE, 0).0, INVALID, "it was not asked for");
    let mut wanted = properties(raw.device);
    wanted.requestedHandleTypes = FILE;
    let (made, shared) = raw.try_create(PAGE, &wanted);
    assert_eq!(made, OK);
    assert_eq!(export(shared, FILE, 1).0, INVALID, "flags");
    let fabric = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    assert_eq!(export(shared, fabric, 0).0, INVALID);
    let (exported, file) = export(shared, FILE, 0);
    assert_eq!(exported, OK);
    let (imported, again) = import(file);
    assert_eq!(imported, OK);
    assert_ne!(again, shared);
    // SAFETY: the driver gave the file to the caller.
    drop(unsafe { OwnedFd::from_raw_fd(file) });
    let base = raw.reserve(2 * PAGE);
    assert_eq!(raw.map(base, PAGE, shared), OK);
    assert_eq!(raw.map(base + PAGE as u64, PAGE, again), OK);
    assert_eq!(raw.access(base, 2 * PAGE, READ_WRITE), OK);
    assert_eq!(raw.try_upload(base, b"one memory"), OK);
    assert_eq!(raw.download(base + PAGE as u64, 10), b"one memory");
    assert_eq!(raw.unmap(base, 2 * PAGE), OK);
    assert_eq!(raw.unreserve(base, 2 * PAGE), OK);
    for handle in [plain, shared, again] {
        raw.release(handle);
    }
}

/// Without it, a manager of memory could not work before contexts, nor after them.
#[test]
fn no_context_is_needed() {
    let Some(raw) = open() else { return };
    // SAFETY: the context lives until the end.
    unsafe { raw.driver.cuCtxSetCurrent(std::ptr::null_mut()) }.expect("no context");
    let (base, handles) = raw.two();
    assert_eq!(raw.access(base, 3 * PAGE, READ_WRITE), OK);
    assert_eq!(raw.accessible(base), Ok(READ_WRITE));
    let context = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    assert_eq!(raw.try_upload(base, &[1]), context);
    raw.end_two(base, handles);
}
