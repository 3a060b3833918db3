//! Slots that are loaded while their work runs already.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_managers::ops;
use cupola_residency::{
    Loader, LoaderError, Residency, ResidencyConfig, ResidencyError, SlotConfig,
};

use super::{Bench, MIB, Model, check, register};

/// Pieces that are mapped now.
fn mapped(residency: &Residency) -> u64 {
    let calls = residency.driver_calls();
    calls.map - calls.unmap
}

// Without it a progressive lease would load all at once, which keeps the host where the driver gives access to memory
// behind copies that run; or another slot could take the memory of the rest.
#[test]
fn the_rest_is_set_aside_and_loaded_as_it_is_asked_for() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let slot = register(&residency, 1, 30 * MIB);
    let other = register(&residency, 2, 4 * MIB);
    // The copies are held up, so that none is over when the next is asked for.
    let mut lease = residency.lease_progressively(&slot, &bench.stream).unwrap();
    let usage = residency.usage();
    assert_eq!((slot.resident(), usage.reserved), (4 * MIB, 26 * MIB));
    assert_eq!((usage.leased, usage.charged), (30 * MIB, 30 * MIB));
    let refused = residency.try_lease(&other, &bench.stream).unwrap_err();
    assert!(
        matches!(refused, ResidencyError::NoRoom { .. }),
        "{refused}"
    );
    let mut last = 4 * MIB;
    for part in (2..=30).step_by(2) {
        lease.wait_for(part * MIB, &bench.stream).unwrap();
        let there = slot.resident();
        assert!(there >= part * MIB, "{part}");
        // Chunks of 8 MiB: that of the part, and another where no copy ran.
        assert!(there <= last.max((part - 1) * MIB + 8 * MIB) + 8 * MIB);
        assert_eq!(there + residency.usage().reserved, 30 * MIB);
        last = there;
    }
    check(&lease, 1, &bench.stream);
    assert_eq!(residency.metrics().bytes_loaded, 30 * MIB);
    drop((lease, slot, other, residency));
    bench.finish();
}

// Without it a program that waits for each layer on the host would load nothing meanwhile.
#[test]
fn the_next_chunk_is_put_where_no_copy_runs() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let slot = register(&residency, 1, 32 * MIB);
    let mut lease = residency.lease_progressively(&slot, &bench.stream).unwrap();
    // The second chunk is asked for, and over before the next call.
    lease.wait_for(5 * MIB, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(slot.resident(), 12 * MIB);
    lease.wait_for(6 * MIB, &bench.stream).unwrap();
    assert_eq!(slot.resident(), 20 * MIB);
    drop((lease, slot, residency));
    bench.finish();
}

// Without it memory that was set aside for a lease which has ended would be lost, or loaded into twice.
#[test]
fn what_was_set_aside_outlives_no_need() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let slot = register(&residency, 1, 27 * MIB);
    let other = register(&residency, 2, 20 * MIB);
    drop(residency.lease_progressively(&slot, &bench.stream).unwrap());
    assert_eq!(residency.usage().reserved, 24 * MIB);
    // The next lease has it.
    let created = residency.driver_calls().create;
    let lease = residency.lease(&slot, &bench.stream).unwrap();
    check(&lease, 1, &bench.stream);
    drop(lease);
    assert_eq!(residency.driver_calls().create, created);
    // Other slots have it, before anything is evicted that was loaded.
    assert_eq!(residency.evict(&slot).unwrap(), 28 * MIB);
    drop(residency.lease_progressively(&slot, &bench.stream).unwrap());
    let lease = residency.lease(&other, &bench.stream).unwrap();
    check(&lease, 2, &bench.stream);
    assert_eq!((slot.resident(), residency.usage().reserved), (4 * MIB, 0));
    drop(lease);
    // It sleeps, and goes with its slot.
    drop(residency.lease_progressively(&slot, &bench.stream).unwrap());
    assert_eq!(residency.sleep().unwrap(), 32 * MIB);
    assert_eq!(residency.usage().charged, 0);
    drop(residency.lease_progressively(&slot, &bench.stream).unwrap());
    drop(slot);
    let last = register(&residency, 3, 32 * MIB);
    check(
        &residency.lease(&last, &bench.stream).unwrap(),
        3,
        &bench.stream,
    );
    assert_eq!(residency.usage().charged, 32 * MIB);
    drop((last, other, residency));
    bench.finish();
}

// Without it a slot that is all there would lose memory, while that of another has no contents.
#[test]
fn what_is_set_aside_for_none_goes_first() {
    let bench = Bench::new();
    let residency = bench.residency(48 * MIB);
    let [loaded, begun, next] =
        [(1, 16), (2, 28), (3, 20)].map(|(seed, mib)| register(&residency, seed, mib * MIB));
    drop(residency.lease(&loaded, &bench.stream).unwrap());
    drop(
        residency
            .lease_progressively(&begun, &bench.stream)
            .unwrap(),
    );
    check(
        &residency.lease(&next, &bench.stream).unwrap(),
        3,
        &bench.stream,
    );
    assert_eq!((loaded.resident(), begun.resident()), (16 * MIB, 4 * MIB));
    check(
        &residency.lease(&begun, &bench.stream).unwrap(),
        2,
        &bench.stream,
    );
    drop((loaded, begun, next, residency));
    bench.finish();
}

