//! Host memory that devices reach.

use cupola_managers::host::{ManagedAdvice, ManagedLocation, PinnedPoolConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Context, Error, ops};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// A pinned pool's whole life.
pub(crate) fn pinned(stage: &Stage) -> Outcome {
    Ok(pinned_pool(&stage.context()?)?)
}

fn pinned_pool(context: &Context) -> Result<(), Error> {
    let stream = context.streams().acquire(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let config = PinnedPoolConfig::limit(512 << 10).region_bytes(128 << 10);
    let host = context.pinned_pool(config)?;
    let mut words = host.zeros::<u32>(64)?;
    words.as_mut_slice()?.fill(7);
    let mut there = pool.allocate::<u32>(64, &stream)?;
    ops::copy_to_device(&words, &mut there, &stream)?;
    drop(words);
    let mut back = host.allocate::<u32>(64)?;
    ops::copy_to_host(&there, &mut back, &stream)?;
    assert_eq!(back.as_slice()?, [7; 64], "success, but not of the work");
    // Another region, then one for which the others have to go, after their copies.
    drop(host.allocate::<u8>(300 << 10)?);
    ops::copy_to_host(&there, &mut back, &stream)?;
    drop(back);
    let all = host.allocate::<u8>(512 << 10)?;
    assert!(matches!(host.allocate::<u8>(1), Err(Error::Host(_))));
    drop(all);
    assert_eq!(host.trim()?, 512 << 10);
    let mut left = host.allocate::<u32>(64)?;
    ops::copy_to_host(&there, &mut left, &stream)?;
    Ok(())
}

/// Registered memory: owned, borrowed, and for reading.
pub(crate) fn registered(stage: &Stage) -> Outcome {
    Ok(registrations(&stage.context()?)?)
}

fn registrations(context: &Context) -> Result<(), Error> {
    let stream = context.streams().acquire(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut there = pool.allocate::<u32>(64, &stream)?;
    let owned = context.register_host(vec![7u32; 64])?;
    ops::copy_to_device(&owned, &mut there, &stream)?;
    assert_eq!(owned.into_inner()?, [7; 64], "success, but not of the work");
    let mut borrowed = [0; 64];
    context.with_registered(&mut borrowed, |view| {
        ops::copy_to_host(&there, view, &stream)
    })??;
    assert_eq!(borrowed, [7; 64], "success, but not of the work");
    let constant = [3; 64];
    context.with_registered_read_only(&constant, |view| {
        ops::copy_to_device(view, &mut there, &stream)
    })??;
    let dropped = context.register_host(vec![1u32; 64])?;
    ops::copy_to_device(&dropped, &mut there, &stream)?;
    Ok(())
}

/// Managed memory, looked at and worked on by turns.
pub(crate) fn managed(stage: &Stage) -> Outcome {
    Ok(managed_memory(&stage.context()?)?)
}

fn managed_memory(context: &Context) -> Result<(), Error> {
    let stream = context.streams().acquire(Default::default())?;
    let mut words = context.managed::<u32>(64)?;
    words.as_mut_slice()?.fill(1);
    words.advise(.., ManagedAdvice::AccessedBy(ManagedLocation::Device))?;
    words.prefetch(.., ManagedLocation::Device, &stream)?;
    // SAFETY: the view is given to the fill on its stream alone.
    let view = unsafe { words.device_mut(&stream) }?;
    ops::fill(view.slice(32..)?, 7, &stream)?;
    assert_eq!(
        words.as_slice()?[31..33],
        [1, 7],
        "success, but not of the work"
    );
    // SAFETY: as before.
    let view = unsafe { words.device_mut(&stream) }?;
    ops::fill(view, 2, &stream)?;
    Ok(())
}
