//! Requests that no completion can give what they ask for: they are refused without a wait, and
//! neighbours keep what they have.

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::Error;
use cupola_managers::pool::{Backing, DeviceLimit, PoolConfig};

use crate::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// A pool of so many pages that waits for long.
fn pool(bench: &TestBench, pages: u64) -> MemoryPool {
    let config = PoolConfig::limit(pages * PAGE).wait(LONG);
    bench.context.memory_pool(config).unwrap()
}

#[track_caller]
fn is_refused(pool: &MemoryPool, bytes: u64, stream: &Stream) {
    let refused = pool.allocate_raw(bytes, 256, stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
}

/// Runs `work` beside a thread that goes on allocating, using and freeing blocks of one size.
fn beside_a_neighbour(pool: &MemoryPool, stream: &Stream, work: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    let (ready, begun) = channel();
    std::thread::scope(|scope| {
        // Also where `work` panics: else the neighbour goes on for ever, and the test with it.
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let is_over = &is_over;
        let _end = End(is_over);
        scope.spawn(move || {
            let mut turns = 0;
            while !is_over.load(Ordering::Relaxed) {
                let mut buffer = pool.allocate::<u8>(64 << 10, stream).unwrap();
                ops::zero(buffer.slice_mut(..256).unwrap(), stream).unwrap();
                drop(buffer);
                turns += 1;
                if turns == 100 {
                    ready.send(()).unwrap();
                }
            }
        });
        begun.recv().unwrap();
        work();
    });
}

// Without it a request that what is alive leaves no room for would take from all threads what they
// keep, a thousand times a second, for as long as a neighbour works.
#[test]
fn what_is_alive_is_not_waited_for() {
    on_both(|bench| {
        let (pool, stream, other) = (pool(&bench, 16), bench.stream(), bench.stream());
        let kept = pool.allocate_raw(13 * PAGE, 256, &stream).unwrap();
        beside_a_neighbour(&pool, &other, || {
            let before = pool.usage().unwrap();
            for _ in 0..20 {
                is_refused(&pool, 4 * PAGE, &stream);
            }
            let after = pool.usage().unwrap();
            assert_eq!(after.refused, before.refused + 20);
            assert_eq!(
                (after.drains, after.host_waits),
                (before.drains, before.host_waits)
            );
        });
        free(kept, &stream);
        drop((pool, stream, other));
        bench.finish();
    });
}

// Without it what threads keep could count as alive, and a request be refused that could have it.
#[test]
fn what_threads_keep_is_not_alive() {
    on_both(|bench| {
        let (pool, stream) = (pool(&bench, 16), bench.stream());
        std::thread::scope(|scope| {
            let (pool, stream) = (&pool, &stream);
            let (kept, is_kept) = channel();
            let (over, is_over) = channel::<()>();
            scope.spawn(move || {
                let sizes = [4 * PAGE / 2, 100, 5000, 3 << 20, 1 << 20];
                let blocks = sizes.map(|bytes| pool.allocate_raw(bytes, 256, stream).unwrap());
                blocks.into_iter().for_each(|block| free(block, stream));
                kept.send(()).unwrap();
                // Its caches are emptied when it ends.
                let _ = is_over.recv();
            });
            is_kept.recv().unwrap();
            free(pool.allocate_raw(16 * PAGE, 256, stream).unwrap(), stream);
            drop(over);
        });
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a request that could be had only if blocks moved would wait for work that cannot help
// it.
#[test]
fn no_completion_moves_a_block() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream, other) = (pool(&bench, 4), bench.stream(), bench.stream());
    // Two halves a page, of which one goes.
    let halves: Vec<_> = (0..8)
        .map(|_| pool.allocate_raw(PAGE / 2, PAGE / 2, &stream).unwrap())
        .collect();
    let held = hold(&stream);
    let mut left = Vec::new();
    for (at, half) in halves.into_iter().enumerate() {
        if at % 2 == 0 {
            left.push(half);
        } else {
            free(half, &stream);
        }
    }
    is_refused(&pool, PAGE, &other);
    let usage = pool.usage().unwrap();
    assert_eq!((usage.host_waits, usage.drains), (0, 1), "{usage:?}");
    // As large as a hole it is worth the wait.
    std::thread::scope(|scope| {
        let request = scope.spawn(|| pool.allocate_raw(PAGE / 2, 256, &other).unwrap());
        let waits = || pool.usage().unwrap().host_waits + pool.usage().unwrap().device_waits;
        while waits() == 0 && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        free(request.join().unwrap(), &other);
    });
    left.into_iter().for_each(|half| free(half, &stream));
    drop((pool, stream, other));
    bench.finish();
}

// Without it a request would make pools that share its limit give up all that they keep, and wait
// for them, though what is alive in them leaves no room for it.
#[test]
fn what_is_alive_in_other_pools_is_not_waited_for() {
    let bench = bench_on(Backing::Pages);
    let limit = DeviceLimit::new(16 * PAGE);
    let pool = || {
        let config = PoolConfig::limit(u64::MAX).within(&limit).wait(LONG);
        bench.context.memory_pool(config).unwrap()
    };
    let (one, two, stream) = (pool(), pool(), bench.stream());
    let alive = two.allocate_raw(10 * PAGE, 256, &stream).unwrap();
    free(two.allocate_raw(4 * PAGE, 256, &stream).unwrap(), &stream);
    let held = hold(&stream);
    free(two.allocate_raw(PAGE, 256, &stream).unwrap(), &stream);
    let before = two.mapped();
    is_refused(&one, 7 * PAGE, &stream);
    let (usage, theirs) = (one.usage().unwrap(), two.usage().unwrap());
    assert_eq!((usage.host_waits, usage.drains, theirs.drains), (0, 0, 0));
    assert_eq!(two.mapped(), before);
    drop(held);
    ops::synchronize(&stream).unwrap();
    free(alive, &stream);
    free(one.allocate_raw(7 * PAGE, 256, &stream).unwrap(), &stream);
    drop((one, two, stream));
    bench.finish();
}

// Without it a request that waits would empty the magazines of all threads with each of its
// searches, and wait as often as a neighbour completes something.
#[test]
fn a_long_wait_leaves_neighbours_what_they_keep() {
    let bench = bench_on(Backing::Pages);
    let config = PoolConfig::limit(4 * PAGE).wait(Duration::from_millis(300));
    let pool = bench.context.memory_pool(config).unwrap();
    let [one, two, three] = [(); 3].map(|()| bench.stream());
    let [left, between, right] = [(); 3].map(|()| pool.allocate_raw(PAGE, PAGE, &one).unwrap());
    let held = hold(&one);
    free(left, &one);
    free(right, &one);
    beside_a_neighbour(&pool, &two, || {
        let before = pool.usage().unwrap();
        // It could have the two pages when the work completes, which it does not in time.
        is_refused(&pool, 2 * PAGE, &three);
        let after = pool.usage().unwrap();
        assert_eq!(after.host_waits, before.host_waits + 1);
        // Eight soon after each other, then after ever longer times up to a tenth of a second.
        assert!(after.drains - before.drains < 24, "{after:?}");
    });
    drop(held);
    free(between, &one);
    drop((pool, one, two, three));
    bench.finish();
}

// Without it one request that a pool had no room for would keep threads from their magazines for
// sixty thousand blocks more.
#[test]
fn threads_keep_large_sizes_again_when_there_is_room() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.impatient(16 * PAGE), bench.stream());
    let hit = || {
        let before = pool.usage().unwrap();
        free(pool.allocate_raw(1 << 20, 256, &stream).unwrap(), &stream);
        pool.usage().unwrap().misses == before.misses
    };
    let some = pool.allocate_raw(6 * PAGE, 256, &stream).unwrap();
    let rest = pool.allocate_raw(9 * PAGE, 256, &stream).unwrap();
    assert!(!hit() && hit());
    let held = hold(&stream);
    free(rest, &stream);
    // Only with pages that are in use until the work is over.
    let other = bench.stream();
    let begin = pool.usage().unwrap().drains;
    is_refused(&pool, 10 * PAGE, &other);
    let usage = pool.usage().unwrap();
    assert!(usage.tight && usage.drains > begin, "{usage:?}");
    drop(held);
    ops::synchronize(&stream).unwrap();
    // Less than half of the limit is left.
    let more = pool.allocate_raw(3 * PAGE, 256, &stream).unwrap();
    assert!(!hit() && !hit());
    assert!(pool.usage().unwrap().tight);
    free(more, &stream);
    ops::synchronize(&stream).unwrap();
    // More is.
    assert!(!hit() && hit());
    assert!(!pool.usage().unwrap().tight);
    free(some, &stream);
    drop((pool, stream, other));
    bench.finish();
}

