//! Requests for which no memory is ready.

use std::time::Duration;

use cupola_sys::driver::{CUresult, id};

use crate::pool::{DeviceLimit, PoolConfig};
use crate::test_bench::{TestBench, free, hold};
use crate::{Error, ops};

const PAGE: u64 = 2 << 20;
const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

// Without it the failure of another pool's context would refuse memory that this one could have.
#[test]
fn what_ails_another_pool_does_not_refuse_a_request() {
    let bench = TestBench::with_workers(2);
    let (stream, other) = (bench.stream(), bench.stream());
    let limit = DeviceLimit::new(2 * PAGE);
    let pools = [(); 2].map(|()| {
        let config = PoolConfig::limit(2 * PAGE).within(&limit);
        bench.context.memory_pool(config).unwrap()
    });
    free(pools[0].allocate_raw(PAGE, 1, &stream).unwrap(), &stream);
    let block = pools[1].allocate_raw(PAGE, 1, &other).unwrap();
    // The first thing that the other pool is asked for.
    let release = hold(&other);
    bench.faults.fail_from(id::cuMemRelease, 1, UNKNOWN);
    let refused = pools[1].allocate_raw(PAGE, 1, &other);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    bench.faults.reset();
    drop(release);
    let more = pools[1].allocate_raw(PAGE, 1, &other).unwrap();
    assert_eq!(limit.used(), 2 * PAGE);
    free(more, &other);
    free(block, &other);
    drop((pools, stream, other));
    bench.finish();
}

// Without it a request would wait for its own stream alone, while its memory is free as soon as
// another stream's work ends.
#[test]
fn a_request_waits_for_whichever_stream_is_first() {
    let bench = TestBench::with_workers(2);
    let (stream, other) = (bench.stream(), bench.stream());
    let config = PoolConfig {
        wait: Duration::from_secs(20),
        ..PoolConfig::limit(2 * PAGE)
    };
    let pool = bench.context.memory_pool(config).unwrap();
    let own = pool.allocate_raw(PAGE / 2, 1, &stream).unwrap();
    let theirs = pool.allocate_raw(PAGE, 1, &other).unwrap();
    let (held, release) = (hold(&stream), hold(&other));
    free(own, &stream);
    free(theirs, &other);
    let begin = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            drop(release);
        });
        // Not aligned to the other stream's blocks: only a page that is unmapped there will do.
        let block = pool.allocate_raw(PAGE + PAGE / 4, 1, &stream).unwrap();
        free(block, &stream);
    });
    assert!(begin.elapsed() < Duration::from_secs(10));
    drop(held);
    drop((pool, stream, other));
    bench.finish();
}

// Without it a thread that must not wait would wait for another one that maps pages.
#[test]
fn a_request_that_may_not_wait_is_told_that_another_thread_maps() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(4 * PAGE), bench.stream());
    let mapper = pool.pool().pages.lock();
    let busy = pool.try_allocate_raw(PAGE, 256, &stream);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    let deadline = std::time::Instant::now() + Duration::from_millis(5);
    let busy = pool.allocate_raw_until(deadline, 100, 256, &stream);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    assert!(busy.unwrap_err().is_retryable());
    drop(mapper);
    let block = pool.try_allocate_raw(PAGE, 256, &stream).unwrap();
    free(block, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a thread that must not wait would be told to come back later, though its memory is
// there and takes no page.
#[test]
fn what_needs_no_page_is_had_while_another_thread_maps() {
    let bench = TestBench::with_workers(2);
    let pool = bench.impatient(4 * PAGE);
    let (stream, other) = (bench.stream(), bench.stream());
    // On a thread of its own, whose caches are emptied with it.
    std::thread::scope(|scope| {
        let work = || free(pool.allocate_raw(1000, 1, &stream).unwrap(), &stream);
        scope.spawn(work).join().unwrap();
    });
    ops::synchronize(&stream).unwrap();
    pool.pool().close_and_poll_soon().unwrap();
    // All else is taken: no slab can be made of it.
    let rest: Vec<_> = std::iter::from_fn(|| {
        let block = pool.try_allocate_raw(PAGE / 4, 256, &other);
        block.ok()
    })
    .collect();
    let mapper = pool.pool().pages.lock();
    let slot = pool.try_allocate_raw(1000, 1, &other).unwrap();
    let busy = pool.try_allocate_raw(PAGE, 1, &other);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    drop(mapper);
    free(slot, &other);
    rest.into_iter().for_each(|block| free(block, &other));
    drop((pool, stream, other));
    bench.finish();
}

// Without it a request would be refused although unused memory has just gone into the cache of
// another thread, which the request has looked through before.
#[test]
fn what_goes_into_a_cache_is_a_sign() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(PAGE), bench.stream());
    let signs = || pool.pool().signs();
    let allocate = || pool.allocate_raw(256, 1, &stream).unwrap();
    // The cache has 16 at a time of the 64 of a slab.
    let mut blocks: Vec<_> = std::iter::repeat_with(allocate).take(16).collect();
    let before = signs();
    blocks.push(allocate());
    assert_ne!(signs(), before, "out of the slabs");
    let before = signs();
    blocks.extend(std::iter::repeat_with(allocate).take(15));
    assert_eq!(signs(), before, "a hit is none");
    blocks.extend(std::iter::repeat_with(allocate).take(16));
    // The cache has room for 32; the others go to the transfer cache.
    blocks.drain(..).for_each(|block| free(block, &stream));
    let before = signs();
    blocks.extend(std::iter::repeat_with(allocate).take(32));
    assert_eq!(signs(), before, "a hit is none");
    blocks.push(allocate());
    assert_ne!(signs(), before, "out of a transfer cache");
    blocks.drain(..).for_each(|block| free(block, &stream));
    drop((pool, stream));
    bench.finish();
}
