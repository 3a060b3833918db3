//! What a pool says of itself.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_managers::Pressure;
use cupola_managers::pool::DeviceLimit;

use crate::*;

// Without it blocks whose thread has just ended could be in no figure for a moment.
#[test]
fn what_a_thread_leaves_is_always_counted() {
    const THREADS: usize = 2000;
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(64 << 20), bench.stream());
    let made = AtomicUsize::new(0);
    let buffers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..THREADS {
                let one = || {
                    let buffer = pool.allocate::<u8>(256, &stream).unwrap();
                    buffers.lock().unwrap().push(buffer);
                    made.fetch_add(1, Ordering::Release);
                };
                // The scope waits for closures alone: not more threads than one end at a time.
                std::thread::scope(|inner| inner.spawn(one).join().unwrap());
            }
        });
        loop {
            let least = made.load(Ordering::Acquire);
            let alive = bench.context.buffers().live();
            assert!(alive >= least, "{alive} of {least}");
            if least == THREADS {
                break;
            }
        }
    });
    drop((buffers, pool, stream));
    bench.finish();
}

// Without it the number of objects that a manager has made could fall.
#[test]
fn buffers_of_pools_that_are_gone_were_made() {
    on_both(|bench| {
        let stream = bench.stream();
        let created = || bench.context.buffers().stats().created;
        for round in 0..3 {
            let pool = bench.pool(64 << 20);
            let buffers = [(); 2].map(|()| pool.allocate::<u8>(100, &stream).unwrap());
            assert_eq!(created(), 2 * round + 2);
            drop((pool, buffers));
            assert_eq!(created(), 2 * round + 2);
        }
        drop(stream);
        bench.finish();
    });
}

// Without it a pool that is not used would say for ever that it is full.
#[test]
fn what_is_done_is_free_without_a_request_that_needs_it() {
    on_both(|bench| {
        let limit = DeviceLimit::new(32 * PAGE);
        let config = PoolConfig::limit(32 * PAGE).within(&limit);
        let pools = [(); 2].map(|()| bench.context.memory_pool(config.clone()).unwrap());
        let [pool, other] = &pools;
        let streams = [bench.stream(), bench.stream()];
        // Small ones stay in magazines, large ones go to the heap.
        for bytes in [1 << 20, 16 * PAGE] {
            let count = 32 * PAGE / bytes / 2;
            for stream in &streams {
                let held = hold(stream);
                let blocks: Vec<_> = (0..count)
                    .map(|_| pool.allocate_raw(bytes, 256, stream).unwrap())
                    .collect();
                blocks.into_iter().for_each(|block| free(block, stream));
                let usage = pool.usage().unwrap();
                // With what it merges with.
                assert!(usage.pending >= count * bytes, "it may still be used");
                assert_eq!(usage.cached, usage.mapped - usage.pending);
                assert_eq!(pool.available().unwrap(), 32 * PAGE - usage.pending);
                assert_ne!(pool.pressure_level(), Pressure::Low);
                assert_ne!(other.pressure_level(), Pressure::Low, "no pool can have it");
                drop(held);
                // No thread waits for the stream: the figures themselves look.
                let until = Instant::now() + Duration::from_secs(20);
                while pool.available().unwrap() < 32 * PAGE && Instant::now() < until {
                    std::thread::yield_now();
                }
                let usage = pool.usage().unwrap();
                let gauges = (usage.live, usage.pending, usage.cached);
                assert_eq!(gauges, (0, 0, usage.mapped), "{usage:?}");
                assert_eq!(pool.available().unwrap(), 32 * PAGE);
                assert_eq!(usage.pressure, Pressure::Low);
                assert_eq!(pool.pressure_level(), Pressure::Low);
                assert_eq!(
                    other.pressure_level(),
                    Pressure::Low,
                    "it would be given up"
                );
                assert_eq!(
                    limit.pressure_level(),
                    Pressure::of(limit.used(), limit.limit())
                );
            }
        }
        drop((pools, streams));
        bench.finish();
    });
}

