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
    // Memory of the other slot is set aside, and loaded as it is asked for.
    let mut lease = residency.lease_progressively(&staged, &stream)?;
    lease.wait_for(1, &stream)?;
    lease.wait_for(3 << 20, &stream)?;
    drop(lease);
    ops::synchronize(&stream)?;
    drop(residency.lease(&kept, &stream)?);
    ops::synchronize(&stream)?;
    // Takes memory of the slot that was not announced, which was changed by none.
    residency.evict(&kept)?;
    residency.announce([&kept])?;
    residency.load_ahead()?;
    drop(residency.lease(&kept, &stream)?);
    ops::synchronize(&stream)?;
    residency.sleep()?;
    Ok(())
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
