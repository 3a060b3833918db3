//! The pool: its limit, its account, and what is left of it.

mod host;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod ledger;
mod pointers;
#[cfg(target_os = "linux")]
mod semaphores;
pub(crate) mod sharing;
mod tensors;

use std::sync::atomic::{AtomicBool, Ordering};

use cupola_managers::device::Features;
use cupola_managers::pool::{Backing, PoolConfig};
use cupola_managers::{Error, Pressure, ops};

use crate::common::Bench;

/// Limits count whole pages of this size.
const PAGE: u64 = 2 << 20;

// Without it the limit could be passed by a page, or a refusal change the account.
#[test]
fn the_limit_is_exact() {
    let bench = Bench::open();
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(4 * PAGE))
        .unwrap();
    assert_eq!(pool.page(), PAGE);
    let half = pool
        .allocate::<u8>(2 * PAGE as usize, &bench.stream)
        .unwrap();
    assert_eq!(pool.pressure_level(), Pressure::Medium);
    let rest = pool
        .allocate::<u64>(PAGE as usize / 4, &bench.stream)
        .unwrap();
    assert_eq!(
        (pool.available().unwrap(), pool.pressure_level()),
        (0, Pressure::Critical)
    );
    let Err(Error::OverLimit(account)) = pool.allocate::<u8>(1, &bench.stream) else {
        panic!("one byte beyond the limit was granted");
    };
    let parts = (
        account.requested,
        account.live,
        account.mapped,
        account.limit,
    );
    assert_eq!(parts, (1, 4 * PAGE, 4 * PAGE, 4 * PAGE));
    assert_eq!(account.blocks, 2);
    // Nothing takes no room.
    assert_eq!(pool.allocate::<u32>(0, &bench.stream).unwrap().as_raw(), 0);
    rest.free().unwrap();
    assert_eq!(pool.available().unwrap(), 2 * PAGE);
    ops::synchronize(&bench.stream).unwrap();
    pool.set_limit(PAGE).unwrap();
    assert_eq!(pool.mapped(), 2 * PAGE, "what is alive");
    assert!(matches!(
        pool.allocate::<u8>(1, &bench.stream),
        Err(Error::OverLimit(_))
    ));
    drop(half);
    ops::synchronize(&bench.stream).unwrap();
    pool.set_limit(PAGE).unwrap();
    let whole = pool.allocate::<u8>(PAGE as usize, &bench.stream).unwrap();
    assert_eq!(pool.mapped(), PAGE);
    whole.free().unwrap();
    let usage = pool.usage().unwrap();
    let gauges = (usage.live, usage.blocks, usage.peak_mapped, usage.limit);
    assert_eq!(gauges, (0, 0, 4 * PAGE, PAGE));
    assert_eq!((usage.allocations, usage.frees, usage.refused), (4, 4, 2));
    drop(pool);
    bench.finish();
}

// Without it threads could pass the limit together, or lose bytes of the account.
#[test]
fn threads_never_pass_the_limit_and_leave_nothing() {
    let bench = Bench::open();
    // Less than one thread would hold by itself.
    let limit = 4 * PAGE;
    let pool = bench.context.memory_pool(PoolConfig::limit(limit)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                let usage = pool.usage().unwrap();
                most = usage.mapped.max(usage.live).max(most);
            }
            most
        });
        let workers: Vec<_> = (0..4u64)
            .map(|seed| {
                let (pool, bench) = (&pool, &bench);
                scope.spawn(move || {
                    let stream = bench.another_stream();
                    let (mut held, mut refused) = (Vec::new(), 0);
                    for (round, byte) in crate::common::noise(seed + 1, 300).into_iter().enumerate()
                    {
                        match pool.allocate::<u8>(usize::from(byte) << 14, &stream) {
                            Ok(buffer) => held.push(buffer),
                            Err(Error::OverLimit(account)) => {
                                assert!(account.mapped <= account.limit, "{account}");
                                refused += 1;
                            }
                            Err(other) => panic!("{other}"),
                        }
                        if held.len() > 4 || round % 3 == 0 {
                            drop(held.pop());
                        }
                    }
                    refused
                })
            })
            .collect();
        let refused: u32 = workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum();
        done.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() <= limit);
        assert!(refused > 0, "the limit was never tested");
    });
    let usage = pool.usage().unwrap();
    assert_eq!((usage.live, usage.blocks), (0, 0));
    assert!(usage.peak_mapped <= limit && usage.allocations == usage.frees);
    drop(pool);
    bench.finish();
}