// Without it a pool with all of its limit left would say so while others have filled the device.
#[test]
fn what_others_take_of_the_device_is_pressure() {
    let bench = bench_with(Backing::Pages, 100 * PAGE);
    let (pool, others, stream) = (
        bench.pool(100 * PAGE),
        bench.pool(100 * PAGE),
        bench.stream(),
    );
    let own = pool.allocate_raw(9 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(pool.pressure_level(), Pressure::Low);
    let theirs = others.allocate_raw(90 * PAGE, PAGE, &stream).unwrap();
    assert_eq!(pool.available().unwrap(), PAGE);
    assert_eq!(pool.pressure_level(), Pressure::High);
    assert_eq!(pool.usage().unwrap().pressure, Pressure::High);
    free(theirs, &stream);
    trim_to(&others, 0);
    assert_eq!(pool.pressure_level(), Pressure::Low);
    free(own, &stream);
    drop((pool, others, stream));
    bench.finish();
}

// Without it memory that waits in a transfer cache could be missing from every figure.
#[test]
fn all_that_is_mapped_is_in_one_figure() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(512 << 20), bench.stream());
        for bytes in [256, 4000, 8192, 100_000, 1 << 20, 5 << 20] {
            let blocks = [(); 60].map(|()| pool.allocate_raw(bytes, 256, &stream).unwrap());
            let usage = pool.usage().unwrap();
            assert_eq!((usage.live, usage.blocks), (60 * bytes, 60));
            // Magazines first, then the transfer cache, then the heap.
            blocks.into_iter().for_each(|block| free(block, &stream));
            ops::synchronize(&stream).unwrap();
            let usage = pool.usage().unwrap();
            assert_eq!(
                usage.cached + usage.pending,
                usage.mapped,
                "{bytes}: {usage:?}"
            );
            let room = pool.available().unwrap();
            assert_eq!(room + usage.pending, usage.limit, "{bytes}: {usage:?}");
        }
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a counter that people tune by could count something else than it says.
#[test]
fn a_script_has_exact_figures() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
    let fresh = pool.usage().unwrap();
    assert_eq!((fresh.hit_rate(), fresh.fragmentation), (0.0, 0.0));
    assert_eq!((fresh.mapped, fresh.peak_held, fresh.trims), (0, 0, 0));
    assert_eq!(fresh.device_free + fresh.foreign, 16 << 30);
    // Another pool's memory is foreign to this one.
    let other = bench.pool(64 * PAGE);
    let theirs = other.allocate_raw(5 * PAGE, 256, &stream).unwrap();
    let usage = pool.usage().unwrap();
    assert_eq!(usage.foreign, fresh.foreign + 5 * PAGE);
    assert_eq!(usage.device_free, fresh.device_free - 5 * PAGE);
    // Larger than what caches keep, so all of it is in the heap, side by side.
    let blocks: [_; 4] = std::array::from_fn(|at| {
        let bytes = (3 + at as u64) * PAGE;
        pool.allocate_raw(bytes, 256, &stream).unwrap()
    });
    let usage = pool.usage().unwrap();
    assert_eq!((usage.mapped, usage.peak_held), (18 * PAGE, 18 * PAGE));
    assert_eq!(usage.device_free, fresh.device_free - 23 * PAGE);
    assert_eq!(usage.foreign, fresh.foreign + 5 * PAGE);
    assert_eq!((usage.allocations, usage.misses), (4, 4));
    let [three, four, five, six] = blocks;
    free(three, &stream);
    free(five, &stream);
    ops::synchronize(&stream).unwrap();
    let usage = pool.usage().unwrap();
    // Eight pages are free, five of them in one piece.
    assert_eq!((usage.cached, usage.fragmentation), (8 * PAGE, 3.0 / 8.0));
    free(four, &stream);
    ops::synchronize(&stream).unwrap();
    let usage = pool.usage().unwrap();
    assert_eq!((usage.cached, usage.fragmentation), (12 * PAGE, 0.0));
    // One miss, and fifteen hits.
    for _ in 0..16 {
        let block = pool.allocate_raw(1 << 20, 256, &stream).unwrap();
        free(block, &stream);
    }
    let usage = pool.usage().unwrap();
    assert_eq!((usage.allocations, usage.misses), (20, 5));
    assert_eq!(usage.hit_rate(), 0.75);
    assert_eq!((usage.peak_held, usage.trims), (18 * PAGE, 0));
    free(six, &stream);
    trim_to(&pool, 0);
    let usage = pool.usage().unwrap();
    assert!(usage.trims >= 1);
    let before = usage.trims;
    assert_eq!(pool.trim().unwrap(), 0);
    let usage = pool.usage().unwrap();
    assert_eq!((usage.trims, usage.mapped), (before + 1, 0));
    assert_eq!(usage.peak_held, 18 * PAGE);
    assert_eq!(usage.device_free, fresh.device_free - 5 * PAGE);
    free(theirs, &stream);
    drop((pool, other, stream));
    bench.finish();
}

