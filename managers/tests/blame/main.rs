//! Errors of kernels are put down to launches: to one in checked mode, else to a few. And what
//! happens at the moment when a context is lost. And errors that the context survives are those of the
//! memory that was to be written.

mod checked_mode;
mod loss;
mod suspects;
mod taints;

#[path = "../../src/test_bench.rs"]
mod test_bench;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::retry::{GaveUp, Retry};
use cupola_managers::{
    Blame, Buffer, Cause, Context, Error, ExecutionManager, Function, LaunchSite, PoisonPolicy,
    PoolConfig, Result, Stream,
};
use cupola_sim::fault::FaultTable;
use cupola_sim::{Machine, MachineBuilder};
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

use test_bench::TestBench;

const NOWHERE: u64 = 0xdead_0000_0000;

struct Bench {
    table: FaultTable,
    execution: ExecutionManager,
    context: Context,
    stream: Stream,
    good: Function,
    bad: Function,
    buffer: Buffer<u32>,
}

fn kernel(name: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 to) {{\n.reg .b32 %r1;\n.reg .b64 %rd1;\n\
         ld.param.u64 %rd1, [to];\nmov.u32 %r1, 7;\ncvta.to.global.u64 %rd1, %rd1;\n\
         st.global.u32 [%rd1], %r1;\nret;\n}}\n"
    )
}

impl Bench {
    fn new() -> Self {
        Self::of(Machine::builder())
    }

    fn of(machine: MachineBuilder) -> Self {
        let base = TestBench::on(machine);
        let (stream, pool) = (base.stream(), base.pool(8 << 20));
        let TestBench {
            faults: table,
            execution,
            context,
            ..
        } = base;
        let head = ".version 6.0\n.target sm_60\n.address_size 64\n";
        let two = ".visible .entry two(.param .u64 one, .param .u64 other) { ret; }";
        let ptx = format!("{head}{}{}{two}", kernel("good"), kernel("bad"));
        let module = context.modules().load_ptx(&ptx).unwrap();
        Self {
            good: module.function("good").unwrap(),
            bad: module.function("bad").unwrap(),
            buffer: pool.allocate(8, &stream).unwrap(),
            table,
            execution,
            context,
            stream,
        }
    }

    #[track_caller]
    fn run(kernel: &Function, address: u64, stream: &Stream) -> Result<()> {
        // SAFETY: the address is the buffer's; or of no buffer on purpose, which the software
        // device answers with an error.
        unsafe { ops::launch(kernel, LaunchConfig::linear(1, 1), (address,), stream) }
    }

    #[track_caller]
    fn good(&self) -> Result<()> {
        Self::run(&self.good, self.buffer.as_raw(), &self.stream)
    }

    #[track_caller]
    fn bad(&self) -> Result<()> {
        Self::run(&self.bad, NOWHERE, &self.stream)
    }

    fn first(&self) -> Arc<Cause> {
        match self.context.poison() {
            Some(Error::Poisoned { first, .. }) => first,
            other => panic!("not lost: {other:?}"),
        }
    }

    fn one_of(&self) -> Vec<LaunchSite> {
        match self.first().blame.as_deref() {
            Some(Blame::OneOf(list)) => list.clone(),
            other => panic!("{other:?}"),
        }
    }
}
