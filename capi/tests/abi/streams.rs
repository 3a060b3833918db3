//! Streams of a framework: several on one block, and their ends.

use std::ptr;

use cupola_capi::{CupolaStatus, cupola_free, cupola_release_stream, cupola_torch_record_stream};

use crate::framework::{
    Framework, RawStream, allocate_on, alone, free_on, last_error, usage, use_on,
};

fn release(stream: RawStream) -> CupolaStatus {
    // SAFETY: the stream is alive.
    unsafe { cupola_release_stream(0, stream.void()) }
}

fn destroy(framework: &Framework, stream: RawStream) {
    // SAFETY: the stream is used no more.
    unsafe { framework.driver.cuStreamDestroy_v2(stream.0) }.unwrap();
}

// Without it memory could be handed out again while a stream uses it that `record_stream` has named, or the
// block's own stream wait for that one.
#[test]
fn a_block_is_free_behind_the_streams_that_were_recorded() {
    alone(
        "streams::a_block_is_free_behind_the_streams_that_were_recorded",
        &[],
        |framework| {
            let (home, user, third) = (framework.stream(), framework.stream(), framework.stream());
            for bytes in [1000, 1 << 20, 5 << 20] {
                let block = allocate_on(bytes, home);
                framework.fill(block, 5, bytes / 4, home);
                framework.synchronize(home);
                // SAFETY: the stream is alive.
                unsafe { cupola_torch_record_stream(block, user.void()) };
                assert_eq!(use_on(block, user), CupolaStatus::CupolaOk);
                let held = framework.hold(user);
                framework.fill(block, 6, bytes / 4, user);
                // It names a third one, which has done with it.
                assert_eq!(free_on(block, third), CupolaStatus::CupolaOk);
                let next = allocate_on(bytes, home);
                assert_ne!(next, block, "{bytes}: another stream may still use it");
                framework.fill(next, 7, bytes / 4, home);
                framework.synchronize(home);
                drop(held);
                framework.synchronize(user);
                assert_eq!(framework.read(next, bytes / 4, home), vec![7; bytes / 4]);
                assert_eq!(free_on(next, home), CupolaStatus::CupolaOk);
            }
            assert_eq!((usage().live, usage().device_waits), (0, 0));
            // SAFETY: the stream is alive; the pointer is no block's.
            unsafe { cupola_torch_record_stream(ptr::without_provenance_mut(64), user.void()) };
            assert_eq!(usage().errors, 1);
            // PyTorch records empty tensors too.
            assert_eq!(use_on(ptr::null_mut(), user), CupolaStatus::CupolaOk);
        },
    );
}

// Without it the pool could ask a stream that is destroyed, or give memory away that its work still uses.
#[test]
fn a_released_stream_may_be_destroyed_while_its_work_runs() {
    alone(
        "streams::a_released_stream_may_be_destroyed_while_its_work_runs",
        &[("CUPOLA_LIMIT", "64MiB")],
        |framework| {
            let home = framework.stream();
            assert_eq!(release(home), CupolaStatus::CupolaInvalid);
            for _ in 0..20 {
                let gone = framework.stream();
                let block = allocate_on(3 << 20, gone);
                let used = allocate_on(3 << 20, home);
                assert_eq!(use_on(used, gone), CupolaStatus::CupolaOk);
                assert_eq!(release(gone), CupolaStatus::CupolaInvalid);
                assert!(
                    last_error().contains("still has 2 blocks"),
                    "{}",
                    last_error()
                );
                let held = framework.hold(gone);
                framework.fill(block, 1, 3 << 18, gone);
                assert_eq!(free_on(block, gone), CupolaStatus::CupolaOk);
                assert_eq!(free_on(used, home), CupolaStatus::CupolaOk);
                assert_eq!(release(gone), CupolaStatus::CupolaOk);
                let next = allocate_on(3 << 20, home);
                assert!(next != block && next != used, "the work may still run");
                framework.fill(next, 2, 3 << 18, home);
                drop(held);
                destroy(framework, gone);
                assert_eq!(framework.read(next, 3 << 18, home), vec![2; 3 << 18]);
                assert_eq!(free_on(next, home), CupolaStatus::CupolaOk);
            }
            // All of it can be had.
            let all = allocate_on(64 << 20, home);
            assert_eq!(free_on(all, home), CupolaStatus::CupolaOk);
        },
    );
}

// Without it the default stream could be two, or the one of each thread be taken for one.
#[test]
fn default_streams_are_the_legacy_one() {
    alone(
        "streams::default_streams_are_the_legacy_one",
        &[],
        |framework| {
            let [null, legacy, per_thread] =
                [0, 1, 2].map(|address| RawStream(ptr::without_provenance_mut(address)));
            let block = allocate_on(1000, null);
            framework.fill(block, 3, 250, null);
            assert_eq!(free_on(block, legacy), CupolaStatus::CupolaOk);
            assert_eq!(allocate_on(1000, legacy), block);
            assert_eq!(free_on(block, per_thread), CupolaStatus::CupolaInvalid);
            assert!(
                last_error().contains("cudaStreamPerThread"),
                "{}",
                last_error()
            );
            // It was not freed, so it can be.
            assert_eq!(cupola_free(block), CupolaStatus::CupolaOk);
        },
    );
}
