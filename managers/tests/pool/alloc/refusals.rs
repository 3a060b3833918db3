//! Nothing is refused that could be had: what others keep, what completes or comes back while a
//! request looks, what only the requesting stream may use.

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::Error;
use cupola_managers::pool::{Backing, DeviceLimit, PoolConfig};
use cupola_sys::driver::CUresult;

use crate::*;

/// A pool of so many pages that waits no longer than this.
fn pool(bench: &TestBench, pages: u64, wait: Duration) -> MemoryPool {
    let config = PoolConfig {
        wait,
        ..PoolConfig::limit(pages * PAGE)
    };
    bench.context.memory_pool(config).unwrap()
}

/// Waits until a request waits.
fn until_waiting(pool: &MemoryPool) {
    while pool.usage().unwrap().host_waits == 0 {
        std::thread::yield_now();
    }
    // And for the next nap of it.
    std::thread::sleep(Duration::from_millis(5));
}

// Without it a small request would be refused while free slots of its size lie in the magazines of
// another thread.
#[test]
fn small_requests_get_what_threads_keep() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (pool(&bench, 1, Duration::ZERO), bench.stream());
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        let (kept, freed) = channel();
        let (pool, stream) = (&pool, &stream);
        scope.spawn(move || {
            let mut blocks: Vec<_> = std::iter::from_fn(|| pool.allocate_raw(256, 1, stream).ok())
                .take(1 << 14)
                .collect();
            for block in blocks.drain(..16) {
                free(block, stream);
            }
            kept.send(()).unwrap();
            receive.recv().unwrap();
            for block in blocks {
                free(block, stream);
            }
        });
        freed.recv().unwrap();
        let block = pool.allocate_raw(256, 1, stream);
        send.send(()).unwrap();
        free(block.unwrap(), stream);
    });
    drop((pool, stream));
    bench.finish();
}

// Without it a small request would wait for another stream's slots, and be refused when they are
// free.
#[test]
fn small_requests_get_the_slots_that_they_have_waited_for() {
    let bench = bench_on(Backing::Pages);
    let pool = pool(&bench, 2, Duration::from_secs(20));
    let (one, two) = (bench.stream(), bench.stream());
    // Up to half of the limit small blocks are slots.
    let blocks: Vec<_> = (0..PAGE / 256)
        .map(|_| pool.allocate_raw(256, 1, &one).unwrap())
        .collect();
    let rest = pool.allocate_raw(PAGE, 256, &one).unwrap();
    let held = hold(&one);
    let mut left = Vec::new();
    for (at, block) in blocks.into_iter().enumerate() {
        // Of no slab all slots are free.
        if at % 32 == 0 {
            left.push(block);
        } else {
            free(block, &one);
        }
    }
    std::thread::scope(|scope| {
        let request = scope.spawn(|| pool.allocate_raw(256, 1, &two));
        until_waiting(&pool);
        drop(held);
        free(request.join().unwrap().unwrap(), &two);
    });
    free(rest, &one);
    for block in left {
        free(block, &one);
    }
    drop((pool, one, two));
    bench.finish();
}

// Without it what other pools have just given back would be refused to a pool that found the
// device full before.
#[test]
fn what_others_give_back_is_asked_for_again() {
    let bench = bench_with(Backing::Pages, 100 * PAGE);
    let limit = DeviceLimit::new(200 * PAGE);
    let pool = || {
        let config = PoolConfig::limit(200 * PAGE).within(&limit);
        bench.context.memory_pool(config).unwrap()
    };
    let (one, two, stream) = (pool(), pool(), bench.stream());
    let idle: Vec<_> = (0..9)
        .map(|_| two.allocate_raw(10 * PAGE, 256, &stream).unwrap())
        .collect();
    idle.into_iter().for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    free(one.allocate_raw(20 * PAGE, 256, &stream).unwrap(), &stream);
    drop((one, two, stream));
    bench.finish();
}

