//! Device and host memory: bounds, limits, lifetimes, pools.

use std::ffi::c_void;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: Code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

fn small(bytes: u64) -> TestBench {
    TestBench::with(Machine::builder().device(DeviceConfig::new().memory(bytes)))
}

/// Without it, bytes could be lost or moved between host and device.
#[test]
fn bytes_survive_a_round_trip() {
    let bench = TestBench::new();
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let (a, b) = (bench.alloc(bytes.len()), bench.alloc(bytes.len()));
    bench.upload(a, &bytes);
    // SAFETY: both allocations hold the bytes.
    unsafe { bench.driver.cuMemcpyDtoD_v2(b, a, bytes.len()) }.unwrap();
    assert_eq!(bench.download(b, bytes.len()), bytes);
    bench.free(a);
    bench.free(b);
    bench.finish();
}

/// Without it, a copy or memset could leave its allocation.
#[test]
fn access_ends_where_the_allocation_does() {
    let bench = TestBench::new();
    let (d, a) = (&bench.driver, bench.alloc(1000));
    let host = [1u8; 2000];
    let source = host.as_ptr().cast::<c_void>();
    // SAFETY: the host side has 2000 bytes; the device side is checked.
    unsafe {
        assert!(d.cuMemcpyHtoD_v2(a, source, 1000).is_ok());
        assert_eq!(code(d.cuMemcpyHtoD_v2(a, source, 1001)), INVALID);
        assert_eq!(code(d.cuMemcpyHtoD_v2(a + 999, source, 2)), INVALID);
        assert_eq!(code(d.cuMemcpyHtoD_v2(a - 1, source, 1)), INVALID);
        assert_eq!(code(d.cuMemcpyHtoD_v2(a + 1000, source, 1)), INVALID);
        assert_eq!(code(d.cuMemcpyDtoD_v2(a, a + 500, 501)), INVALID);
        assert_eq!(code(d.cuMemsetD8_v2(a, 0, 1001)), INVALID);
        assert_eq!(code(d.cuMemsetD32_v2(a + 2, 0, 1)), INVALID);
        assert_eq!(code(d.cuMemsetD32_v2(a, 0, usize::MAX / 2)), INVALID);
        assert_eq!(code(d.cuMemcpyHtoD_v2(a, std::ptr::null(), 1)), INVALID);
        // No bytes are no error, wherever they are.
        assert!(d.cuMemcpyHtoD_v2(0x1234, source, 0).is_ok());
    }
    bench.free(a);
    bench.finish();
}

/// Without it, swapped arguments would crash the program: a device address is nothing that
/// the host can read. Where addresses are unified, real device memory is taken for what it
/// is.
#[test]
fn device_addresses_for_host_arguments_are_checked() {
    let bench = TestBench::new();
    let (d, a, b) = (&bench.driver, bench.alloc(64), bench.alloc(64));
    let host = |address: u64| std::ptr::without_provenance_mut::<c_void>(address as usize);
    let null = std::ptr::null_mut();
    bench.upload(a, &[7; 64]);
    // SAFETY: device addresses are checked.
    unsafe {
        d.cuMemcpyHtoD_v2(b, host(a), 64).unwrap();
        assert_eq!(bench.download(b, 64), [7; 64]);
        d.cuMemsetD8_v2(b, 8, 64).unwrap();
        d.cuMemcpyDtoHAsync_v2(host(a), b, 64, null).unwrap();
        assert_eq!(bench.download(a, 64), [8; 64]);
        for (address, len) in [(a, 65), (a + 64, 1), (a + (1 << 30), 1)] {
            assert_eq!(code(d.cuMemcpyHtoD_v2(b, host(address), len)), INVALID);
            assert_eq!(code(d.cuMemcpyDtoH_v2(host(address), b, len)), INVALID);
            let up = d.cuMemcpyHtoDAsync_v2(b, host(address), len, null);
            assert_eq!(code(up), INVALID);
            let down = d.cuMemcpyDtoHAsync_v2(host(address), b, len, null);
            assert_eq!(code(down), INVALID);
        }
        // Swapped: the host's memory is not the device's.
        let mut bytes = [0u8; 64];
        let address = bytes.as_mut_ptr().expose_provenance() as u64;
        assert_eq!(code(d.cuMemcpyHtoD_v2(address, host(a), 64)), INVALID);
        assert_eq!(code(d.cuMemcpyDtoH_v2(host(a), address, 64)), INVALID);
        assert_eq!(code(d.cuMemHostRegister_v2(host(a), 64, 0)), INVALID);
        let all = code(d.cuMemHostRegister_v2(host(4096), usize::MAX, 0));
        assert_eq!(all, INVALID);
        let mut module = std::ptr::null_mut();
        let image = d.cuModuleLoadData(&raw mut module, host(a));
        assert_eq!(code(image), INVALID);
    }
    bench.free(a);
    bench.free(b);
    bench.finish();
}

