//! Slots that work has written to.

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::ops;
use cupola_residency::{ResidencyError, SlotConfig};

use super::{Bench, MIB, Model, register};

// Without it what work has written to a slot would be lost when it gives memory up.
#[test]
fn what_was_changed_is_kept() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let state = register(&residency, 1, 10 * MIB);
    let other = register(&residency, 2, 14 * MIB);
    let lease = residency.lease(&state, &bench.stream).unwrap();
    // SAFETY: the slot's bytes, which the lease keeps, and which nothing else uses.
    let all = unsafe { DeviceSliceMut::<u8>::from_raw(lease.address(), 10 << 20) };
    ops::fill(all, 77, &bench.stream).unwrap();
    lease.mark_changed().unwrap();
    drop(lease);
    drop(residency.lease(&other, &bench.stream).unwrap());
    assert!(state.resident() < 10 * MIB);
    assert_eq!(residency.metrics().bytes_written_back, 10 * MIB);
    let lease = residency.lease(&state, &bench.stream).unwrap();
    // SAFETY: the copy is on the stream of the lease.
    let found = unsafe { lease.slice::<u8>(0..10 << 20) }.unwrap();
    let found = found.to_vec(&bench.stream);
    assert!(found.unwrap().iter().all(|&byte| byte == 77));
    drop(lease);
    // Once is enough.
    drop(residency.lease(&other, &bench.stream).unwrap());
    assert_eq!(residency.metrics().bytes_written_back, 10 * MIB);
    let staged = SlotConfig::new("staged").without_host_copy();
    let staged = residency
        .register(
            staged,
            Model {
                seed: 3,
                bytes: MIB,
            },
        )
        .unwrap();
    let lease = residency.lease(&staged, &bench.stream).unwrap();
    assert!(matches!(
        lease.mark_changed(),
        Err(ResidencyError::NoHostCopy { .. })
    ));
    drop((lease, staged, state, other, residency));
    bench.finish();
}

// Without it a slot that was changed and dropped would keep its memory for ever.
#[test]
fn a_changed_slot_may_be_dropped() {
    let bench = Bench::new();
    let residency = bench.residency(16 * MIB);
    let state = register(&residency, 1, 10 * MIB);
    let lease = residency.lease(&state, &bench.stream).unwrap();
    lease.mark_changed().unwrap();
    drop((lease, state));
    ops::synchronize(&bench.stream).unwrap();
    residency.trim();
    let usage = residency.usage();
    assert_eq!((usage.charged, usage.slots, usage.host), (0, 0, 0));
    drop(residency);
    bench.finish();
}
