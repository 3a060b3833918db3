//! Memory that goes to another library as a tensor, and comes back as one of its.

use cupola_managers::interop::{ArrayInterface, ExportedTensor, ForeignTensor, StreamNumber};
use cupola_managers::{Context, Error, PoolConfig, ops};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// Both sides in one program.
pub(crate) fn tensors(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    Ok(exchanged(&context)?)
}

fn exchanged(context: &Context) -> Result<(), Error> {
    let stream = context.streams().create(Default::default())?;
    let other = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    // SAFETY: the legacy default stream is always there.
    let legacy = unsafe { StreamNumber::from_dlpack(None)?.lease(context) }?;

    let mut numbers = pool.zeros::<u32>(64, &stream)?;
    ops::order(&stream, &other)?;
    ops::fill(&mut numbers, 7, &other)?;
    let shown = ArrayInterface::of(&numbers, &[64], &stream)?;
    // SAFETY: the stream is alive.
    unsafe { shown.order(context, &other) }?;
    let exported = ExportedTensor::of_buffer(numbers, &[8, 8], legacy.as_ref())?;
    let raw = exported.into_versioned();
    // SAFETY: exported just now.
    let tensor = unsafe { ForeignTensor::from_raw(raw, context) }?;
    if let Some(legacy) = &legacy {
        // SAFETY: the copy is on the stream.
        let found = unsafe { tensor.view::<u32>(legacy) }?;
        assert_eq!(found.to_vec(legacy)?, [7; 64]);
    }
    drop(tensor);

    let pinned = context.buffers().pinned::<u32>(64)?;
    let raw = ExportedTensor::of_pinned(pinned, &[64])?.into_unversioned()?;
    // SAFETY: exported just now.
    let mut tensor = unsafe { ForeignTensor::from_raw(raw, context) }?;
    // SAFETY: the fill is on the stream, and nothing else uses the memory.
    ops::fill(unsafe { tensor.view_mut::<u32>(&stream) }?, 9, &stream)?;
    // SAFETY: nothing else uses the memory.
    assert_eq!(unsafe { tensor.host_view::<u32>() }?, [9; 64]);
    drop(tensor);

    let mut managed = context.managed::<u32>(64)?;
    // SAFETY: the fill is on the stream.
    ops::fill(unsafe { managed.device_mut(&stream) }?, 3, &stream)?;
    let raw = ExportedTensor::of_managed(managed, &[64], Some(&other))?.into_versioned();
    // SAFETY: exported just now.
    let tensor = unsafe { ForeignTensor::from_raw(raw, context) }?;
    // SAFETY: the copy is on the stream.
    let found = unsafe { tensor.view::<u32>(&other) }?;
    assert_eq!(found.to_vec(&other)?, [3; 64]);
    Ok(())
}
