//! The lives of a pinned pool's buffers: beside copies, in threads, in lost contexts.

use std::time::Duration;

use cupola_managers::host::PinnedPoolConfig;
use cupola_managers::{Error, ops};
use cupola_random::Random;
use cupola_sys::driver::{CUresult, id};

use super::{PROFILES, bench, bench_of, hold};

// Without it memory could be given to the next buffer while a copy still reads or writes it, or
// dropping a buffer could wait for the device.
#[test]
fn dropped_memory_is_used_again_when_its_copies_are_over() {
    for profile in PROFILES {
        let bench = bench_of(profile);
        let stream = &bench.stream;
        let config = PinnedPoolConfig::limit(8 << 20);
        let host = bench.base.context.pinned_pool(config).unwrap();
        let mut there = bench.pool.allocate::<u32>(1000, stream).unwrap();
        let mut fives = host.zeros::<u32>(1000).unwrap();
        fives.as_mut_slice().unwrap().fill(5);
        let at = fives.as_ptr();
        // Where copies wait for themselves, as in confidential computing, nothing can be held up.
        let waits = profile == cupola_sim::Profile::Confidential;
        let held = (!waits).then(|| hold(stream));
        ops::copy_to_device(&fives, &mut there, stream).unwrap();
        let counts = bench.base.faults.counts();
        drop(fives);
        let mut sixes = host.allocate::<u32>(1000).unwrap();
        if !waits {
            let usage = host.usage().unwrap();
            assert_eq!((usage.pending, usage.live), (4032, 4032));
            assert_eq!(bench.base.faults.counts(), counts, "no call on the way");
            assert_ne!(sixes.as_ptr(), at, "a copy reads it");
        }
        sixes.as_mut_slice().unwrap().fill(6);
        drop(held);
        assert_eq!(there.to_vec(stream).unwrap(), [5; 1000]);
        ops::synchronize(stream).unwrap();
        drop(sixes);
        // Known to be over, without a call.
        let counts = bench.base.faults.counts();
        let buffers: Vec<_> = (0..2)
            .map(|_| host.allocate::<u32>(1000).unwrap())
            .collect();
        assert!(
            buffers.iter().any(|buffer| buffer.as_ptr() == at),
            "{profile:?}"
        );
        assert_eq!(bench.base.faults.counts(), counts, "a hit makes no call");
        assert_eq!(host.usage().unwrap().pending, 0);
        drop((buffers, there, host));
        bench.finish();
    }
}

// Without it buffers whose copies no thread has waited for would stay taken for ever, and their
// regions page-locked.
#[test]
fn trimming_asks_for_the_ends_of_copies() {
    let bench = bench();
    let stream = &bench.stream;
    let config = PinnedPoolConfig::limit(8 << 20).region_bytes(64 << 10);
    let host = bench.base.context.pinned_pool(config).unwrap();
    let ones = bench.pool.upload(&[1u8; 100], stream).unwrap();
    let mut to = host.allocate::<u8>(100).unwrap();
    let held = hold(stream);
    ops::copy_to_host(&ones, &mut to, stream).unwrap();
    drop(to);
    assert_eq!(host.trim(), Ok(0));
    drop(held);
    while host.trim() == Ok(0) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let usage = host.usage().unwrap();
    assert_eq!((usage.locked, usage.pending, usage.regions), (0, 0, 0));
    drop((ones, host));
    bench.finish();
}

// Without it a buffer could outlive its pool's memory, or a pool that ends free memory under a copy.
#[test]
fn the_pool_lives_as_long_as_its_buffers_and_their_copies() {
    let bench = bench();
    let stream = &bench.stream;
    let config = PinnedPoolConfig::limit(8 << 20);
    let host = bench.base.context.pinned_pool(config).unwrap();
    let mut there = bench.pool.allocate::<u64>(100, stream).unwrap();
    let mut nines = host.zeros::<u64>(100).unwrap();
    drop(host);
    nines.as_mut_slice().unwrap().fill(9);
    let held = hold(stream);
    ops::copy_to_device(&nines, &mut there, stream).unwrap();
    let end = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        drop(held);
    });
    // The last of the pool: it waits.
    drop(nines);
    assert_eq!(bench.base.machine.usage().registrations, 0);
    end.join().unwrap();
    assert_eq!(there.to_vec(stream).unwrap(), [9; 100]);
    drop(there);
    bench.finish();
}

