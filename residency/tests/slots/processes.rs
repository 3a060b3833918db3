//! Slots under a limit that other processes have a part of.

use cupola_managers::PoolConfig;
use cupola_managers::pool::SharedBudget;
use cupola_residency::{Residency, ResidencyConfig};
use cupola_sharing::Ledger;

use super::{Bench, MIB, check, config, register};

// Without it models could take what other processes have, or be refused instead of evicting one another where
// it is those that leave no room.
#[test]
fn slots_have_what_other_processes_leave() {
    let bench = Bench::new();
    let ledger = Ledger::create(32 * MIB).unwrap();
    // Another row is as good as another process.
    let (ours, theirs) = (ledger.join().unwrap(), ledger.join().unwrap());
    theirs.charge(12 * MIB).unwrap();
    let limit = ours.device_limit();
    let residency = Residency::new(
        &bench.context,
        ResidencyConfig {
            limit: limit.clone(),
            ..config(0)
        },
    )
    .unwrap();
    let slots = [1, 2].map(|seed| register(&residency, seed, 14 * MIB));
    let resident = || slots[0].resident() + slots[1].resident();
    for (slot, seed) in slots.iter().zip(1..) {
        let lease = residency.lease(slot, &bench.stream).unwrap();
        check(&lease, seed, &bench.stream);
    }
    assert!(
        (14 * MIB..=20 * MIB).contains(&resident()),
        "{}",
        resident()
    );
    assert!(ledger.used() <= 32 * MIB);
    let pool = PoolConfig::limit(u64::MAX).within(&limit);
    let pool = bench.context.memory_pool(pool).unwrap();
    residency.share_with(&pool);
    let work = pool.allocate::<u8>(12 << 20, &bench.stream).unwrap();
    assert_eq!(ledger.used(), ours.bytes() + theirs.bytes());
    assert!(ledger.used() <= 32 * MIB && resident() <= 8 * MIB);
    drop((work, pool));
    theirs.release(12 * MIB);
    for (slot, seed) in slots.iter().zip(1..) {
        let lease = residency.lease(slot, &bench.stream).unwrap();
        check(&lease, seed, &bench.stream);
    }
    assert_eq!(resident(), 28 * MIB);
    drop((slots, residency));
    assert_eq!((ledger.used(), limit.used()), (0, 0));
    bench.finish();
}
