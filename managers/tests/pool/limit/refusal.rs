//! A full device, and what the user is told and asked before a refusal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cupola_managers::Error;

use crate::*;

// Without it a device that others fill would look like a limit that is too low.
#[test]
fn memory_that_others_take_is_told_and_can_be_had_again() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = bench_with(backing, 200 * PAGE);
        let (pool, foreign, stream) = (bench.pool(u64::MAX), bench.pool(u64::MAX), bench.stream());
        let taken = foreign.allocate_raw(150 * PAGE, 256, &stream).unwrap();
        let kept = pool.allocate_raw(1000, 256, &stream).unwrap();
        let available = pool.available().unwrap();
        assert!(available <= 50 * PAGE, "{available}");
        let error = pool.allocate_raw(100 * PAGE, 256, &stream).unwrap_err();
        let Error::OutOfMemory { account, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((account.requested, account.live), (100 * PAGE, 1000));
        assert!(account.foreign >= 150 * PAGE, "{error}");
        assert!(account.device_free <= 50 * PAGE, "{error}");
        assert!(error.is_retryable() && !error.is_sticky());
        assert!(
            pool.mapped() <= 20 * PAGE,
            "filled up for nothing: {}",
            pool.mapped()
        );
        assert_eq!(pool.usage().unwrap().exhausted, 1);
        free(taken, &stream);
        drop(foreign);
        free(
            pool.allocate_raw(100 * PAGE, 256, &stream).unwrap(),
            &stream,
        );
        free(kept, &stream);
        drop((pool, stream));
        bench.finish();
    }
}

// Without it a program could not make room when it learns that there is none.
#[test]
fn the_user_is_asked_before_a_refusal() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(20 * PAGE), bench.stream());
        let spare = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..2 {
            let block = pool.allocate_raw(5 * PAGE, 256, &stream).unwrap();
            spare.lock().unwrap().push(block);
        }
        let asked = Arc::new(AtomicU64::new(0));
        let (seen, blocks, on) = (Arc::clone(&asked), Arc::clone(&spare), stream.clone());
        pool.on_refusal(move |error| {
            assert!(matches!(error, Error::OverLimit(_)), "{error}");
            seen.fetch_add(1, Ordering::Relaxed);
            let block = blocks.lock().unwrap().pop();
            block.map(|block| free(block, &on)).is_some()
        });
        let large = pool.allocate_raw(16 * PAGE, 256, &stream);
        let large = large.or_else(|_| pool.allocate_raw(16 * PAGE, 256, &stream));
        assert!(spare.lock().unwrap().is_empty());
        free(large.unwrap(), &stream);
        let before = asked.load(Ordering::Relaxed);
        assert!(before >= 1);
        let all = pool.allocate_raw(20 * PAGE, 256, &stream).unwrap();
        pool.allocate_raw(PAGE, 256, &stream).unwrap_err();
        assert_eq!(asked.load(Ordering::Relaxed), before + 1);
        free(all, &stream);
        // What it holds must not keep the pool.
        pool.on_refusal(|_| false);
        drop((pool, stream, spare));
        bench.finish();
    });
}

// Without it a program could not raise the limit for a request that is larger than all of it.
#[test]
fn the_user_is_asked_about_what_is_larger_than_the_limit() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(4 * PAGE), bench.stream());
        let weak = pool.downgrade();
        pool.on_refusal(move |_| {
            let pool = weak.upgrade().expect("the request has it");
            pool.set_limit(16 * PAGE).unwrap();
            true
        });
        free(pool.allocate_raw(9 * PAGE, 256, &stream).unwrap(), &stream);
        assert_eq!(pool.usage().unwrap().refused, 0, "it was granted");
        let weak = pool.downgrade();
        drop((pool, stream));
        assert!(weak.upgrade().is_none());
        bench.finish();
    });
}

// Without it a callback that makes no room would be asked for ever, and one that is refused
// something itself would be called by itself until the stack ends.
#[test]
fn a_callback_that_does_not_help_ends_in_a_refusal() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(2 * PAGE), bench.stream());
        let asked = Arc::new(AtomicU64::new(0));
        let (seen, weak, on) = (Arc::clone(&asked), pool.downgrade(), stream.clone());
        pool.on_refusal(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            let pool = weak.upgrade().expect("the request has it");
            let refused = pool.allocate_raw(3 * PAGE, 256, &on);
            assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
            true
        });
        let refused = pool.allocate_raw(3 * PAGE, 256, &stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        assert_eq!(asked.swap(0, Ordering::Relaxed), 64);
        assert_eq!(pool.usage().unwrap().refused, 64 + 1);
        // A panic goes to the caller of the request, and the next request asks again.
        let seen = Arc::clone(&asked);
        pool.on_refusal(move |_| {
            assert!(seen.fetch_add(1, Ordering::Relaxed) > 0, "the first time");
            false
        });
        let panics = std::panic::AssertUnwindSafe(|| pool.allocate_raw(3 * PAGE, 256, &stream));
        assert!(std::panic::catch_unwind(panics).is_err());
        pool.allocate_raw(3 * PAGE, 256, &stream).unwrap_err();
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it the error of a device that is full would name a line of this crate.
#[test]
fn a_refusal_of_the_device_names_the_callers_line() {
    let bench = bench_with(Backing::Pages, 100 * PAGE);
    let (pool, stream) = (bench.pool(u64::MAX), bench.stream());
    let kept = pool.allocate_raw(90 * PAGE, 256, &stream).unwrap();
    for pages in [20, 64, 200] {
        let error = pool.allocate_raw(pages * PAGE, 256, &stream).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        let line = error.location().unwrap();
        assert_eq!(line.file(), file!(), "{pages}: {line}");
    }
    free(kept, &stream);
    drop((pool, stream));
    bench.finish();
}
