//! Device memory: addresses, limits, frees.

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: Code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

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
    let bench = TestBench::with_memory(1 << 20);
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

/// Without it, programs would run here that count on packed memory, or fail that count on the
/// alignment that large memory has on every GPU. The rules are those of an H100.
#[test]
fn large_memory_begins_at_large_pages() {
    const PAGE: u64 = 2 << 20;
    let bench = TestBench::with_memory(1 << 30);
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
