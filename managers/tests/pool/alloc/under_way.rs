//! A request while work that is under way uses the pages of the best place: it gets what there is.

use crate::*;

/// Blocks of so many pages each, one after the other in a pool that has no more.
fn fill<const N: usize>(pool: &MemoryPool, stream: &Stream, pages: [u64; N]) -> [RawBlock; N] {
    let block = |pages| pool.allocate_raw(pages * PAGE, PAGE, stream).unwrap();
    let blocks = pages.map(block);
    assert_eq!(pool.mapped(), pool.limit());
    blocks
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
            // Its cache is emptied when it ends.
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

// Without it a device that is behind its host would keep requests from places that they can have at
// once, even those that may not wait.
#[test]
fn work_under_way_keeps_no_request_from_a_worse_place() {
    for wait in [Duration::ZERO, Duration::from_secs(600)] {
        let bench = bench_on(Backing::Pages);
        // Five pages after the last block could have those that are free: more than five.
        let config = PoolConfig {
            wait,
            ..PoolConfig::limit(16 * PAGE)
        };
        let pool = bench.context.memory_pool(config).unwrap();
        take_what_there_is(&bench, &pool, 2, 3);
        assert_eq!(pool.usage().unwrap().host_waits, 0);
        drop(pool);
        bench.finish();
    }
    let bench = bench_on(Backing::Pages);
    let pool = bench.pool(7 * PAGE);
    take_what_there_is(&bench, &pool, 1, 0);
    assert_eq!(pool.usage().unwrap().host_waits, 0);
    drop(pool);
    bench.finish();
}
