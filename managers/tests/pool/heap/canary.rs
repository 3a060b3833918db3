//! Work writes through a block, late; the block is freed at once; and the next owner of
//! the memory must not see that write. `CUPOLA_CANARY_ROUNDS` says how often (100000 if not set).

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::Backing;

use crate::*;

/// Rounds of one thread between two looks at what it has read.
const ROUNDS: usize = 16;
/// Words that are read of each end of a block.
const WORDS: usize = 16;
const THREADS: u64 = 4;

fn rounds() -> u64 {
    let rounds = std::env::var("CUPOLA_CANARY_ROUNDS").ok();
    rounds.map_or(100_000, |rounds| {
        rounds.parse().expect("a number of rounds")
    })
}

/// The first and the last words of the block, checked by what they should all be.
fn canary(pool: &MemoryPool, bench: &TestBench, seed: u64, align: u64, rounds: u64) {
    let (own, other, mut random) = (bench.stream(), bench.stream(), Random::new(seed));
    let buffers = bench.context.buffers();
    let mut seen: Vec<_> = (0..2 * ROUNDS)
        .map(|_| buffers.pinned::<u32>(WORDS).unwrap())
        .collect();
    let mut mark = seed as u32;
    for _ in 0..rounds.div_ceil(ROUNDS as u64) {
        let first = mark;
        for both in seen.chunks_mut(2) {
            mark = mark.wrapping_add(THREADS as u32);
            let bytes = 512 + (random.below(256 << 10) >> random.below(10));
            let block = pool.allocate_raw(bytes, align, &own).unwrap();
            let words = (block.bytes() / 4) as usize;
            if random.below(3) == 0 {
                let late = Duration::from_micros(random.below(60));
                let wait = move || {
                    let until = Instant::now() + late;
                    while Instant::now() < until {}
                };
                ops::host_function(&own, wait).unwrap();
            }
            // SAFETY: the block is alive until after the work below, on the stream.
            let whole = unsafe { DeviceSliceMut::<u32>::from_raw(block.address(), words) };
            ops::fill(whole, mark, &own).unwrap();
            let ends = [0, words - WORDS];
            for (pinned, at) in both.iter_mut().zip(ends) {
                let address = block.address() + 4 * at as u64;
                // SAFETY: as above.
                let part = unsafe { DeviceSlice::<u32>::from_raw(address, WORDS) };
                ops::copy_to_host(part, pinned, &own).unwrap();
            }
            let to = if random.below(4) == 0 {
                ops::order(&own, &other).unwrap();
                &other
            } else {
                &own
            };
            // SAFETY: all of it is on the stream, or before it.
            unsafe { block.free(to) }.unwrap();
        }
        let mut mark = first;
        for both in seen.chunks_mut(2) {
            mark = mark.wrapping_add(THREADS as u32);
            for pinned in both {
                let words = pinned.as_slice().unwrap();
                assert!(words.iter().all(|&word| word == mark), "{mark}: {words:?}");
            }
        }
    }
}

/// On a pool of so many pages: few enough that threads have to take from each other.
fn run(bench: TestBench, pages: u64, align: u64) {
    let pool = bench.pool(pages * PAGE);
    std::thread::scope(|scope| {
        for seed in 0..THREADS {
            let (pool, bench) = (&pool, &bench);
            scope.spawn(move || canary(pool, bench, seed + 1, align, rounds() / THREADS));
        }
    });
    let usage = pool.usage().unwrap();
    println!("{usage:?}");
    assert_eq!((usage.live, usage.refused), (0, 0));
    drop(pool);
    bench.finish();
}

// Without it a magazine could hand out what another stream still writes.
#[test]
fn magazines_hand_nothing_out_too_early() {
    run(bench_on(Backing::Pages), 3, 256);
    run(bench_on(Backing::Chunks), 32, 256);
}

// Without it the heap could hand out what another stream still writes. Magazines keep nothing
// that is aligned to more than a granule.
#[test]
fn the_heap_hands_nothing_out_too_early() {
    run(bench_on(Backing::Pages), 3, 512);
    run(bench_on(Backing::Chunks), 32, 512);
}

// Without it a thread's arena could hand out what another stream still writes.
#[test]
fn arenas_hand_nothing_out_too_early() {
    let bench = bench_on(Backing::Pages).arenas(Arenas::Always);
    run(bench, 64, 256);
}