/// Without it, wrong frees could free something else, or nothing, in silence.
#[test]
fn wrong_frees_are_errors() {
    let bench = TestBench::new();
    let (d, a) = (&bench.driver, bench.alloc(1000));
    let mut place = 0;
    // SAFETY: the place outlives the calls; frees are checked.
    unsafe {
        assert_eq!(code(d.cuMemAlloc_v2(&raw mut place, 0)), INVALID);
        assert_eq!(code(d.cuMemAlloc_v2(std::ptr::null_mut(), 16)), INVALID);
        assert_eq!(code(d.cuMemFree_v2(a + 512)), INVALID);
        assert_eq!(code(d.cuMemFree_v2(0x1234_0000)), INVALID);
        assert!(d.cuMemFree_v2(0).is_ok());
        assert!(d.cuMemFree_v2(a).is_ok());
        assert_eq!(code(d.cuMemFree_v2(a)), INVALID);
        assert_eq!(code(d.cuMemFreeAsync(a, std::ptr::null_mut())), INVALID);
    }
    bench.finish();
}

/// Without it, a stale pointer could reach a new allocation, or host memory.
#[test]
fn addresses_are_apart_and_not_reused() {
    let bench = TestBench::new();
    let mut seen = Vec::new();
    for _ in 0..100 {
        let address = bench.alloc(4096);
        assert_eq!(address % 256, 0);
        // Behind everything that a process has, within the bits of a GPU.
        assert!((1 << 48..1 << 49).contains(&address), "{address:x}");
        assert!(!seen.contains(&address));
        seen.push(address);
        bench.free(address);
    }
    bench.finish();
}

/// Without it, programs would not be tested for running out of memory.
#[test]
fn the_limit_holds() {
    let bench = small(1 << 20);
    let d = &bench.driver;
    let (mut free, mut total, mut place) = (0, 0, 0);
    let (a, b) = (bench.alloc(512 << 10), bench.alloc(500 << 10));
    // SAFETY: the places outlive the calls.
    unsafe {
        assert_eq!(code(d.cuMemAlloc_v2(&raw mut place, 13 << 10)), MEMORY);
        assert_eq!(code(d.cuMemAlloc_v2(&raw mut place, usize::MAX)), MEMORY);
        d.cuMemGetInfo_v2(&raw mut free, &raw mut total).unwrap();
    }
    assert_eq!((free, total), (12 << 10, 1 << 20));
    bench.free(a);
    let c = bench.alloc(512 << 10);
    bench.free(b);
    bench.free(c);
    bench.finish();
}