/// A request for two pages waits: two are free, but not side by side, and work may use them.
struct Waiting {
    pool: MemoryPool,
    streams: [Stream; 2],
    between: Option<RawBlock>,
    held: Option<Sender<()>>,
}

impl Waiting {
    fn new(bench: &TestBench, pool: MemoryPool) -> Self {
        let streams = [bench.stream(), bench.stream()];
        let on = &streams[0];
        let [one, two, three] = [(); 3].map(|()| pool.allocate_raw(PAGE, 256, on).unwrap());
        assert_eq!(three.address() - one.address(), 2 * PAGE);
        let held = hold(on);
        free(one, on);
        free(three, on);
        Self {
            pool,
            between: Some(two),
            held: Some(held),
            streams,
        }
    }

    /// Makes the request, and has something happen while it waits.
    fn gets(mut self, meanwhile: impl FnOnce(&mut Self)) {
        let (pool, stream) = (self.pool.clone(), self.streams[1].clone());
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let request = scope.spawn(|| pool.allocate_raw(2 * PAGE, 256, &stream));
            until_waiting(&pool);
            meanwhile(&mut self);
            free(request.join().unwrap().unwrap(), &stream);
        });
        assert!(begin.elapsed() < Duration::from_secs(15));
        self.held = None;
        free(self.between.take().unwrap(), &self.streams[0]);
    }
}

const LONG: Duration = Duration::from_secs(30);

// Without it the first thread to look would see what has completed, and the request that waits
// for it would not.
#[test]
fn a_completion_that_another_thread_saw_is_not_missed() {
    let bench = bench_on(Backing::Pages);
    for _ in 0..40 {
        let pool = pool(&bench, 3, LONG);
        Waiting::new(&bench, pool).gets(|waiting| {
            waiting.held = None;
            ops::synchronize(&waiting.streams[0]).unwrap();
            waiting.pool.trim().unwrap();
        });
    }
    bench.finish();
}

// Without it a request would wait on although what it needs is complete, because something else was
// freed meanwhile, and be refused in the end.
#[test]
fn what_completes_is_seen_whatever_is_freed_meanwhile() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (pool(&bench, 4, LONG), bench.stream());
    let other = pool.allocate_raw(PAGE, 256, &stream).unwrap();
    let longer = hold(&stream);
    Waiting::new(&bench, pool.clone()).gets(|waiting| {
        free(other, &stream);
        std::thread::sleep(Duration::from_millis(20));
        waiting.held = None;
    });
    drop((longer, pool, stream));
    bench.finish();
}

// Without it a request would wait for work to complete, and be refused in the end, while there is
// room.
#[test]
fn room_that_is_made_meanwhile_is_used() {
    let bench = bench_on(Backing::Pages);
    Waiting::new(&bench, pool(&bench, 3, LONG))
        .gets(|waiting| waiting.pool.set_limit(5 * PAGE).unwrap());
    for case in 0..3 {
        let limit = DeviceLimit::new(5 * PAGE);
        let mut config = PoolConfig::limit(5 * PAGE).within(&limit);
        config.wait = LONG;
        let [one, other] = [(); 2].map(|()| bench.context.memory_pool(config.clone()).unwrap());
        let stream = bench.stream();
        let theirs = other.allocate_raw(2 * PAGE, 256, &stream).unwrap();
        Waiting::new(&bench, one).gets(|_| match case {
            0 => {
                limit.set_limit(7 * PAGE);
                free(theirs, &stream);
            }
            1 => free(theirs, &stream),
            _ => {
                drop(other);
                free(theirs, &stream);
            }
        });
    }
    bench.finish();
}

