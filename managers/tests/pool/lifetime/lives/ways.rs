//! What a pool may do in its life, and which functions of the driver it asks for that.

use cupola_managers::pool::layout::RunState;
use cupola_managers::pool::{DeviceLimit, history::Action};
use cupola_managers::{Error, Result};
use cupola_sys::SymbolId;

use super::*;

/// Grows, shrinks, gives back, and takes from the other stream.
fn grow_and_shrink(world: &World<'_>, limit: u64) -> Result<()> {
    let (pool, one, two) = (world.pool(), &world.one, &world.two);
    world.after(pool.set_limit(limit))?;
    let kept = world.take(0, 300, one)?;
    for bytes in [10_000, PAGE / 2, 3 * PAGE] {
        world.take(0, bytes, one)?;
    }
    let other = world.take(0, 3 * PAGE, two)?;
    world.after(pool.trim())?;
    drop(other);
    world.after(pool.available())?;
    world.after(pool.set_limit(limit / 2))?;
    world.take(0, PAGE, two)?;
    drop(kept);
    world.after(pool.trim()).map(drop)
}

/// A graph's memory beside the pool's own, to its end.
fn graph(world: &World<'_>) -> Result<()> {
    let (pool, one, two) = (world.pool(), &world.one, &world.two);
    let before = world.take(0, PAGE, one)?;
    let memory = world.after(pool.graph_memory(one))?;
    let within = [300, 2 * PAGE].map(|bytes| world.take(0, bytes, one));
    // The graph may use it.
    drop(before);
    let [small, large] = within;
    drop((small?, large?));
    world.take(0, 3 * PAGE, one)?;
    world.take(0, 2 * PAGE, two)?;
    assert!(world.after(memory.mapped())? >= 3 * PAGE);
    assert_eq!(memory.held(), PAGE);
    memory.end();
    world.take(0, PAGE, one)?;
    drop(memory);
    world.after(Ok(()))?;
    world.after(pool.trim()).map(drop)
}

/// Two pools that need what the other keeps.
fn give_to_each_other(world: &World<'_>, bytes: u64) -> Result<()> {
    for (pool, stream) in [(0, &world.one), (1, &world.two), (0, &world.one)] {
        drop(world.take(pool, bytes, stream)?);
        ops::synchronize(stream)?;
    }
    let some = world.take(1, bytes / 4, &world.two)?;
    drop(world.take(0, bytes / 4, &world.one)?);
    drop(some);
    for pool in &world.pools {
        world.after(pool.trim())?;
    }
    Ok(())
}

/// What is done is recorded, and drawn in between.
fn recorded(world: &World<'_>, limit: u64) -> Result<()> {
    let pool = world.pool();
    let behind = || -> Result<u64> {
        let layout = world.after(pool.layout())?;
        assert_eq!(layout.mapped, pool.mapped());
        let runs = layout.regions.iter().flat_map(|region| &region.runs);
        let mapped = runs.filter(|run| run.state == RunState::Mapped);
        Ok(mapped.map(|run| run.bytes).sum())
    };
    pool.record(1000)?;
    let before = behind()?;
    let done = grow_and_shrink(world, limit);
    let _kept = done.is_ok().then(|| world.take(0, PAGE, &world.one));
    let recording = pool.take_recording()?;
    let last = pool.history()?;
    assert!(last.events.len() <= 8 && last.dropped >= recording.dropped);
    // What the driver did not do is in neither.
    let sum = |action| -> u64 {
        let events = recording.events.iter();
        let of_action = events.filter(|event| event.action == action);
        of_action.map(|event| event.bytes).sum()
    };
    let more = before + sum(Action::Map);
    assert_eq!(more - sum(Action::Unmap), behind()?);
    done
}

/// What is asked for is there, but work still uses it; then in parts, so that the work has to end.
fn wait(world: &World<'_>) -> Result<()> {
    let (one, two) = (&world.one, &world.two);
    let whole = world.take(0, 3 * PAGE, one)?;
    ops::host_function(one, || std::thread::sleep(Duration::from_millis(2)))?;
    drop(whole);
    drop(world.take(0, 3 * PAGE, two)?);
    let low = world.take(0, PAGE, one)?;
    let between = world.take(0, PAGE, one)?;
    let high = world.take(0, PAGE, one)?;
    ops::host_function(one, || std::thread::sleep(Duration::from_millis(2)))?;
    drop((low, high));
    drop(world.take(0, 2 * PAGE, two)?);
    drop(between);
    world.after(world.pool().trim()).map(drop)
}

/// The device has less than the limit.
fn fill_the_device(world: &World<'_>) -> Result<()> {
    let _kept = world.take(0, 30 * PAGE, &world.one)?;
    for pages in [40, 12] {
        match world.take(0, pages * PAGE, &world.one) {
            Err(Error::OutOfMemory { account, .. }) => assert_eq!(account.limit, 1 << 40),
            Err(error) => return Err(error),
            Ok(_) => panic!("the device has 40 pages"),
        }
    }
    Ok(())
}

