//! The bench says what a test leaves behind.

use cupola_managers::ops;
use cupola_sys::driver::{CUresult, id};
use cupola_testing::{FindingKind, TestBench};

// Without it a clean test could be told that it is not.
#[test]
fn nothing_is_left_of_a_clean_test() {
    let bench = TestBench::new().unwrap();
    let stream = bench.stream().unwrap();
    let pool = bench.pool(8 << 20).unwrap();
    let mut bytes = pool.allocate::<u8>(16, &stream).unwrap();
    ops::zero(&mut bytes, &stream).unwrap();
    drop((bytes, pool, stream));
    bench.finish().unwrap();
}

// Without it a check that finds nothing could be one that looks at nothing.
#[test]
fn what_is_kept_is_named() {
    let bench = TestBench::new().unwrap();
    let machine = bench.machine().clone();
    let pinned = bench.context().unwrap().buffers().pinned::<u8>(10).unwrap();
    let remains = bench.finish().unwrap_err();
    assert_eq!((remains.live.pinned, remains.live.pinned_bytes), (1, 10));
    assert_eq!(remains.usage.host_allocations, 1);
    let text = format!("{remains:?}");
    assert!(
        text.contains("pinned_bytes: 10") && text.contains("1 host allocations"),
        "{text}"
    );
    drop(pinned);
    assert_eq!(machine.leaks(), None);
}

// Without it what only the machine sees, a mistake in raw calls, would pass.
#[test]
fn findings_of_strict_mode_are_named() {
    let bench = TestBench::new().unwrap();
    let context = bench.context().unwrap();
    context.make_current().unwrap();
    // SAFETY: no address of anything, which the software device answers with an error.
    let freed = unsafe { bench.execution().driver().cuMemFree_v2(0x7000) };
    assert!(freed.is_err());
    drop(context);
    let remains = bench.finish().unwrap_err();
    assert!(remains.live.is_empty() && remains.usage.is_empty());
    assert_eq!(remains.findings.len(), 1);
    assert_eq!(remains.findings[0].kind, FindingKind::InvalidFree);
    assert!(remains.to_string().contains("invalid-free"), "{remains}");
}

// Without it the bench's driver could go past its fault table.
#[test]
fn faults_reach_the_managers() {
    let bench = TestBench::new().unwrap();
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.faults().fail(id::cuStreamCreateWithPriority, 1, code);
    assert_eq!(bench.stream().unwrap_err().status(), Some(code));
    drop(bench.stream().unwrap());
    assert_eq!(bench.faults().count(id::cuStreamCreateWithPriority), 2);
    bench.finish().unwrap();
}
