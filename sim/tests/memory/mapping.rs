//! Virtual memory management on the software device: faults, limits, leaks, threads.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::support::vmm::{NONE, PAGE, READ, READ_WRITE, Vmm};
use crate::support::{Code, Gate, TestBench, code, without_hanging};

const OK: Code = CUresult::CUDA_SUCCESS;
const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: Code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
const FAULT: Code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

/// Adds one to each of `count` words.
const KERNEL: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 words, .param .u64 count) {
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [words];
    ld.param.u64 %rd2, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r4;
    setp.ge.u64 %p1, %rd3, %rd2;
    @%p1 ret;
    mad.lo.u64 %rd4, %rd3, 4, %rd1;
    ld.global.u32 %r5, [%rd4];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd4], %r5;
    ret;
}
.visible .entry spin(.param .u64 word, .param .u64 flag) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [flag];
    st.volatile.global.u32 [%rd2+4], 1;
again:
    ld.volatile.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    ld.volatile.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra again;
    ret;
}";

fn function(bench: &TestBench, name: &CStr) -> CUfunction {
    bench.function(bench.load(KERNEL), name)
}

fn launch(bench: &TestBench, function: CUfunction, params: [u64; 2], threads: u32) {
    let (blocks, threads) = (threads.div_ceil(256), threads.min(256));
    let launched = bench.launch(function, blocks, threads, std::ptr::null_mut(), &params);
    assert_eq!(launched, OK);
}

fn synchronize(bench: &TestBench) -> Code {
    // SAFETY: no pointers.
    code(unsafe { bench.driver.cuCtxSynchronize() })
}

/// Without it, a kernel could not use a buffer over several physical pages, which is what
/// virtual memory management is for.
#[test]
fn kernels_and_copies_cross_mappings() {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let (base, handles) = vmm.buffer(3);
    let words = 3 * PAGE / 4;
    let bytes: Vec<u8> = (0..words).flat_map(|i| (i as u32).to_le_bytes()).collect();
    bench.upload(base, &bytes);
    launch(
        &bench,
        function(&bench, c"add"),
        [base, words as u64],
        words as u32,
    );
    assert_eq!(synchronize(&bench), OK);
    let after = bench.download(base, 3 * PAGE);
    let right = after
        .chunks_exact(4)
        .enumerate()
        .all(|(i, word)| u32::from_le_bytes(word.try_into().unwrap()) == i as u32 + 1);
    assert!(right);
    let across = bench.download(base + PAGE as u64 - 6, 12);
    assert_eq!(across, after[PAGE - 6..PAGE + 6]);
    vmm.drop_buffer(base, &handles);
    bench.finish();
}

/// Without it, a kernel could read what it was not given access to, write what it may only
/// read, or run over the end of what is mapped; and the message would not say which.
#[test]
fn kernels_fault_without_the_right_access() {
    let cases: [(&str, Option<CUmemAccess_flags>, &str); 4] = [
        ("no mapping", None, "no memory is mapped"),
        ("no access", Some(NONE), "has no access"),
        ("read only", Some(READ), "may only read"),
        ("all", Some(READ_WRITE), ""),
    ];
    for (name, access, text) in cases {
        let bench = TestBench::new();
        let vmm = Vmm(&bench.driver);
        let base = vmm.reserve(2 * PAGE);
        let handle = vmm.create(PAGE);
        if let Some(access) = access {
            vmm.map(base, PAGE, handle);
            vmm.access(base, PAGE, access);
        }
        let add = function(&bench, c"add");
        launch(&bench, add, [base, 1], 1);
        let expected = if text.is_empty() { OK } else { FAULT };
        assert_eq!(synchronize(&bench), expected, "{name}");
        let messages = bench.machine.messages();
        let says = messages
            .iter()
            .any(|m| m.contains(text) && m.contains("reservation"));
        assert!(text.is_empty() || says, "{name}: {messages:?}");
        // Cleaning up is not work of the context: its fault is not in the way.
        assert_eq!(vmm.try_unmap(base, 2 * PAGE), OK);
        vmm.release(handle);
        vmm.unreserve(base, 2 * PAGE);
        // SAFETY: the context lives.
        let ended = unsafe { bench.driver.cuCtxDestroy_v2(bench.context) };
        assert_eq!(code(ended), OK);
        assert_eq!(bench.machine.leaks(), None);
    }
}

