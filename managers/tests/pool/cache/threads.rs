//! Blocks that go from thread to thread and from stream to stream.

use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

use crate::*;

// Without it blocks that one thread allocates and another frees could be lost, or counted
// twice.
#[test]
fn blocks_may_be_freed_by_other_threads() {
    on_all(|bench| {
        let (pool, stream) = (bench.pool(512 << 20), bench.stream());
        std::thread::scope(|scope| {
            for pair in 0..4 {
                let (send, receive) = sync_channel::<RawBlock>(100);
                let (pool, stream) = (&pool, &stream);
                scope.spawn(move || {
                    let mut random = Random::new(pair + 1);
                    for _ in 0..3000 {
                        let bytes = 1 + (random.below(1 << 20) >> random.below(16));
                        send.send(pool.allocate_raw(bytes, 256, stream).unwrap())
                            .unwrap();
                    }
                });
                scope.spawn(move || receive.into_iter().for_each(|block| free(block, stream)));
            }
        });
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        assert_eq!((usage.allocations, usage.frees), (12_000, 12_000));
        ops::synchronize(&stream).unwrap();
        trim_to(&pool, 0);
        assert_eq!(bench.on_device(), 0);
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a block that ends on another stream than it began on could come back to the wrong
// one, or two threads get the same block.
#[test]
fn blocks_may_be_freed_on_other_streams() {
    on_all(|bench| {
        let pool = bench.pool(512 << 20);
        let streams = [(); 4].map(|()| bench.stream());
        let taken: Mutex<Vec<(u64, u64)>> = Mutex::default();
        std::thread::scope(|scope| {
            for (at, own) in streams.iter().enumerate() {
                let (pool, streams, taken) = (&pool, &streams, &taken);
                scope.spawn(move || {
                    let mut random = Random::new(at as u64 + 1);
                    let mut blocks: Vec<RawBlock> = Vec::new();
                    for _ in 0..1500 {
                        if blocks.len() < 12 && random.below(5) > 1 || blocks.is_empty() {
                            let bytes = 1 + (random.below(2 << 20) >> random.below(16));
                            let block = pool.allocate_raw(bytes, 256, own).unwrap();
                            let place = (block.address(), block.address() + block.bytes());
                            let mut taken = taken.lock().unwrap();
                            let overlaps =
                                |other: &(u64, u64)| place.0 < other.1 && other.0 < place.1;
                            assert!(!taken.iter().any(overlaps), "{place:x?}");
                            taken.push(place);
                            blocks.push(block);
                            continue;
                        }
                        let at = random.index(blocks.len());
                        let block = blocks.swap_remove(at);
                        let to = &streams[random.index(4)];
                        if to.handle() != own.handle() {
                            ops::order(own, to).unwrap();
                        }
                        taken
                            .lock()
                            .unwrap()
                            .retain(|place| place.0 != block.address());
                        // SAFETY: nothing uses it, and the stream has been made to wait.
                        unsafe { block.free(to) }.unwrap();
                    }
                    for block in blocks {
                        taken
                            .lock()
                            .unwrap()
                            .retain(|place| place.0 != block.address());
                        free(block, own);
                    }
                });
            }
        });
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        assert_eq!(pool.mapped(), bench.on_device());
        drop((pool, streams));
        bench.finish();
    });
}

// Without it gauges, trims and new limits could break what other threads do meanwhile.
#[test]
fn a_pool_may_be_looked_at_and_trimmed_while_it_is_used() {
    on_all(|bench| {
        let pool = bench.pool(512 << 20);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|seed| {
                    let (pool, bench) = (&pool, &bench);
                    scope.spawn(move || {
                        let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                        for _ in 0..2000 {
                            let bytes = 1 + (random.below(4 << 20) >> random.below(16));
                            free(pool.allocate_raw(bytes, 256, &stream).unwrap(), &stream);
                        }
                    })
                })
                .collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                let usage = pool.usage().unwrap();
                assert!(usage.mapped <= usage.limit);
                pool.trim().unwrap();
                let _looked = (pool.named(), pool.pressure_level());
                pool.set_limit(512 << 20).unwrap();
            }
        });
        assert_eq!(pool.usage().unwrap().live, 0);
        assert_eq!(pool.mapped(), bench.on_device());
        drop(pool);
        bench.finish();
    });
}

// Without it what a stream has left could be two threads' at once while its place is given again,
// or be lost, where all look for memory.
#[test]
fn streams_come_and_go_under_load() {
    on_all(|bench| {
        let pool = bench.pool(24 << 20);
        let (threads, rounds) = (4, 250);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (pool, bench) = (&pool, &bench);
                scope.spawn(move || {
                    let mut random = Random::new(thread + 1);
                    for round in 0..rounds {
                        let stream = bench.stream();
                        let tag = u32::try_from(thread << 16 | round).unwrap();
                        let buffers: Vec<_> = (0..4)
                            .map(|_| {
                                let len = 1 + (random.below(200_000) >> random.below(16));
                                let mut buffer = pool.allocate::<u32>(len as usize, &stream)?;
                                ops::fill(&mut buffer, tag, &stream)?;
                                Ok::<_, cupola_managers::Error>(buffer)
                            })
                            .map(Result::unwrap)
                            .collect();
                        for buffer in &buffers {
                            let mut words = vec![0; buffer.len()];
                            ops::read(buffer, &mut words, &stream).unwrap();
                            assert!(words.iter().all(|&word| word == tag));
                        }
                        if random.below(8) == 0 {
                            pool.trim().unwrap();
                        }
                        bench.context.streams().release(stream.handle()).unwrap();
                        drop((buffers, stream));
                        bench.context.streams().trim(0).unwrap();
                    }
                });
            }
        });
        let usage = pool.usage().unwrap();
        assert_eq!((usage.live, usage.blocks), (0, 0));
        assert_eq!(usage.allocations, threads * rounds * 4);
        assert!(usage.streams < 200, "{usage:?}");
        trim_to(&pool, 0);
        assert_eq!(bench.on_device(), 0);
        drop(pool);
        bench.finish();
    });
}
