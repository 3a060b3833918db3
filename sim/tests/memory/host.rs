//! Host memory, and what a pointer is.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

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