/// Without it, work that was queued before an unmap could access the memory after it.
#[test]
fn queued_work_faults_where_nothing_is_mapped_any_more() {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let (base, handles) = vmm.buffer(1);
    let (gate, stream) = (Gate::new(), std::ptr::null_mut());
    gate.block(&bench, stream);
    // SAFETY: device memory is checked when the stream gets there.
    unsafe { bench.driver.cuMemsetD8Async(base, 1, 16, stream) }.unwrap();
    vmm.drop_buffer(base, &handles);
    gate.open();
    assert_eq!(synchronize(&bench), FAULT);
    let messages = bench.machine.messages();
    assert!(
        messages.iter().any(|m| m.contains("memset")),
        "{messages:?}"
    );
}

/// Without it, the host could crash when a program unmaps memory that a kernel uses, or
/// the memory would never be given back.
#[test]
fn memory_unmapped_under_a_kernel_stays_until_it_ends() {
    without_hanging(|| {
        let bench = TestBench::new();
        let vmm = Vmm(&bench.driver);
        let (base, handles) = vmm.buffer(2);
        let flag = bench.pinned(8);
        let address = flag.as_mut_ptr().expose_provenance() as u64;
        launch(&bench, function(&bench, c"spin"), [base, address], 1);
        let word = |at: usize| {
            // SAFETY: the memory is pinned until the end, and kernels write it with atomics.
            unsafe {
                std::sync::atomic::AtomicU32::from_ptr(flag.as_ptr().add(at).cast_mut().cast())
            }
        };
        while word(4).load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        // Unmapped, the memory given back, and other memory mapped there: over and over.
        vmm.unmap(base, 2 * PAGE);
        handles.iter().for_each(|handle| vmm.release(*handle));
        for _ in 0..20 {
            let handle = vmm.create(2 * PAGE);
            vmm.map(base, 2 * PAGE, handle);
            vmm.access(base, 2 * PAGE, READ_WRITE);
            vmm.unmap(base, 2 * PAGE);
            vmm.release(handle);
        }
        vmm.unreserve(base, 2 * PAGE);
        word(0).store(1, Ordering::Release);
        assert_eq!(synchronize(&bench), OK);
        bench.unpin(flag);
        bench.finish();
    });
}

/// Without it, a program could map more memory than the device has, or lose memory.
#[test]
fn physical_memory_is_accounted() {
    let config = DeviceConfig::new().memory(8 * PAGE as u64);
    let bench = TestBench::with(Machine::builder().device(config));
    let vmm = Vmm(&bench.driver);
    let free = || {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the places outlive the call.
        unsafe { bench.driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) }.unwrap();
        free / PAGE
    };
    assert_eq!(free(), 8);
    let large = vmm.create(6 * PAGE);
    assert_eq!(free(), 2);
    assert_eq!(vmm.try_create(3 * PAGE), Err(MEMORY));
    let base = vmm.reserve(16 * PAGE);
    assert_eq!(free(), 2, "addresses are no memory");
    vmm.map(base, 6 * PAGE, large);
    vmm.map(base + 8 * PAGE as u64, 6 * PAGE, large);
    vmm.release(large);
    vmm.unmap(base, 6 * PAGE);
    assert_eq!(free(), 2, "the other mapping keeps it");
    let usage = bench.machine.usage();
    assert_eq!((usage.reservations, usage.physical_allocations), (1, 1));
    assert_eq!(usage.physical_bytes, 6 * PAGE as u64);
    let leaks = bench.machine.leaks().unwrap();
    assert!(leaks.contains("1 physical allocations"), "{leaks}");
    vmm.unmap(base + 8 * PAGE as u64, 6 * PAGE);
    assert_eq!(free(), 8);
    vmm.unreserve(base, 16 * PAGE);
    bench.finish();
}

/// Without it, a pool that spans contexts would lose its memory with the first of them.
#[test]
fn mappings_outlive_contexts() {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let (base, handles) = vmm.buffer(2);
    bench.upload(base, &[9; 64]);
    let mut second = std::ptr::null_mut();
    // SAFETY: the place outlives the call; the first context lives.
    unsafe {
        bench.driver.cuCtxDestroy_v2(bench.context).unwrap();
        bench.driver.cuCtxCreate_v2(&raw mut second, 0, 0).unwrap();
    }
    assert_eq!(bench.download(base, 64), [9; 64]);
    vmm.drop_buffer(base, &handles);
    // SAFETY: the context lives.
    unsafe { bench.driver.cuCtxDestroy_v2(second) }.unwrap();
    assert_eq!(bench.machine.leaks(), None);
}