/// Without it, the account of a pool could drift from what programs ask it.
#[test]
fn pools_count_in_the_order_of_calls() {
    let bench = small(1 << 30);
    let d = &bench.driver;
    let mut pool = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuDeviceGetDefaultMemPool(&raw mut pool, 0) }.unwrap();
    let get = |attribute: CUmemPool_attribute| {
        let mut value = 0u64;
        let place = (&raw mut value).cast();
        // SAFETY: the attribute is 64 bits.
        unsafe { d.cuMemPoolGetAttribute(pool, attribute, place) }.unwrap();
        value
    };
    let used = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    let peak = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    let reserved = || get(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);

    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let gate = Gate::new();
    gate.block(&bench, stream);
    let (mut a, mut b) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocAsync(&raw mut a, 700 << 20, stream).unwrap();
        assert_eq!(used(), 700 << 20);
        d.cuMemFreeAsync(a, stream).unwrap();
        // The stream has not got there, but the next allocation may reuse the memory in
        // stream order, so it fits.
        assert_eq!(used(), 0);
        d.cuMemAllocAsync(&raw mut b, 800 << 20, stream).unwrap();
        assert_eq!(code(d.cuMemFreeAsync(a, stream)), INVALID);
        assert_eq!(code(d.cuMemFree_v2(a)), INVALID);
    }
    assert_eq!((used(), peak()), (800 << 20, 800 << 20));
    gate.open();
    // SAFETY: the stream and the memory are live.
    unsafe { d.cuMemFreeAsync(b, stream) }.unwrap();
    assert!(reserved() >= 800 << 20);
    // SAFETY: the stream is live.
    unsafe { d.cuStreamSynchronize(stream) }.unwrap();
    // The threshold is zero: a synchronisation gives all back.
    assert_eq!(reserved(), 0);
    let mut threshold = 64u64 << 20;
    let name = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is 64 bits; the places outlive the calls.
    unsafe {
        d.cuMemPoolSetAttribute(pool, name, (&raw mut threshold).cast())
            .unwrap();
        d.cuMemAllocAsync(&raw mut a, 100 << 20, stream).unwrap();
        d.cuMemFreeAsync(a, stream).unwrap();
        d.cuStreamSynchronize(stream).unwrap();
        assert_eq!(reserved(), 64 << 20);
        d.cuMemPoolTrimTo(pool, 0).unwrap();
        assert_eq!(reserved(), 0);
        // Nothing is nothing, and can be freed.
        d.cuMemAllocAsync(&raw mut a, 0, stream).unwrap();
        assert_eq!(a, 0);
        d.cuMemFreeAsync(a, stream).unwrap();
        assert_eq!(code(d.cuMemPoolDestroy(pool)), INVALID);
        d.cuStreamDestroy_v2(stream).unwrap();
    }
    bench.finish();
}

fn pool_of(bench: &TestBench, max_size: usize) -> CUmemoryPool {
    let mut pool = std::ptr::null_mut();
    // SAFETY: all zeros are valid properties; the place outlives the call.
    unsafe {
        let mut props: CUmemPoolProps = std::mem::zeroed();
        props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        props.maxSize = max_size;
        bench
            .driver
            .cuMemPoolCreate(&raw mut pool, &raw const props)
            .unwrap();
    }
    pool
}

/// Without it, a pool could grow past its limit, or keep memory that another needs.
#[test]
fn pools_have_limits_and_give_way() {
    let bench = small(256 << 20);
    let d = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let pool = pool_of(&bench, 64 << 20);
    let (mut a, mut b) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocFromPoolAsync(&raw mut a, 60 << 20, pool, stream)
            .unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut b, 5 << 20, pool, stream);
        assert_eq!(code(more), MEMORY);
        d.cuMemFreeAsync(a, stream).unwrap();
        // The pool holds 64 MiB and uses none: they are there for every allocation that needs them.
        d.cuMemAlloc_v2(&raw mut b, 256 << 20).unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut a, 1, pool, stream);
        assert_eq!(code(more), MEMORY);
        d.cuMemFree_v2(b).unwrap();
        // A destroyed pool keeps what is in use, and gives nothing any more.
        d.cuMemAllocFromPoolAsync(&raw mut a, 1 << 20, pool, stream)
            .unwrap();
        d.cuMemPoolDestroy(pool).unwrap();
        let more = d.cuMemAllocFromPoolAsync(&raw mut b, 1, pool, stream);
        assert_eq!(code(more), INVALID);
        d.cuMemsetD8Async(a, 1, 1 << 20, stream).unwrap();
        d.cuMemFreeAsync(a, stream).unwrap();
        d.cuStreamDestroy_v2(stream).unwrap();
    }
    bench.synchronize();
    bench.finish();
}

/// Without it, the current pool could be one that is gone.
#[test]
fn the_current_pool_can_be_changed() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let pool = pool_of(&bench, 1 << 20);
    let (mut default, mut current, mut a) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDeviceGetDefaultMemPool(&raw mut default, 0).unwrap();
        d.cuDeviceSetMemPool(0, pool).unwrap();
        d.cuDeviceGetMemPool(&raw mut current, 0).unwrap();
        assert_eq!(current, pool);
        let more = d.cuMemAllocAsync(&raw mut a, 2 << 20, std::ptr::null_mut());
        assert_eq!(code(more), MEMORY);
        d.cuMemPoolDestroy(pool).unwrap();
        d.cuDeviceGetMemPool(&raw mut current, 0).unwrap();
        assert_eq!(current, default);
        assert_eq!(code(d.cuDeviceSetMemPool(0, pool)), INVALID);
    }
    bench.finish();
}

