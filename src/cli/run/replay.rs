//! The first half of the main job: a real program's allocations through the pool.
//!
//! Every block is stamped by a kernel right after its allocation, on its stream, at both
//! ends and at sampled offsets, and checked by another right before its free: a block that
//! shares memory with a live one, or is handed out while its old owner's work still runs,
//! shows as wrong bytes.

use std::time::Instant;

use cupola::kernels::Kernels;
use cupola::managers::ops;
use cupola::trace::{Operation, Trace};
use cupola::{Buffer, Context, Error, PoolConfig, Stream, StreamConfig};
use serde::Serialize;

use crate::cli::output::Progress;

/// What the replay did.
#[derive(Debug, Serialize)]
pub(super) struct ReplayReport {
    pub(super) operations: usize,
    pub(super) blocks: usize,
    pub(super) seconds: f64,
    pub(super) operations_per_second: f64,
    /// The hard limit of the pool in bytes.
    pub(super) limit: u64,
    /// The most bytes that the trace has alive.
    pub(super) trace_peak: u64,
    /// The most bytes that the pool had alive.
    pub(super) pool_peak: u64,
    /// The bytes that the driver kept for the pool at the end, if it says.
    pub(super) reserved: Option<u64>,
    /// What the pool's memory comes from.
    pub(super) pool: String,
    pub(super) stamps_checked: usize,
    /// Sampled bytes that did not hold what was written.
    pub(super) wrong_bytes: u64,
    /// Whether nothing was wrong, and the peak is the trace's own.
    pub(super) verified: bool,
}

/// A block that is alive.
struct Block {
    buffer: Buffer<u8>,
    stream: usize,
}

/// Replays `trace` under `limit` bytes.
pub(super) fn run(
    context: &Context,
    kernels: &Kernels,
    trace: &Trace,
    limit: u64,
    quiet: bool,
) -> Result<ReplayReport, Error> {
    let pool = context.memory_pool(PoolConfig::limit(limit))?;
    let mut streams: Vec<Stream> = vec![context.streams().create(StreamConfig::default())?];
    // Counts wrong bytes; not from the pool, whose peak is compared with the trace's.
    let own = context.memory_pool(PoolConfig::limit(4096))?;
    let mut wrong = own.allocate::<u64>(1, &streams[0])?;
    ops::zero(&mut wrong, &streams[0])?;
    ops::synchronize(&streams[0])?;

    let mut live: Vec<Option<Block>> = Vec::new();
    live.resize_with(trace.blocks(), || None);
    let mut checked = 0;
    let mut release = |block: Block, seed: usize, streams: &[Stream]| -> Result<(), Error> {
        let stream = &streams[block.stream];
        kernels.check(&block.buffer, seed as u64, &mut wrong, stream)?;
        checked += 1;
        // Freed on drop, in stream order: after the check.
        drop(block);
        Ok(())
    };

    let mut progress = Progress::new("replay", trace.operations().len() as u64, quiet);
    let start = Instant::now();
    for (done, operation) in trace.operations().iter().enumerate() {
        match *operation {
            Operation::Allocate {
                block,
                bytes,
                stream,
            } => {
                let stream = stream as usize;
                while streams.len() <= stream {
                    streams.push(context.streams().create(StreamConfig::default())?);
                }
                let len = usize::try_from(bytes).unwrap_or(usize::MAX);
                let mut buffer = pool.allocate::<u8>(len, &streams[stream])?;
                kernels.stamp(&mut buffer, block as u64, &streams[stream])?;
                live[block] = Some(Block { buffer, stream });
            }
            Operation::Free { block, .. } => {
                if let Some(found) = live[block].take() {
                    release(found, block, &streams)?;
                }
            }
        }
        if done % 1024 == 0 {
            progress.at(done as u64);
        }
    }
    // What the program never freed.
    for (seed, block) in live.into_iter().enumerate() {
        if let Some(block) = block {
            release(block, seed, &streams)?;
        }
    }
    for stream in &streams {
        ops::synchronize(stream)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);

    let mut wrong_bytes = [0_u64];
    ops::read(&wrong, &mut wrong_bytes, &streams[0])?;
    let usage = pool.usage()?;
    let operations = trace.operations().len();
    Ok(ReplayReport {
        operations,
        blocks: trace.blocks(),
        seconds,
        operations_per_second: operations as f64 / seconds,
        limit,
        trace_peak: trace.peak_bytes(),
        pool_peak: usage.peak,
        reserved: usage.reserved,
        pool: pool.describe(),
        stamps_checked: checked,
        wrong_bytes: wrong_bytes[0],
        verified: wrong_bytes[0] == 0
            && checked == trace.blocks()
            && usage.peak == trace.peak_bytes()
            && usage.live == 0,
    })
}
