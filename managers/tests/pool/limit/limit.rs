//! Limits hold at every instant, however many pools share them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cupola_managers::Error;
use cupola_managers::pool::{Backing, DeviceLimit, PoolConfig};

use super::*;

// Without it threads could pass the limit together, or be refused what they have room for.
#[test]
fn threads_that_fit_are_never_refused_and_never_pass_the_limit() {
    const THREADS: u64 = 64;
    let bench = Bench::new(Backing::Pages);
    let limit = THREADS * PAGE;
    let pool = bench.pool(limit);
    let done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(pool.mapped()).max(bench.on_device());
                std::thread::yield_now();
            }
            most
        });
        let workers: Vec<_> = (0..THREADS)
            .map(|seed| {
                let (pool, bench) = (&pool, &bench);
                scope.spawn(move || {
                    let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                    for _ in 0..100 {
                        let bytes = (16 << 10) + random.below(PAGE - (16 << 10));
                        let mut buffer = pool.allocate::<u8>(bytes as usize, &stream).unwrap();
                        let begin = buffer.slice_mut(..256).unwrap();
                        ops::zero(begin, &stream).unwrap();
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    assert!(most <= limit, "{most}");
    let usage = pool.usage().unwrap();
    assert!(usage.peak_mapped <= limit, "{usage:?}");
    assert_eq!((usage.live, usage.refused, usage.exhausted), (0, 0, 0));
    assert_eq!(pool.mapped(), bench.on_device());
    drop(pool);
    bench.finish();
}

// Without it memory that one pool keeps for itself would be missing in the other.
#[test]
fn pools_under_one_limit_give_each_other_what_they_do_not_use() {
    on_both(|bench| {
        let limit = DeviceLimit::new(16 * PAGE);
        let pool = || {
            let config = PoolConfig::limit(16 * PAGE).within(&limit);
            bench.context.memory_pool(config).unwrap()
        };
        let (one, two, stream) = (pool(), pool(), bench.stream());
        for (giver, taker) in [(&one, &two), (&two, &one), (&one, &two)] {
            free(
                giver.allocate_raw(12 * PAGE, 256, &stream).unwrap(),
                &stream,
            );
            ops::synchronize(&stream).unwrap();
            free(
                taker.allocate_raw(12 * PAGE, 256, &stream).unwrap(),
                &stream,
            );
            ops::synchronize(&stream).unwrap();
            assert_eq!(one.mapped() + two.mapped(), limit.used());
            assert_eq!(limit.used(), bench.on_device());
        }
        let kept = one.allocate_raw(12 * PAGE, 256, &stream).unwrap();
        let error = two.allocate_raw(5 * PAGE, 256, &stream).unwrap_err();
        let Error::OverLimit(account) = &error else {
            panic!("{error}");
        };
        assert_eq!(account.shared, Some((limit.used(), 16 * PAGE)), "{error}");
        free(kept, &stream);
        assert!(limit.peak() <= limit.limit());
        drop((one, two, stream));
        assert_eq!(limit.used(), 0);
        bench.finish();
    });
}

// Without it one missing page would cost each of the other pools all that it keeps.
#[test]
fn a_pool_gives_another_one_what_that_lacks_and_no_more() {
    on_both(|bench| {
        let limit = DeviceLimit::new(64 * PAGE);
        let pool = || {
            let config = PoolConfig::limit(64 * PAGE).within(&limit);
            bench.context.memory_pool(config).unwrap()
        };
        let (one, two, three, stream) = (pool(), pool(), pool(), bench.stream());
        for other in [&two, &three] {
            let blocks = [(); 8].map(|()| other.allocate_raw(4 * PAGE, 256, &stream).unwrap());
            blocks.into_iter().for_each(|block| free(block, &stream));
        }
        ops::synchronize(&stream).unwrap();
        let before = two.mapped() + three.mapped();
        assert_eq!(before, 64 * PAGE);
        free(one.allocate_raw(PAGE, 256, &stream).unwrap(), &stream);
        let kept = [two.mapped(), three.mapped()];
        assert!(kept.contains(&(32 * PAGE)), "{kept:?}");
        if bench
            .context
            .memory_pool(PoolConfig::limit(1))
            .unwrap()
            .backing()
            == Backing::Pages
        {
            // As many as came with one handle.
            assert!(kept[0] + kept[1] >= before - 8 * PAGE, "{kept:?}");
        }
        drop((one, two, three, stream));
        bench.finish();
    });
}

// Without it a device that the idle memory of another pool fills would be full.
#[test]
fn pools_of_a_context_help_each_other_on_a_full_device() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = Bench::with_memory(backing, 200 * PAGE);
        let (pool, other, stream) = (bench.pool(u64::MAX), bench.pool(u64::MAX), bench.stream());
        let graph = other.graph_memory(&bench.stream()).unwrap();
        free(
            other.allocate_raw(150 * PAGE, 256, &stream).unwrap(),
            &stream,
        );
        ops::synchronize(&stream).unwrap();
        let block = pool.allocate_raw(100 * PAGE, 256, &stream).unwrap();
        free(block, &stream);
        drop((graph, pool, other, stream));
        bench.finish();
    }
}

// Without it two pools that ask each other at once could wait for each other.
#[test]
fn pools_under_one_limit_do_not_wait_for_each_other() {
    let bench = Bench::new(Backing::Pages);
    let limit = DeviceLimit::new(8 * PAGE);
    let mut config = PoolConfig::limit(u64::MAX).within(&limit);
    config.wait = Duration::from_millis(5);
    let pools = [(); 2].map(|()| bench.context.memory_pool(config.clone()).unwrap());
    let granted = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (pool, bench, granted, limit) = (&pools[seed % 2], &bench, &granted, &limit);
            scope.spawn(move || {
                let (stream, mut random) = (bench.stream(), Random::new(seed as u64 + 1));
                for _ in 0..150 {
                    match pool.allocate_raw(1 + random.below(4 * PAGE), 256, &stream) {
                        Ok(block) => {
                            granted.fetch_add(1, Ordering::Relaxed);
                            free(block, &stream);
                        }
                        Err(Error::OverLimit(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                    assert!(limit.used() <= limit.limit());
                }
            });
        }
    });
    assert!(granted.load(Ordering::Relaxed) > 300, "{granted:?}");
    assert!(limit.peak() <= limit.limit());
    drop(pools);
    bench.finish();
}

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
    let bench = Bench::new(Backing::Pages);
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
    let bench = Bench::new(Backing::Pages);
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

// Without it a device that others fill would look like a limit that is too low.
#[test]
fn memory_that_others_take_is_told_and_can_be_had_again() {
    for backing in [Backing::Pages, Backing::Chunks] {
        let bench = Bench::with_memory(backing, 200 * PAGE);
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
    let bench = Bench::with_memory(Backing::Pages, 100 * PAGE);
    let (pool, stream) = (bench.pool(u64::MAX), bench.stream());
    let kept = pool.allocate_raw(90 * PAGE, 256, &stream).unwrap();
    for pages in [20, 64, 200] {
        let error = pool.allocate_raw(pages * PAGE, 256, &stream).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        let line = error.location().unwrap();
        assert!(line.file().ends_with("limit.rs"), "{pages}: {line}");
    }
    free(kept, &stream);
    drop((pool, stream));
    bench.finish();
}
