//! The ends of threads, streams, pools and managers, in any order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::ops;
use cupola_managers::pool::Backing;

use crate::*;

// Without it what a thread kept in its magazines would be lost after it.
#[test]
fn a_thread_that_ends_leaves_its_memory_to_all() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(32 << 20), bench.stream());
        for round in 0..20 {
            let thread = std::thread::scope(|scope| {
                let work = || {
                    let sizes = [300, 5000, 100_000, 1 << 20];
                    let blocks: Vec<_> = (0..40)
                        .map(|n| pool.allocate_raw(sizes[n % 4], 256, &stream).unwrap())
                        .collect();
                    for block in blocks {
                        free(block, &stream);
                    }
                };
                scope.spawn(work).join()
            });
            thread.unwrap();
            let usage = pool.usage().unwrap();
            assert_eq!((usage.live, usage.blocks), (0, 0));
            assert_eq!(usage.allocations, 40 * (round + 1));
        }
        let drains = pool.usage().unwrap().drains;
        let most = pool.allocate_raw(16 << 20, 256, &stream).unwrap();
        assert!(pool.mapped() <= 32 << 20);
        assert!(pool.usage().unwrap().drains <= drains + 2);
        free(most, &stream);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a destructor of a thread could lose a block, or touch a cache that is gone.
#[test]
fn blocks_may_be_freed_while_their_thread_ends() {
    thread_local! {
        static KEPT: std::cell::RefCell<Vec<Box<dyn std::any::Any>>> =
            const { std::cell::RefCell::new(Vec::new()) };
    }
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        for before in [true, false] {
            let (pool, stream) = (pool.clone(), stream.clone());
            let work = move || {
                if before {
                    // The test's thread-local is made first, and goes last.
                    KEPT.with_borrow(|_| ());
                }
                for bytes in [100, 10_000, 1 << 20, 5 << 20] {
                    let buffer = pool.allocate::<u8>(bytes, &stream).unwrap();
                    KEPT.with_borrow_mut(|kept| kept.push(Box::new(buffer)));
                }
                KEPT.with_borrow_mut(|kept| kept.push(Box::new((pool, stream))));
            };
            std::thread::spawn(work).join().unwrap();
        }
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        drop((pool, stream));
        bench.finish();
    });
}

// Without it what was freed on a stream that is gone could be used too early, or never again.
#[test]
fn a_stream_may_go_before_its_frees_are_complete() {
    on_both(|bench| {
        let (pool, other) = (bench.pool(64 << 20), bench.stream());
        let stream = bench.stream();
        let held = hold(&stream);
        let mut addresses = Vec::new();
        for bytes in [1000, 1 << 20, 8 << 20] {
            let block = pool.allocate_raw(bytes, 256, &stream).unwrap();
            addresses.push((block.address(), block.address() + block.bytes()));
            free(block, &stream);
        }
        bench.context.streams().release(stream.handle()).unwrap();
        drop(stream);
        bench.context.streams().trim(0).unwrap();
        for bytes in [1000, 1 << 20, 8 << 20] {
            let block = pool.allocate_raw(bytes, 256, &other).unwrap();
            let from = block.address();
            let overlaps = |place: &(u64, u64)| from < place.1 && place.0 < from + block.bytes();
            assert!(!addresses.iter().any(overlaps), "{bytes} too early");
            free(block, &other);
        }
        drop(held);
        ops::synchronize(&other).unwrap();
        trim_to(&pool, 0);
        assert_eq!(bench.on_device(), 0);
        drop((pool, other));
        bench.finish();
    });
}

// Without it a pool would have no place left for streams after many of them came and went, and
// keep the host's memory for each.
#[test]
fn streams_come_and_go() {
    let bench = bench_on(Backing::Pages);
    let pool = bench.pool(16 << 20);
    // More than there are places.
    const STREAMS: u64 = 70_000;
    let (mut most, mut caches) = (0, 0);
    for round in 0..STREAMS {
        let stream = bench.stream();
        for bytes in [500, 1 << 20] {
            free(pool.allocate_raw(bytes, 256, &stream).unwrap(), &stream);
        }
        bench.context.streams().release(stream.handle()).unwrap();
        drop(stream);
        bench.context.streams().trim(0).unwrap();
        if round % 100 == 0 {
            let usage = pool.usage().unwrap();
            (most, caches) = (usage.streams.max(most), usage.caches.max(caches));
        }
    }
    // Some may wait for their last event; it is a matter of microseconds.
    assert!(
        most < 1000 && caches < 1000,
        "{most} streams, {caches} caches"
    );
    assert!(pool.mapped() <= 16 << 20);
    let usage = pool.usage().unwrap();
    assert_eq!((usage.live, usage.allocations), (0, 2 * STREAMS));
    assert!(usage.calls.record >= STREAMS, "{usage:?}");
    drop(pool);
    bench.finish();
}

