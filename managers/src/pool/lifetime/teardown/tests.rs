//! Pools that end while others ask them for memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::ScopedJoinHandle;

use cupola_sys::driver::id;

use super::*;
use crate::ops;
use crate::pool::{DeviceLimit, MemoryPool, PoolConfig};
use crate::stream::Stream;
use crate::test_bench::{TestBench, free};

const PAGE: u64 = 2 << 20;

struct Bench {
    limit: DeviceLimit,
    base: TestBench,
}

impl Bench {
    /// For pools that have so many pages in common.
    fn new(pages: u64) -> Self {
        Self {
            limit: DeviceLimit::new(pages * PAGE),
            base: TestBench::with_workers(2),
        }
    }

    fn pool(&self, wait: Duration) -> MemoryPool {
        let config = PoolConfig {
            wait,
            ..PoolConfig::limit(u64::MAX).within(&self.limit)
        };
        self.base.context.memory_pool(config).unwrap()
    }

    fn stream(&self) -> Stream {
        self.base.stream()
    }

    fn pools(&self) -> u64 {
        self.base.execution.watch().live().pools
    }

    fn finish(self) {
        assert_eq!(self.limit.used(), 0);
        self.base.finish();
    }
}

/// Holds up the stream until the sender is dropped, which sets `over`.
fn hold(stream: &Stream, over: &Arc<AtomicBool>) -> Sender<()> {
    let (hold, held) = channel::<()>();
    let over = Arc::clone(over);
    ops::host_function(stream, move || {
        let _ended = held.recv();
        over.store(true, Ordering::SeqCst);
    })
    .unwrap();
    hold
}

// Without it an allocation would wait for the work of another pool, whose last handle is dropped
// while it is asked for memory: longer than it may, and for ever where that work waits for it. And
// the drop would return before the memory is back.
#[test]
fn a_guard_of_a_pool_does_not_end_it() {
    let bench = Bench::new(16);
    let (lender, pool) = (bench.pool(Duration::ZERO), bench.pool(Duration::ZERO));
    let streams = [(); 3].map(|()| bench.stream());
    let blocks = [0, 1].map(|at| lender.allocate_raw(4 * PAGE, 256, &streams[at]).unwrap());
    let over = Arc::new(AtomicBool::new(false));
    let held = hold(&streams[1], &over);
    for (block, stream) in blocks.into_iter().zip(&streams) {
        free(block, stream);
    }
    bench.base.faults.reset();
    bench
        .base
        .faults
        .delay(id::cuMemUnmap, 1, Duration::from_millis(300));
    let waited = std::thread::scope(|scope| {
        let (answer, answered) = channel();
        let (pool, stream) = (&pool, &streams[2]);
        scope.spawn(move || {
            let block = pool.allocate_raw(12 * PAGE, 256, stream);
            answer.send(block.map(|block| free(block, stream))).unwrap();
        });
        // It is in the other pool now.
        while bench.base.faults.count(id::cuMemUnmap) == 0 {
            std::thread::yield_now();
        }
        let over = &over;
        let ends = scope.spawn(move || {
            drop(lender);
            over.load(Ordering::SeqCst)
        });
        let answer = answered.recv_timeout(Duration::from_secs(20));
        drop(held);
        (answer.is_ok(), ends.join().unwrap())
    });
    assert!(waited.0, "the allocation waits for the other pool's work");
    assert!(waited.1, "the drop did not wait for its work");
    drop((pool, streams));
    bench.finish();
}

// Without it a look at figures could end a pool, and wait for its work.
#[test]
fn a_guest_outstays_neither_handles_nor_blocks() {
    for with_block in [false, true] {
        let bench = Bench::new(16);
        let (pool, stream) = (bench.pool(Duration::ZERO), bench.stream());
        let block = pool.allocate_raw(PAGE, 256, &stream).unwrap();
        let host = pool.pool().member();
        let guest = host.acquire().unwrap();
        let (mut block, mut pool) = (Some(block), Some(pool));
        if with_block {
            // A closed pool with a block that is out may still be asked.
            drop(pool.take());
            drop(host.acquire().unwrap());
        } else {
            free(block.take().unwrap(), &stream);
        }
        std::thread::scope(|scope| {
            let stream = &stream;
            let last = scope.spawn(move || {
                block.into_iter().for_each(|block| free(block, stream));
                drop(pool);
            });
            while host.acquire().is_some() {
                std::thread::yield_now();
            }
            assert_eq!(bench.pools(), 1);
            assert!(!last.is_finished());
            drop(guest);
            last.join().unwrap();
        });
        assert!(!host.is_alive());
        drop(stream);
        bench.finish();
    }
}

/// Ends a pool whose last work is held up, and asks another for all that the limit grants.
fn ask_while_one_ends<'s, E: Send + 's>(
    bench: &'s Bench,
    (asked, stream): (&'s MemoryPool, &'s Stream),
    (ending, held): (E, Sender<()>),
    is_ending: impl Fn() -> bool,
) {
    std::thread::scope(|scope| {
        scope.spawn(move || drop(ending));
        while !is_ending() {
            std::thread::yield_now();
        }
        let asks: ScopedJoinHandle<'_, Result<()>> = scope.spawn(|| {
            let block = asked.allocate_raw(16 * PAGE, 256, stream)?;
            free(block, stream);
            Ok(())
        });
        // It waits, or was refused.
        while asked.pool().usage().unwrap().host_waits == 0 && !asks.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        asks.join().unwrap().unwrap();
    });
    assert_eq!(bench.pools(), 1);
}

// Without it a request would be refused that has only to wait until a pool is gone whose end has
// begun: no request can ask that pool any more.
#[test]
fn a_pool_that_ends_is_waited_for() {
    let bench = Bench::new(16);
    let (ending, pool) = (bench.pool(Duration::ZERO), bench.pool(PoolConfig::WAIT));
    let (stream, other) = (bench.stream(), bench.stream());
    let block = ending.allocate_raw(12 * PAGE, 256, &other).unwrap();
    let held = hold(&other, &Arc::default());
    free(block, &other);
    let host = ending.pool().member();
    let is_ending = || host.acquire().is_none();
    ask_while_one_ends(&bench, (&pool, &stream), (ending, held), is_ending);
    // Nothing is left to wait for.
    let shared = bench.limit.ending().get();
    assert_eq!(shared, 0);
    drop((pool, stream, other));
    bench.finish();
}

// Without it the same would happen in a pool whose graph's memory is dropped.
#[test]
fn a_graphs_memory_that_ends_is_waited_for() {
    let bench = Bench::new(16);
    let pool = bench.pool(PoolConfig::WAIT);
    let (stream, other) = (bench.stream(), bench.stream());
    let memory = pool.graph_memory(&other).unwrap();
    let block = pool.allocate_raw(12 * PAGE, 256, &other).unwrap();
    memory.end();
    let held = hold(&other, &Arc::default());
    free(block, &other);
    // The two pools are one for the user.
    let is_ending = || bench.pools() == 1;
    ask_while_one_ends(&bench, (&pool, &stream), (memory, held), is_ending);
    drop((pool, stream, other));
    bench.finish();
}
