//! Memory that a thread has for itself, to place blocks in without the lock of all threads.

use cupola_managers::pool::Layout;
use cupola_managers::pool::layout::RunState;

use crate::*;

fn with_arenas(limit: u64) -> (TestBench, MemoryPool) {
    let bench = bench_on(Backing::Pages).arenas(Arenas::Always);
    let pool = bench.pool(limit);
    (bench, pool)
}

/// Sizes that hardly ever come again, from 64 KiB to 4 MiB.
fn size(random: &mut Random) -> u64 {
    let power = 64 << 10 << random.below(6);
    power + random.below(power)
}

/// Frees a random block, and allocates another one in its place.
fn replace(
    pool: &MemoryPool,
    stream: &Stream,
    blocks: &mut [Option<RawBlock>],
    random: &mut Random,
) {
    let at = random.below(blocks.len() as u64) as usize;
    if let Some(block) = blocks[at].take() {
        free(block, stream);
    }
    let bytes = size(random);
    blocks[at] = Some(pool.allocate_raw(bytes, 256, stream).unwrap());
}

fn is_disjoint(layout: &Layout) -> bool {
    let pairs = layout.blocks.windows(2);
    pairs
        .into_iter()
        .all(|pair| pair[0].address + pair[0].bytes <= pair[1].address)
}

// Without it threads that miss would stand in one queue for the lock of all of them, and each look
// for its blocks past those of all other streams.
#[test]
fn threads_that_miss_make_no_driver_call() {
    let (bench, pool) = with_arenas(8 << 30);
    let barrier = std::sync::Barrier::new(5);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (pool, bench, barrier) = (&pool, &bench, &barrier);
            scope.spawn(move || {
                let (stream, mut random) = (bench.stream(), Random::new(seed + 1));
                let mut blocks: Vec<Option<RawBlock>> = (0..200).map(|_| None).collect();
                // Until the most memory that it will ever have is there.
                for _ in 0..20_000 {
                    replace(pool, &stream, &mut blocks, &mut random);
                }
                barrier.wait();
                barrier.wait();
                for _ in 0..5_000 {
                    replace(pool, &stream, &mut blocks, &mut random);
                }
                barrier.wait();
                barrier.wait();
                blocks
                    .into_iter()
                    .flatten()
                    .for_each(|block| free(block, &stream));
            });
        }
        barrier.wait();
        let before = pool.usage().unwrap();
        barrier.wait();
        barrier.wait();
        let after = pool.usage().unwrap();
        barrier.wait();
        assert!(after.misses - before.misses > 19_000, "{after:?}");
        assert_eq!(after.arenas, 4);
        // A look has some of its own. A thread may still need a span more.
        let calls = |usage: &cupola_managers::pool::Usage| usage.calls.record + usage.calls.create;
        assert!(calls(&after) - calls(&before) < 200, "{before:?} {after:?}");
    });
    assert_eq!(pool.usage().unwrap().live, 0);
    trim_to(&pool, 0);
    drop(pool);
    bench.finish();
}

// Without it what is free in an arena would be lost to other threads, and a request be refused that
// it would serve.
#[test]
fn what_an_arena_has_free_is_everyones_when_memory_runs_short() {
    let (bench, pool) = with_arenas(256 << 20);
    let stream = bench.stream();
    let mut random = Random::new(1);
    let mut blocks: Vec<Option<RawBlock>> = (0..40).map(|_| None).collect();
    for _ in 0..1000 {
        replace(&pool, &stream, &mut blocks, &mut random);
    }
    ops::synchronize(&stream).unwrap();
    std::thread::scope(|scope| {
        let (pool, bench) = (&pool, &bench);
        scope.spawn(move || {
            let stream = bench.stream();
            // More than the limit leaves beside the pages that the arena has.
            let bytes = (256 << 20) - pool.mapped() + (16 << 20);
            let large = pool.allocate_raw(bytes, 256, &stream).unwrap();
            free(large, &stream);
        });
    });
    let usage = pool.usage().unwrap();
    assert!(usage.drains > 0 && usage.refused == 0, "{usage:?}");
    assert_eq!(usage.arenas, 0);
    blocks
        .into_iter()
        .flatten()
        .for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    trim_to(&pool, 0);
    drop((pool, stream));
    bench.finish();
}