// Without it two requests for one slot could each load what the other loads, or lose the memory that is set aside.
#[test]
fn another_lease_loads_the_rest() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let slot = register(&residency, 1, 30 * MIB);
    let other = bench.context.streams().create(Default::default()).unwrap();
    let mut slow = residency.lease_progressively(&slot, &bench.stream).unwrap();
    let whole = residency.lease(&slot, &other).unwrap();
    check(&whole, 1, &other);
    drop(whole);
    assert_eq!((slot.resident(), residency.usage().reserved), (30 * MIB, 0));
    slow.wait_for(30 * MIB, &bench.stream).unwrap();
    check(&slow, 1, &bench.stream);
    assert_eq!(residency.metrics().bytes_loaded, 30 * MIB);
    drop((slow, slot, other, residency));
    bench.finish();
}

/// Fails from an offset on, until it is told not to.
struct Broken {
    model: Model,
    from: Arc<AtomicU64>,
}

impl Loader for Broken {
    fn bytes(&self) -> Result<u64, LoaderError> {
        self.model.bytes()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), LoaderError> {
        if offset >= self.from.load(Ordering::Relaxed) {
            return Err("the file ends".into());
        }
        self.model.read(offset, into)
    }
}

// Without it a layer that cannot be read would lose the layers before, or the lease.
#[test]
fn a_part_that_cannot_be_read_can_be_asked_for_again() {
    let bench = Bench::new();
    let residency = bench.residency(32 * MIB);
    let from = Arc::new(AtomicU64::new(12 * MIB));
    let model = Model {
        seed: 1,
        bytes: 30 * MIB,
    };
    let loader = Broken {
        model,
        from: Arc::clone(&from),
    };
    let config = SlotConfig::new("broken").without_host_copy();
    let slot = residency.register(config, loader).unwrap();
    let mut lease = residency.lease_progressively(&slot, &bench.stream).unwrap();
    lease.wait_for(5 * MIB, &bench.stream).unwrap();
    for _ in 0..2 {
        let refused = lease.wait_for(30 * MIB, &bench.stream).unwrap_err();
        assert!(
            matches!(refused, ResidencyError::Loader { .. }),
            "{refused}"
        );
        assert_eq!(slot.resident(), 12 * MIB);
        let usage = residency.usage();
        assert_eq!((usage.leased, usage.reserved), (30 * MIB, 18 * MIB));
        ops::synchronize(&bench.stream).unwrap();
        // These are there, and what cannot be read next is for those that ask for it.
        lease.wait_for(6 * MIB, &bench.stream).unwrap();
        lease.wait_for(12 * MIB, &bench.stream).unwrap();
    }
    drop(lease);
    // What is set aside stays in the order of its places.
    from.store(u64::MAX, Ordering::Relaxed);
    let mut lease = residency.lease_progressively(&slot, &bench.stream).unwrap();
    lease.wait_for(30 * MIB, &bench.stream).unwrap();
    check(&lease, 1, &bench.stream);
    assert_eq!(residency.usage().charged, 30 * MIB);
    drop((lease, slot, residency));
    bench.finish();
}

// Without it a piece that is copied in parts could count as loaded when its first part is, or its next load wait for a
// copy of the one that failed.
#[test]
fn a_piece_is_there_when_all_its_parts_are() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        piece: 64 * MIB,
        chunk: 64 * MIB,
        ..ResidencyConfig::limit(80 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let from = Arc::new(AtomicU64::new(32 * MIB));
    let model = Model {
        seed: 1,
        bytes: 79 * MIB,
    };
    let loader = Broken {
        model,
        from: Arc::clone(&from),
    };
    let config = SlotConfig::new("large").without_host_copy();
    let slot = residency.register(config, loader).unwrap();
    let refused = residency.lease(&slot, &bench.stream).unwrap_err();
    assert!(
        matches!(refused, ResidencyError::Loader { .. }),
        "{refused}"
    );
    let usage = residency.usage();
    assert_eq!((slot.resident(), usage.reserved), (0, 64 * MIB));
    assert_eq!(residency.metrics().bytes_loaded, 32 * MIB, "its first part");
    from.store(u64::MAX, Ordering::Relaxed);
    let lease = residency.lease(&slot, &bench.stream).unwrap();
    check(&lease, 1, &bench.stream);
    assert_eq!(residency.usage().charged, 80 * MIB);
    drop((lease, slot, residency));
    bench.finish();
}

// Without it memory that moved from one slot to another could stay mapped in both, or be over the limit meanwhile.
#[test]
fn memory_that_moves_leaves_its_slot() {
    let bench = Bench::new();
    let residency = bench.residency(28 * MIB);
    let slots = [1, 2].map(|seed| register(&residency, seed, 28 * MIB));
    for round in 0..6 {
        let (slot, seed) = (&slots[round % 2], 1 + round as u64 % 2);
        let lease = match round < 4 {
            true => residency.lease(slot, &bench.stream).unwrap(),
            false => residency.lease_progressively(slot, &bench.stream).unwrap(),
        };
        assert_eq!(slots[1 - round % 2].resident(), 0);
        let mut lease = lease;
        lease.wait_for(28 * MIB, &bench.stream).unwrap();
        check(&lease, seed, &bench.stream);
        // Seven pieces, which were made once.
        assert_eq!(
            (mapped(&residency), residency.driver_calls().create),
            (7, 7)
        );
        assert_eq!(residency.usage().charged, 28 * MIB);
    }
    drop((slots, residency));
    bench.finish();
}
