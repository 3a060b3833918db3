//! Limits hold at every instant, however many threads and pools share them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cupola_managers::Error;
use cupola_managers::pool::DeviceLimit;

use crate::*;

// Without it threads could pass the limit together, or be refused what they have room for.
#[test]
fn threads_that_fit_are_never_refused_and_never_pass_the_limit() {
    const THREADS: u64 = 64;
    let bench = bench_on(Backing::Pages);
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
        let bench = bench_with(backing, 200 * PAGE);
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
    let bench = bench_on(Backing::Pages);
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
