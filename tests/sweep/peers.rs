//! Two devices: the matrix, access, copies and the checks of their first use.

use cupola_managers::ops::{self, Cuboid, Rectangle};
use cupola_managers::pool::{DeviceLimit, Source};
use cupola_managers::vmm::Access;
use cupola_managers::{Context, PoolConfig};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PAGE: u64 = 2 << 20;

/// The primary contexts of both devices, kept.
pub(super) fn contexts(stage: &Stage) -> Result<[Context; 2], cupola_managers::Error> {
    let other = stage.execution().devices().get(1)?.primary()?;
    stage.keep(&other);
    Ok([stage.context()?, other])
}

/// The matrix, and an access with its check.
pub(crate) fn access(stage: &Stage) -> Outcome {
    let peers = stage.execution().devices().peers()?;
    assert!(peers.can_access(0, 1), "success, but not of the question");
    let [here, there] = contexts(stage)?;
    let first = here.peer_access(&there)?;
    let second = here.peer_access(&there)?;
    drop(first);
    second.end()?;
    Ok(())
}

/// Copies with their check, and memory that the other device has used.
pub(crate) fn copies(stage: &Stage) -> Outcome {
    let [here, there] = contexts(stage)?;
    let stream = here.streams().create(Default::default())?;
    let other = there.streams().create(Default::default())?;
    let pool = here.memory_pool(PoolConfig::limit(8 << 20))?;
    let target = there.memory_pool(PoolConfig::limit(8 << 20))?;
    let from = pool.upload(&[7u32; 64], &stream)?;
    let mut to = target.zeros::<u32>(64, &other)?;
    ops::order(&other, &stream)?;
    ops::copy_between(&from, &mut to, &stream)?;
    ops::order(&stream, &other)?;
    ops::copy_between(&from, &mut to, &other)?;
    assert_eq!(to.to_vec(&other)?, [7; 64], "success, but not of the work");
    ops::fill(&mut to, 0, &other)?;
    ops::order(&other, &stream)?;
    let rows = Rectangle::new(3, 4).from_pitch(5).to_pitch(16);
    ops::copy_between_2d(&from, &mut to, rows, &stream)?;
    let slices = Cuboid::new(2, 2, 2).to_pitch(4).to_rows(3);
    ops::copy_between_3d(&from, to.slice_mut(7..)?, slices, &stream)?;
    let mut near = pool.zeros::<u32>(64, &stream)?;
    ops::copy_3d(&from, &mut near, slices.from_pitch(3).from_rows(4), &stream)?;
    ops::order(&stream, &other)?;
    let copied = |words: Vec<u32>| words.iter().filter(|&&word| word == 7).count();
    assert_eq!(copied(to.to_vec(&other)?), 12 + 8, "rows and slices");
    assert_eq!(copied(near.to_vec(&stream)?), 8);
    drop(from);
    drop(pool.zeros::<u32>(64, &stream)?);
    Ok(())
}

/// Pools of both kinds and an address range, open to the other device.
pub(crate) fn opened(stage: &Stage) -> Outcome {
    let [here, there] = contexts(stage)?;
    let stream = here.streams().create(Default::default())?;
    let other = there.streams().create(Default::default())?;
    for source in [Source::Best, Source::Chunks] {
        let config = PoolConfig {
            source,
            ..PoolConfig::limit(32 << 20)
        };
        let pool = there.memory_pool(config)?;
        let mut words = pool.zeros::<u32>(64, &other)?;
        pool.open_to(&here)?;
        ops::order(&other, &stream)?;
        ops::fill(&mut words, 7, &stream)?;
        let mut more = pool.zeros::<u8>(5 << 20, &other)?;
        ops::order(&other, &stream)?;
        ops::zero(&mut more, &stream)?;
        ops::order(&stream, &other)?;
        assert_eq!(
            words.to_vec(&other)?,
            [7; 64],
            "success, but not of the work"
        );
        let refused = pool.close_to(&here);
        assert!(refused.is_err(), "its memory is used");
        drop((words, more));
        ops::synchronize(&other)?;
        pool.close_to(&here)?;
        let words = pool.zeros::<u32>(64, &other)?;
        assert!(words.used_on(&stream).is_err(), "it is closed");
        pool.open_to(&here)?;
        words.used_on(&stream)?;
    }
    let memory = there.virtual_memory(&DeviceLimit::new(PAGE))?;
    let mut range = memory.reserve(PAGE)?;
    range.map(0, memory.create(PAGE)?)?;
    range.set_access(0..PAGE, Access::ReadWrite)?;
    range.grant_peer(0..PAGE, &here, Access::Read)?;
    range.revoke_peer(0..PAGE, &here)?;
    Ok(())
}