/// Without it, a use after free in stream order would go unnoticed, as on a GPU.
#[test]
fn a_copy_from_freed_memory_is_a_sticky_fault() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let mut a = 0;
    let target = bench.alloc(64);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocAsync(&raw mut a, 64, stream).unwrap();
        d.cuMemFreeAsync(a, stream).unwrap();
        d.cuMemcpyDtoDAsync_v2(target, a, 64, stream).unwrap();
        let fault = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        assert_eq!(code(d.cuStreamSynchronize(stream)), fault);
        assert_eq!(code(d.cuMemFree_v2(target)), fault);
    }
    let said = bench.machine.messages().join("\n");
    assert!(said.contains("no live allocation"), "{said}");
    bench.finish();
}

/// Without it, host memory could be unknown to copies, or known for too long.
#[test]
fn host_memory_is_known_while_it_is_locked() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (mut flags, mut address) = (0, 0);
    let memory = bench.pinned(4096);
    let start = memory.as_mut_ptr().cast::<c_void>();
    let mut own = vec![0u8; 4096];
    let page = own.as_mut_ptr().cast::<c_void>();
    // SAFETY: the places outlive the calls, and `own` outlives its registration.
    unsafe {
        d.cuMemHostGetFlags(&raw mut flags, start).unwrap();
        assert_eq!(flags, CU_MEMHOSTALLOC_DEVICEMAP);
        d.cuMemHostGetDevicePointer_v2(&raw mut address, start.byte_add(5), 0)
            .unwrap();
        assert_eq!(address, start.addr() as u64 + 5);
        assert_eq!(code(d.cuMemHostUnregister(start)), INVALID);

        let unknown = CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
        assert_eq!(code(d.cuMemHostUnregister(page)), unknown);
        // Memory that the process does not have, or not so, as it says itself.
        let text: &'static str = "constant";
        let constant = text.as_ptr().cast_mut().cast();
        let only_read = CU_MEMHOSTREGISTER_READ_ONLY;
        if cfg!(target_os = "linux") {
            let nowhere = std::ptr::without_provenance_mut(4096);
            assert_eq!(code(d.cuMemHostRegister_v2(nowhere, 1, 0)), INVALID);
            assert_eq!(code(d.cuMemHostRegister_v2(constant, 8, 0)), INVALID);
        }
        d.cuMemHostRegister_v2(constant, 8, only_read).unwrap();
        d.cuMemHostUnregister(constant).unwrap();
        d.cuMemHostRegister_v2(page, 4096, 0).unwrap();
        let twice = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        assert_eq!(code(d.cuMemHostRegister_v2(page, 4096, 0)), twice);
        assert_eq!(
            code(d.cuMemHostRegister_v2(page.byte_add(4095), 1, 0)),
            twice
        );
        assert_eq!(code(d.cuMemFreeHost(page)), INVALID);
        assert_eq!(code(d.cuMemHostUnregister(page.byte_add(16))), INVALID);
        d.cuMemHostUnregister(page).unwrap();
        assert_eq!(code(d.cuMemHostGetFlags(&raw mut flags, page)), INVALID);
    }
    bench.unpin(memory);
    bench.finish();
}

