//! The pool under load: canaries in freed blocks, and many threads at the limit.
//! `CUPOLA_CANARY_ROUNDS` says how many rounds the canaries make, `CUPOLA_LIMIT_ROUNDS` each of the
//! threads at the limit, and `CUPOLA_LIMIT_PERCENT` how much of the limit these have together.

use cupola_random::Random;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cupola_kernels::Kernels;
use cupola_managers::buffer::{Buffer, DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::{PoolConfig, RawBlock};
use cupola_managers::{Error, MemoryPool, Stream, ops};

use crate::common::{Bench, on_gpu};
use crate::nvml::Watched;

const PAGE: u64 = 2 << 20;
const THREADS: u64 = 4;

/// A number from the environment.
fn number(name: &str, or: u64) -> u64 {
    let number = std::env::var(name).ok();
    number.map_or(or, |number| number.parse().expect("a number"))
}

/// Rounds of a canary test: as many as a GPU makes in seconds.
fn rounds() -> u64 {
    number(
        "CUPOLA_CANARY_ROUNDS",
        if on_gpu() { 100_000 } else { 1_000 },
    )
}

/// Stamps blocks, checks them later on the device, and frees them while all of that may still
/// run; every fourth on another stream.
fn canary(bench: &Bench, pool: &MemoryPool, seed: u64, align: u64) {
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let (own, other) = (bench.another_stream(), bench.another_stream());
    let mut random = Random::new(seed);
    let mut wrong = bench.pool.allocate::<u64>(1, &own).unwrap();
    let mut delay = bench.pool.allocate::<u32>(1 << 20, &own).unwrap();
    ops::zero(&mut wrong, &own).unwrap();
    for round in 0..rounds() / THREADS {
        let bytes = 256 + (random.below(512 << 10) >> random.below(11));
        let block = pool.allocate_raw(bytes, align, &own).unwrap();
        let (address, len) = (block.address(), block.bytes() as usize);
        // Something long before and between, so that what comes too early meets a late write.
        if on_gpu() && random.below(4) == 0 {
            ops::fill(&mut delay, round as u32, &own).unwrap();
        }
        let mark = seed << 40 | round;
        // SAFETY: the block is alive, and freed behind this on the stream.
        let whole = unsafe { DeviceSliceMut::<u8>::from_raw(address, len) };
        kernels.stamp(whole, mark, &own).unwrap();
        if random.below(8) == 0 {
            ops::fill(&mut delay, round as u32, &own).unwrap();
        }
        // SAFETY: as above.
        let whole = unsafe { DeviceSlice::<u8>::from_raw(address, len) };
        kernels.check(whole, mark, &mut wrong, &own).unwrap();
        let to = if random.below(4) == 0 {
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
    assert_eq!(found, [0], "bytes of a block were written by another owner");
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

/// How much the threads of [`threads_at_the_limit`] have alive together, in percent of the limit,
/// by bytes. Nothing that is alive is moved, so small blocks keep pages from larger ones: the
/// fuller, the likelier a refusal that is no mistake, and on a busy machine, where threads are
/// stopped while they hold blocks, one run in four has one with 35 as with 40. So a run with a
/// refusal tells nothing, and one without is asked for. Of 14 runs with 40 nine reached the limit
/// and had to move or drain something.
const FULL: u64 = 40;

/// Runs in which the limit must have been reached once.
const RUNS: u32 = 10;

/// How a block counts among what the threads may have.
type Charge = fn(u64) -> u64;

/// The most pages that a block of so many bytes can be on. When those of all blocks fit the limit,
/// there are pages for all wherever they are: a refusal is a mistake.
fn pages(bytes: u64) -> u64 {
    (bytes.div_ceil(PAGE) + 1) * PAGE
}

/// Blocks of all sizes on one stream, as many as the threads together may have.
struct Worker<'a> {
    pool: &'a MemoryPool,
    kernels: &'a Kernels,
    stream: &'a Stream,
    random: Random,
    charge: Charge,
    /// What all threads have.
    taken: &'a AtomicU64,
    most: u64,
    start: &'a Barrier,
    /// Blocks that this one has, what they count, and what is stamped on them.
    blocks: Vec<(RawBlock, u64, u64)>,
    /// The most that all threads had, as far as this one knows.
    peak: u64,
    refused: u64,
}

impl Worker<'_> {
    fn run(&mut self, seed: u64, wrong: &mut Buffer<u64>) {
        ops::zero(&mut *wrong, self.stream).unwrap();
        let rounds = number("CUPOLA_LIMIT_ROUNDS", if on_gpu() { 5000 } else { 1000 });
        self.start.wait();
        for round in 0..rounds {
            let mut bytes = 256 + (self.random.below(8 << 20) >> self.random.below(16));
            while !self.reserve(bytes) {
                // Gives one back or makes do with less, so that the pool is full all the time.
                let some = self.blocks.len() as u64;
                if some > 0 && self.random.below(2) == 0 {
                    let at = self.random.below(some);
                    self.give(at as usize, wrong);
                } else if bytes > 512 {
                    bytes /= 2;
                } else {
                    std::thread::yield_now();
                }
            }
            match self.pool.allocate_raw(bytes, 256, self.stream) {
                Ok(block) => self.stamp(block, (self.charge)(bytes), seed << 40 | round),
                Err(error) => {
                    self.refused += 1;
                    println!("{bytes} bytes: {error}");
                    let charge = (self.charge)(bytes);
                    self.taken.fetch_sub(charge, Ordering::Relaxed);
                }
            }
            if self.blocks.len() > 12 {
                let at = self.random.below(self.blocks.len() as u64);
                self.give(at as usize, wrong);
            }
        }
        while !self.blocks.is_empty() {
            self.give(0, wrong);
        }
        let mut found = [0];
        ops::read(&*wrong, &mut found, self.stream).unwrap();
        assert_eq!(found, [0], "bytes of a block were written by another owner");
    }

    fn reserve(&mut self, bytes: u64) -> bool {
        let charge = (self.charge)(bytes);
        let more = |taken| (taken + charge <= self.most).then_some(taken + charge);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        let taken = self.taken.fetch_update(set, get, more);
        self.peak = self.peak.max(taken.map_or(0, |taken| taken + charge));
        taken.is_ok()
    }

    /// The ends of a block, of a small one its halves.
    fn ends(block: &RawBlock) -> [(u64, usize); 2] {
        let bytes = (block.bytes() / 2).min(4096);
        [0, block.bytes() - bytes].map(|at| (block.address() + at, bytes as usize))
    }

    fn stamp(&mut self, block: RawBlock, charge: u64, mark: u64) {
        for (address, len) in Self::ends(&block) {
            // SAFETY: the block is alive, and freed behind this on the stream.
            let end = unsafe { DeviceSliceMut::<u8>::from_raw(address, len) };
            self.kernels.stamp(end, mark, self.stream).unwrap();
        }
        self.blocks.push((block, charge, mark));
    }

    /// Looks on the device whether a block is as it was, and frees it.
    fn give(&mut self, at: usize, wrong: &mut Buffer<u64>) {
        let (block, charge, mark) = self.blocks.swap_remove(at);
        for (address, len) in Self::ends(&block) {
            // SAFETY: as in `stamp`.
            let end = unsafe { DeviceSlice::<u8>::from_raw(address, len) };
            self.kernels
                .check(end, mark, &mut *wrong, self.stream)
                .unwrap();
        }
        // SAFETY: all of it is on the stream.
        unsafe { block.free(self.stream) }.unwrap();
        self.taken.fetch_sub(charge, Ordering::Relaxed);
    }
}

/// Has many threads ask for several times the limit: together they have `percent` of it. How many
/// requests were refused, and whether the pool had all of the limit, and had to move or drain
/// something.
fn at_the_limit(percent: u64, charge: Charge) -> (u64, bool) {
    const MANY: u64 = 64;
    let bench = Bench::open();
    let limit = MANY * PAGE;
    let most = limit * percent / 100;
    let pool = bench.context.memory_pool(PoolConfig::limit(limit)).unwrap();
    let free = || bench.context.memory_info().unwrap().free;
    // What the first stream and the first launch take is no memory of the pool's.
    let streams: Vec<_> = (0..MANY).map(|_| bench.another_stream()).collect();
    let kernels = Kernels::load(&bench.context, bench.device.info().unwrap()).unwrap();
    let wrong = |_| bench.pool.allocate::<u64>(1, &bench.stream).unwrap();
    let mut wrong: Vec<_> = (0..MANY).map(wrong).collect();
    ops::synchronize(&bench.stream).unwrap();
    let before = free();
    let nvml = on_gpu()
        .then(|| Watched::find(bench.device.info().unwrap()))
        .flatten();
    let used = nvml.as_ref().map(Watched::used);
    let done = AtomicBool::new(false);
    let taken = AtomicU64::new(0);
    let start = Barrier::new(MANY as usize);
    let (mapped, least, peak, refused, most_used) = std::thread::scope(|scope| {
        let nvml_watcher = scope.spawn(|| {
            let mut most = None;
            while let (false, Some(nvml)) = (done.load(Ordering::Relaxed), &nvml) {
                most = most.max(Some(nvml.used()));
                std::thread::sleep(Duration::from_millis(2));
            }
            most
        });
        let watcher = scope.spawn(|| {
            let (mut mapped, mut least) = (0, u64::MAX);
            while !done.load(Ordering::Relaxed) {
                mapped = mapped.max(pool.mapped());
                least = least.min(free());
                std::thread::sleep(Duration::from_micros(100));
            }
            (mapped, least)
        });
        let workers: Vec<_> = streams
            .iter()
            .zip(&mut wrong)
            .zip(1..)
            .map(|((stream, wrong), seed)| {
                let mut worker = Worker {
                    pool: &pool,
                    kernels: &kernels,
                    stream,
                    charge,
                    random: Random::new(seed),
                    taken: &taken,
                    most,
                    start: &start,
                    blocks: Vec::new(),
                    peak: 0,
                    refused: 0,
                };
                scope.spawn(move || {
                    worker.run(seed, wrong);
                    (worker.peak, worker.refused)
                })
            })
            .collect();
        let (mut peak, mut refused) = (0, 0);
        for worker in workers {
            let worker = worker.join().unwrap();
            (peak, refused) = (peak.max(worker.0), refused + worker.1);
        }
        done.store(true, Ordering::Relaxed);
        let (mapped, least) = watcher.join().unwrap();
        let most_used = nvml_watcher.join().unwrap();
        (mapped, least, peak, refused, most_used)
    });
    let usage = pool.usage().unwrap();
    println!(
        "mapped {mapped}, device {before} to {least}, live {peak}, refused {refused}, {usage:?}"
    );
    assert!(mapped <= limit && usage.peak_mapped <= limit);
    assert_eq!((usage.live, usage.exhausted), (0, 0));
    assert_eq!(usage.refused, refused);
    // Streams take some of the device's memory when they are first used.
    let others = if on_gpu() { 64 << 20 } else { 0 };
    assert!(before - least <= limit + others, "{}", before - least);
    if let (Some(used), Some(most)) = (used, most_used) {
        println!("NVML: {used} bytes in use before, {most} at most");
        let more = most.saturating_sub(used);
        assert!(more <= limit + others, "{more} bytes more in use");
    }
    drop((wrong, kernels, streams, pool));
    bench.finish();
    let is_reached = usage.peak_mapped == limit && usage.remapped + usage.drains > 0;
    (refused, is_reached)
}

// Without it threads could pass the limit together, or be refused what they have room for: by
// the pool's own account, and by what the driver says that the device has left.
#[test]
#[ignore = "run by threads_at_the_limit_never_pass_it: it looks at all the memory of its device"]
fn threads_at_the_limit() {
    // Blocks that count whole pages share them, and may need less: each refusal is a mistake.
    assert_eq!(at_the_limit(100, pages).0, 0);
    let percent = number("CUPOLA_LIMIT_PERCENT", FULL);
    let is_reached = (0..RUNS).any(|_| at_the_limit(percent, |bytes| bytes) == (0, true));
    assert!(is_reached, "it was no test of the limit");
}

// The test above, in a process of its own and with the device to itself.
#[test]
fn threads_at_the_limit_never_pass_it() {
    crate::child::passes_alone("pool::threads_at_the_limit");
}

// Without it a request that cannot be met would wait for memory that is not freed.
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
    for _ in 0..20 {
        let refused = pool.allocate_raw(2 * PAGE, 256, &bench.stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    }
    // How long that takes is measured by `bench alloc`.
    assert_eq!(pool.usage().unwrap().host_waits, 0);
    drop((kept, pool));
    bench.finish();
}
