use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::*;
use crate::error::Error;
use crate::ops;
use crate::pool::{DriverCalls, MemoryPool, RawBlock, Usage};
use crate::stream::Stream;
use crate::test_bench::{TestBench, free, hold};

const PAGE: u64 = 2 << 20;

/// A pool of which streams go.
struct Bench {
    pool: MemoryPool,
    base: TestBench,
}

impl Bench {
    fn new(pages: u64) -> Self {
        let base = TestBench::with_workers(2);
        let pool = base.impatient(pages * PAGE);
        Self { pool, base }
    }

    fn stream(&self) -> Stream {
        self.base.stream()
    }

    /// The stream goes, with the work on it.
    fn destroy(&self, stream: Stream) {
        self.base
            .context
            .streams()
            .release(stream.handle())
            .unwrap();
        drop(stream);
        self.base.context.streams().trim(0).unwrap();
    }

    fn take(&self, bytes: u64, stream: &Stream) -> RawBlock {
        self.pool.allocate_raw(bytes, 1, stream).unwrap()
    }

    fn usage(&self) -> Usage {
        self.pool.usage().unwrap()
    }

    /// Looks until so many streams are left: the driver may need a moment to see an event.
    fn reap_to(&self, streams: u64) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.usage().streams > streams {
            self.pool.pool().retire_streams();
            assert!(Instant::now() < until, "{:?}", self.usage());
        }
    }

    fn finish(self) {
        drop(self.pool);
        self.base.finish();
    }
}

// Without it memory that a stream has left could not be had before the driver was asked, or the
// next stream of its place had completed something.
#[test]
fn memory_of_a_gone_stream_is_every_streams() {
    let bench = Bench::new(8);
    let other = bench.stream();
    free(bench.take(700, &other), &other);
    let stream = bench.stream();
    // One slot of a slab stays in use.
    let slots = [(); 3].map(|()| bench.take(5000, &stream));
    // One block between two that stay, so that it merges with nothing.
    let [low, middle, high] = [(); 3].map(|()| bench.take(PAGE, &stream));
    let place = middle.address();
    let mut live = slots.into_iter();
    let kept = live.next().unwrap();
    live.for_each(|block| free(block, &stream));
    free(middle, &stream);
    ops::synchronize(&stream).unwrap();
    bench.destroy(stream);
    bench.reap_to(1);
    // One that has done nothing has the place now, and its work does not end.
    let next = bench.stream();
    bench.pool.pool().state_of(&next).unwrap();
    let held = hold(&next);
    assert_eq!(bench.usage().streams, 2);
    // Figures make calls of their own.
    let calls = || {
        let pool = bench.pool.pool();
        let (_, timelines) = pool.streams.calls();
        let of_clocks = (timelines.records, timelines.queries, timelines.waits);
        let calls = DriverCalls {
            info: 0,
            ..pool.pages.calls().read()
        };
        (calls, of_clocks)
    };
    let before = calls();
    let mapped = bench.pool.mapped();
    let third = bench.stream();
    let large = bench.take(PAGE, &third);
    assert_eq!(large.address(), place);
    let slot = bench.take(5000, &third);
    assert_eq!(calls(), before);
    assert_eq!(bench.pool.mapped(), mapped);
    assert_eq!(kept.address() / PAGE, slot.address() / PAGE);
    for block in [low, large, high, slot, kept] {
        free(block, &third);
    }
    drop(held);
    drop((other, next, third));
    bench.finish();
}

// Without it memory could be used while work that uses it still runs, or a place be given to
// another stream although tickets of the one before are open.
#[test]
fn a_stream_whose_work_runs_is_not_over() {
    let bench = Bench::new(4);
    let (other, stream) = (bench.stream(), bench.stream());
    let held = hold(&stream);
    let block = bench.take(2 * PAGE, &stream);
    let (from, to) = (block.address(), block.address() + block.bytes());
    free(block, &stream);
    bench.destroy(stream);
    for _ in 0..3 {
        assert_eq!(bench.pool.pool().retire_streams(), RetireReport::default());
        bench.pool.trim().unwrap();
        let block = bench.take(2 * PAGE, &other);
        assert!(block.address() >= to || block.address() + block.bytes() <= from);
        free(block, &other);
    }
    let usage = bench.usage();
    assert_eq!((usage.streams, usage.calls.wait), (2, 0));
    drop(held);
    bench.reap_to(1);
    bench.pool.trim().unwrap();
    assert_eq!(bench.pool.mapped(), 0);
    drop(other);
    bench.finish();
}

