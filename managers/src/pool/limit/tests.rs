//! Pools over a limit that was lowered.

use crate::pool::cache::thread_cache::{RevokedCache, ThreadCache};
use crate::test_bench::{TestBench, free};

const PAGE: u64 = 2 << 20;

// Without it the slots that a thread takes at once, and those that it frees while the pool is
// recorded, would be in its magazines, where no thread gives them back, though the pool is over its
// limit.
#[test]
fn threads_keep_nothing_small_either_over_a_lowered_limit() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(8 * PAGE), bench.stream());
    let kept = || -> u64 {
        let caches = pool.pool().caches.lock();
        let seized = ThreadCache::revoke_all(&caches);
        seized.iter().map(RevokedCache::kept).sum()
    };
    let large = pool.allocate_raw(4 * PAGE, 1, &stream).unwrap();
    let first = pool.allocate_raw(1024, 1, &stream).unwrap();
    assert_ne!(kept(), 0);
    // Full magazines of another thread, on their way.
    std::thread::scope(|scope| {
        let work = || {
            let blocks: Vec<_> = (0..200)
                .map(|_| pool.allocate_raw(1024, 1, &stream).unwrap())
                .collect();
            blocks.into_iter().for_each(|block| free(block, &stream));
        };
        scope.spawn(work).join().unwrap();
    });
    pool.set_limit(PAGE).unwrap();
    for recorded in [false, true] {
        if recorded {
            pool.record(16).unwrap();
        }
        let blocks: Vec<_> = (0..40)
            .map(|_| {
                let block = pool.allocate_raw(1024, 1, &stream).unwrap();
                assert_eq!(kept(), 0);
                block
            })
            .collect();
        for block in blocks {
            free(block, &stream);
            assert_eq!(kept(), 0);
        }
    }
    for block in [first, large] {
        free(block, &stream);
    }
    drop((pool, stream));
    bench.finish();
}
