//! The memory pool from outside, on the software device: on pages of virtual memory, and on
//! chunks where a device has none.

mod alloc;
mod cache;
mod heap;
mod inspect;
mod lifetime;
mod limit;
mod pages;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use cupola_managers::pool::{Arenas, Backing, PoolConfig, RawBlock};
use cupola_managers::{MemoryPool, Stream, ops};
use cupola_random::Random;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::id;

use test_bench::{TestBench, free, hold};

/// Bytes of a page.
const PAGE: u64 = 2 << 20;

/// A bench whose device has 16 GiB.
fn bench_on(backing: Backing) -> TestBench {
    bench_with(backing, 16 << 30)
}

/// A bench whose device has so much memory, and virtual memory management for pages alone.
fn bench_with(backing: Backing, bytes: u64) -> TestBench {
    let device = DeviceConfig::new().memory(bytes);
    let mut builder = Machine::builder().device(device).worker_threads(2);
    if backing == Backing::Chunks {
        builder = builder.without(id::cuMemCreate);
    }
    TestBench::on(builder)
}

/// Runs a test on both kinds of memory.
fn on_both(test: impl Fn(TestBench)) {
    for backing in [Backing::Pages, Backing::Chunks] {
        println!("on {backing}");
        test(bench_on(backing));
    }
}

/// Runs a test on both kinds of memory, and on pages where each thread has an arena.
fn on_all(test: impl Fn(TestBench)) {
    on_both(&test);
    println!("with arenas");
    test(bench_on(Backing::Pages).arenas(Arenas::Always));
}

/// Gives everything back that nothing uses, until no more than this is mapped: the driver may
/// need a moment to see that work is complete.
fn trim_to(pool: &MemoryPool, bytes: u64) {
    let until = Instant::now() + Duration::from_secs(20);
    while pool.mapped() > bytes {
        pool.trim().unwrap();
        assert!(Instant::now() < until, "{:?}", pool.usage());
    }
}
