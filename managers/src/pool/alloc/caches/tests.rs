//! What the caches of threads cost, and what is in them.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::Stream;
use crate::test_bench::{TestBench, free};

const PAGE: u64 = 2 << 20;

// Without it a caller that looks at a pool, and each thread that ends, would pay for every cache
// that there is with a call that interrupts all processors.
#[test]
fn all_caches_cost_one_barrier_and_a_thread_that_ends_pays_none() {
    use crate::sync::asymmetric_fence::tests::PAID;
    let bench = TestBench::with_workers(2);
    let pool = bench.impatient(64 * PAGE);
    let streams: Vec<_> = (0..50).map(|_| bench.stream()).collect();
    let on_all = || {
        for stream in &streams {
            free(pool.allocate_raw(256, 1, stream).unwrap(), stream);
        }
    };
    on_all();
    let paid = |work: &dyn Fn()| {
        let before = PAID.get();
        work();
        PAID.get() - before
    };
    streams
        .iter()
        .for_each(|stream| ops::synchronize(stream).unwrap());
    assert_eq!(paid(&|| pool.pool().drain()), 1);
    assert_eq!(paid(&|| drop(pool.layout().unwrap())), 1);
    let look = || assert_eq!(pool.pool().mapped_gauges().counters.buffers().0, 0);
    assert_eq!(paid(&look), 1);
    assert_eq!(paid(&|| pool.record(10).unwrap()), 1);
    drop(pool.take_recording().unwrap());
    let other = std::thread::scope(|scope| {
        // Runs after this thread's caches are gone, which were made after it.
        struct Tell(std::cell::Cell<Option<mpsc::Sender<u64>>>);
        impl Drop for Tell {
            fn drop(&mut self) {
                let paid = PAID.try_with(std::cell::Cell::get);
                if let (Some(tell), Ok(paid)) = (self.0.take(), paid) {
                    let _ = tell.send(paid);
                }
            }
        }
        std::thread_local! {
            static TELL: Tell = const { Tell(std::cell::Cell::new(None)) };
        }
        let (tell, told) = mpsc::channel();
        let on_all = &on_all;
        scope.spawn(move || {
            TELL.with(|it| it.0.set(Some(tell)));
            on_all();
        });
        told.recv()
    });
    // Platforms whose destructors run in another order may tell nothing.
    let is_told = other.is_ok() || !cfg!(target_os = "linux");
    assert!(is_told, "the thread tells what it has paid");
    assert_eq!(other.unwrap_or(0), 0);
    assert_eq!(pool.usage().unwrap().caches, 50);
    drop((pool, streams));
    bench.finish();
}

// Without it a request would be refused while another thread has a transfer cache's batches in its
// hands, on the way to the heap.
#[test]
fn a_batch_on_its_way_to_the_heap_is_in_no_threads_hands() {
    let gives: [fn(&MemoryPool, &Stream); 2] = [
        |pool, stream| free(pool.allocate_raw(5 << 20, 1, stream).unwrap(), stream),
        |pool, _| assert!(pool.trim().is_ok()),
    ];
    for give in gives {
        let bench = TestBench::with_workers(2);
        let (pool, stream) = (bench.impatient(32 * PAGE), bench.stream());
        let allocate = || pool.allocate_raw(1 << 20, 1, &stream).unwrap();
        let blocks: Vec<_> = std::iter::repeat_with(allocate).take(32).collect();
        blocks.into_iter().for_each(|block| free(block, &stream));
        // Half of them is in the cache.
        let blocks: Vec<_> = std::iter::repeat_with(allocate).take(16).collect();
        let state = Arc::clone(&pool.pool().all_states()[0]);
        // SAFETY: this is the only thread that has the pool so far.
        let waiting = unsafe { state.transfer_cache().kept() };
        assert_ne!(waiting, 0);
        std::thread::scope(|scope| {
            let central = pool.pool().central.lock();
            let (is_there, there) = mpsc::channel();
            let (pool, stream) = (&pool, &stream);
            scope.spawn(move || {
                is_there.send(()).unwrap();
                give(pool, stream);
            });
            there.recv().unwrap();
            // Time to take something in its hands.
            std::thread::sleep(Duration::from_millis(50));
            // SAFETY: batches are taken out within the section that is this thread's.
            assert_eq!(unsafe { state.transfer_cache().kept() }, waiting);
            drop(central);
        });
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { state.transfer_cache().kept() }, 0);
        blocks.into_iter().for_each(|block| free(block, &stream));
        drop((state, pool, stream));
        bench.finish();
    }
}

// Without it a thread that uses many streams, or two whose numbers are some power of two apart,
// would take the pool's locks for each allocation and free that a magazine serves.
#[test]
fn a_hit_takes_no_lock_however_many_streams_a_thread_uses() {
    let bench = TestBench::with_workers(2);
    let pool = bench.impatient(64 * PAGE);
    let streams: Vec<_> = (0..300).map(|_| bench.stream()).collect();
    let use_all = || {
        for stream in &streams {
            free(pool.allocate_raw(1024, 1, stream).unwrap(), stream);
        }
    };
    let (warm, is_warm) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    let (over, is_over) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            use_all();
            warm.send(()).unwrap();
            gone.recv().unwrap();
            use_all();
            over.send(()).unwrap();
        });
        is_warm.recv().unwrap();
        let pool = pool.pool();
        let locks = (pool.streams.table(), pool.caches.lock());
        let central = pool.central.lock();
        go.send(()).unwrap();
        let done = is_over.recv_timeout(Duration::from_secs(20));
        drop((central, locks));
        assert!(done.is_ok(), "a hit waits for a lock");
    });
    let usage = pool.usage().unwrap();
    assert_eq!(
        (usage.allocations, usage.misses, usage.detours),
        (600, 300, 0)
    );
    drop((pool, streams));
    bench.finish();
}

// Without it a hit that took the slow way would look like any other.
#[test]
fn hits_off_the_hit_path_are_told() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(4 * PAGE), bench.stream());
    let pair = || free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
    (0..3).for_each(|_| pair());
    assert_eq!(pool.usage().unwrap().detours, 0);
    pool.record(16).unwrap();
    pair();
    let usage = pool.usage().unwrap();
    assert_eq!((usage.detours, usage.misses, usage.spills), (2, 1, 0));
    drop((pool, stream));
    bench.finish();
}
