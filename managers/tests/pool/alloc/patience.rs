//! What a request waits for, in a pool of one stream, although it could have something at once: the
//! pages of the best place.

use cupola_managers::pool::DeviceLimit;

use crate::*;

/// Blocks of so many pages each, one after the other in a pool that has no more.
fn fill<const N: usize>(pool: &MemoryPool, stream: &Stream, pages: [u64; N]) -> [RawBlock; N] {
    let block = |pages| pool.allocate_raw(pages * PAGE, PAGE, stream).unwrap();
    let blocks = pages.map(block);
    assert_eq!(pool.mapped(), pool.limit());
    blocks
}

// Without it a device that is behind its host makes a pool take worse places, and what threads
// keep: a trace of a decoder failed at 1.02 times its peak where kernels took long.
#[test]
fn pages_that_come_soon_are_waited_for() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(9 * PAGE), bench.stream());
    let small = pool.allocate_raw(256, 1, &stream).unwrap();
    let [left, between, right] = fill(&pool, &stream, [4, 1, 3]);
    free(small, &stream);
    let held = hold(&stream);
    free(left, &stream);
    free(right, &stream);
    let place = std::thread::scope(|scope| {
        let (pool, stream) = (&pool, &stream);
        let request = scope.spawn(move || {
            // At the end, with two of the pages on the left.
            let block = pool.allocate_raw(5 * PAGE, PAGE, stream).unwrap();
            let address = block.address();
            free(block, stream);
            address
        });
        while pool.usage().unwrap().host_waits == 0 && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        request.join().unwrap()
    });
    assert_eq!(place, between.address() + PAGE);
    let usage = pool.usage().unwrap();
    assert_eq!((usage.drains, usage.remapped), (0, 2), "{usage:?}");
    // What this thread has kept it still has.
    free(pool.allocate_raw(256, 1, &stream).unwrap(), &stream);
    assert_eq!(pool.usage().unwrap().misses, usage.misses);
    free(between, &stream);
    drop((pool, stream));
    bench.finish();
}

// Without it a request would wait for the device while threads keep as much as it asks for.
#[test]
fn what_threads_keep_is_not_waited_for() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(9 * PAGE), bench.stream());
    let (ready, kept) = channel();
    let (done, end) = channel::<()>();
    std::thread::scope(|scope| {
        let (pool, stream) = (&pool, &stream);
        scope.spawn(move || {
            let blocks = [(); 2].map(|()| pool.allocate_raw(2 * PAGE, 256, stream).unwrap());
            for block in blocks {
                free(block, stream);
            }
            ready.send(()).unwrap();
            // Its lane is emptied when it ends.
            let _ = end.recv();
        });
        kept.recv().unwrap();
        let [left, between, right] = fill(pool, stream, [2, 1, 2]);
        let held = hold(stream);
        free(left, stream);
        free(right, stream);
        let block = pool.allocate_raw(3 * PAGE + 256, 256, stream).unwrap();
        let usage = pool.usage().unwrap();
        assert_eq!((usage.host_waits, usage.drains), (0, 1), "{usage:?}");
        drop(held);
        free(block, stream);
        free(between, stream);
        drop(done);
    });
    drop((pool, stream));
    bench.finish();
}

/// Requests for five pages, while two and two are free beside one that another thread keeps, once
/// for each request, and `others` elsewhere; work that is held uses all of these. They get what
/// there is.
fn take_what_there_is(bench: &TestBench, pool: &MemoryPool, requests: usize, others: u64) {
    let stream = &bench.stream();
    let (go, gone) = channel();
    let (done, awaited) = channel();
    let block = |pages| pool.allocate_raw(pages * PAGE, PAGE, stream).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut between = Vec::new();
            for _ in 0..requests {
                gone.recv().unwrap();
                between.push(pool.allocate_raw(PAGE, 256, stream).unwrap());
                done.send(()).unwrap();
            }
            for block in between {
                gone.recv().unwrap();
                free(block, stream);
                done.send(()).unwrap();
            }
            // Its lane is emptied when it ends.
            let _ = gone.recv();
        });
        let there = || {
            go.send(()).unwrap();
            awaited.recv().unwrap();
        };
        let mut left = Vec::new();
        let mut walls = Vec::new();
        let mut free_soon = Vec::new();
        for _ in 0..requests {
            left.push(block(2));
            there();
            free_soon.push(block(2));
            walls.push(block(1));
        }
        let last = fill(pool, stream, [others, 1]);
        let held = hold(stream);
        let places: Vec<_> = left.iter().map(RawBlock::address).collect();
        let [other, wall] = last;
        walls.push(wall);
        for block in left.into_iter().chain(free_soon).chain([other]) {
            free(block, stream);
        }
        for place in places {
            there();
            let taken = block(5);
            assert_eq!(taken.address(), place);
            walls.push(taken);
        }
        drop(held);
        for block in walls {
            free(block, stream);
        }
        drop(go);
    });
    bench.context.streams().release(stream.handle()).unwrap();
}

