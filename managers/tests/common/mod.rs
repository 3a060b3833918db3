//! What most tests of managers begin with.

use cupola_managers::{Context, ExecutionManager};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;

#[path = "../../src/test_bench.rs"]
mod test_bench;

#[allow(unused_imports, reason = "each test program uses a part")]
pub(crate) use test_bench::{PoolBench, TestBench, free, hold};

/// The parts of a bench, for tests that drop them one by one.
#[allow(dead_code, reason = "each test program uses a part")]
pub(crate) fn open() -> (FaultTable, Machine, ExecutionManager, Context) {
    let bench = TestBench::new();
    (bench.faults, bench.machine, bench.execution, bench.context)
}
