//! What a residency refuses, and that slots are as they were then.

use std::time::Duration;

use cupola_managers::ops;
use cupola_residency::{
    Loader, LoaderError, Residency, ResidencyConfig, ResidencyError, SlotConfig,
};

use super::{Bench, MIB, Model, check, config, hold, register};

// Without it an order that makes no sense could pass, or leave a slot half there.
#[test]
fn illegal_orders_are_refused() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let slot = register(&residency, 1, 10 * MIB);
    let evicted = residency.evict(&slot);
    assert!(
        matches!(evicted, Err(ResidencyError::NotResident { .. })),
        "{evicted:?}"
    );
    let lease = residency.lease(&slot, &bench.stream).unwrap();
    let again = residency.lease(&slot, &bench.stream).unwrap();
    let evicted = residency.evict(&slot);
    assert!(
        matches!(evicted, Err(ResidencyError::Leased { leases: 2, .. })),
        "{evicted:?}"
    );
    drop(lease);
    assert!(residency.evict(&slot).is_err());
    check(&again, 1, &bench.stream);
    drop(again);
    slot.pin();
    assert!(matches!(
        residency.evict(&slot),
        Err(ResidencyError::Pinned { .. })
    ));
    slot.unpin();
    assert_eq!(residency.evict(&slot).unwrap(), 10 * MIB);
    assert!(matches!(
        residency.evict(&slot),
        Err(ResidencyError::NotResident { .. })
    ));
    let other = bench.residency(16 * MIB);
    for refused in [
        other.evict(&slot).err(),
        other.lease(&slot, &bench.stream).err(),
        other.preload(&slot).err(),
        other.announce([&slot]).err(),
    ] {
        assert!(
            matches!(refused, Some(ResidencyError::Invalid { .. })),
            "{refused:?}"
        );
    }
    let mut lease = residency.lease(&slot, &bench.stream).unwrap();
    assert!(lease.wait_for(10 * MIB + 1, &bench.stream).is_err());
    for beyond in [0..(10 * MIB / 4) as usize + 1, usize::MAX - 1..usize::MAX] {
        // SAFETY: no work is given it.
        assert!(unsafe { lease.slice::<u32>(beyond) }.is_err());
    }
    drop((lease, slot, residency, other));
    bench.finish();
}

// Without it a request that cannot be met could take memory from slots that are in use, or loop.
#[test]
fn there_may_be_no_room() {
    let bench = Bench::new();
    let residency = bench.residency(24 * MIB);
    let held = register(&residency, 1, 12 * MIB);
    let pinned = register(&residency, 2, 6 * MIB);
    let wanted = register(&residency, 3, 8 * MIB);
    let lease = residency.lease(&held, &bench.stream).unwrap();
    residency.preload(&pinned).unwrap();
    pinned.pin();
    let refused = residency.try_lease(&wanted, &bench.stream).unwrap_err();
    let ResidencyError::NoRoom {
        leased,
        pinned: of_pinned,
        others,
        limit,
        ..
    } = refused
    else {
        panic!("{refused}");
    };
    assert_eq!((of_pinned, others, limit), (6 * MIB, 0, 24 * MIB));
    assert!(leased >= 12 * MIB);
    check(&lease, 1, &bench.stream);
    // Pinned too, it gives nothing up when its lease ends: to wait would be of no use.
    held.pin();
    let hour = Duration::from_secs(3600);
    let refused = residency.lease_within(&wanted, &bench.stream, hour);
    assert!(matches!(refused, Err(ResidencyError::NoRoom { .. })));
    held.unpin();
    drop(lease);
    let lease = residency.lease(&wanted, &bench.stream).unwrap();
    check(&lease, 3, &bench.stream);
    let too_large = residency.register(
        SlotConfig::new("huge"),
        Model {
            seed: 0,
            bytes: 25 * MIB,
        },
    );
    assert!(matches!(too_large, Err(ResidencyError::TooLarge { .. })));
    let empty = residency.register(SlotConfig::new("empty"), Vec::new());
    assert!(matches!(
        empty,
        Err(ResidencyError::Invalid { field: "bytes", .. })
    ));
    drop((lease, held, pinned, wanted, residency));
    bench.finish();
}

// Without it slots without number could be made, or a number stay taken after its slot.
#[test]
fn slots_are_counted() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        slots: 2,
        ..config(16 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let one = register(&residency, 1, MIB);
    let _two = register(&residency, 2, MIB);
    let third = || residency.register(SlotConfig::new("third"), Model { seed: 3, bytes: 1 });
    assert!(matches!(third(), Err(ResidencyError::Full { slots: 2 })));
    drop(residency.lease(&one, &bench.stream).unwrap());
    ops::synchronize(&bench.stream).unwrap();
    drop(one);
    let third = third().unwrap();
    let lease = residency.lease(&third, &bench.stream).unwrap();
    check(&lease, 3, &bench.stream);
    drop((lease, third, _two, residency));
    bench.finish();
}

