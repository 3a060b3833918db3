//! Host memory that devices reach, on software devices of every profile in strict mode.

mod limits;
mod managed;
mod model;
mod pool;
mod profiles;
mod registered;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use cupola_managers::PoolConfig;
use cupola_sim::{Machine, MachineBuilder, Profile, Strict};

use test_bench::{PoolBench, TestBench, hold};

const PROFILES: [Profile; 4] = [
    Profile::Discrete,
    Profile::Confidential,
    Profile::Integrated,
    Profile::Mig,
];

/// A machine that looks for everything.
fn machine() -> MachineBuilder {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    Machine::builder().worker_threads(2).strict(strict)
}

fn bench_of(profile: Profile) -> PoolBench {
    let base = TestBench::on(machine().profile(profile));
    PoolBench::on(base, PoolConfig::limit(64 << 20))
}

fn bench() -> PoolBench {
    bench_of(Profile::Discrete)
}