// Without it a picture could show blocks that overlap, or memory that nothing covers: the blocks of
// an arena lie in memory that is one block to the heap.
#[test]
fn a_layout_shows_the_blocks_of_arenas() {
    let (bench, pool) = with_arenas(1 << 30);
    let (stream, other) = (bench.stream(), bench.stream());
    let mut random = Random::new(7);
    let mut blocks: Vec<Option<RawBlock>> = (0..100).map(|_| None).collect();
    for step in 0..2000 {
        replace(&pool, &stream, &mut blocks, &mut random);
        if step % 100 == 0 {
            // What comes back by another stream leaves the arena.
            let at = random.below(100) as usize;
            if let Some(block) = blocks[at].take() {
                ops::order(&stream, &other).unwrap();
                // SAFETY: nothing uses it, and the stream waits for the block's own.
                unsafe { block.free(&other) }.unwrap();
            }
            let layout = pool.layout().unwrap();
            assert!(is_disjoint(&layout));
            let bytes: u64 = layout.blocks.iter().map(|block| block.bytes).sum();
            let runs = layout.regions.iter().flat_map(|region| &region.runs);
            let mapped = runs.filter(|run| run.state == RunState::Mapped);
            assert_eq!(bytes, mapped.map(|run| run.bytes).sum::<u64>());
        }
    }
    blocks
        .into_iter()
        .flatten()
        .for_each(|block| free(block, &stream));
    drop((pool, stream, other));
    bench.finish();
}

// Without it a thread that ends would take what is free in its arena with it, and blocks that it
// leaves would have no way back.
#[test]
fn blocks_outlive_the_arena_of_a_thread_that_ends() {
    let (bench, pool) = with_arenas(512 << 20);
    let stream = bench.stream();
    let left: Vec<RawBlock> = std::thread::scope(|scope| {
        let (pool, stream) = (&pool, &stream);
        let thread = scope.spawn(move || {
            let mut random = Random::new(3);
            let mut blocks: Vec<Option<RawBlock>> = (0..60).map(|_| None).collect();
            for _ in 0..500 {
                replace(pool, stream, &mut blocks, &mut random);
            }
            blocks.into_iter().flatten().collect()
        });
        thread.join().unwrap()
    });
    let live: u64 = left.iter().map(RawBlock::bytes).sum();
    assert!(pool.usage().unwrap().live <= live);
    left.into_iter().for_each(|block| free(block, &stream));
    ops::synchronize(&stream).unwrap();
    trim_to(&pool, 0);
    drop((pool, stream));
    bench.finish();
}

// Without it a program in which one thread allocates would lose the tightness of one heap.
#[test]
fn a_thread_alone_has_no_arena() {
    let bench = bench_on(Backing::Pages);
    let (pool, stream) = (bench.pool(8 << 30), bench.stream());
    let mut random = Random::new(5);
    let mut blocks: Vec<Option<RawBlock>> = (0..200).map(|_| None).collect();
    for _ in 0..5000 {
        replace(&pool, &stream, &mut blocks, &mut random);
    }
    assert_eq!(pool.usage().unwrap().arenas, 0);
    blocks
        .into_iter()
        .flatten()
        .for_each(|block| free(block, &stream));
    drop((pool, stream));
    bench.finish();
}

/// Events that a thread has recorded which frees and allocates blocks that no arena takes, in a pool
/// that is nearly full of those of two streams.
fn asked_in_a_crowded_pool(arenas: Arenas, count: usize) -> u64 {
    const BYTES: u64 = 6 << 20;
    let bench = bench_on(Backing::Pages).arenas(arenas);
    let pool = bench.pool(256 << 20);
    let streams = [bench.stream(), bench.stream()];
    let allocate = |bytes, stream| pool.allocate_raw(bytes, 256, stream).unwrap();
    for stream in &streams {
        // The thread has an arena for this stream from here on, if it is to have one.
        free(allocate(65 << 10, stream), stream);
        free(allocate(66 << 10, stream), stream);
    }
    let mut blocks: Vec<_> = (0..count)
        .map(|at| allocate(BYTES, &streams[at % 2]))
        .collect();
    let mut replace = |rounds: usize| {
        for at in (0..count).cycle().take(rounds) {
            let stream = &streams[at % 2];
            free(blocks.swap_remove(at), stream);
            blocks.push(allocate(BYTES, stream));
            blocks.swap(at, count - 1);
        }
    };
    // What the blocks before have left to ask is asked.
    replace(10);
    let before = pool.usage().unwrap();
    assert!(before.mapped > 192 << 20, "{before:?}");
    assert_eq!(before.drains, 0);
    replace(100);
    let records = pool.usage().unwrap().calls.record - before.calls.record;
    for (at, block) in blocks.into_iter().enumerate() {
        free(block, &streams[at % 2]);
    }
    records
}

// Without it threads that wait for each other at the heap's lock would wait for searches with the care
// of a crowded pool, and record an event on every stream each few frees: sixteen of them took sixty
// microseconds a step.
#[test]
fn a_thread_that_meets_others_has_no_streams_asked() {
    // Two arenas have 32 MiB each.
    let (with, without) = (
        asked_in_a_crowded_pool(Arenas::Always, 26),
        asked_in_a_crowded_pool(Arenas::Never, 36),
    );
    // The slow path asks as ever.
    assert!(with < 10 && without > 50, "{with} {without}");
}