// Without it a request that waits would take all that another pool under its limit keeps, with each
// of its searches.
#[test]
fn a_long_wait_leaves_other_pools_what_they_keep() {
    let bench = bench_on(Backing::Pages);
    let limit = DeviceLimit::new(8 * PAGE);
    let pool = || {
        let wait = Duration::from_millis(300);
        let config = PoolConfig::limit(u64::MAX).within(&limit).wait(wait);
        bench.context.memory_pool(config).unwrap()
    };
    let (pool, neighbour) = (pool(), pool());
    let [one, two, three] = [(); 3].map(|()| bench.stream());
    let all = [(); 3].map(|()| pool.allocate_raw(2 * PAGE, PAGE, &one).unwrap());
    let held = hold(&one);
    let [left, between, right] = all;
    free(left, &one);
    free(right, &one);
    beside_a_neighbour(&neighbour, &two, || {
        let before = neighbour.usage().unwrap();
        // It could have them when the work completes, which it does not in time.
        is_refused(&pool, 3 * PAGE, &three);
        let after = neighbour.usage().unwrap();
        assert!(pool.usage().unwrap().host_waits > 0);
        // Two for each time that the request takes what its own pool's threads keep.
        let drains = after.drains - before.drains;
        assert!((1..48).contains(&drains), "{after:?}");
    });
    drop(held);
    free(between, &one);
    drop((pool, neighbour, one, two, three));
    bench.finish();
}

