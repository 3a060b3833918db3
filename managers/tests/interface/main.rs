//! What programs do with memory and modules every day, on a software device in strict mode.

mod allocators;
mod batches;
mod buffers;
mod fill;
mod interop;
mod modules;
mod occupancy;
mod old_drivers;
mod pinned;
mod primary;
mod rows;
mod tensor_maps;
mod vmm;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use cupola_managers::PoolConfig;
use cupola_sim::{Machine, Strict};

use test_bench::{PoolBench, TestBench, hold};

/// A bench that looks for everything.
fn bench() -> PoolBench {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    let machine = Machine::builder().worker_threads(1).strict(strict);
    PoolBench::on(TestBench::on(machine), PoolConfig::limit(64 << 20))
}
