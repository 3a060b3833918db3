//! What a request waits for, in a pool of one stream, although it could have something at once: the
//! pages of the best place.

use super::*;

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
    let bench = Bench::new(Backing::Pages);
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
    let bench = Bench::new(Backing::Pages);
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

/// A request for five pages, while two and two are free beside one that another thread keeps, and
/// `others` elsewhere; work that is held uses all of these. It gets what there is, without a wait.
fn takes_what_there_is(bench: &Bench, pool: &MemoryPool, others: u64) {
    let stream = &bench.stream();
    let (begin, begun) = channel();
    let (ready, kept) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            begun.recv().unwrap();
            let block = pool.allocate_raw(PAGE, 256, stream).unwrap();
            ready.send(()).unwrap();
            begun.recv().unwrap();
            free(block, stream);
            ready.send(()).unwrap();
            // Its lane is emptied when it ends.
            let _ = begun.recv();
        });
        let left = pool.allocate_raw(2 * PAGE, PAGE, stream).unwrap();
        begin.send(()).unwrap();
        kept.recv().unwrap();
        let [right, wall, other, last] = fill(pool, stream, [2, 1, others, 1]);
        let held = hold(stream);
        let first = left.address();
        for block in [left, right, other] {
            free(block, stream);
        }
        begin.send(()).unwrap();
        kept.recv().unwrap();
        let block = pool.allocate_raw(5 * PAGE, PAGE, stream).unwrap();
        assert_eq!(block.address(), first);
        assert_eq!(pool.usage().unwrap().host_waits, 0);
        drop(held);
        for block in [block, wall, last] {
            free(block, stream);
        }
        drop(begin);
    });
}

// Without it a request that may not wait, or has waited in vain, would be refused what it could
// have.
#[test]
fn who_cannot_wait_takes_what_there_is() {
    let bench = Bench::new(Backing::Pages);
    // Five pages after the last block could have those of the seven that are free.
    let pool = bench.impatient(10 * PAGE);
    takes_what_there_is(&bench, &pool, 3);
    drop(pool);
    bench.finish();
}

// Without it a request would wait for work that cannot give it what it needs.
#[test]
fn too_few_pages_are_not_waited_for() {
    let bench = Bench::new(Backing::Pages);
    let pool = bench.pool(7 * PAGE);
    takes_what_there_is(&bench, &pool, 0);
    drop(pool);
    bench.finish();
}
