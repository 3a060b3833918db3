//! The pool under load: canaries in freed blocks, and many threads at the limit.
//! `CUPOLA_CANARY_ROUNDS` says how many rounds the canaries make.

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_kernels::Kernels;
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::memory::PoolConfig;
use cupola_managers::{Error, MemoryPool, ops};

use crate::common::{Bench, on_gpu};

const PAGE: u64 = 2 << 20;
const THREADS: u64 = 4;

/// Rounds of a canary test: as many as a GPU makes in seconds.
fn rounds() -> u64 {
    let rounds = std::env::var("CUPOLA_CANARY_ROUNDS").ok();
    let rounds = rounds.map(|rounds| rounds.parse().expect("a number of rounds"));
    rounds.unwrap_or(if on_gpu() { 100_000 } else { 1_000 })
}

/// Numbers that look random and depend on the seed alone.
struct Noise(u64);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Stamps blocks, checks them later on the device, and frees them while all of that may still
/// run; every fourth on another stream.
fn canary(bench: &Bench, pool: &MemoryPool, seed: u64, align: u64) {
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let (own, other) = (bench.another_stream(), bench.another_stream());
    let mut noise = Noise::new(seed);
    let mut wrong = bench.pool.allocate::<u64>(1, &own).unwrap();
    let mut delay = bench.pool.allocate::<u32>(1 << 20, &own).unwrap();
    ops::zero(&mut wrong, &own).unwrap();
    for round in 0..rounds() / THREADS {
        let bytes = 256 + (noise.below(512 << 10) >> noise.below(11));
        let block = pool.allocate_raw(bytes, align, &own).unwrap();
        let (address, len) = (block.address(), block.bytes() as usize);
        // Something long before and between, so that what comes too early meets a late write.
        if on_gpu() && noise.below(4) == 0 {
            ops::fill(&mut delay, round as u32, &own).unwrap();
        }
        let mark = seed << 40 | round;
        // SAFETY: the block is alive, and freed behind this on the stream.
        let whole = unsafe { DeviceSliceMut::<u8>::from_raw(address, len) };
        kernels.stamp(whole, mark, &own).unwrap();
        if noise.below(8) == 0 {
            ops::fill(&mut delay, round as u32, &own).unwrap();
        }
        // SAFETY: as above.
        let whole = unsafe { DeviceSlice::<u8>::from_raw(address, len) };
        kernels.check(whole, mark, &mut wrong, &own).unwrap();
        let to = if noise.below(4) == 0 {
            ops::order(&own, &other).unwrap();
            &other
        } else {
            &own
        };
        // SAFETY: all of it is on the stream, or before it.
        unsafe { block.free(to) }.unwrap();
        // A host that runs far ahead would only wait in the driver.
        if round % 256 == 255 {
            ops::synchronize(&own).unwrap();
        }
    }
    let mut found = [0];
    ops::read(&wrong, &mut found, &own).unwrap();
    assert_eq!(found, [0], "bytes of a block were written by somebody else");
}

fn canaries(align: u64) {
    let bench = Bench::open();
    let config = PoolConfig::limit(4 * PAGE);
    let pool = bench.context.memory_pool(config).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|seed| {
                let (bench, pool) = (&bench, &pool);
                scope.spawn(move || canary(bench, pool, seed + 1, align))
            })
            .collect();
        // The scope alone waits for the closures, not for the ends of the threads.
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let usage = pool.usage().unwrap();
    println!("{usage:?}");
    assert_eq!((usage.live, usage.refused, usage.exhausted), (0, 0, 0));
    assert!(usage.peak_mapped <= 4 * PAGE);
    drop(pool);
    bench.finish();
}

// Without it a magazine could hand out what another stream still writes.
#[test]
fn canaries_in_blocks_of_magazines_live() {
    canaries(256);
}

// Without it the heap could hand out what another stream still writes. Magazines keep nothing
// that is aligned to more than a granule.
#[test]
fn canaries_in_blocks_of_the_heap_live() {
    canaries(512);
}

// Without it threads could pass the limit together, or be refused what they have room for: by
// the pool's own account, and by what the driver says that the device has left.
#[test]
#[ignore = "needs a device, or the software device, for itself: it looks at all its memory"]
fn threads_at_the_limit() {
    const MANY: u64 = 64;
    let bench = Bench::open();
    let limit = MANY * PAGE;
    let pool = bench.context.memory_pool(PoolConfig::limit(limit)).unwrap();
    let free = || bench.context.memory_info().unwrap().free;
    // What the first stream and the first launch take is no memory of the pool's.
    let streams: Vec<_> = (0..MANY).map(|_| bench.another_stream()).collect();
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let warm = bench.pool.allocate::<u8>(256, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let before = free();
    let done = AtomicBool::new(false);
    let (most, least) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut most, mut least) = (0, u64::MAX);
            while !done.load(Ordering::Relaxed) {
                most = most.max(pool.mapped());
                least = least.min(free());
            }
            (most, least)
        });
        let workers: Vec<_> = streams
            .iter()
            .enumerate()
            .map(|(seed, stream)| {
                let (pool, kernels) = (&pool, &kernels);
                scope.spawn(move || {
                    let mut noise = Noise::new(seed as u64 + 1);
                    for round in 0..if on_gpu() { 2000 } else { 100 } {
                        let bytes = (16 << 10) + noise.below(PAGE - (16 << 10));
                        let mut buffer = pool.allocate::<u8>(bytes as usize, stream).unwrap();
                        kernels.stamp(&mut buffer, round, stream).unwrap();
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    let usage = pool.usage().unwrap();
    println!("most {most}, device {before} to {least}, {usage:?}");
    assert!(most <= limit && usage.peak_mapped <= limit);
    assert_eq!((usage.live, usage.refused, usage.exhausted), (0, 0, 0));
    // Streams take some of the device's memory when they are first used.
    let others = if on_gpu() { 64 << 20 } else { 0 };
    assert!(before - least <= limit + others, "{}", before - least);
    drop((warm, kernels, streams, pool));
    bench.finish();
}

// The test above, in a process of its own.
#[test]
fn threads_at_the_limit_never_pass_it() {
    crate::child::passes("pool::threads_at_the_limit");
}

// Without it a request that cannot be would wait for what nobody frees.
#[test]
fn a_refusal_is_told_soon() {
    let bench = Bench::open();
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(4 * PAGE))
        .unwrap();
    let kept = pool
        .allocate::<u8>(3 * PAGE as usize, &bench.stream)
        .unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let begin = std::time::Instant::now();
    for _ in 0..20 {
        let refused = pool.allocate_raw(2 * PAGE, 256, &bench.stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    }
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    drop((kept, pool));
    bench.finish();
}