/// Without it, a program that asks what a pointer is could be told wrong.
#[test]
fn pointers_have_attributes() {
    use CUpointer_attribute as A;
    let bench = TestBench::new();
    let d = &bench.driver;
    let (a, memory) = (bench.alloc(1000), bench.pinned(64));
    let pinned = memory.as_ptr().addr() as u64;
    let ask = |attribute, address| {
        let mut value = 0u64;
        // SAFETY: no attribute is longer than 64 bits.
        let result =
            unsafe { d.cuPointerGetAttribute((&raw mut value).cast(), attribute, address) };
        (code(result), value)
    };
    let ok = CUresult::CUDA_SUCCESS;
    let kinds = [
        CUmemorytype::CU_MEMORYTYPE_DEVICE,
        CUmemorytype::CU_MEMORYTYPE_HOST,
    ];
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 8),
        (ok, kinds[0].0.into())
    );
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pinned),
        (ok, kinds[1].0.into())
    );
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 999),
        (ok, a)
    );
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, a), (ok, 1000));
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_CONTEXT, a),
        (ok, bench.context.addr() as u64)
    );
    assert_eq!(ask(A::CU_POINTER_ATTRIBUTE_HOST_POINTER, a).0, INVALID);
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_HOST_POINTER, pinned + 1),
        (ok, pinned + 1)
    );
    assert_eq!(
        ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 1000).0,
        INVALID
    );
    let (first, second) = (ask(A::CU_POINTER_ATTRIBUTE_BUFFER_ID, a), bench.alloc(1));
    assert_ne!(first, ask(A::CU_POINTER_ATTRIBUTE_BUFFER_ID, second));

    // Several at once, of a pointer that is unknown: no error, and no value.
    let (mut kind, mut device) = (7u32, 7i32);
    let mut names = [
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ];
    let mut places = [(&raw mut kind).cast(), (&raw mut device).cast()];
    // SAFETY: each place has its attribute's size.
    unsafe { d.cuPointerGetAttributes(2, names.as_mut_ptr(), places.as_mut_ptr(), 0x1234) }
        .unwrap();
    assert_eq!((kind, device), (0, -2));
    bench.free(a);
    bench.free(second);
    bench.unpin(memory);
    bench.finish();
}

/// Without it, the address form of a copy could take host memory for device memory.
#[test]
fn unified_copies_find_their_way() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let a = bench.alloc(8);
    let (from, mut to) = ([1u8, 2, 3, 4, 5, 6, 7, 8], [0u8; 8]);
    let host = to.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: all ends have 8 bytes.
    unsafe {
        d.cuMemcpy(a, from.as_ptr().expose_provenance() as u64, 8)
            .unwrap();
        d.cuMemcpy(host, a, 8).unwrap();
        assert_eq!(code(d.cuMemcpy(host, a + 1, 8)), INVALID);
    }
    assert_eq!(to, from);
    bench.free(a);
    bench.finish();
}

/// Without it, pitched rows could overlap or be misaligned.
#[test]
fn pitched_memory_has_room_for_all_rows() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (mut place, mut pitch, mut size) = (0, 0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocPitch_v2(&raw mut place, &raw mut pitch, 100, 10, 4)
            .unwrap();
        assert!(pitch >= 100 && pitch % 256 == 0);
        d.cuMemGetAddressRange_v2(std::ptr::null_mut(), &raw mut size, place + 1)
            .unwrap();
        assert_eq!(size, pitch * 10);
        let odd = d.cuMemAllocPitch_v2(&raw mut place, &raw mut pitch, 100, 10, 3);
        assert_eq!(code(odd), INVALID);
        let nowhere = d.cuMemGetAddressRange_v2(std::ptr::null_mut(), std::ptr::null_mut(), 0x1234);
        assert_eq!(code(nowhere), CUresult::CUDA_ERROR_NOT_FOUND);
    }
    bench.free(place);
    bench.finish();
}

