//! Handles of several pages: fewer driver calls far from the limits, and what they must not cost
//! near them.

use cupola_managers::Error;
use cupola_managers::pool::Backing;
use cupola_sys::driver::{CUresult, id};

use crate::*;

/// Pages of a device, or limit, that is far.
const FAR: u64 = 128 << 10;

/// Maps the first pages from 0 on, in handles of four pages, and frees all.
fn map_in_fours(pool: &MemoryPool, stream: &Stream, pages: u64) {
    let blocks: Vec<_> = (0..pages / 16)
        .map(|_| pool.allocate_raw(16 * PAGE, PAGE, stream).unwrap())
        .collect();
    assert_eq!(pool.usage().unwrap().calls.create, pages / 4);
    blocks.into_iter().for_each(|block| free(block, stream));
    ops::synchronize(stream).unwrap();
}

// Without it a request far from the limit would wait for a driver call for each of its pages, or
// one near it could not be moved page by page.
#[test]
fn the_nearer_the_limit_the_smaller_the_handles() {
    // Pages of a block, pages of the limit, pages that are mapped before, handles of the block.
    let cases = [
        (23, FAR, 0, 4),
        (64, FAR, 0, 4),
        (64, 128, 0, 64),
        (64, 4 << 10, 0, 16),
        (64, 16 << 10, 0, 8),
        (23, 128, 0, 23),
        (64, 65, 0, 64),
        (1000, FAR, 0, 8),
        (23, FAR, FAR / 2, 4),
        (200, FAR, FAR / 2, 7),
        (23, FAR, FAR / 4 * 3, 23),
        (200, FAR, FAR / 4 * 3, 200),
    ];
    for (pages, limit, before, handles) in cases {
        let bench = bench_with(Backing::Pages, 2 * FAR * PAGE);
        let (pool, stream) = (bench.pool(limit * PAGE), bench.stream());
        let others = pool.allocate_raw(before * PAGE, PAGE, &stream).unwrap();
        let already = pool.usage().unwrap().calls;
        let block = pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap();
        let calls = pool.usage().unwrap().calls;
        let made = calls.create - already.create;
        assert_eq!(made, handles, "{pages} of {limit} after {before}");
        assert_eq!(calls.map - already.map, handles);
        assert_eq!(calls.set_access - already.set_access, 1);
        free(block, &stream);
        free(others, &stream);
        drop((pool, stream));
        bench.finish();
    }
}

// Without it a device that has little left would be asked for large handles again and again.
#[test]
fn what_there_is_too_little_for_is_asked_once() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.pool(FAR * PAGE), bench.stream());
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.faults.fail(id::cuMemCreate, 1, full);
    let block = pool.allocate_raw(23 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(pool.usage().unwrap().calls.create, 1 + 23);
    assert_eq!((pool.mapped(), bench.on_device()), (23 * PAGE, 23 * PAGE));
    // And the next request does not rely on what the device said before.
    let asked = bench.faults.count(id::cuMemGetInfo_v2);
    let next = pool.allocate_raw(23 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(bench.faults.count(id::cuMemGetInfo_v2), asked + 1);
    free(next, &stream);
    free(block, &stream);
    drop((pool, stream));
    bench.finish();
}

// As above, with something mapped in the middle of the place.
#[test]
fn what_there_is_too_little_for_is_not_asked_for_the_rest_of_the_place() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.pool(FAR * PAGE), bench.stream());
    let take = |pages| pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap();
    let [below, middle, above] = [12, 1, 11].map(take);
    free(below, &stream);
    free(above, &stream);
    trim_to(&pool, PAGE);
    free(middle, &stream);
    bench.faults.reset();
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.faults.fail(id::cuMemCreate, 1, full);
    let block = take(24);
    assert_eq!(bench.faults.count(id::cuMemCreate), 1 + 23);
    free(block, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a device that others have nearly filled would be taken for an empty one by requests
// that map too few pages to ask it.
#[test]
fn a_device_that_is_nearly_full_gives_single_pages() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (others, pool) = (bench.pool(FAR * PAGE), bench.pool(FAR * PAGE));
    let stream = bench.stream();
    let theirs = others
        .allocate_raw((FAR - 1000) * PAGE, PAGE, &stream)
        .unwrap();
    let block = pool.allocate_raw(23 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(pool.usage().unwrap().calls.create, 23);
    free(block, &stream);
    free(theirs, &stream);
    drop((others, pool, stream));
    bench.finish();
}

// Without it a device that others fill meanwhile would be taken for an empty one for ever.
#[test]
fn the_device_is_asked_again() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (others, pool) = (bench.pool(FAR * PAGE), bench.pool(FAR * PAGE));
    let stream = bench.stream();
    let take = |pool: &MemoryPool, pages| pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap();
    let mut blocks = vec![take(&pool, 24)];
    let theirs = take(&others, FAR / 8 * 7);
    let handles = |pool: &MemoryPool| pool.usage().unwrap().calls.create;
    // After a sixteenth of what it had.
    for _ in 0..FAR / 16 / 24 {
        blocks.push(take(&pool, 24));
    }
    let before = handles(&pool);
    blocks.push(take(&pool, 24));
    assert_eq!(handles(&pool) - before, 24);
    for block in blocks {
        free(block, &stream);
    }
    free(theirs, &stream);
    drop((others, pool, stream));
    bench.finish();
}

