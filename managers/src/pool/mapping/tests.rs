//! Pages and chunks that a pool gets and gives back.

use cupola_sys::driver::id;

use crate::pool::{MemoryPool, PoolConfig, Source};
use crate::test_bench::{TestBench, free, hold};
use crate::{Error, ops};

const PAGE: u64 = 2 << 20;

/// A pool of chunks that does not wait on the host.
fn chunks(bench: &TestBench, pages: u64) -> MemoryPool {
    let config = PoolConfig {
        wait: std::time::Duration::ZERO,
        source: Source::Chunks,
        ..PoolConfig::limit(pages * PAGE)
    };
    bench.context.memory_pool(config).unwrap()
}

// Without it a page could be unmapped under work that still uses it, because another block of
// the page was given back late and with an older stamp.
#[test]
fn a_page_waits_for_the_last_work_on_it() {
    let bench = TestBench::with_workers(2);
    let (stream, other) = (bench.stream(), bench.stream());
    let pool = bench.impatient(2 * PAGE);
    // A slab that is free as a whole, and complete: its slots come back when the thread ends.
    std::thread::scope(|scope| {
        // Joined: the scope alone does not wait for the thread's end.
        let work = || free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
        scope.spawn(work).join().unwrap();
    });
    ops::synchronize(&stream).unwrap();
    // The rest of its page is used until the work ends.
    let rest = pool.allocate_raw(PAGE - (64 << 10), 1, &stream).unwrap();
    assert_eq!((rest.address() % PAGE, pool.mapped()), (64 << 10, PAGE));
    let release = hold(&stream);
    free(rest, &stream);
    let refused = pool.allocate_raw(2 * PAGE, 1, &other);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(bench.faults.count(id::cuMemUnmap), 0);
    release.send(()).unwrap();
    ops::synchronize(&stream).unwrap();
    free(pool.allocate_raw(2 * PAGE, 1, &other).unwrap(), &other);
    assert_eq!(pool.mapped(), 2 * PAGE);
    drop((pool, stream, other));
    bench.finish();
}

// Without it a pool of chunks would never end once it had given a chunk back.
#[test]
fn chunks_that_were_given_back_do_not_keep_a_pool() {
    let bench = TestBench::with_workers(2);
    let stream = bench.stream();
    let pool = chunks(&bench, 64);
    let blocks = [(); 2].map(|()| pool.allocate_raw(20 << 20, 1, &stream).unwrap());
    let [kept, gone] = blocks;
    free(gone, &stream);
    assert_eq!(pool.trim(), Ok(32 << 20));
    // Blocks that only stand for a chunk do not count as out.
    assert!(pool.usage().unwrap().peak_held < 41 << 20);
    free(kept, &stream);
    drop(pool);
    assert_eq!(bench.faults.count(id::cuMemFree_v2), 2);
    drop(stream);
    bench.finish();
}

// Without it a request could be refused although all memory is free, in chunks too small for it.
#[test]
fn idle_chunks_make_room_for_a_larger_one() {
    let bench = TestBench::with_workers(2);
    let stream = bench.stream();
    let pool = chunks(&bench, 32);
    free(pool.allocate_raw(20 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    // At addresses that the driver may have given before, in another shape.
    free(pool.allocate_raw(48 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    free(pool.allocate_raw(60 << 20, 1, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    assert_eq!(pool.mapped(), 60 << 20);
    pool.trim().unwrap();
    let blocks = [(); 2].map(|()| pool.allocate_raw(20 << 20, 1, &stream).unwrap());
    assert_eq!(pool.mapped(), 64 << 20);
    for block in blocks {
        free(block, &stream);
    }
    drop((pool, stream));
    bench.finish();
}

// Without it a request of one chunk would cost all those that are smaller, and a wait for all work
// of the context for each.
#[test]
fn the_chunk_that_is_enough_goes_alone() {
    let bench = TestBench::with_workers(2);
    let (stream, pool) = (bench.stream(), chunks(&bench, 200));
    let sizes = [40 << 20, 72 << 20, 100 << 20];
    let blocks = sizes.map(|bytes| pool.allocate_raw(bytes, 1, &stream).unwrap());
    blocks.into_iter().for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    pool.pool().drain();
    pool.pool().close_and_poll_soon().unwrap();
    let frees = || bench.faults.count(id::cuMemFree_v2);
    let chunks = || {
        let mapper = pool.pool().pages.lock();
        let there = mapper.chunks().backed();
        let mut sizes: Vec<_> = there.map(|chunk| chunk.bytes() >> 20).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(chunks(), [40, 72, 100]);
    let release = |bytes| {
        let mut mapper = pool.pool().pages.lock();
        pool.pool().release_chunks(&mut mapper, bytes).unwrap();
    };
    release(50 << 20);
    assert_eq!((frees(), chunks()), (1, vec![40, 100]));
    release(120 << 20);
    assert_eq!((frees(), chunks()), (3, vec![]));
    drop((pool, stream));
    bench.finish();
}