// Without it a request that what is alive leaves no room for on the device would wait, as long as
// the device's limit is smaller than the pool's.
#[test]
fn what_is_alive_on_a_full_device_is_not_waited_for() {
    let bench = bench_with(Backing::Pages, 16 * PAGE);
    let config = PoolConfig::limit(PAGE << 20).wait(Duration::from_secs(30));
    let pool = bench.context.memory_pool(config).unwrap();
    let (stream, other) = (bench.stream(), bench.stream());
    let alive = pool.allocate_raw(10 * PAGE, 256, &stream).unwrap();
    // Something is under way that it could wait for.
    let small = pool.allocate_raw(PAGE, 256, &other).unwrap();
    let held = hold(&other);
    free(small, &other);
    let before = pool.usage().unwrap();
    let refused = pool.allocate_raw(8 * PAGE, 256, &stream);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { .. })),
        "{refused:?}"
    );
    assert_eq!(pool.usage().unwrap().host_waits, before.host_waits);
    drop(held);
    free(alive, &stream);
    // What is pending is worth the wait: on both sides of what stays, so that no piece is enough.
    let [left, between, right] =
        [5, 2, 5].map(|pages| pool.allocate_raw(pages * PAGE, PAGE, &stream).unwrap());
    let held = hold(&stream);
    free(left, &stream);
    free(right, &stream);
    is_had_after(&pool, 8 * PAGE, &other, held);
    free(between, &stream);
    drop((pool, stream, other));
    bench.finish();
}

/// A request waits on the host until what is held up goes on, and gets its memory then.
#[track_caller]
fn is_had_after(pool: &MemoryPool, bytes: u64, stream: &Stream, held: Sender<()>) {
    let before = pool.usage().unwrap().host_waits;
    std::thread::scope(|scope| {
        let request = scope.spawn(|| pool.allocate_raw(bytes, 256, stream));
        while pool.usage().unwrap().host_waits == before && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        free(request.join().unwrap().unwrap(), stream);
    });
}

// Without it a request would be refused on a full device that needs what another pool has just given
// up for it, and what its own pool waits for.
#[test]
fn what_another_pool_gives_up_counts_on_a_full_device() {
    let bench = bench_with(Backing::Pages, 16 * PAGE);
    let (one, two) = (pool(&bench, 1 << 20), pool(&bench, 1 << 20));
    let (stream, other) = (bench.stream(), bench.stream());
    let [alive, freed] = [4, 6].map(|pages| one.allocate_raw(pages * PAGE, PAGE, &stream).unwrap());
    let idle = two.allocate_raw(5 * PAGE, PAGE, &other).unwrap();
    free(idle, &other);
    let held = hold(&stream);
    free(freed, &stream);
    is_had_after(&one, 8 * PAGE, &other, held);
    free(alive, &stream);
    drop((one, two, stream, other));
    bench.finish();
}

