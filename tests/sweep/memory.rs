//! A pool's whole life: mapping, giving up, taking from elsewhere, two kinds of memory.

use cupola_managers::memory::{PoolConfig, RawBlock, Source};
use cupola_managers::{Context, Error, MemoryPool, Stream, ops};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PAGE: u64 = 2 << 20;

/// Everything that a pool asks of the driver, on pages.
pub(crate) fn pages(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let streams = [
        context.streams().acquire(Default::default())?,
        context.streams().acquire(Default::default())?,
    ];
    Ok(life(
        &context,
        PoolConfig::limit(4 * PAGE),
        [&streams[0], &streams[1]],
    )?)
}

/// The same on chunks.
pub(crate) fn chunks(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let streams = [
        context.streams().acquire(Default::default())?,
        context.streams().acquire(Default::default())?,
    ];
    // What is in a chunk is given back with the chunk only.
    let mut config = PoolConfig::limit(32 * PAGE);
    config.source = Source::Chunks;
    Ok(life(&context, config, [&streams[0], &streams[1]])?)
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
