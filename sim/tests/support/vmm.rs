//! Virtual memory management calls, short.

use cupola_sys::driver::*;

use crate::support::{Code, code};

pub(crate) const PAGE: usize = 2 << 20;
pub(crate) const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
pub(crate) const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
pub(crate) const READ_WRITE: CUmemAccess_flags =
    CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

const OK: Code = CUresult::CUDA_SUCCESS;

fn result<T>(value: T, called: Result<(), DriverError>) -> Result<T, Code> {
    match code(called) {
        OK => Ok(value),
        code => Err(code),
    }
}

fn location(device: i32) -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        __bindgen_anon_1: CUmemLocation_st__bindgen_ty_1 { id: device },
    }
}

/// A driver. What cannot go wrong in a test panics if it does; the `try_` forms tell.
#[derive(Clone, Copy)]
pub(crate) struct Vmm<'a>(pub(crate) &'a Driver);

// All addresses and handles are checked by the device, and the places outlive the calls.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
impl Vmm<'_> {
    pub(crate) fn properties(device: i32) -> CUmemAllocationProp {
        CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: location(device),
            win32HandleMetaData: std::ptr::null_mut(),
            allocFlags: CUmemAllocationProp_st__bindgen_ty_1::default(),
        }
    }

    pub(crate) fn try_reserve(&self, len: usize, align: usize, wanted: u64) -> Result<u64, Code> {
        let mut base = 0;
        let called = unsafe {
            self.0
                .cuMemAddressReserve(&raw mut base, len, align, wanted, 0)
        };
        result(base, called)
    }

    pub(crate) fn reserve(&self, len: usize) -> u64 {
        self.try_reserve(len, 0, 0).unwrap()
    }

    pub(crate) fn try_unreserve(&self, base: u64, len: usize) -> Code {
        code(unsafe { self.0.cuMemAddressFree(base, len) })
    }

    pub(crate) fn unreserve(&self, base: u64, len: usize) {
        assert_eq!(self.try_unreserve(base, len), OK);
    }

    pub(crate) fn create_as(
        &self,
        properties: &CUmemAllocationProp,
        len: usize,
    ) -> Result<u64, Code> {
        let mut handle = 0;
        let called = unsafe { self.0.cuMemCreate(&raw mut handle, len, properties, 0) };
        result(handle, called)
    }

    pub(crate) fn try_create(&self, len: usize) -> Result<u64, Code> {
        self.create_as(&Self::properties(0), len)
    }

    pub(crate) fn create(&self, len: usize) -> u64 {
        self.try_create(len).unwrap()
    }

    pub(crate) fn try_release(&self, handle: u64) -> Code {
        code(unsafe { self.0.cuMemRelease(handle) })
    }

    pub(crate) fn release(&self, handle: u64) {
        assert_eq!(self.try_release(handle), OK);
    }

    pub(crate) fn try_map(&self, base: u64, len: usize, handle: u64) -> Code {
        code(unsafe { self.0.cuMemMap(base, len, 0, handle, 0) })
    }

    pub(crate) fn map(&self, base: u64, len: usize, handle: u64) {
        assert_eq!(self.try_map(base, len, handle), OK);
    }

    pub(crate) fn try_unmap(&self, base: u64, len: usize) -> Code {
        code(unsafe { self.0.cuMemUnmap(base, len) })
    }

    pub(crate) fn unmap(&self, base: u64, len: usize) {
        assert_eq!(self.try_unmap(base, len), OK);
    }

    pub(crate) fn try_access(
        &self,
        device: i32,
        base: u64,
        len: usize,
        flags: CUmemAccess_flags,
    ) -> Code {
        let description = CUmemAccessDesc {
            location: location(device),
            flags,
        };
        code(unsafe { self.0.cuMemSetAccess(base, len, &raw const description, 1) })
    }

    pub(crate) fn access_of(&self, device: i32, base: u64, len: usize, flags: CUmemAccess_flags) {
        assert_eq!(self.try_access(device, base, len, flags), OK);
    }

    pub(crate) fn access(&self, base: u64, len: usize, flags: CUmemAccess_flags) {
        self.access_of(0, base, len, flags);
    }

    pub(crate) fn get(&self, device: i32, address: u64) -> CUmemAccess_flags {
        let (mut flags, location) = (0, location(device));
        unsafe {
            self.0
                .cuMemGetAccess(&raw mut flags, &raw const location, address)
        }
        .unwrap();
        CUmemAccess_flags(u32::try_from(flags).unwrap())
    }

    pub(crate) fn retain(&self, address: u64) -> Result<u64, Code> {
        let mut handle = 0;
        let address = std::ptr::without_provenance_mut(address as usize);
        let called = unsafe { self.0.cuMemRetainAllocationHandle(&raw mut handle, address) };
        result(handle, called)
    }

    /// A buffer over that many pages, each with a handle of its own, readable and writable.
    pub(crate) fn buffer(&self, pages: usize) -> (u64, Vec<u64>) {
        let base = self.reserve(pages * PAGE);
        let handles: Vec<_> = (0..pages).map(|_| self.create(PAGE)).collect();
        for (page, handle) in handles.iter().enumerate() {
            self.map(base + (page * PAGE) as u64, PAGE, *handle);
        }
        self.access(base, pages * PAGE, READ_WRITE);
        (base, handles)
    }

    pub(crate) fn drop_buffer(&self, base: u64, handles: &[u64]) {
        let len = handles.len() * PAGE;
        self.unmap(base, len);
        handles.iter().for_each(|handle| self.release(*handle));
        self.unreserve(base, len);
    }
}