// Without it a request would be refused on a full device that has only to wait until another pool is
// gone: no request can ask that one any more.
#[test]
fn a_pool_that_ends_is_waited_for_on_a_full_device() {
    let bench = bench_with(Backing::Pages, 16 * PAGE);
    let limit = DeviceLimit::new(PAGE << 20);
    let pool = || {
        let config = PoolConfig::limit(u64::MAX).within(&limit).wait(LONG);
        bench.context.memory_pool(config).unwrap()
    };
    let (ending, pool, stream, other) = (pool(), pool(), bench.stream(), bench.stream());
    let block = ending.allocate_raw(10 * PAGE, PAGE, &other).unwrap();
    let held = hold(&other);
    free(block, &other);
    let there = ending.downgrade();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(ending));
        while there.upgrade().is_some() {
            std::thread::yield_now();
        }
        is_had_after(&pool, 8 * PAGE, &stream, held);
    });
    drop((pool, stream, other));
    bench.finish();
}

// Without it threads would keep no large sizes after a request that the device is short of, though
// most of it is free.
#[test]
fn a_device_that_is_short_of_one_request_is_not_full() {
    let bench = bench_with(Backing::Pages, 128 * PAGE);
    let (pool, stream) = (pool(&bench, 1 << 20), bench.stream());
    let kept = pool.allocate_raw(4 * PAGE, 256, &stream).unwrap();
    let refused = pool.allocate_raw(200 * PAGE, 256, &stream);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { .. })),
        "{refused:?}"
    );
    let hit = || {
        let before = pool.usage().unwrap();
        free(pool.allocate_raw(1 << 20, 256, &stream).unwrap(), &stream);
        pool.usage().unwrap().misses == before.misses
    };
    assert!(!hit() && hit());
    assert!(!pool.usage().unwrap().tight);
    free(kept, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it threads would go on keeping large sizes though the limit is used up: by another pool.
#[test]
fn room_that_another_pool_has_is_no_room() {
    let bench = bench_on(Backing::Pages);
    let limit = DeviceLimit::new(64 * PAGE);
    let pool = || {
        let config = PoolConfig::limit(u64::MAX).within(&limit);
        bench
            .context
            .memory_pool(config.wait(Duration::ZERO))
            .unwrap()
    };
    let (one, two, stream, other) = (pool(), pool(), bench.stream(), bench.stream());
    let theirs = two.allocate_raw(48 * PAGE, 256, &stream).unwrap();
    // All of the rest, of which two pieces of one and a half MiB are pending.
    let half = 1 << 19;
    let [left, ours, right, more] =
        [3, 29, 3, 29].map(|halves| one.allocate_raw(halves * half, 256, &stream).unwrap());
    let held = hold(&stream);
    free(left, &stream);
    free(right, &stream);
    is_refused(&one, 5 * half, &other);
    assert!(one.usage().unwrap().tight);
    free(one.allocate_raw(2 * half, 256, &stream).unwrap(), &stream);
    assert!(one.usage().unwrap().tight);
    drop(held);
    free(ours, &stream);
    free(more, &stream);
    free(theirs, &stream);
    drop((one, two, stream, other));
    bench.finish();
}

// Without it a request of nearly 2^64 bytes would pass for one that there is room for, or end a
// thread within its magazines.
#[test]
fn the_largest_number_is_refused_where_memory_is_short() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.impatient(4 * PAGE), bench.stream());
    let alive = pool.allocate_raw(4 * PAGE, 256, &stream).unwrap();
    let held = hold(&stream);
    free(alive, &stream);
    let other = bench.stream();
    // Behind the work on the first.
    let behind = pool.allocate_raw(2 * PAGE, 256, &other).unwrap();
    assert!(pool.usage().unwrap().tight);
    free(pool.allocate_raw(100, 256, &stream).unwrap(), &stream);
    for bytes in [u64::MAX, u64::MAX - 1000, 1 << 63] {
        is_refused(&pool, bytes, &stream);
    }
    assert!(pool.usage().unwrap().tight);
    free(behind, &other);
    drop((held, pool, stream, other));
    bench.finish();
}
