//! Managed memory of the software device.

use std::ffi::c_int;

use cupola_sim::Machine;
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const PAGE: usize = 4096;

/// Adds to a managed variable, and to managed memory.
const COUNT: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 total = 5;
.visible .entry count(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [total];
    add.u32 %v, %v, 1;
    st.global.u32 [total], %v;
    st.global.u32 [%a], %v;
    ret;
}";

fn managed(bench: &TestBench, len: usize) -> CUdeviceptr {
    let mut address = 0;
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuMemAllocManaged(&raw mut address, len, 1) }.unwrap();
    address
}

fn number(address: CUdeviceptr) -> *mut u32 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Without it, host and kernels would not see each other's writes, or a `__managed__`
/// variable would be where the host cannot read it.
#[test]
fn host_and_kernels_share_it() {
    let bench = TestBench::new();
    let (d, at) = (&bench.driver, managed(&bench, 4));
    let module = bench.load(COUNT);
    let function = bench.function(module, c"count");
    let (mut total, mut size) = (0, 0);
    // SAFETY: the places outlive the calls; the memory is the host's too.
    unsafe {
        d.cuModuleGetGlobal_v2(&raw mut total, &raw mut size, module, c"total".as_ptr())
            .unwrap();
        assert_eq!((size, number(total).read_volatile()), (4, 5));
        number(total).write_volatile(40);
        let launched = bench.launch(function, 1, 1, std::ptr::null_mut(), &[at]);
        assert_eq!(launched, CUresult::CUDA_SUCCESS);
        d.cuCtxSynchronize().unwrap();
        assert_eq!(
            (number(total).read_volatile(), number(at).read_volatile()),
            (41, 41)
        );
        // The module's own: it cannot be freed, but what the program allocated can.
        assert_eq!(code(d.cuMemFree_v2(total)), INVALID);
        d.cuModuleUnload(module).unwrap();
    }
    bench.free(at);
    bench.finish();
}

/// Without it, every device but one would fault on managed memory.
#[test]
fn all_devices_reach_it() {
    let bench = TestBench::with(Machine::builder().devices(2));
    let (d, at, mut other) = (&bench.driver, managed(&bench, 8), std::ptr::null_mut());
    // SAFETY: the place outlives the call; the memory has 8 bytes.
    unsafe {
        d.cuCtxCreate_v2(&raw mut other, 0, 1).unwrap();
        d.cuMemsetD32_v2(at, 9, 2).unwrap();
        assert_eq!(number(at + 4).read_volatile(), 9);
        d.cuCtxDestroy_v2(other).unwrap();
    }
    bench.attach();
    bench.free(at);
    bench.finish();
}

/// Without it, the account would call managed memory the device's, which may be larger
/// than the device; and a free could take away too much.
#[test]
fn it_is_not_charged_and_is_freed_once() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the places outlive the call.
        unsafe { d.cuMemGetInfo_v2(&raw mut free, &raw mut total) }.unwrap();
        free
    };
    let before = free();
    let at = managed(&bench, 1 << 20);
    assert_eq!(free(), before);
    assert_eq!(bench.machine.usage().device_allocations, 1);
    let mut place = 0;
    // SAFETY: the place outlives the calls; frees are checked.
    unsafe {
        assert_eq!(code(d.cuMemAllocManaged(&raw mut place, 0, 1)), INVALID);
        assert_eq!(code(d.cuMemAllocManaged(&raw mut place, 4, 4)), INVALID);
        assert_eq!(code(d.cuMemAllocManaged(&raw mut place, 4, 0)), INVALID);
        assert_eq!(code(d.cuMemFree_v2(at + 1)), INVALID);
        d.cuMemFree_v2(at).unwrap();
        assert_eq!(code(d.cuMemFree_v2(at)), INVALID);
        assert_eq!(code(d.cuMemsetD8_v2(at, 0, 1)), INVALID);
    }
    bench.finish();
}