// Without it streams of other code, which have a place for each time they are borrowed, would use
// all places up.
#[test]
fn borrowed_streams_come_and_go() {
    let bench = bench_on(Backing::Pages);
    let pool = bench.pool(16 << 20);
    for _ in 0..500 {
        let stream = bench.context.streams().legacy_default().unwrap();
        free(pool.allocate_raw(1 << 20, 256, &stream).unwrap(), &stream);
        ops::synchronize(&stream).unwrap();
    }
    let usage = pool.usage().unwrap();
    assert!(usage.streams < 100 && usage.caches < 100, "{usage:?}");
    drop(pool);
    bench.finish();
}

// Without it memory in use could go with the pool's last handle, or stay after the last block.
#[test]
fn the_memory_goes_with_the_last_block() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        let sizes = [0, 100, 10_000, 1 << 20, 6 << 20];
        let blocks: Vec<_> = sizes
            .map(|bytes| pool.allocate_raw(bytes, 256, &stream).unwrap())
            .into();
        let mut buffer = pool.allocate::<u32>(1000, &stream).unwrap();
        drop(pool);
        ops::fill(&mut buffer, 5, &stream).unwrap();
        let mut back = vec![0; 1000];
        ops::read(&buffer, &mut back, &stream).unwrap();
        assert_eq!(back, [5; 1000]);
        drop(buffer);
        for block in blocks {
            assert_ne!(bench.on_device(), 0);
            free(block, &stream);
        }
        assert_eq!(bench.on_device(), 0);
        drop(stream);
        bench.finish();
    });
}

// Without it the last block on another thread, or one whose cache is gone, could not end a pool.
#[test]
fn the_last_block_may_be_freed_anywhere() {
    on_both(|bench| {
        let stream = bench.stream();
        for used_before in [true, false] {
            let pool = bench.pool(64 << 20);
            let block = pool.allocate_raw(1 << 20, 256, &stream).unwrap();
            std::thread::scope(|scope| {
                let (send, receive) = channel();
                let (pool, stream) = (&pool, &stream);
                let freer = scope.spawn(move || {
                    if used_before {
                        free(pool.allocate_raw(1 << 20, 256, stream).unwrap(), stream);
                    }
                    let block: RawBlock = receive.recv().unwrap();
                    free(block, stream);
                });
                send.send(block).unwrap();
                freer.join().unwrap();
            });
            let late = pool.allocate_raw(1 << 20, 256, &stream).unwrap();
            drop(pool);
            assert_ne!(bench.on_device(), 0);
            let other = stream.clone();
            std::thread::spawn(move || free(late, &other))
                .join()
                .unwrap();
            assert_eq!(bench.on_device(), 0);
        }
        drop(stream);
        bench.finish();
    });
}

// Without it a shutdown could take memory from under its blocks.
#[test]
fn blocks_outlive_a_shutdown() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        let block = pool.allocate_raw(5 << 20, 256, &stream).unwrap();
        let small = pool.allocate_raw(500, 256, &stream).unwrap();
        let buffer = pool.allocate::<u8>(100, &stream).unwrap();
        let report = bench.execution.shutdown();
        assert_eq!(report.alive.unwrap().pools, 1, "{report}");
        free(block, &stream);
        drop((buffer, pool));
        assert_ne!(bench.on_device(), 0);
        free(small, &stream);
        assert_eq!(bench.on_device(), 0);
        drop(stream);
        bench.finish();
    });
}

// Without it the end of a pool would unmap memory under work, or wait for ever.
#[test]
fn the_end_of_a_pool_waits_for_what_was_freed() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 << 20), bench.stream());
        let mut buffer = pool.allocate::<u32>(1 << 20, &stream).unwrap();
        ops::host_function(&stream, || {
            std::thread::sleep(Duration::from_millis(30));
        })
        .unwrap();
        ops::fill(&mut buffer, 1, &stream).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&over);
        ops::host_function(&stream, move || done.store(true, Ordering::SeqCst)).unwrap();
        drop(buffer);
        drop(pool);
        assert!(over.load(Ordering::SeqCst));
        assert_eq!(bench.on_device(), 0);
        drop(stream);
        bench.finish();
    });
}