/// Without it, some mix of copies and memsets could give other bytes than it should: the
/// model is a plain vector.
#[test]
fn copies_and_memsets_do_what_a_vector_does() {
    fn agrees(steps: Vec<(u8, u16, u16, u16, u32)>) -> bool {
        const LEN: usize = 4096;
        let bench = TestBench::new();
        let d = &bench.driver;
        let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
        let (a, mut model) = (bench.alloc(LEN), vec![0u8; LEN]);
        for (kind, to, from, len, value) in steps {
            let (to, from) = (usize::from(to) % LEN, usize::from(from) % LEN);
            let len = usize::from(len) % (LEN - to.max(from));
            // SAFETY: all ranges lie within the allocation.
            unsafe {
                match kind % 5 {
                    0 => {
                        let bytes: Vec<u8> = (0..len).map(|i| (i as u32 ^ value) as u8).collect();
                        let source = bytes.as_ptr().cast();
                        d.cuMemcpyHtoDAsync_v2(a + to as u64, source, len, stream)
                            .unwrap();
                        model[to..to + len].copy_from_slice(&bytes);
                    }
                    1 => {
                        // Ranges of one copy must not overlap.
                        let len = len.min(to.abs_diff(from));
                        let (to_address, from_address) = (a + to as u64, a + from as u64);
                        d.cuMemcpyDtoDAsync_v2(to_address, from_address, len, stream)
                            .unwrap();
                        model.copy_within(from..from + len, to);
                    }
                    2 => {
                        d.cuMemsetD8Async(a + to as u64, value as u8, len, stream)
                            .unwrap();
                        model[to..to + len].fill(value as u8);
                    }
                    3 => {
                        let (to, count) = (to & !1, len / 2);
                        d.cuMemsetD16Async(a + to as u64, value as u16, count, stream)
                            .unwrap();
                        for i in 0..count {
                            model[to + i * 2..][..2].copy_from_slice(&(value as u16).to_le_bytes());
                        }
                    }
                    _ => {
                        let (to, count) = (to & !3, len / 4);
                        d.cuMemsetD32Async(a + to as u64, value, count, stream)
                            .unwrap();
                        for i in 0..count {
                            model[to + i * 4..][..4].copy_from_slice(&value.to_le_bytes());
                        }
                    }
                }
            }
        }
        let same = bench.download(a, LEN) == model;
        bench.free(a);
        // SAFETY: the stream is live.
        unsafe { d.cuStreamDestroy_v2(stream) }.unwrap();
        bench.finish();
        same
    }
    quickcheck::QuickCheck::new()
        .tests(60)
        .quickcheck(agrees as fn(_) -> bool);
}

/// Without it, programs would run here that count on packed memory, or fail that count on the
/// alignment that large memory has on every GPU. The rules are those of an H100.
#[test]
fn large_memory_begins_at_large_pages() {
    const PAGE: u64 = 2 << 20;
    let bench = small(1 << 30);
    let bytes = [100, (1 << 20) + 1, 100, 11 << 20, 1 << 20, 100];
    let places = bytes.map(|bytes| bench.alloc(bytes));
    for (place, bytes) in places.into_iter().zip(bytes) {
        assert_eq!(place % 512, 0);
        assert!(bytes <= 1 << 20 || place % PAGE == 0, "{bytes}: {place:#x}");
    }
    assert!(places[4] % PAGE != 0 && places[5] % PAGE != 0);
    // Memory of pools is packed, whatever its size.
    let stream = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    let pooled = [(); 2].map(|()| {
        let mut place = 0;
        // SAFETY: the place outlives the call.
        unsafe {
            bench
                .driver
                .cuMemAllocAsync(&raw mut place, 3 << 20, stream)
        }
        .unwrap();
        place
    });
    assert_ne!(pooled[0] % PAGE, 0);
    assert!(pooled[1] - pooled[0] < 4 << 20);
    for place in places.into_iter().chain(pooled) {
        bench.free(place);
    }
    // SAFETY: a live handle.
    unsafe { bench.driver.cuStreamDestroy_v2(stream) }.unwrap();
    bench.finish();

    let packed = DeviceConfig::new().large_alignment(512);
    let bench = TestBench::with(Machine::builder().device(packed));
    let places = [(); 3].map(|()| bench.alloc(3 << 20));
    assert!(places.iter().any(|place| place % PAGE != 0));
    places.into_iter().for_each(|place| bench.free(place));
    bench.finish();
}

/// Without it, a pool that is not built could look like a mistake of the program.
#[test]
fn pools_of_other_memory_are_not_supported() {
    let bench = small(1 << 30);
    let create = |change: &dyn Fn(&mut CUmemPoolProps)| {
        let mut pool = std::ptr::null_mut();
        // SAFETY: all zeros are valid properties; the place outlives the call.
        unsafe {
            let mut props: CUmemPoolProps = std::mem::zeroed();
            props.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
            props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            change(&mut props);
            code(
                bench
                    .driver
                    .cuMemPoolCreate(&raw mut pool, &raw const props),
            )
        }
    };
    let missing = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    let host = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;
    assert_eq!(create(&|props| props.location.type_ = host), missing);
    let managed = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED;
    assert_eq!(create(&|props| props.allocType = managed), missing);
    let file = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    assert_eq!(create(&|props| props.handleTypes = file), missing);
    let none = CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID;
    assert_eq!(create(&|props| props.location.type_ = none), INVALID);
    assert_eq!(bench.machine.messages().len(), 3);
    bench.finish();
}
