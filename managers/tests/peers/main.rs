//! Several devices: the matrix, access, copies, and the check of their first use, on software
//! devices of several topologies in strict mode.

mod access;
mod boxes;
mod check;
mod closed;
mod copies;
mod matrix;
mod model;
mod pools;
mod ranges;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use cupola_managers::peer::{PeerCheck, PeerError};
use cupola_managers::{
    Buffer, Context, ContextsConfig, Error, ExecutionConfig, ExecutionManager, Function,
    MemoryPool, PoolConfig, Stream, ops,
};
use cupola_sim::fault::FaultTable;
use cupola_sim::{Machine, MachineBuilder, Strict};

use test_bench::{TestBench, hold};

/// A machine of so many devices that looks for everything.
fn machine(devices: usize) -> MachineBuilder {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    Machine::builder()
        .devices(devices)
        .worker_threads(2)
        .strict(strict)
}

/// One device of a bench.
struct Side {
    pool: MemoryPool,
    stream: Stream,
    context: Context,
}

impl Side {
    fn new(bench: &TestBench, ordinal: u32) -> Self {
        Self::of(
            bench
                .execution
                .devices()
                .get(ordinal)
                .unwrap()
                .primary()
                .unwrap(),
        )
    }

    fn of(context: Context) -> Self {
        Self {
            pool: context.memory_pool(PoolConfig::limit(64 << 20)).unwrap(),
            stream: context.streams().create(Default::default()).unwrap(),
            context,
        }
    }

    fn upload(&self, elements: &[u32]) -> Buffer<u32> {
        let buffer = self.pool.upload(elements, &self.stream).unwrap();
        ops::synchronize(&self.stream).unwrap();
        buffer
    }

    fn kernel(&self, name: &str) -> Function {
        let module = self.context.modules().load_ptx(PTX).unwrap();
        module.function(name).unwrap()
    }
}

/// A bench and its devices.
fn open(machine: MachineBuilder) -> (TestBench, Vec<Side>) {
    let bench = TestBench::on(machine);
    let sides = sides(&bench);
    (bench, sides)
}

/// As [`open`], without the check of the first use.
fn open_unchecked(machine: MachineBuilder) -> (TestBench, Vec<Side>) {
    let machine = machine.build();
    let faults = FaultTable::new(machine.driver());
    let config = ExecutionConfig {
        contexts: ContextsConfig {
            peers: PeerCheck::Never,
            ..ContextsConfig::default()
        },
        ..ExecutionConfig::default()
    };
    let execution = ExecutionManager::with_config(faults.driver(), config).unwrap();
    let bench = TestBench {
        arenas: Default::default(),
        context: execution.devices().get(0).unwrap().primary().unwrap(),
        execution,
        faults,
        machine,
    };
    let sides = sides(&bench);
    (bench, sides)
}

fn sides(bench: &TestBench) -> Vec<Side> {
    let count = bench.execution.devices().count();
    (0..count)
        .map(|ordinal| Side::new(bench, ordinal))
        .collect()
}

fn finish(bench: TestBench, sides: Vec<Side>) {
    drop(sides);
    bench.finish();
}

#[track_caller]
fn peer_error<T>(result: Result<T, Error>) -> PeerError {
    match result {
        Err(Error::Peer(error)) => *error,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was done"),
    }
}

/// `bump` adds one to the number at an address; `add` adds the second one's number to the first's.
const PTX: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry bump(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry add(.param .u64 to, .param .u64 from) {
    .reg .u64 %a<2>; .reg .u32 %v<2>;
    ld.param.u64 %a0, [to];
    ld.param.u64 %a1, [from];
    ld.global.u32 %v0, [%a0];
    ld.global.u32 %v1, [%a1];
    add.u32 %v0, %v0, %v1;
    st.global.u32 [%a0], %v0;
    ret;
}";
