//! What a slot has, where it is, and what it costs.

use cupola_managers::pool::DeviceLimit;
use cupola_managers::{PoolConfig, ops};
use cupola_residency::policy::LeastRecent;
use cupola_residency::{Residency, ResidencyConfig, ResidencyError, SlotConfig};
use cupola_sys::driver::id;

use super::{Bench, MIB, Model, check, config, register};

// Without it a slot could come back somewhere else, or with bytes of another model, and graphs and raw
// pointers of programs would read those.
#[test]
fn a_slot_comes_back_where_it_was() {
    let bench = Bench::new();
    let residency = bench.residency(24 * MIB);
    let slots = [20 * MIB + 5, 9 * MIB, 16 * MIB].map(|bytes| {
        let seed = bytes / MIB;
        (seed, register(&residency, seed, bytes))
    });
    let addresses = slots.each_ref().map(|(_, slot)| slot.address());
    for round in 0..6 {
        let (seed, slot) = &slots[round % 3];
        let lease = residency.lease(slot, &bench.stream).unwrap();
        assert_eq!(lease.address(), addresses[round % 3]);
        check(&lease, *seed, &bench.stream);
        let usage = residency.usage();
        assert!(usage.charged <= 24 * MIB, "{usage:?}");
        assert_eq!(usage.charged, usage.resident + usage.reserved + usage.stock);
    }
    drop(slots);
    assert_eq!(residency.usage().slots, 0);
    assert_eq!(residency.usage().host, 0, "host copies go with their slots");
    residency.trim();
    assert_eq!(residency.usage().charged, 0);
    drop(residency);
    bench.finish();
}

// Without it a model would go as a whole where a piece of it is enough, and all of it would be loaded again.
#[test]
fn a_slot_gives_up_no_more_than_is_lacking() {
    let bench = Bench::new();
    let config = config(40 * MIB).policy(LeastRecent);
    let residency = Residency::new(&bench.context, config).unwrap();
    let large = register(&residency, 1, 36 * MIB);
    let small = register(&residency, 2, 10 * MIB);
    drop(residency.lease(&large, &bench.stream).unwrap());
    drop(residency.lease(&small, &bench.stream).unwrap());
    // 6 MiB are lacking: two pieces.
    assert_eq!(large.resident(), 28 * MIB);
    let before = residency.metrics().bytes_loaded;
    let lease = residency.lease(&large, &bench.stream).unwrap();
    check(&lease, 1, &bench.stream);
    let metrics = residency.metrics();
    assert_eq!(metrics.bytes_loaded - before, 8 * MIB, "the rest was there");
    assert_eq!(
        (metrics.misses, metrics.partial_hits, metrics.evictions),
        (2, 1, 2)
    );
    drop(lease);
    drop(residency.lease(&large, &bench.stream).unwrap());
    assert_eq!(residency.metrics().hits, 1);
    drop((large, small, residency));
    bench.finish();
}

// Without it memory would be made anew for each load, which the device scrubs, or a piece of a size that no
// slot needs could keep the limit used up.
#[test]
fn memory_moves_between_slots() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let even = register(&residency, 1, 16 * MIB);
    let odd = register(&residency, 2, 14 * MIB);
    for _ in 0..3 {
        for slot in [&even, &odd] {
            drop(residency.lease(slot, &bench.stream).unwrap());
        }
    }
    let calls = residency.driver_calls();
    // Four pieces, then one that becomes the rest of the second slot, and back.
    assert!(calls.create <= 4 + 5, "{calls:?}");
    assert!(calls.map > 12, "{calls:?}");
    drop((even, odd, residency));
    bench.finish();
}

// Without it eviction could copy weights down that the host has already.
#[test]
fn an_eviction_copies_nothing() {
    let bench = Bench::new();
    let residency = bench.residency(64 * MIB);
    let slot = register(&residency, 1, 30 * MIB);
    drop(residency.lease(&slot, &bench.stream).unwrap());
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(residency.evict(&slot).unwrap(), 30 * MIB);
    assert_eq!(residency.metrics().bytes_written_back, 0);
    assert_eq!((residency.usage().stock, slot.resident()), (30 * MIB, 0));
    assert_eq!(residency.trim(), 30 * MIB);
    assert_eq!(residency.usage().charged, 0);
    let lease = residency.lease(&slot, &bench.stream).unwrap();
    check(&lease, 1, &bench.stream);
    drop((lease, slot, residency));
    bench.finish();
}

// Without it a program could not give the device to another one for a while.
#[test]
fn slots_that_sleep_have_no_memory_and_wake_up_where_they_were() {
    let bench = Bench::new();
    let residency = bench.residency(64 * MIB);
    let slots = [1, 2, 3].map(|seed| register(&residency, seed, seed * 7 * MIB));
    for slot in &slots {
        residency.preload(slot).unwrap();
    }
    let usage = residency.usage();
    assert_eq!(residency.sleep().unwrap(), usage.charged);
    assert_eq!(residency.usage().charged, 0);
    for (slot, seed) in slots.iter().zip(1..) {
        let lease = residency.lease(slot, &bench.stream).unwrap();
        check(&lease, seed, &bench.stream);
    }
    drop((slots, residency));
    bench.finish();
}