// Without it what is alive under a name could be put down to another, or stay there for ever.
#[test]
fn what_is_alive_is_known_by_name() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        let named = || -> Vec<_> {
            let all = pool.named().into_iter();
            all.map(|(name, usage)| (name, usage.blocks, usage.bytes))
                .collect()
        };
        let raw = |name, bytes| pool.allocate_raw_named(name, bytes, 256, &stream).unwrap();
        assert_eq!(named(), []);
        let nameless = pool.allocate_raw(1 << 20, 256, &stream).unwrap();
        let weights = [300, 5 << 20].map(|bytes| raw("weights", bytes));
        let words = pool.allocate_named::<u32>("words", 25, &stream).unwrap();
        let twin = raw("a twin", 100);
        // The largest first, as they were asked for; else by name.
        let all = [
            ("weights", 2, 300 + (5 << 20)),
            ("a twin", 1, 100),
            ("words", 1, 100),
        ];
        assert_eq!(named(), all);
        drop(words);
        let [small, large] = weights;
        free(large, &stream);
        assert_eq!(named(), [("weights", 1, 300), ("a twin", 1, 100)]);
        // The same memory, under another name and none.
        free(small, &stream);
        let again = raw("a twin", 300);
        assert_eq!(named(), [("a twin", 2, 400)]);
        for block in [again, twin] {
            free(block, &stream);
        }
        let reused = [100, 300].map(|bytes| pool.allocate_raw(bytes, 256, &stream).unwrap());
        assert_eq!(named(), []);
        for block in reused.into_iter().chain([nameless]) {
            free(block, &stream);
        }
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a figure of "driver calls" would be that of some of them: a third, for one, where
// those that look for captures are not counted.
#[test]
fn every_call_of_the_driver_is_counted() {
    on_both(|bench| {
        let streams = [(); 3].map(|()| bench.stream());
        let memory = bench.stream();
        bench.faults.reset();
        let pool = bench.pool(24 * PAGE);
        let work = |from: usize| {
            for round in 0..60_u64 {
                let (stream, next) = (&streams[from], &streams[(from + 1) % 3]);
                let bytes = [1000, 100 << 10, 3 << 20][round as usize % 3];
                let block = pool.allocate_raw(bytes, 256, stream).unwrap();
                let buffer = pool.allocate::<u8>(bytes as usize, stream).unwrap();
                buffer.used_on(next).unwrap();
                free(block, stream);
                drop(buffer);
            }
        };
        std::thread::scope(|scope| {
            for from in 0..3 {
                scope.spawn(move || work(from));
            }
        });
        // At the limit, and back.
        let all = pool.allocate_raw(20 * PAGE, 256, &streams[0]).unwrap();
        drop(pool.allocate_raw(20 * PAGE, 256, &streams[1]).unwrap_err());
        free(all, &streams[0]);
        {
            let graph = pool.graph_memory(&memory).unwrap();
            let buffer = pool.allocate::<u8>(100, &streams[0]).unwrap();
            buffer.used_on(&streams[1]).unwrap();
            drop((buffer, graph));
        }
        pool.trim().unwrap();
        let _looked = (pool.available(), pool.pressure_level());
        let mut made = bench.faults.counts();
        // Each operation asks which context is current, a pool's or not.
        made.remove(&id::cuCtxGetCurrent);
        let calls = pool.usage().unwrap().calls;
        let graphs = [id::cuMemGetAllocationGranularity, id::cuDeviceGetAttribute];
        let mut total = 0;
        for (function, counted) in calls.each() {
            let made = made.get(&function).copied().unwrap_or(0);
            total += counted;
            // A graph's memory is a pool of its own.
            if !graphs.contains(&function) {
                assert_eq!(counted, made, "{function:?}");
            }
        }
        assert_eq!(total, calls.total());
        let kinds: Vec<_> = calls.each().map(|(function, _)| function).collect();
        let others: Vec<_> = made.keys().filter(|it| !kinds.contains(it)).collect();
        assert!(others.is_empty(), "{others:?}");
        drop((pool, streams, memory));
        bench.finish();
    });
}

// Without it each call of a plan that maps many pages would be made between two that look after
// captures.
#[test]
fn captures_are_looked_after_once_for_many_calls() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(16 * PAGE), bench.stream());
    let exchanges = || bench.faults.count(id::cuThreadExchangeStreamCaptureMode);
    // The first one reserves addresses.
    let first = pool.allocate_raw(PAGE, 256, &stream).unwrap();
    let before = exchanges();
    let block = pool.allocate_raw(12 * PAGE, 256, &stream).unwrap();
    assert!(bench.faults.count(id::cuMemCreate) > 5);
    assert_eq!(exchanges(), before + 2);
    free(block, &stream);
    free(first, &stream);
    drop((pool, stream));
    bench.finish();
}
