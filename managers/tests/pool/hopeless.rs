//! Requests that no completion can give what they ask for: they are refused without a wait, and
//! neighbours keep what they have.

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::Error;
use cupola_managers::memory::{Backing, DeviceLimit, PoolConfig};

use super::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// A pool of so many pages that waits for long.
fn pool(bench: &Bench, pages: u64) -> MemoryPool {
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
        let is_over = &is_over;
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
        is_over.store(true, Ordering::Relaxed);
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
                // Its lanes are emptied when it ends.
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
    let bench = Bench::new(Backing::Pages);
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
        while pool.usage().unwrap().host_waits + pool.usage().unwrap().device_waits == 0 {
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
    let bench = Bench::new(Backing::Pages);
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
    let bench = Bench::new(Backing::Pages);
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
    let bench = Bench::new(Backing::Pages);
    let (pool, stream) = (bench.impatient(16 * PAGE), bench.stream());
    let hit = || {
        let before = pool.usage().unwrap();
        free(pool.allocate_raw(1 << 20, 256, &stream).unwrap(), &stream);
        pool.usage().unwrap().misses == before.misses
    };
    let half = pool.allocate_raw(8 * PAGE, 256, &stream).unwrap();
    let rest = pool.allocate_raw(7 * PAGE, 256, &stream).unwrap();
    assert!(!hit() && hit());
    let held = hold(&stream);
    free(rest, &stream);
    // Only with pages that are in use until the work is over.
    let other = bench.stream();
    let begin = pool.usage().unwrap().drains;
    let _refused = pool.allocate_raw(8 * PAGE, 256, &other);
    let usage = pool.usage().unwrap();
    assert!(usage.tight && usage.drains > begin, "{usage:?}");
    drop(held);
    ops::synchronize(&stream).unwrap();
    // Half of the limit is left.
    assert!(!hit() && hit());
    assert!(!pool.usage().unwrap().tight);
    free(half, &stream);
    drop((pool, stream, other));
    bench.finish();
}
