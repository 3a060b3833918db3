//! Many streams at once: whether work that does not depend on other work waits for it all the same.
//!
//! A device takes work from a few hardware queues, 8 unless `CUDA_DEVICE_MAX_CONNECTIONS` says more when
//! the driver is initialised. Streams that share a queue wait for each other where the first of them waits
//! for itself: here each stream is given two kernels in a row, one stream after the other.

use std::time::Instant;

use cupola::MemoryPool;
use cupola_managers::buffer::Buffer;
use cupola_managers::ops;
use cupola_managers::stream::{PooledStream, StreamPool, StreamPoolConfig};
use cupola_managers::{Context, Error, Stream};

use super::PipelineError;
use super::kernel::Work;
use crate::bench::{Figures, median};

const STREAMS: usize = 32;
/// Elements of a kernel: one block.
const ELEMENTS: usize = 32;

/// The time of all streams beside that of one, from which on they are said to wait for each other.
const SERIAL: f64 = 1.25;

pub(super) fn run(
    figures: &mut Figures,
    context: &Context,
    pool: &MemoryPool,
    work: &Work,
    quick: bool,
) -> Result<(), PipelineError> {
    let (rounds, us) = if quick { (1, 20.0) } else { (7, 2_000.0) };
    let load = work.tune(context, pool, ELEMENTS, us)?;
    let streams = StreamPool::new(context, StreamPoolConfig::new(STREAMS))?;
    let mut lanes = Vec::new();
    for _ in 0..STREAMS {
        lanes.push(Lane::new(streams.lease()?, pool)?);
    }
    let [mut alone, mut together] = [const { Vec::new() }; 2];
    for round in 0..=rounds {
        let one = kernels(&mut lanes[..1], work, load.rounds)?;
        let all = kernels(&mut lanes, work, load.rounds)?;
        if round > 0 {
            alone.push(one);
            together.push(all);
        }
    }
    let one = "two kernels on one stream";
    figures.push(one, "us", &alone, None);
    let all = format!("two kernels on each of {STREAMS} streams");
    figures.push(&all, "us", &together, Some(one));
    let factor = median(&together) / median(&alone);
    if factor > SERIAL {
        let queues = std::env::var("CUDA_DEVICE_MAX_CONNECTIONS");
        let queues = queues.unwrap_or_else(|_| "not set, which means 8".into());
        figures.notes.push(format!(
            "{STREAMS} streams take {factor:.2} times as long as one: on a GPU, streams that share a \
             hardware queue wait for each other (CUDA_DEVICE_MAX_CONNECTIONS is {queues}); the \
             software device has this machine's cores"
        ));
    }
    Ok(())
}

/// A stream with memory of its own.
struct Lane {
    from: Buffer<f32>,
    to: Buffer<f32>,
    stream: PooledStream,
}

impl Lane {
    fn new(stream: PooledStream, pool: &MemoryPool) -> Result<Self, Error> {
        Ok(Self {
            from: pool.allocate(ELEMENTS, &stream)?,
            to: pool.allocate(ELEMENTS, &stream)?,
            stream,
        })
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }
}

/// Microseconds until two kernels on each stream are done.
fn kernels(lanes: &mut [Lane], work: &Work, rounds: u32) -> Result<f64, Error> {
    let start = Instant::now();
    for lane in &mut *lanes {
        for _ in 0..2 {
            work.put(lane.from.view(), lane.to.view_mut(), rounds, &lane.stream)?;
        }
    }
    for lane in lanes {
        ops::synchronize(lane.stream())?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6)
}