// Without it what a pool mapped far from its limit would never again be moved page by page.
#[test]
fn what_moves_near_the_limit_is_in_single_pages_from_then_on() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.pool(FAR * PAGE), bench.stream());
    map_in_fours(&pool, &stream, 64);
    let take = |pages| pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap();
    let (below, pin) = (take(32), take(1));
    free(below, &stream);
    ops::synchronize(&stream).unwrap();
    pool.set_limit(64 * PAGE).unwrap();
    // Beginning after the pin it misses nine pages, which come from three handles.
    let block = take(40);
    let calls = pool.usage().unwrap().calls;
    assert_eq!((calls.unmap, calls.release, calls.create), (3, 3, 16 + 9));
    assert_eq!((pool.mapped(), bench.on_device()), (61 * PAGE, 61 * PAGE));
    free(block, &stream);
    free(pin, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a request would be refused where the place that misses the fewest pages has the only
// idle handles in it, although another place could have them.
#[test]
fn idle_handles_in_the_cheapest_place_serve_another_one() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.impatient(FAR * PAGE), bench.stream());
    let take = |pages| pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap();
    free(take(64), &stream);
    let (below, pin) = (take(56), take(1));
    free(below, &stream);
    trim_to(&pool, 16 * PAGE);
    let above = take(7);
    free(take(16), &stream);
    ops::synchronize(&stream).unwrap();
    pool.set_limit(pool.mapped()).unwrap();
    assert_eq!(pool.mapped(), 32 * PAGE);
    let block = pool.allocate_raw(20 * PAGE, PAGE, &stream);
    let block = block.unwrap_or_else(|error| panic!("{error}"));
    free(block, &stream);
    free(pin, &stream);
    free(above, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a request that cannot be had would take apart, each time, all that is idle.
#[test]
fn what_cannot_be_had_leaves_idle_handles_alone() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.impatient(FAR * PAGE), bench.stream());
    let take = |pages| pool.allocate_raw(pages * PAGE, PAGE, &stream);
    let (live, idle) = (take(40).unwrap(), take(16).unwrap());
    free(idle, &stream);
    ops::synchronize(&stream).unwrap();
    pool.set_limit(64 * PAGE).unwrap();
    let refused = take(60);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(pool.usage().unwrap().calls.unmap, 0);
    free(live, &stream);
    drop((pool, stream));
    bench.finish();
}

// What is given back to a lowered limit, by handles: without it the documentation would promise
// more, or pages that nothing pins would stay.
#[test]
fn a_lowered_limit_leaves_only_handles_that_something_lives_in() {
    let bench = bench_with(Backing::Pages, FAR * PAGE);
    let (pool, stream) = (bench.pool(FAR * PAGE), bench.stream());
    map_in_fours(&pool, &stream, 64);
    let blocks = [(); 64].map(|()| pool.allocate_raw(PAGE, PAGE, &stream).unwrap());
    let mut kept = Vec::new();
    for (at, block) in blocks.into_iter().enumerate() {
        if at % 8 == 0 {
            kept.push(block);
        } else {
            free(block, &stream);
        }
    }
    ops::synchronize(&stream).unwrap();
    pool.set_limit(8 * PAGE).unwrap();
    assert_eq!(pool.mapped(), 8 * 4 * PAGE);
    kept.into_iter().for_each(|block| free(block, &stream));
    trim_to(&pool, 0);
    drop((pool, stream));
    bench.finish();
}
