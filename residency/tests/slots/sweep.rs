//! Every call of the driver fails once.

use std::time::Duration;

use cupola_managers::ops;
use cupola_residency::{Residency, ResidencyConfig, SlotConfig};
use cupola_testing::sweep::Outcome;
use cupola_testing::{DeviceConfig, Machine, Stage, Sweep};

use super::{MIB, config};

fn life(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().acquire(Default::default())?;
    let config = ResidencyConfig {
        piece: 2 * MIB,
        chunk: 2 * MIB,
        ..config(4 * MIB)
    };
    let residency = Residency::new(&context, config)?;
    let kept = residency.register(SlotConfig::new("kept"), vec![1; 4 << 20])?;
    let staged = SlotConfig::new("staged").without_host_copy();
    let staged = residency.register(staged, vec![2; 3 << 20])?;
    for (slot, wanted) in [(&kept, 1), (&staged, 2), (&kept, 1)] {
        let lease = residency.lease(slot, &stream)?;
        // SAFETY: the copy is on the stream of the lease.
        let start = unsafe { lease.slice::<u8>(0..4)? };
        assert_eq!(start.to_vec(&stream)?, [wanted; 4]);
        lease.mark_changed().ok();
        drop(lease);
        // The calls are the same each time.
        ops::synchronize(&stream)?;
    }
    // Takes memory of the slot that was not announced, which was changed by none.
    residency.evict(&kept)?;
    residency.announce([&kept])?;
    residency.load_ahead()?;
    drop(residency.lease(&kept, &stream)?);
    ops::synchronize(&stream)?;
    residency.sleep()?;
    Ok(())
}

/// Memory of another slot is set aside, and loaded as it is asked for; what fails is asked for once more.
fn progressive_life(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().acquire(Default::default())?;
    let config = ResidencyConfig {
        piece: 2 * MIB,
        chunk: 2 * MIB,
        ..config(8 * MIB)
    };
    let residency = Residency::new(&context, config)?;
    let one = residency.register(SlotConfig::new("one"), vec![1; 7 << 20])?;
    let two = residency.register(SlotConfig::new("two"), vec![2; 7 << 20])?;
    drop(residency.lease(&one, &stream)?);
    ops::synchronize(&stream)?;
    let mut lease = residency.lease_progressively(&two, &stream)?;
    let first = lease.wait_for(7 << 20, &stream);
    let second = lease.wait_for(7 << 20, &stream);
    if let (Err(error), Ok(())) = (&first, &second) {
        // SAFETY: the copy is on the stream of the lease.
        let end = unsafe { lease.slice::<u8>((7 << 20) - 4..7 << 20)? };
        assert_eq!(end.to_vec(&stream)?, [2; 4], "after {error}");
    }
    drop(lease);
    ops::synchronize(&stream)?;
    first?;
    Ok(second?)
}

// Without it a chunk that fails could lose memory that is set aside for its slot, or leave it in the wrong order.
#[test]
fn every_call_of_a_progressive_load_may_fail() {
    let device = DeviceConfig::new().operation_delay(Duration::from_micros(500));
    let machine = Machine::builder().device(device).worker_threads(1);
    let sweep = Sweep::new(machine, progressive_life).codes([2]);
    let table = sweep.title("progressive loads").run();
    println!("{table}");
    let problems = table.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

// Without it a call that fails half-way through a load or an eviction could leak memory, leave the limit
// charged, or make a slot of pages without contents.
#[test]
fn every_call_may_fail() {
    // So slow that no copy is over when it is first asked for: the calls are the same each time.
    let device = DeviceConfig::new().operation_delay(Duration::from_micros(500));
    let machine = Machine::builder().device(device).worker_threads(1);
    // One of each kind: a refusal, a driver that has shut down, a lost context.
    let sweep = Sweep::new(machine, life).codes([2, 4, 719]);
    let table = sweep.title("residency").run();
    println!("{table}");
    let problems = table.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
