//! Live, cached and pending: what each byte counts as, wherever it waits.

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::pool::layout::BlockState;

use crate::*;

/// Waits until all that a pool has is ready for all streams.
fn until_ready(pool: &MemoryPool) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let usage = pool.usage().unwrap();
        if (usage.pending, usage.cached) == (0, usage.mapped) {
            return;
        }
        assert!(Instant::now() < until, "{usage:?}");
        std::thread::yield_now();
    }
}

// Without it memory that work still uses would count as ready while it waits in a thread's cache, a
// transfer cache or a slab: `available` would promise what no other stream gets.
#[test]
fn what_work_may_still_use_is_pending_wherever_it_waits() {
    on_both(|bench| {
        for bytes in [256, 4096, 8192, 100_352, 1 << 20, 5 << 20] {
            let pool = bench.pool(4 << 30);
            let (stream, idle) = (bench.stream(), bench.stream());
            let allocate = |_| pool.allocate_raw(bytes, 256, &stream).unwrap();
            let blocks: Vec<_> = (0..300).map(allocate).collect();
            let mut others: Vec<_> = (0..300).map(allocate).collect();
            let held = hold(&stream);
            // Into the cache, from there into the transfer cache, and on into slabs and the heap.
            blocks.into_iter().for_each(|block| free(block, &stream));
            let usage = pool.usage().unwrap();
            assert_eq!((usage.live, usage.blocks), (300 * bytes, 300));
            // Slots that were never used go with those that are freed on the slab's stream.
            assert!(usage.pending >= 300 * bytes, "{bytes}: {usage:?}");
            assert_eq!(usage.live + usage.cached + usage.pending, usage.mapped);
            let room = pool.available().unwrap();
            assert_eq!(room, usage.limit - usage.live - usage.pending);
            let account = pool.account();
            assert_eq!((account.live, account.pending), (usage.live, usage.pending));
            assert_eq!(account.ready, usage.cached);
            // What a stream with nothing to do frees is free for all streams.
            for block in others.drain(..) {
                // SAFETY: nothing uses it, on no stream.
                unsafe { block.free(&idle) }.unwrap();
            }
            let until = Instant::now() + Duration::from_secs(20);
            while pool.usage().unwrap().cached < usage.cached + 300 * bytes {
                assert!(Instant::now() < until, "{bytes}: {:?}", pool.usage());
                std::thread::yield_now();
            }
            assert_eq!(pool.usage().unwrap().pending, usage.pending);
            drop(held);
            until_ready(&pool);
            drop((pool, stream, idle));
        }
        bench.finish();
    });
}

/// Bytes of the heap's free pieces that work may still use.
fn pending_in_heap(pool: &MemoryPool) -> u64 {
    let layout = pool.layout().unwrap();
    let pending = layout.blocks.iter();
    let pending = pending.filter(|block| block.state == BlockState::Pending);
    pending.map(|block| block.bytes).sum()
}

// Without it each look at an idle pool would record events, and what was freed after a look could
// go by the event of that look, which says nothing of it.
#[test]
fn a_look_asks_again_when_something_was_freed() {
    const BYTES: u64 = 100_352;
    on_both(|bench| {
        let (pool, stream) = (bench.pool(64 * PAGE), bench.stream());
        let allocate = || pool.allocate_raw(BYTES, 256, &stream).unwrap();
        let blocks = [(); 4].map(|()| allocate());
        let (end, ended) = channel::<()>();
        let (begun, begins) = channel();
        std::thread::scope(|scope| {
            // If this fails the thread is not waited for.
            let end = end;
            let (pool, stream) = (&pool, &stream);
            let thread = scope.spawn(move || {
                let block = pool.allocate_raw(BYTES, 256, stream).unwrap();
                free(block, stream);
                begun.send(()).unwrap();
                let _ended = ended.recv();
            });
            begins.recv().unwrap();
            let [one, two, three, four] = blocks;
            free(one, stream);
            ops::synchronize(stream).unwrap();
            let live = 3 * BYTES;
            let is_ready = || {
                let usage = pool.usage().unwrap();
                (usage.live, usage.pending) == (live, 0)
            };
            let until = Instant::now() + Duration::from_secs(20);
            while !is_ready() {
                assert!(Instant::now() < until, "{:?}", pool.usage());
            }
            // The calls of a look are in the figures of the next.
            let recorded = pool.usage().unwrap().calls.record;
            assert_eq!(pool.usage().unwrap().calls.record, recorded);
            // The thread's cache goes, and leaves what it has freed to the heap.
            let held = hold(stream);
            end.send(()).unwrap();
            thread.join().unwrap();
            free(two, stream);
            let usage = pool.usage().unwrap();
            // One and two are in the cache.
            assert_eq!(
                usage.pending,
                pending_in_heap(pool) + 2 * BYTES,
                "{usage:?}"
            );
            assert!(pool.usage().unwrap().calls.record > recorded);
            free(three, stream);
            let more = pool.usage().unwrap();
            assert_eq!(more.pending, usage.pending + BYTES);
            drop(held);
            free(four, stream);
        });
        until_ready(&pool);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a figure that is taken while threads work could count what is just moving twice.
#[test]
fn the_gauges_are_of_one_moment() {
    on_both(|bench| {
        let pool = bench.pool(256 * PAGE);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for seed in 0..3 {
                let (pool, bench, done) = (&pool, &bench, &done);
                scope.spawn(move || {
                    let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                    let mut blocks = Vec::new();
                    while !done.load(Ordering::Relaxed) {
                        if random.below(2) == 0 && blocks.len() < 30 {
                            // Not rounded up, so that nothing hides what counts twice.
                            let bytes = (1 + random.below(12)) << 18;
                            blocks.extend(pool.allocate_raw(bytes, 256, &stream).ok());
                        } else if random.below(30) == 0 {
                            blocks.drain(..).for_each(|block| free(block, &stream));
                        } else if let Some(block) = blocks.pop() {
                            free(block, &stream);
                        }
                    }
                    blocks.into_iter().for_each(|block| free(block, &stream));
                });
            }
            let until = Instant::now() + Duration::from_secs(1);
            while Instant::now() < until {
                let usage = pool.usage().unwrap();
                let all = usage.live + usage.cached + usage.pending;
                let is_right = all <= usage.mapped && usage.mapped <= usage.limit;
                if !is_right {
                    done.store(true, Ordering::Relaxed);
                }
                assert!(is_right, "{usage:?}");
            }
            done.store(true, Ordering::Relaxed);
        });
        drop(pool);
        bench.finish();
    });
}
