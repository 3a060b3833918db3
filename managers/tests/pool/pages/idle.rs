//! Pages go to the driver, or to another place, when nothing uses them, and not before; and a
//! request gets the place that costs the fewest.

use cupola_managers::pool::layout::{Block, BlockState};
use cupola_managers::pool::{Backing, Source};

use crate::*;

/// A pool of so many pages where a search for idle ones has been made, and that never waits.
fn pool(bench: &TestBench, pages: u64) -> MemoryPool {
    let pool = bench.impatient(pages * PAGE);
    pool.trim().unwrap();
    pool
}

fn unmapped(bench: &TestBench) -> u64 {
    bench.faults.count(id::cuMemUnmap)
}

// Without it a stream that is gone would take the other's work off a page that both have used.
#[test]
fn a_stream_that_goes_leaves_pages_to_the_work_of_others() {
    for by_request in [false, true] {
        let bench = bench_on(Backing::Pages);
        let (stream, other) = (bench.stream(), bench.stream());
        let pool = pool(&bench, 2);
        let ours = pool.allocate_raw(PAGE / 2, 1, &stream).unwrap();
        let theirs = pool.allocate_raw(PAGE / 2, 1, &other).unwrap();
        let kept = pool.allocate_raw(PAGE / 2, 1, &stream).unwrap();
        assert_eq!(ours.address() / PAGE, theirs.address() / PAGE);
        let held = hold(&stream);
        free(ours, &stream);
        free(theirs, &other);
        pool.trim().unwrap();
        ops::synchronize(&other).unwrap();
        bench.context.streams().release(other.handle()).unwrap();
        drop(other);
        bench.context.streams().trim(0).unwrap();
        if by_request {
            let more = pool.allocate_raw(PAGE + PAGE / 4, 1, &stream);
            if let Ok(more) = more {
                free(more, &stream);
            }
        } else {
            pool.trim().unwrap();
            pool.trim().unwrap();
        }
        assert_eq!(unmapped(&bench), 0, "under work");
        drop(held);
        ops::synchronize(&stream).unwrap();
        free(kept, &stream);
        trim_to(&pool, 0);
        drop((pool, stream));
        bench.finish();
    }
}

// Without it what was joined for one stream's request would take the work of that stream off
// what is left.
#[test]
fn what_is_left_of_a_joined_stretch_is_in_use() {
    let bench = bench_on(Backing::Pages);
    let (stream, other) = (bench.stream(), bench.stream());
    let pool = pool(&bench, 3);
    let sizes = [PAGE + PAGE / 2, PAGE, PAGE / 2];
    let [first, second, third] = [(sizes[0], &stream), (sizes[1], &other), (sizes[2], &stream)]
        .map(|(bytes, stream)| pool.allocate_raw(bytes, 1, stream).unwrap());
    let begin = first.address();
    assert_eq!(second.address(), begin + sizes[0]);
    assert_eq!(third.address(), begin + sizes[0] + sizes[1]);
    let held = hold(&stream);
    free(third, &stream);
    free(first, &stream);
    pool.trim().unwrap();
    free(second, &other);
    ops::synchronize(&other).unwrap();
    let joined = pool.allocate_raw(PAGE + 3 * PAGE / 4, 1, &stream).unwrap();
    assert_eq!(joined.address(), begin);
    pool.trim().unwrap();
    assert_eq!(unmapped(&bench), 0, "under work");
    drop(held);
    free(joined, &stream);
    ops::synchronize(&stream).unwrap();
    trim_to(&pool, 0);
    drop((pool, stream, other));
    bench.finish();
}

// Without it a request would be refused for the page that the beginning of a piece misses.
#[test]
fn a_place_in_the_middle_of_a_piece_is_found() {
    let bench = bench_on(Backing::Pages);
    let stream = bench.stream();
    let pool = pool(&bench, 5);
    let [low, high] = [2, 3].map(|pages| pool.allocate_raw(pages * PAGE, 1, &stream).unwrap());
    assert_eq!(high.address(), low.address() + 2 * PAGE);
    free(low, &stream);
    ops::synchronize(&stream).unwrap();
    pool.set_limit(3 * PAGE).unwrap();
    assert_eq!(pool.mapped(), 3 * PAGE);
    pool.set_limit(4 * PAGE).unwrap();
    let held = hold(&stream);
    let address = high.address();
    free(high, &stream);
    let block = pool.allocate_raw(4 * PAGE, 1, &stream).unwrap();
    assert_eq!((block.address(), pool.mapped()), (address - PAGE, 4 * PAGE));
    drop(held);
    free(block, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a limit that is a little lower would cost all chunks, and a wait for the device each.
#[test]
fn no_more_chunks_go_than_a_limit_asks_for() {
    let bench = bench_on(Backing::Pages);
    let stream = bench.stream();
    let mut config = PoolConfig::limit(128 << 20);
    config.source = Source::Chunks;
    let pool = bench.context.memory_pool(config).unwrap();
    let blocks = [(); 4].map(|()| pool.allocate_raw(30 << 20, 256, &stream).unwrap());
    assert_eq!(pool.mapped(), 128 << 20);
    blocks.into_iter().for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    pool.set_limit(126 << 20).unwrap();
    assert_eq!(pool.mapped(), 96 << 20);
    // For a request that needs the room of two.
    let block = pool.allocate_raw(60 << 20, 256, &stream).unwrap();
    assert_eq!(pool.mapped(), (32 + 60) << 20);
    free(block, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it every allocation would go through all that other streams have freed, however long ago
// that was complete.
#[test]
fn what_others_freed_is_looked_at_once() {
    let bench = bench_on(Backing::Pages);
    let (stream, other) = (bench.stream(), bench.stream());
    let pool = bench.pool(2048 * PAGE);
    let own = pool.allocate_raw(8 * PAGE, 256, &other).unwrap();
    let (mut blocks, mut between) = (Vec::new(), Vec::new());
    for n in 0..2000 {
        let bytes = (64 << 10) + 256 * (n % 500);
        blocks.push(pool.allocate_raw(bytes, 512, &stream).unwrap());
        between.push(pool.allocate_raw(512, 512, &stream).unwrap());
    }
    blocks.into_iter().for_each(|block| free(block, &stream));
    free(own, &other);
    ops::synchronize(&stream).unwrap();
    ops::synchronize(&other).unwrap();
    // Only the pool's own searches tell it.
    let pending = || {
        let blocks = pool.layout().unwrap().blocks;
        let is_pending = |block: &&Block| block.state == BlockState::Pending;
        blocks.iter().filter(is_pending).count()
    };
    let before = (pending(), pool.mapped());
    assert!(before.0 > 1000, "{before:?}");
    let found = [(); 3].map(|()| pool.allocate_raw(32 << 10, 512, &other).unwrap());
    assert_eq!((pending(), pool.mapped()), (0, before.1));
    found.into_iter().for_each(|block| free(block, &other));
    between.into_iter().for_each(|block| free(block, &stream));
    drop((pool, stream, other));
    bench.finish();
}