// Without it a slot without a host copy could be loaded with the bytes of another part, or its pinned
// memory be filled while it is copied.
#[test]
fn a_slot_without_a_host_copy_asks_its_loader_again() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let bytes = 26 * MIB + 3;
    let staged = SlotConfig::new("staged").without_host_copy();
    let staged = residency
        .register(staged, Model { seed: 7, bytes })
        .unwrap();
    for _ in 0..2 {
        let lease = residency.lease(&staged, &bench.stream).unwrap();
        check(&lease, 7, &bench.stream);
        drop(lease);
        residency.evict(&staged).unwrap();
    }
    assert_eq!(
        residency.usage().host,
        8 * MIB,
        "two pieces, whatever its size"
    );
    drop((staged, residency));
    bench.finish();
}

// Without it the first layers of a model would wait for the last to be copied.
#[test]
fn work_waits_for_the_part_that_it_names() {
    let bench = Bench::on(cupola_testing::TestBench::new().unwrap());
    let residency = bench.residency(64 * MIB);
    let slot = register(&residency, 3, 28 * MIB);
    let other = bench.context.streams().create(Default::default()).unwrap();
    let mut lease = residency.lease_progressively(&slot, &bench.stream).unwrap();
    for part in [1, 4 * MIB, 4 * MIB + 1, 20 * MIB, 28 * MIB] {
        lease.wait_for(part, &bench.stream).unwrap();
        // SAFETY: the copy is on the stream that has waited.
        let some = unsafe { lease.slice::<u8>(0..part as usize) }.unwrap();
        let found = some.to_vec(&bench.stream).unwrap();
        let mut wanted = vec![0; part as usize];
        Model { seed: 3, bytes: 0 }.fill(0, &mut wanted);
        assert!(found == wanted, "{part}");
    }
    lease.wait_for(28 * MIB, &other).unwrap();
    check(&lease, 3, &other);
    drop((lease, slot, residency, other));
    bench.finish();
}

// Without it working memory and weights under one limit could each refuse what the other only keeps.
#[test]
fn a_pool_and_slots_have_each_others_memory() {
    let bench = Bench::new();
    let limit = DeviceLimit::new(32 * MIB);
    let config = ResidencyConfig {
        limit: limit.clone(),
        ..config(0)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let pool = PoolConfig::limit(32 * MIB).within(&limit);
    let pool = bench.context.memory_pool(pool).unwrap();
    residency.share_with(&pool);
    let slots = [1, 2].map(|seed| register(&residency, seed, 14 * MIB));
    for slot in &slots {
        drop(residency.lease(slot, &bench.stream).unwrap());
    }
    // 4 MiB are left, and slots give up the rest.
    let work = pool.allocate::<u8>(18 << 20, &bench.stream).unwrap();
    assert!(limit.used() <= 32 * MIB);
    assert_eq!(slots[0].resident() + slots[1].resident(), 14 * MIB);
    // A slot that is leased gives nothing up.
    let lease = residency.lease(&slots[0], &bench.stream).unwrap();
    assert!(pool.allocate::<u8>(10 << 20, &bench.stream).is_err());
    check(&lease, 1, &bench.stream);
    let refused = residency.try_lease(&slots[1], &bench.stream);
    assert!(matches!(refused, Err(ResidencyError::NoRoom { others, .. }) if others >= 18 * MIB));
    // What the pool keeps only is a slot's.
    drop(work);
    let other = residency.lease(&slots[1], &bench.stream).unwrap();
    check(&other, 2, &bench.stream);
    assert!(residency.give_up(MIB).unwrap() < MIB, "both are leased");
    drop((lease, other));
    ops::synchronize(&bench.stream).unwrap();
    assert!(residency.give_up(MIB).unwrap() >= MIB);
    drop((slots, pool, residency));
    bench.finish();
}

// Without it an eviction could hold up work that has nothing to do with it.
#[test]
fn loads_and_evictions_wait_for_no_stream_and_no_context() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let slots = [1, 2, 3].map(|seed| register(&residency, seed, 9 * MIB));
    let waits = [
        id::cuCtxSynchronize,
        id::cuStreamSynchronize,
        id::cuMemFreeHost,
        id::cuMemHostUnregister,
        id::cuMemFree_v2,
    ];
    // What the device's way to pinned memory is was tried out when the residency was made.
    let counts = || waits.map(|function| bench.base.faults().count(function));
    let before = counts();
    for round in 0..9 {
        drop(residency.lease(&slots[round % 3], &bench.stream).unwrap());
    }
    assert!(residency.metrics().evictions >= 6);
    assert_eq!(counts(), before);
    drop((slots, residency));
    bench.finish();
}