// Without it a device that is full could be reported without the account, or break the
// pool.
#[test]
fn a_full_device_is_an_error_with_the_account() {
    let bench = Bench::open();
    let total = bench.device.info().unwrap().total_memory;
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(4 * total))
        .unwrap();
    let small = pool.allocate::<u8>(1000, &bench.stream).unwrap();
    let beyond = usize::try_from(2 * total).unwrap();
    match pool.allocate::<u8>(beyond, &bench.stream) {
        Err(ref error @ Error::OutOfMemory { ref account, .. }) => {
            assert_eq!((account.requested, account.live), (2 * total, 1000));
            assert!(error.is_retryable() && !error.is_sticky());
        }
        other => panic!("{other:?}"),
    }
    let usage = pool.usage().unwrap();
    assert_eq!((usage.live, usage.exhausted), (1000, 1));
    assert!(
        usage.mapped < total / 2,
        "the device was filled up for nothing"
    );
    pool.allocate::<u8>(1000, &bench.stream).unwrap();
    drop((small, pool));
    bench.finish();
}

// Without it the handle of a freed buffer could name the next one.
#[test]
fn a_freed_buffer_has_no_handle() {
    let bench = Bench::open();
    let buffers = bench.context.buffers();
    let buffer = bench.pool.allocate::<u16>(100, &bench.stream).unwrap();
    let handle = buffer.handle();
    let info = buffers.info(handle).unwrap();
    assert_eq!((info.address, info.bytes), (buffer.as_raw(), 200));
    assert_eq!(info.stream, bench.stream.handle());
    drop(buffer);
    let _next = bench.pool.allocate::<u16>(100, &bench.stream).unwrap();
    assert!(matches!(
        buffers.info(handle),
        Err(Error::StaleHandle { kind: "Buffer", .. })
    ));
    assert_eq!(buffers.live(), 1);
    drop(_next);
    bench.finish();
}

// Without it the pool could silently work without reuse, or with the wrong claim.
#[test]
fn a_pool_says_what_it_stands_on() {
    let bench = Bench::open();
    let info = bench.device.info().unwrap();
    let expected = if info.supports(Features::VIRTUAL_MEMORY) {
        Backing::Pages
    } else {
        Backing::Chunks
    };
    assert_eq!(bench.pool.backing(), expected);
    let described = bench.pool.describe();
    assert!(described.contains("limit 1073741824 bytes"), "{described}");
    let block = bench.pool.allocate::<u8>(1 << 20, &bench.stream).unwrap();
    assert!(bench.pool.mapped() >= 1 << 20);
    drop(block);
    ops::synchronize(&bench.stream).unwrap();
    assert!(bench.pool.trim().unwrap() >= 1 << 20);
    assert_eq!(bench.pool.usage().unwrap().mapped, 0);
    bench.finish();
}

// Without it drivers and devices without virtual memory management would have no pool at all.
#[cfg(feature = "sim")]
#[test]
fn without_virtual_memory_there_is_a_pool_of_chunks() {
    let machine = cupola_sim::Machine::builder()
        .without(cupola_sys::driver::id::cuMemCreate)
        .build();
    let bench = Bench::over(machine.driver());
    assert_eq!(bench.pool.backing(), Backing::Chunks);
    assert!(bench.pool.describe().contains("chunks of device memory"));
    let other = bench.another_stream();
    let mut buffer = bench.pool.allocate::<u32>(1000, &bench.stream).unwrap();
    ops::fill(&mut buffer, 5, &bench.stream).unwrap();
    ops::order(&bench.stream, &other).unwrap();
    let mut back = vec![0; 1000];
    ops::read(&buffer, &mut back, &other).unwrap();
    assert_eq!(back, [5; 1000]);
    drop((buffer, other));
    bench.finish();
    assert_eq!(machine.leaks(), None);
}
