//! A limit that is lowered below what a pool has.

use cupola_managers::Error;

use crate::*;

// Without it a lower limit could take what is alive, or never be reached.
#[test]
fn a_limit_below_what_is_mapped_is_reached_as_blocks_go() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        let live = pool.allocate_raw(20 * PAGE, 256, &stream).unwrap();
        free(pool.allocate_raw(30 * PAGE, 256, &stream).unwrap(), &stream);
        ops::synchronize(&stream).unwrap();
        pool.set_limit(4 * PAGE).unwrap();
        assert_eq!(pool.limit(), 4 * PAGE);
        assert_eq!((pool.mapped(), bench.on_device()), (20 * PAGE, 20 * PAGE));
        assert_eq!(pool.available().unwrap(), 0);
        let error = pool.allocate_raw(1, 1, &stream).unwrap_err();
        assert!(matches!(error, Error::OverLimit(_)), "{error}");
        // In use still when it is freed, so it goes with what comes after that: no call says it
        // again.
        let release = hold(&stream);
        free(live, &stream);
        assert_eq!(pool.mapped(), 20 * PAGE);
        drop(release);
        ops::synchronize(&stream).unwrap();
        let block = pool.allocate_raw(4 * PAGE, 256, &stream).unwrap();
        assert!(pool.mapped() <= 4 * PAGE, "{}", pool.mapped());
        free(block, &stream);
        assert_eq!(pool.mapped(), bench.on_device());
        pool.set_limit(u64::MAX).unwrap();
        free(pool.allocate_raw(40 * PAGE, 256, &stream).unwrap(), &stream);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a program that only frees would keep the memory that it has no room for.
#[test]
fn frees_alone_reach_a_lowered_limit() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(16 * PAGE), bench.stream());
    let blocks = [(); 8].map(|()| pool.allocate_raw(2 * PAGE, 256, &stream).unwrap());
    pool.set_limit(PAGE).unwrap();
    for block in blocks {
        // What was freed before is complete, so it goes with this one.
        ops::synchronize(&stream).unwrap();
        free(block, &stream);
    }
    assert!(pool.mapped() <= 2 * PAGE, "{}", pool.mapped());
    drop((pool, stream));
    bench.finish();
}

// Without it threads would keep what a lowered limit has no room for, or never have their magazines
// again.
#[test]
fn threads_keep_nothing_beyond_a_lowered_limit_and_hit_again_within_it() {
    const PIECES: u64 = 40;
    on_both(|bench| {
        let (pool, stream) = (bench.pool(PIECES << 20), bench.stream());
        let held = hold(&stream);
        let blocks: Vec<_> = (0..PIECES)
            .map(|_| pool.allocate_raw(1 << 20, 256, &stream).unwrap())
            .collect();
        std::thread::scope(|scope| {
            for block in blocks {
                let (pool, stream) = (&pool, &stream);
                scope.spawn(move || {
                    // Into a magazine of this thread, were it not for the limit.
                    pool.set_limit(4 * PAGE).unwrap();
                    free(block, stream);
                });
            }
        });
        assert!(pool.mapped() > 4 * PAGE);
        drop(held);
        ops::synchronize(&stream).unwrap();
        // 64 operations on less than a page: one of them looks.
        for _ in 0..64 {
            free(pool.allocate_raw(100, 1, &stream).unwrap(), &stream);
        }
        assert!(pool.mapped() <= 4 * PAGE, "{}", pool.mapped());
        let warm = || free(pool.allocate_raw(1 << 20, 256, &stream).unwrap(), &stream);
        (0..3).for_each(|_| warm());
        let before = pool.usage().unwrap();
        (0..100).for_each(|_| warm());
        let after = pool.usage().unwrap();
        assert_eq!((after.misses, after.spills), (before.misses, before.spills));
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a lowered limit would take the memory of a graph, whose addresses must stay.
#[test]
fn a_lowered_limit_leaves_a_graphs_memory_alone() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(20 * PAGE), bench.stream());
    let memory = pool.graph_memory(&stream).unwrap();
    free(pool.allocate_raw(8 * PAGE, PAGE, &stream).unwrap(), &stream);
    pool.set_limit(PAGE).unwrap();
    ops::synchronize(&stream).unwrap();
    // With this alignment it is no hit.
    let block = pool.allocate_raw(8 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(pool.mapped(), 8 * PAGE);
    free(block, &stream);
    drop(memory);
    assert_eq!(pool.mapped(), 0);
    free(pool.allocate_raw(100, 1, &stream).unwrap(), &stream);
    let before = pool.usage().unwrap();
    free(pool.allocate_raw(100, 1, &stream).unwrap(), &stream);
    assert_eq!(pool.usage().unwrap().misses, before.misses, "a hit again");
    drop((pool, stream));
    bench.finish();
}
