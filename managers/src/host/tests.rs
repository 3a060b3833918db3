//! What becomes of memory that the device may still use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_sys::driver::{CUresult, id};

use super::PinnedPoolConfig;
use crate::test_bench::{TestBench, hold};

// Without it a buffer could be given memory that a copy of the one before still reads.
#[test]
fn a_block_is_given_again_when_its_copies_are_over() {
    let bench = TestBench::with_workers(2);
    let (context, stream) = (&bench.context, bench.stream());
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let first = host.allocate::<u8>(100).unwrap();
    let at = first.as_ptr();
    let held = hold(&stream);
    first.begin_copy(&stream).unwrap().end(Ok(())).unwrap();
    drop(first);
    let second = host.allocate::<u8>(100).unwrap();
    assert_ne!(second.as_ptr(), at);
    drop((held, second, host, stream));
    bench.finish();
}

// Without it memory would be given back, and go to other code, that a copy may still write to.
#[test]
fn a_region_of_copies_that_may_run_is_not_given_back() {
    let bench = TestBench::new();
    let (context, stream) = (&bench.context, bench.stream());
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let buffer = host.allocate::<u8>(100).unwrap();
    buffer.begin_copy(&stream).unwrap().end(Ok(())).unwrap();
    drop(buffer);
    let before = bench.faults.count(id::cuMemHostUnregister);
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.faults.fail_from(id::cuEventSynchronize, 1, code);
    drop(host);
    assert_eq!(bench.faults.count(id::cuMemHostUnregister), before);
    bench.faults.reset();
    let live = bench.execution.live();
    assert_eq!((live.pinned_regions, live.abandoned), (0, 1));
}

// Without it memory would be freed that the device can still reach, and other code get it.
#[test]
fn memory_that_stays_registered_stays() {
    struct Owner(Arc<AtomicBool>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_dropped = Arc::new(AtomicBool::new(false));
    let drops = || is_dropped.load(Ordering::Relaxed);
    for fails in [false, true] {
        let bench = TestBench::new();
        let memory = Vec::leak(vec![1u8; 100]);
        let owner = Owner(Arc::clone(&is_dropped));
        let (start, len) = (memory.as_mut_ptr(), memory.len());
        // SAFETY: the elements are never freed, and nothing else looks at them.
        let registered = unsafe { bench.context.register_host_raw(owner, start, len) };
        let registered = registered.unwrap();
        if fails {
            let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
            bench.faults.fail(id::cuMemHostUnregister, 1, code);
        }
        is_dropped.store(false, Ordering::Relaxed);
        drop(registered);
        assert_eq!(drops(), !fails);
    }
}