// Without it memory that a copy may still use would be given back when a wait fails, or what ends
// with the context would be counted as lost.
#[test]
fn memory_of_a_copy_that_is_not_known_to_end_is_left_to_the_context() {
    let bench = bench();
    let device = bench.base.execution.devices().get(0).unwrap();
    let context = device.contexts().create(Default::default()).unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context
        .memory_pool(cupola_managers::PoolConfig::limit(8 << 20))
        .unwrap();
    let mut there = pool.allocate::<u8>(100, &stream).unwrap();
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let zeros = host.zeros::<u8>(100).unwrap();
    let held = hold(&stream);
    ops::copy_to_device(&zeros, &mut there, &stream).unwrap();
    drop(zeros);
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.base.faults.fail_from(id::cuEventSynchronize, 1, code);
    drop(host);
    bench.base.faults.reset();
    assert!(context.poison().is_some());
    let live = bench.base.execution.live();
    assert_eq!(
        (live.pinned_regions, live.buried, live.abandoned),
        (0, 1, 0)
    );
    assert_eq!(bench.base.machine.usage().registrations, 1);
    drop((held, there, pool, stream, context, device));
    assert_eq!(bench.base.machine.usage().registrations, 0);
    let watch = bench.base.execution.watch();
    // Strict mode has found that the memory was left to the context.
    drop((
        bench.pool,
        bench.stream,
        bench.base.context,
        bench.base.execution,
    ));
    assert_eq!(watch.live().buried, 0);
}

// Without it a lost context would go on giving memory out.
#[test]
fn a_lost_context_gives_none() {
    let bench = bench();
    let context = &bench.base.context;
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    drop(host.allocate::<u8>(1).unwrap());
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.base.faults.fail(id::cuStreamSynchronize, 1, code);
    ops::synchronize(&bench.stream).unwrap_err();
    assert!(matches!(
        host.allocate::<u8>(1),
        Err(Error::Poisoned { .. })
    ));
    drop(host);
}

// Without it elements could be misaligned, or a request without bytes take some.
#[test]
fn elements_are_where_they_may_be() {
    let bench = bench();
    let host = bench
        .base
        .context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let none = host.allocate::<u64>(0).unwrap();
    assert!(none.is_empty() && none.as_slice().unwrap().is_empty());
    assert_eq!(host.usage().unwrap().locked, 0);
    let byte = host.allocate::<u8>(1).unwrap();
    let wide = host.allocate::<u128>(3).unwrap();
    assert_eq!(wide.as_ptr().addr() % 64, 0);
    assert!(matches!(
        host.allocate::<u64>(usize::MAX),
        Err(Error::Invalid { .. })
    ));
    assert!(matches!(
        host.allocate::<u8>(1 << 41),
        Err(Error::Invalid { .. })
    ));
    drop((none, byte, wide, host));
    bench.finish();
}

// Without it threads could get the same memory, or wait for each other for ever.
#[test]
fn threads_share_a_pool() {
    let bench = bench();
    let config = PinnedPoolConfig::limit(4 << 20).region_bytes(256 << 10);
    let host = bench.base.context.pinned_pool(config).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (host, bench) = (host.clone(), &bench);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                let stream = bench.base.stream();
                for round in 0..40u32 {
                    let len = 1 + random.below(50_000) as usize;
                    let mine = round << 8 | seed as u32;
                    let mut there = bench.pool.allocate(len, &stream).unwrap();
                    let mut up = host.allocate::<u32>(len).unwrap();
                    up.as_mut_slice().unwrap().fill(mine);
                    ops::copy_to_device(&up, &mut there, &stream).unwrap();
                    drop(up);
                    let mut down = host.allocate::<u32>(len).unwrap();
                    ops::copy_to_host(&there, &mut down, &stream).unwrap();
                    let seen = down.as_slice().unwrap();
                    assert!(seen.iter().all(|&number| number == mine));
                    if random.one_in(8) {
                        host.trim().unwrap();
                    }
                }
            });
        }
    });
    let usage = host.usage().unwrap();
    assert_eq!((usage.live, usage.blocks), (0, 0));
    assert!(usage.peak <= 4 << 20);
    drop(host);
    bench.finish();
}