// Without it a thread that still has a state in hand could give the next stream of its place out
// for complete.
#[test]
fn a_state_that_a_thread_has_stays() {
    let bench = Bench::new(2);
    let stream = bench.stream();
    free(bench.take(PAGE, &stream), &stream);
    let state = bench.pool.pool().state_of(&stream).unwrap();
    ops::synchronize(&stream).unwrap();
    bench.destroy(stream);
    let until = Instant::now() + Duration::from_secs(20);
    while bench.pool.pool().retire_streams().held == 0 {
        assert!(Instant::now() < until);
    }
    let next = bench.stream();
    let other = bench.pool.pool().state_of(&next).unwrap();
    assert_ne!(state.index(), other.index());
    assert_eq!(
        bench.pool.pool().retire_streams(),
        RetireReport {
            streams: 0,
            held: 1
        }
    );
    let index = state.index();
    drop((state, other));
    assert_eq!(
        bench.pool.pool().retire_streams(),
        RetireReport {
            streams: 1,
            held: 0
        }
    );
    let third = bench.stream();
    assert_eq!(bench.pool.pool().state_of(&third).unwrap().index(), index);
    drop((next, third));
    bench.finish();
}

// Without it a pool would refuse streams although nearly all that it had are gone.
#[test]
fn places_are_given_again() {
    const PLACES: u16 = 5;
    let bench = Bench::new(8);
    bench.pool.pool().streams.table().set_last(PLACES);
    for _ in 0..20 {
        let stream = bench.stream();
        free(bench.take(100, &stream), &stream);
        ops::synchronize(&stream).unwrap();
        bench.destroy(stream);
    }
    bench.pool.pool().retire_streams();
    let streams = [(); PLACES as usize].map(|()| bench.stream());
    let blocks: Vec<_> = streams.iter().map(|s| (bench.take(100, s), s)).collect();
    let one_more = bench.stream();
    let refused = bench.pool.allocate_raw(100, 1, &one_more);
    assert!(matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    for (block, stream) in blocks {
        free(block, stream);
    }
    drop((streams, one_more));
    bench.finish();
}

// Without it a thread would keep the bytes of caches whose streams are gone, as long as it lives.
#[test]
fn the_bytes_of_caches_go_with_their_streams() {
    let bench = Bench::new(8);
    let (go, gone) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    let stream = bench.stream();
    std::thread::scope(|scope| {
        let (pool, user) = (&bench.pool, stream.clone());
        scope.spawn(move || {
            free(pool.allocate_raw(100, 1, &user).unwrap(), &user);
            drop(user);
            done.send(()).unwrap();
            let _: Result<(), _> = gone.recv();
        });
        is_done.recv().unwrap();
        let cache = Arc::clone(&bench.pool.pool().caches.lock()[0]);
        assert_eq!((Arc::strong_count(&cache), Arc::weak_count(&cache)), (2, 1));
        ops::synchronize(&stream).unwrap();
        bench.destroy(stream);
        let until = Instant::now() + Duration::from_secs(20);
        while bench.pool.pool().retire_streams().held == 0 {
            assert!(Instant::now() < until);
        }
        // Weak counts would keep the bytes as well.
        assert_eq!((Arc::strong_count(&cache), Arc::weak_count(&cache)), (1, 0));
        assert_eq!(bench.usage().caches, 0);
        drop((cache, go));
    });
    assert_eq!(bench.usage().allocations, 1);
    bench.reap_to(0);
    bench.finish();
}