/// How pages come and go.
const PAGES: &[SymbolId] = &[
    id::cuMemAddressReserve,
    id::cuMemCreate,
    id::cuMemMap,
    id::cuMemSetAccess,
    id::cuMemUnmap,
    id::cuMemRelease,
    id::cuThreadExchangeStreamCaptureMode,
];
const CHUNKS: &[SymbolId] = &[
    id::cuMemAlloc_v2,
    id::cuMemFree_v2,
    id::cuThreadExchangeStreamCaptureMode,
];
/// Whether what was freed is complete.
const BATCHES: &[SymbolId] = &[
    id::cuStreamIsCapturing,
    id::cuEventCreate,
    id::cuEventRecord,
    id::cuEventQuery,
];
/// How much the device has.
const ROOM: &[SymbolId] = &[id::cuMemGetInfo_v2];

fn limited(limit: u64) -> PoolConfig {
    PoolConfig::limit(limit).history(8)
}

fn alone(bench: &TestBench, limit: u64) -> World<'_> {
    World::new(bench, [limited(limit)])
}

fn together(bench: &TestBench, limit: u64) -> World<'_> {
    let shared = DeviceLimit::new(limit);
    let config = || limited(limit).within(&shared);
    let mut world = World::new(bench, [config(), config()]);
    world.shared = Some(shared);
    world
}

const LIFE: Life = Life {
    name: "growing and shrinking",
    backing: Backing::Pages,
    device: 16 << 30,
    set_up: |bench| alone(bench, 4 * PAGE),
    live: |world| grow_and_shrink(world, 4 * PAGE),
    proof: |world| assert!(world.pool().usage().unwrap().calls.total() > 0),
    functions: &[PAGES, BATCHES, ROOM],
    polls: false,
    ends: false,
};

pub(super) const LIVES: [Life; 10] = [
    LIFE,
    Life {
        backing: Backing::Chunks,
        set_up: |bench| alone(bench, 40 * PAGE),
        live: |world| grow_and_shrink(world, 40 * PAGE),
        functions: &[CHUNKS, BATCHES, ROOM],
        ..LIFE
    },
    Life {
        name: "a graph's memory",
        set_up: |bench| alone(bench, 12 * PAGE),
        live: graph,
        functions: &[
            PAGES,
            BATCHES,
            ROOM,
            // It is a pool of its own.
            &[
                id::cuDeviceGetAttribute,
                id::cuMemGetAllocationGranularity,
                id::cuMemAddressFree,
            ],
        ],
        ends: true,
        ..LIFE
    },
    Life {
        name: "a graph's memory",
        backing: Backing::Chunks,
        set_up: |bench| alone(bench, 100 * PAGE),
        live: graph,
        functions: &[CHUNKS, BATCHES],
        ends: true,
        ..LIFE
    },
    Life {
        name: "giving to each other",
        set_up: |bench| together(bench, 4 * PAGE),
        live: |world| give_to_each_other(world, 3 * PAGE),
        functions: &[PAGES, BATCHES, ROOM, &[id::cuStreamSynchronize]],
        ..LIFE
    },
    Life {
        name: "giving to each other",
        backing: Backing::Chunks,
        set_up: |bench| together(bench, 20 * PAGE),
        live: |world| give_to_each_other(world, 12 * PAGE),
        functions: &[CHUNKS, BATCHES, &[id::cuStreamSynchronize]],
        ..LIFE
    },
    Life {
        name: "recording",
        live: |world| recorded(world, 4 * PAGE),
        ..LIFE
    },
    Life {
        name: "waiting",
        set_up: |bench| alone(bench, 3 * PAGE),
        live: wait,
        proof: |world| {
            let usage = world.pool().usage().unwrap();
            assert!(usage.device_waits > 0 && usage.host_waits > 0, "{usage:?}");
        },
        functions: &[
            PAGES,
            BATCHES,
            ROOM,
            &[id::cuLaunchHostFunc, id::cuStreamWaitEvent],
        ],
        polls: true,
        ..LIFE
    },
    Life {
        name: "a full device",
        device: 40 * PAGE,
        set_up: |bench| alone(bench, 1 << 40),
        live: fill_the_device,
        functions: &[
            &[
                id::cuMemAddressReserve,
                id::cuMemCreate,
                id::cuMemMap,
                id::cuMemSetAccess,
                id::cuThreadExchangeStreamCaptureMode,
            ],
            ROOM,
        ],
        proof: |world| assert_eq!(world.pool().usage().unwrap().exhausted, 2),
        ..LIFE
    },
    Life {
        name: "a full device",
        backing: Backing::Chunks,
        device: 40 * PAGE,
        set_up: |bench| alone(bench, 1 << 40),
        live: fill_the_device,
        functions: &[
            &[id::cuMemAlloc_v2, id::cuThreadExchangeStreamCaptureMode],
            ROOM,
        ],
        proof: |world| assert_eq!(world.pool().usage().unwrap().exhausted, 2),
        ..LIFE
    },
];
