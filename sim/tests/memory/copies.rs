//! Copies and memsets in a row, and where they end.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

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