// Without it a device that has no memory for page tables or events would fail a request, though
// memory that is mapped already would do.
#[test]
fn a_full_device_may_refuse_to_map_pages() {
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    for function in [id::cuMemMap, id::cuMemSetAccess, id::cuEventCreate] {
        let bench = bench_on(Backing::Pages);
        let pool = pool(&bench, 4, Duration::ZERO);
        let (one, two) = (bench.stream(), bench.stream());
        free(pool.allocate_raw(PAGE, 256, &two).unwrap(), &two);
        ops::synchronize(&two).unwrap();
        let kept = pool.allocate_raw(300, 256, &one).unwrap();
        bench.faults.reset();
        bench.faults.fail(function, 1, full);
        free(pool.allocate_raw(3 * PAGE, 256, &one).unwrap(), &one);
        assert!(bench.faults.count(function) >= 1);
        ops::synchronize(&one).unwrap();
        pool.trim().unwrap();
        bench.faults.reset();
        bench.faults.fail_from(function, 1, full);
        let refused = pool.allocate_raw(3 * PAGE, 256, &one);
        bench.faults.reset();
        match refused {
            Ok(block) => free(block, &one),
            Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}"),
        }
        assert_eq!(pool.mapped(), bench.on_device());
        free(kept, &one);
        free(pool.allocate_raw(4 * PAGE, 256, &one).unwrap(), &one);
        drop((pool, one, two));
        bench.finish();
    }
}

// Without it a pool under a shared limit, or on a device, that it fills would map what it cannot
// unmap in parts, and be refused most of it for one block in each.
#[test]
fn a_full_pool_has_single_pages_whatever_limits_it() {
    for (shared, pages) in [(true, 256), (true, 16), (false, 256), (false, 16)] {
        let device = if shared { 16 << 30 } else { 258 * PAGE };
        let bench = bench_with(Backing::Pages, device);
        let mut config = PoolConfig::limit(u64::MAX);
        if shared {
            config = config.within(&DeviceLimit::new(256 * PAGE));
        }
        let (pool, stream) = (bench.context.memory_pool(config).unwrap(), bench.stream());
        let whole: Vec<_> = (0..256 / pages)
            .map(|_| pool.allocate_raw(pages * PAGE, 256, &stream).unwrap())
            .collect();
        whole.into_iter().for_each(|block| free(block, &stream));
        let blocks: Vec<_> = (0..256)
            .map(|_| pool.allocate_raw(PAGE, 256, &stream).unwrap())
            .collect();
        let mut left = Vec::new();
        for (at, block) in blocks.into_iter().enumerate() {
            if at % 16 == 0 {
                left.push(block);
            } else {
                free(block, &stream);
            }
        }
        ops::synchronize(&stream).unwrap();
        free(
            pool.allocate_raw(200 * PAGE, 256, &stream).unwrap(),
            &stream,
        );
        left.into_iter().for_each(|block| free(block, &stream));
        drop((pool, stream));
        bench.finish();
    }
}

// Without it a stream would wait on the host for its own work, and be refused, while all that it
// asks for is its own or free for all.
#[test]
fn a_stream_gets_what_only_it_may_use_beside_what_all_may() {
    on_both(|bench| {
        let pages = if pool(&bench, 1, LONG).backing() == Backing::Pages {
            4
        } else {
            16
        };
        let pool = pool(&bench, pages, Duration::ZERO);
        let (one, two) = (bench.stream(), bench.stream());
        let half = pages / 2 * PAGE;
        // In chunks all is one from the beginning.
        free(pool.allocate_raw(2 * half, 256, &one).unwrap(), &one);
        ops::synchronize(&one).unwrap();
        let own = pool.allocate_raw(half, 256, &one).unwrap();
        let theirs = pool.allocate_raw(half, 256, &two).unwrap();
        free(theirs, &two);
        ops::synchronize(&two).unwrap();
        let held = hold(&one);
        free(own, &one);
        let all = pool.allocate_raw(2 * half, 256, &one).unwrap();
        assert_eq!(pool.usage().unwrap().host_waits, 0);
        free(all, &one);
        drop(held);
        drop((pool, one, two));
        bench.finish();
    });
}