// Without it memory could be taken from a slot whose kernels still run.
#[test]
fn work_that_runs_keeps_its_slot() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        wait: Duration::from_millis(20),
        ..config(16 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    // Without a host copy: the driver gives pinned memory back when the context is idle.
    let config = SlotConfig::new("used").without_host_copy();
    let bytes = 12 * MIB;
    let used = residency
        .register(config, Model { seed: 1, bytes })
        .unwrap();
    let wanted = register(&residency, 2, 12 * MIB);
    let other = bench.context.streams().create(Default::default()).unwrap();
    let lease = residency.lease(&used, &bench.stream).unwrap();
    ops::synchronize(&bench.stream).unwrap();
    let held = hold(&bench.stream);
    drop(lease);
    let refused = residency.lease(&wanted, &other).unwrap_err();
    assert!(matches!(refused, ResidencyError::InUse { .. }), "{refused}");
    assert!(matches!(
        residency.evict(&used),
        Err(ResidencyError::InUse { .. })
    ));
    assert_eq!(used.resident(), 12 * MIB);
    // Given up, it keeps its memory still.
    drop(used);
    assert!(residency.lease(&wanted, &other).is_err());
    drop(held);
    let lease = residency.lease(&wanted, &other).unwrap();
    check(&lease, 2, &other);
    assert!(residency.metrics().waits >= 2);
    assert_eq!(residency.usage().slots, 1);
    drop((lease, wanted, other, residency));
    bench.finish();
}

struct Failing(u64);

impl Loader for Failing {
    fn bytes(&self) -> Result<u64, LoaderError> {
        Ok(self.0)
    }

    fn read(&self, offset: u64, _: &mut [u8]) -> Result<(), LoaderError> {
        Err(format!("no byte {offset}").into())
    }
}

// Without it the error of a program's loader could be lost, or leave pages without contents.
#[test]
fn a_loader_may_fail() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    for config in [
        SlotConfig::new("kept"),
        SlotConfig::new("staged").without_host_copy(),
    ] {
        let slot = residency.register(config, Failing(9 * MIB)).unwrap();
        for _ in 0..2 {
            let refused = residency.lease(&slot, &bench.stream).unwrap_err();
            let source = std::error::Error::source(&refused).unwrap().to_string();
            assert!(
                matches!(refused, ResidencyError::Loader { .. }),
                "{refused}"
            );
            assert_eq!(source, "no byte 0");
        }
        assert_eq!(slot.resident(), 0);
    }
    assert_eq!(residency.usage().resident, 0);
    drop(residency);
    bench.finish();
}

// Without it host memory could be more than it may be.
#[test]
fn the_host_has_a_limit_too() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        host_limit: 15 * MIB,
        ..config(64 * MIB)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let one = register(&residency, 1, 10 * MIB);
    let two = register(&residency, 2, 6 * MIB);
    drop(residency.lease(&one, &bench.stream).unwrap());
    let refused = residency.lease(&two, &bench.stream).unwrap_err();
    assert!(
        matches!(refused, ResidencyError::HostLimit { bytes, left, .. } if bytes == 6 * MIB && left == 5 * MIB),
        "{refused}"
    );
    drop(one);
    ops::synchronize(&bench.stream).unwrap();
    assert_eq!(residency.usage().host, 0);
    let lease = residency.lease(&two, &bench.stream).unwrap();
    check(&lease, 2, &bench.stream);
    assert_eq!(residency.usage().host, 6 * MIB);
    drop((lease, two, residency));
    bench.finish();
}

// Without it sizes that mapping cannot serve would fail later, inside a driver.
#[test]
fn a_configuration_is_checked() {
    let bench = Bench::new();
    let bad = [
        ResidencyConfig {
            piece: 3 * MIB,
            ..config(16 * MIB)
        },
        ResidencyConfig {
            piece: 6 * MIB,
            ..config(16 * MIB)
        },
        ResidencyConfig {
            chunk: 6 * MIB,
            ..config(16 * MIB)
        },
        ResidencyConfig {
            chunk: 0,
            ..config(16 * MIB)
        },
        ResidencyConfig {
            slots: 0,
            ..config(16 * MIB)
        },
    ];
    for config in bad {
        let text = format!("{config:?}");
        let refused = Residency::new(&bench.context, config);
        assert!(
            matches!(refused, Err(ResidencyError::Invalid { .. })),
            "{text}"
        );
    }
    bench.finish();
}