// Without it a request that may not wait, or has waited in vain, would be refused what it could
// have; or each would wait again for the same work.
#[test]
fn a_request_that_waited_in_vain_takes_a_worse_place() {
    for (wait, waits) in [(Duration::ZERO, 0), (Duration::from_millis(10), 1)] {
        let bench = bench_on(Backing::Pages);
        // Five pages after the last block could have those that are free: more than five.
        let config = PoolConfig {
            wait,
            ..PoolConfig::limit(16 * PAGE)
        };
        let pool = bench.context.memory_pool(config).unwrap();
        take_what_there_is(&bench, &pool, 2, 3);
        assert_eq!(pool.usage().unwrap().host_waits, waits);
        drop(pool);
        bench.finish();
    }
}

// Without it what was waited for in vain on a stream that is gone would keep requests of the next
// one from waiting.
#[test]
fn a_new_stream_is_waited_for_whatever_the_one_before_it_did() {
    let bench = bench_on(Backing::Pages);
    let config = PoolConfig::limit(16 * PAGE).wait(Duration::from_millis(10));
    let pool = bench.context.memory_pool(config).unwrap();
    for waits in 1..3 {
        take_what_there_is(&bench, &pool, 2, 3);
        assert_eq!(pool.usage().unwrap().host_waits, waits);
        bench.context.streams().trim(0).unwrap();
        // The stream is gone: its last event may take a moment.
        let until = Instant::now() + Duration::from_secs(20);
        while pool.usage().unwrap().streams > 0 {
            pool.trim().unwrap();
            assert!(Instant::now() < until, "{:?}", pool.usage());
        }
    }
    drop(pool);
    bench.finish();
}

// Without it a request would wait for work that cannot give it what it needs.
#[test]
fn too_few_pages_are_not_waited_for() {
    let bench = bench_on(Backing::Pages);
    let pool = bench.pool(7 * PAGE);
    take_what_there_is(&bench, &pool, 1, 0);
    assert_eq!(pool.usage().unwrap().host_waits, 0);
    drop(pool);
    bench.finish();
}

// Without it a request would take from other pools what they keep, for a wait of its own.
#[test]
fn others_are_not_asked_for_what_comes_soon() {
    let bench = bench_on(Backing::Pages);
    let shared = DeviceLimit::new(10 * PAGE);
    let pool = |pages| {
        let config = PoolConfig {
            within: Some(shared.clone()),
            ..PoolConfig::limit(pages * PAGE)
        };
        bench.context.memory_pool(config).unwrap()
    };
    let (one, two) = (pool(20), pool(2));
    let (stream, other) = (bench.stream(), bench.stream());
    let [kept] = fill(&two, &other, [2]);
    free(kept, &other);
    let [left, between, right] = [4, 1, 3].map(|pages| {
        let block = one.allocate_raw(pages * PAGE, PAGE, &stream);
        block.unwrap()
    });
    let held = hold(&stream);
    free(left, &stream);
    free(right, &stream);
    std::thread::scope(|scope| {
        let (one, stream) = (&one, &stream);
        let request = scope.spawn(move || {
            let block = one.allocate_raw(5 * PAGE, PAGE, stream).unwrap();
            free(block, stream);
        });
        while one.usage().unwrap().host_waits == 0 && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        request.join().unwrap();
    });
    assert_eq!(two.mapped(), 2 * PAGE);
    free(between, &stream);
    drop((one, two, shared, stream, other));
    bench.finish();
}
