//! What a pipeline tells of itself: traces, pictures, spans, and ranges for a profiler.

mod exports;
#[cfg(unix)]
mod nvtx;
mod spans;
mod subscriber;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use cupola_managers::pipeline::{Pipeline, PipelineConfig, Report};
use cupola_managers::{Error, ItemError, PoolConfig, ops};

use test_bench::{PoolBench, TestBench};

/// Elements of an item.
const LEN: usize = 1000;

fn pipeline(bench: TestBench, config: PipelineConfig) -> (PoolBench, Pipeline<u32, u32>) {
    let bench = PoolBench::on(bench, PoolConfig::limit(64 << 20));
    let pipeline = Pipeline::new(&bench.base.context, &bench.pool, config).unwrap();
    (bench, pipeline)
}

/// Sends so many items through, of which item `fails` does not get far.
fn run(
    pipeline: &mut Pipeline<u32, u32>,
    items: u64,
    fails: Option<u64>,
) -> Result<Report, ItemError<Error>> {
    let mut left = items;
    pipeline.run::<Error>(
        |input| {
            let more = left > 0;
            left -= u64::from(more);
            Ok(more.then_some(input.len()))
        },
        |step| {
            if fails == Some(step.index) {
                return Err(Error::Full { kind: "test" });
            }
            let len = step.input.len();
            ops::copy(step.input, step.output, step.stream).map(|()| len)
        },
        |_| Ok(()),
    )
}
