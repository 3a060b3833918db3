//! A pool's whole life: mapping, giving up, taking from elsewhere, two kinds of memory; and its
//! ways beside that.

use std::time::Duration;

use cupola_managers::pool::{DeviceLimit, PoolConfig, RawBlock, Source};
use cupola_managers::{Context, Error, MemoryPool, Stream, ops};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PAGE: u64 = 2 << 20;

/// Everything that a pool asks of the driver, on pages.
pub(crate) fn pages(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    Ok(life(&context, PoolConfig::limit(4 * PAGE), [&one, &two])?)
}

/// The same on chunks.
pub(crate) fn chunks(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    // What is in a chunk is given back with the chunk only.
    Ok(life(&context, on_chunks(32 * PAGE), [&one, &two])?)
}

/// A graph's memory, and what its stream frees meanwhile of the pool's.
pub(crate) fn graph(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    for config in [PoolConfig::limit(16 * PAGE), on_chunks(64 * PAGE)] {
        let pool = context.memory_pool(config)?;
        let before = Kept::new(&pool, PAGE, &one)?;
        let memory = pool.graph_memory(&one)?;
        let within = Kept::new(&pool, 3 * PAGE, &one)?;
        drop(before);
        Kept::new(&pool, 100, &one)?;
        Kept::new(&pool, 2 * PAGE, &two)?;
        drop(within);
        memory.end();
        memory.layout()?;
        drop(memory);
        Kept::new(&pool, PAGE, &one)?;
        pool.trim()?;
    }
    Ok(())
}

/// Two pools that need what the other keeps.
pub(crate) fn shared(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    for (config, bytes) in [
        (PoolConfig::limit(4 * PAGE), 3 * PAGE),
        (on_chunks(20 * PAGE), 12 * PAGE),
    ] {
        let limit = DeviceLimit::new(config.limit);
        let config = config.within(&limit);
        let pools = [
            context.memory_pool(config.clone())?,
            context.memory_pool(config)?,
        ];
        for (pool, stream) in [(&pools[0], &one), (&pools[1], &two), (&pools[0], &one)] {
            Kept::new(pool, bytes, stream)?;
            ops::synchronize(stream)?;
        }
    }
    Ok(())
}

/// What is done is recorded, and drawn.
pub(crate) fn recorded(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    let pool = context.memory_pool(PoolConfig::limit(4 * PAGE).history(4))?;
    pool.record(100)?;
    let kept = Kept::new(&pool, 100, &one)?;
    Kept::new(&pool, 3 * PAGE, &one)?;
    Kept::new(&pool, 3 * PAGE, &two)?;
    pool.layout()?;
    pool.set_limit(PAGE)?;
    drop(kept);
    pool.trim()?;
    let recording = pool.take_recording()?;
    assert!(recording.events.len() > 6, "{recording:?}");
    Ok(())
}

/// What is asked for is there, but in parts, and work still uses them.
pub(crate) fn waiting(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let [one, two] = streams(&context)?;
    let pool = context.memory_pool(PoolConfig::limit(3 * PAGE))?;
    let low = Kept::new(&pool, PAGE, &one)?;
    let between = Kept::new(&pool, PAGE, &one)?;
    let high = Kept::new(&pool, PAGE, &one)?;
    ops::host_function(&one, || std::thread::sleep(Duration::from_millis(1)))?;
    drop((low, high));
    Kept::new(&pool, 2 * PAGE, &two)?;
    drop(between);
    Ok(())
}

/// A device of 40 pages has less than the limit.
pub(crate) fn full(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().acquire(Default::default())?;
    for config in [PoolConfig::limit(1 << 40), on_chunks(1 << 40)] {
        let pool = context.memory_pool(config)?;
        let _kept = Kept::new(&pool, 30 * PAGE, &stream)?;
        for pages in [40, 12] {
            match Kept::new(&pool, pages * PAGE, &stream) {
                Err(Error::OutOfMemory { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => panic!("the device has 40 pages"),
            }
        }
    }
    Ok(())
}

fn streams(context: &Context) -> Result<[Stream; 2], Error> {
    let streams = context.streams();
    Ok([
        streams.acquire(Default::default())?,
        streams.acquire(Default::default())?,
    ])
}

fn on_chunks(limit: u64) -> PoolConfig {
    let mut config = PoolConfig::limit(limit);
    config.source = Source::Chunks;
    config
}

fn life(context: &Context, config: PoolConfig, [one, two]: [&Stream; 2]) -> Result<(), Error> {
    let pool = context.memory_pool(config)?;
    // Small ones, of a slab; larger ones; and one over several pages.
    let kept = Kept::new(&pool, 100, one)?;
    for bytes in [64 << 10, PAGE - 256, 2 * PAGE] {
        Kept::new(&pool, bytes, one)?;
    }
    // Freed on one stream and wanted on the other, and beyond what is left.
    drop(Kept::new(&pool, 3 * PAGE, one)?);
    let lent = Kept::new(&pool, 3 * PAGE, two)?;
    let mut words = pool.allocate::<u32>(64, two)?;
    ops::fill(&mut words, 7, two)?;
    let mut back = [0; 64];
    ops::read(&words, &mut back, two)?;
    assert_eq!(back, [7; 64], "success, but not of the work");
    drop((words, lent));
    // What is over goes with the free.
    let over = Kept::new(&pool, 3 * PAGE, one)?;
    pool.set_limit(3 * PAGE)?;
    drop(over);
    drop(Kept::new(&pool, PAGE, one)?);
    pool.usage()?;
    pool.available()?;
    pool.trim()?;
    drop(kept);
    Ok(())
}

/// A block that is freed whatever happens.
struct Kept<'s>(Option<RawBlock>, &'s Stream);

impl<'s> Kept<'s> {
    fn new(pool: &MemoryPool, bytes: u64, stream: &'s Stream) -> Result<Self, Error> {
        let block = pool.allocate_raw(bytes, 256, stream)?;
        Ok(Self(Some(block), stream))
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            // SAFETY: nothing uses it, and it was allocated on this stream.
            let _refused_in_forks_only = unsafe { block.free(self.1) };
        }
    }
}