// Without it each refusal would record an event on every stream, and wait for it.
#[test]
fn a_refusal_closes_no_batch_that_nothing_was_freed_in() {
    let bench = bench_on(Backing::Pages);
    let pool = pool(&bench, 4, Duration::ZERO);
    let (one, two) = (bench.stream(), bench.stream());
    let kept = pool.allocate_raw(4 * PAGE, 256, &one).unwrap();
    pool.allocate_raw(PAGE, 256, &two).unwrap_err();
    bench.faults.reset();
    for _ in 0..10 {
        pool.allocate_raw(PAGE, 256, &two).unwrap_err();
    }
    assert_eq!(bench.faults.count(id::cuEventRecord), 0);
    free(kept, &one);
    drop((pool, one, two));
    bench.finish();
}

// Without it a pool that is to wait as long as it takes would panic.
#[test]
fn a_pool_may_wait_for_ever() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (pool(&bench, 1, Duration::MAX), bench.stream());
    let kept = pool.allocate_raw(PAGE, 256, &stream).unwrap();
    let refused = pool.allocate_raw(PAGE, 256, &stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    free(kept, &stream);
    drop(pool);
    let forever = self::pool(&bench, 3, Duration::MAX);
    Waiting::new(&bench, forever).gets(|waiting| waiting.held = None);
    drop(stream);
    bench.finish();
}

// Without it a request that cannot be had could go on for seconds while others allocate and free;
// that it ends at all is a unit test's.
#[test]
fn busy_neighbours_delay_no_refusal() {
    let bench = bench_on(Backing::Pages);
    for wait in [Duration::ZERO, Duration::from_millis(5)] {
        let limit = DeviceLimit::new(2 * PAGE);
        let pool = || {
            let config = PoolConfig {
                wait,
                ..PoolConfig::limit(2 * PAGE).within(&limit)
            };
            bench.context.memory_pool(config).unwrap()
        };
        let (pool, other) = (pool(), pool());
        let streams = [(); 3].map(|()| bench.stream());
        let kept = pool.allocate_raw(256, 1, &streams[0]).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (pool, stream) in [(&pool, &streams[1]), (&other, &streams[2])] {
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        let some = || pool.allocate_raw(256, 1, stream).ok();
                        let blocks: Vec<_> = std::iter::from_fn(some).take(100).collect();
                        blocks.into_iter().for_each(|block| free(block, stream));
                    }
                });
            }
            while [&pool, &other]
                .iter()
                .any(|pool| pool.usage().unwrap().frees < 1000)
            {
                std::thread::yield_now();
            }
            let refused = pool.allocate_raw(2 * PAGE, 1, &streams[0]);
            is_over.store(true, Ordering::Relaxed);
            assert!(
                matches!(refused, Err(Error::OverLimit { .. })),
                "{refused:?}"
            );
        });
        free(kept, &streams[0]);
        drop((pool, other, streams));
    }
    bench.finish();
}

// Without it a request larger than a chunk would ask a full device twice for the same, and charge a
// limit that others share meanwhile.
#[test]
fn a_full_device_is_asked_once_for_a_large_chunk() {
    let bench = bench_on(Backing::Chunks);
    let (pool, stream) = (pool(&bench, 1000, Duration::ZERO), bench.stream());
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.faults.reset();
    bench.faults.fail_from(id::cuMemAlloc_v2, 1, full);
    let refused = pool.allocate_raw(500 * PAGE, 256, &stream);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { .. })),
        "{refused:?}"
    );
    let large = bench.faults.count(id::cuMemAlloc_v2);
    let refused = pool.allocate_raw(PAGE, 256, &stream);
    assert!(
        matches!(refused, Err(Error::OutOfMemory { .. })),
        "{refused:?}"
    );
    let small = bench.faults.count(id::cuMemAlloc_v2) - large;
    // A small one may do with less than a whole chunk.
    assert_eq!(small, 2 * large);
    bench.faults.reset();
    drop((pool, stream));
    bench.finish();
}