/// Without it, a range that is not managed, or not all, could be advised, and what a
/// program asks back could be what it never said.
#[test]
fn advice_is_checked_and_kept() {
    use CUmem_advise as A;
    use CUmem_range_attribute as R;
    let bench = TestBench::new();
    let (d, at, plain) = (&bench.driver, managed(&bench, 4 * PAGE), bench.alloc(PAGE));
    let advise = |address, len, advice, device| {
        // SAFETY: ranges are checked.
        code(unsafe { d.cuMemAdvise(address, len, advice, device) })
    };
    let ask = |attribute, address, len| {
        let mut value: c_int = -7;
        let place = (&raw mut value).cast();
        // SAFETY: the place outlives the call.
        unsafe { d.cuMemRangeGetAttribute(place, 4, attribute, address, len) }.unwrap();
        value
    };
    let ok = CUresult::CUDA_SUCCESS;
    let (mostly, preferred) = (
        R::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
        R::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
    );
    let set = A::CU_MEM_ADVISE_SET_READ_MOSTLY;
    assert_eq!(advise(plain, PAGE, set, 0), INVALID);
    assert_eq!(advise(at, 4 * PAGE + 1, set, 0), INVALID);
    assert_eq!(advise(at, 0, set, 0), INVALID);
    assert_eq!(advise(at, PAGE, A(9), 0), INVALID);
    let location = A::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    let bad = CUresult::CUDA_ERROR_INVALID_DEVICE;
    assert_eq!(advise(at, PAGE, location, 3), bad);
    assert_eq!(advise(at, PAGE, set, 99), ok);
    assert_eq!((ask(mostly, at, PAGE), ask(mostly, at, 2 * PAGE)), (1, 0));
    assert_eq!(advise(at, 4 * PAGE, location, -1), ok);
    assert_eq!(ask(preferred, at, 4 * PAGE), -1);
    assert_eq!(advise(at, PAGE, location, 0), ok);
    assert_eq!(
        (ask(preferred, at, 1), ask(preferred, at, 4 * PAGE)),
        (0, -2)
    );
    let by = A::CU_MEM_ADVISE_SET_ACCESSED_BY;
    assert_eq!(
        (advise(at, PAGE, by, 0), advise(at, PAGE, by, -1)),
        (ok, ok)
    );
    let mut named: [c_int; 3] = [9; 3];
    let attribute = R::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    let place = named.as_mut_ptr().cast();
    // SAFETY: the places outlive the calls; ranges are checked.
    unsafe {
        d.cuMemRangeGetAttribute(place, 12, attribute, at, PAGE)
            .unwrap();
        assert_eq!(named, [0, -1, -2]);
        let odd = d.cuMemRangeGetAttribute(place, 3, attribute, at, PAGE);
        assert_eq!(code(odd), INVALID);
        let two = d.cuMemRangeGetAttribute(place, 8, mostly, at, PAGE);
        assert_eq!(code(two), INVALID);
        let null = std::ptr::null_mut();
        let last = R::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        assert_eq!(ask(last, at, PAGE), -2);
        d.cuMemPrefetchAsync(at, PAGE, 0, null).unwrap();
        assert_eq!((ask(last, at, PAGE), ask(last, at, PAGE + 1)), (0, -2));
        assert_eq!(code(d.cuMemPrefetchAsync(plain, PAGE, 0, null)), INVALID);
        assert_eq!(code(d.cuMemPrefetchAsync(at, PAGE, 5, null)), bad);
        let attach =
            |address, len, flags| code(d.cuStreamAttachMemAsync(null, address, len, flags));
        assert_eq!(attach(at, 0, 1), ok);
        assert_eq!(attach(at, 4 * PAGE, 2), ok);
        assert_eq!(attach(at, PAGE, 1), INVALID);
        assert_eq!(attach(at, 0, 4), INVALID);
        assert_eq!(attach(plain, 0, 1), INVALID);
    }
    bench.free(at);
    bench.free(plain);
    bench.finish();
}

/// Without it, libraries that ask what a pointer is would take managed memory for the
/// device's alone, or the device's for the host's.
#[test]
fn pointers_say_what_they_are() {
    use CUpointer_attribute as A;
    let bench = TestBench::new();
    let (d, at, plain) = (&bench.driver, managed(&bench, 100), bench.alloc(100));
    let pinned = bench.pinned(100);
    let host = pinned.as_mut_ptr().expose_provenance() as u64;
    let ask = |attribute, address| {
        let mut value = 0u64;
        // SAFETY: no attribute that is asked for is larger.
        let result =
            unsafe { d.cuPointerGetAttribute((&raw mut value).cast(), attribute, address) };
        (code(result), value)
    };
    let ok = CUresult::CUDA_SUCCESS;
    for (address, managed, kind, pointer) in [
        (at + 7, 1, 2, (ok, at + 7)),
        (plain + 7, 0, 2, (INVALID, 0)),
        (host + 7, 0, 1, (ok, host + 7)),
    ] {
        assert_eq!(
            ask(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, address),
            (ok, managed)
        );
        assert_eq!(
            ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
            (ok, kind)
        );
        assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_HOST_POINTER, address), pointer);
        assert_eq!(
            ask(A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address),
            (ok, address)
        );
        assert_eq!(
            ask(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address),
            (ok, address - 7)
        );
        assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, address), (ok, 100));
        assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address), (ok, 3));
        assert_eq!(
            ask(A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address),
            (ok, 0)
        );
    }
    let tokens = ask(A::CU_POINTER_ATTRIBUTE_P2P_TOKENS, plain);
    assert_eq!(tokens.0, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let sync = A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    let set = |attribute, address, value: u32| {
        // SAFETY: the value outlives the call.
        code(unsafe { d.cuPointerSetAttribute((&raw const value).cast(), attribute, address) })
    };
    assert_eq!(ask(sync, plain), (ok, 0));
    assert_eq!(set(sync, plain + 1, 1), ok);
    assert_eq!((ask(sync, plain), ask(sync, at)), ((ok, 1), (ok, 0)));
    assert_eq!(set(sync, plain, 0), ok);
    assert_eq!(ask(sync, plain), (ok, 0));
    assert_eq!(set(A::CU_POINTER_ATTRIBUTE_CONTEXT, plain, 1), INVALID);
    assert_eq!(set(sync, 0x1234, 1), INVALID);
    bench.unpin(pinned);
    bench.free(at);
    bench.free(plain);
    bench.finish();
}
