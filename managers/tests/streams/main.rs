//! Pipelines and what is made of them, on a software device in strict mode.

mod chain;
mod copies;
mod depth;
mod graphs;
mod iter;
mod managed;
mod multi;
mod push;
mod stream_pool;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use cupola_managers::pipeline::{Pipeline, PipelineConfig, Step};
use cupola_managers::{Error, PoolConfig, ops};
use cupola_sim::{Machine, Strict};

use test_bench::{PoolBench, TestBench};

/// A bench that looks for everything.
fn bench() -> PoolBench {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    let machine = Machine::builder().worker_threads(2).strict(strict);
    PoolBench::on(TestBench::on(machine), PoolConfig::limit(64 << 20))
}

/// Elements of an item, in and out.
const LEN: usize = 100;

fn pipeline(bench: &PoolBench, depth: usize) -> Pipeline<u32, u32> {
    let config = PipelineConfig::new(LEN, LEN).depth(depth);
    Pipeline::new(&bench.base.context, &bench.pool, config).unwrap()
}

/// In place of a kernel: the output is the input.
fn copy(step: Step<'_, u32, u32>) -> Result<usize, Error> {
    let len = step.input.len();
    let output = step.output.slice(..len)?;
    ops::copy(step.input, output, step.stream).map(|()| len)
}
