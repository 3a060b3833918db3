//! Questions about the blocks of a kernel, and a launch that is planned by the answers.

use cupola_managers::Error;
use cupola_managers::occupancy::{Coverage, PlanConfig};
use cupola_managers::ops;
use cupola_sys::driver::flags::OccupancyFlags;
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// Three sizes of whole warps.
const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry narrow() .maxntid 96, 1, 1 {
    ret;
}
";

/// Each question once.
pub(crate) fn occupancy(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let module = context.modules().load_ptx(PTX)?;
    let narrow = module.function("narrow")?;
    let blocks = narrow.active_blocks(96, 0)?;
    let flags = OccupancyFlags::DISABLE_CACHING_OVERRIDE;
    assert_eq!(narrow.active_blocks_with(96, 0, flags)?, blocks);
    let potential = narrow.potential_block_size(0, None)?;
    assert_eq!(narrow.potential_block_size_by(None, |_| 0)?, potential);
    assert!(narrow.available_dynamic_shared(1, 96)? > 0);
    let curve = narrow.occupancy_curve(|_| 0)?;
    assert_eq!(curve.points().len(), 3);
    match narrow.max_active_clusters([2, 1, 1], [32, 1, 1], 0) {
        // The software device has none, which it is asked.
        Err(Error::UnsupportedByDevice { .. }) => {}
        answered => drop(answered?),
    }
    let stream = context.streams().create(Default::default())?;
    let stride = PlanConfig::new(1 << 20).coverage(Coverage::GridStride);
    let plan = narrow.plan_launch(stride)?;
    // SAFETY: the kernel touches no memory.
    unsafe { ops::launch(&narrow, plan.config(), (), &stream) }?;
    Ok(ops::synchronize(&stream)?)
}
