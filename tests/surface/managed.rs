//! Managed memory.

use cupola_sys::driver::*;

use crate::raw::Raw;

/// Whether the device has managed memory that the host may touch while kernels run.
fn available(raw: &Raw) -> bool {
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    let there = raw.attribute(attribute) == 1;
    if !there {
        eprintln!("skipped: the device has no concurrent access to managed memory");
    }
    there
}

// Without it host and device could see different bytes at one address.
#[test]
fn host_and_device_see_the_same_bytes() {
    let raw = Raw::open();
    if !available(&raw) {
        return;
    }
    let d = &raw.driver;
    let (mut at, mut managed) = (0, false);
    // SAFETY: the places outlive the calls, and the memory has 64 bytes, for the host too.
    unsafe {
        d.cuMemAllocManaged(&raw mut at, 64, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0)
            .unwrap();
        let bytes = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
        d.cuMemsetD8_v2(at, 7, 64).unwrap();
        assert_eq!(bytes.add(63).read_volatile(), 7);
        bytes.write_volatile(8);
        assert_eq!(raw.download(at, 64)[..2], [8, 7]);
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED;
        d.cuPointerGetAttribute((&raw mut managed).cast(), attribute, at)
            .unwrap();
    }
    assert!(managed);
    raw.free(at);
}

// Without it a program could be told of advice that it never gave.
#[test]
fn advice_and_prefetches_are_told_back() {
    use CUmem_range_attribute as R;
    const PAGE: usize = 64 << 10;
    let raw = Raw::open();
    if !available(&raw) {
        return;
    }
    let d = &raw.driver;
    let mut at = 0;
    let ask = |attribute, address, len| {
        let mut value = -7;
        let place = (&raw mut value).cast();
        // SAFETY: the place outlives the call.
        unsafe { d.cuMemRangeGetAttribute(place, 4, attribute, address, len) }.unwrap();
        value
    };
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocManaged(&raw mut at, 2 * PAGE, 1).unwrap();
        let mostly = CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY;
        d.cuMemAdvise(at, PAGE, mostly, raw.device).unwrap();
        let mostly = R::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
        assert_eq!((ask(mostly, at, PAGE), ask(mostly, at, 2 * PAGE)), (1, 0));
        let last = R::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        assert_eq!(ask(last, at, PAGE), -2);
        d.cuMemPrefetchAsync(at, PAGE, raw.device, std::ptr::null_mut())
            .unwrap();
        d.cuCtxSynchronize().unwrap();
        assert_eq!(ask(last, at, PAGE), raw.device);
    }
    raw.free(at);
}