/// Without it, one device's access would be every device's.
#[test]
fn access_is_given_to_each_device_alone() {
    let bench = TestBench::with(Machine::builder().devices(2));
    let vmm = Vmm(&bench.driver);
    let (base, handles) = vmm.buffer(1);
    bench.upload(base, &[5; 16]);
    let mut other = std::ptr::null_mut();
    let mut bytes = [0u8; 16];
    let to = bytes.as_mut_ptr().cast();
    // SAFETY: the places outlive the calls.
    unsafe {
        let d = &bench.driver;
        d.cuCtxCreate_v2(&raw mut other, 0, 1).unwrap();
        assert_eq!(code(d.cuMemcpyDtoH_v2(to, base, 16)), INVALID);
        let messages = bench.machine.messages();
        assert!(
            messages
                .iter()
                .any(|m| m.contains("device 1 has no access"))
        );
        vmm.access_of(1, base, PAGE, READ);
        d.cuMemcpyDtoH_v2(to, base, 16).unwrap();
        assert_eq!(code(d.cuMemcpyHtoD_v2(base, to, 16)), INVALID);
        assert_eq!((vmm.get(0, base), vmm.get(1, base)), (READ_WRITE, READ));
        d.cuCtxDestroy_v2(other).unwrap();
        d.cuCtxSetCurrent(bench.context).unwrap();
    }
    assert_eq!(bytes, [5; 16]);
    vmm.drop_buffer(base, &handles);
    bench.finish();
}

/// Without it, what the software device lacks would be taken for something it has.
#[test]
fn other_places_and_kinds_are_refused_with_a_message() {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let missing = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    let mut properties = Vmm::properties(0);
    for location in [
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST,
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA,
    ] {
        properties.location.type_ = location;
        assert_eq!(vmm.create_as(&properties, PAGE), Err(missing));
    }
    properties = Vmm::properties(0);
    properties.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    assert_eq!(vmm.create_as(&properties, PAGE), Err(missing));
    properties = Vmm::properties(0);
    properties.allocFlags.gpuDirectRDMACapable = 1;
    assert_eq!(vmm.create_as(&properties, PAGE), Err(missing));
    let messages = bench.machine.messages().join("\n");
    for what in ["on the host", "file descriptor", "RDMA"] {
        assert!(messages.contains(what), "{messages}");
    }
    bench.finish();
}

/// Without it, a stale handle could name other memory; a real driver crashes on one.
#[test]
fn stale_handles_are_refused() {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let handle = vmm.create(PAGE);
    let base = vmm.reserve(PAGE);
    vmm.map(base, PAGE, handle);
    vmm.release(handle);
    for handle in [handle, 0, u64::MAX] {
        assert_eq!(vmm.try_release(handle), INVALID);
        assert_eq!(vmm.try_map(base, PAGE, handle), INVALID);
    }
    assert_eq!(vmm.retain(base), Ok(handle), "its memory is still mapped");
    vmm.unmap(base, PAGE);
    vmm.release(handle);
    vmm.unreserve(base, PAGE);
    bench.finish();
}

/// Without it, threads that map, access and unmap at the same time could corrupt the
/// table of mappings, or crash the host.
#[test]
fn threads_map_and_unmap_at_the_same_time() {
    without_hanging(|| {
        let bench = TestBench::new();
        let vmm = Vmm(&bench.driver);
        let base = vmm.reserve(8 * PAGE);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let (bench, stop) = (&bench, &stop);
                scope.spawn(move || {
                    bench.attach();
                    let vmm = Vmm(&bench.driver);
                    let at = base + u64::from(thread) * 2 * PAGE as u64;
                    for round in 0..50u8 {
                        let handle = vmm.create(2 * PAGE);
                        vmm.map(at, 2 * PAGE, handle);
                        vmm.release(handle);
                        vmm.access(at, 2 * PAGE, READ_WRITE);
                        let bytes = [thread ^ round; 64];
                        let middle = at + PAGE as u64 - 32;
                        bench.upload(middle, &bytes);
                        assert_eq!(bench.download(middle, 64), bytes);
                        vmm.unmap(at, 2 * PAGE);
                    }
                    stop.store(true, Ordering::Release);
                });
            }
            // Questions about places that come and go.
            while !stop.load(Ordering::Acquire) {
                let (mut first, mut len) = (0, 0);
                // SAFETY: the places outlive the call.
                let asked = unsafe {
                    bench.driver.cuMemGetAddressRange_v2(
                        &raw mut first,
                        &raw mut len,
                        base + PAGE as u64,
                    )
                };
                match code(asked) {
                    OK => assert_eq!((first, len), (base, 2 * PAGE)),
                    other => assert_eq!(other, CUresult::CUDA_ERROR_NOT_FOUND),
                }
            }
        });
        vmm.unreserve(base, 8 * PAGE);
        bench.finish();
    });
}
