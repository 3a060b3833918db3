//! Launches of kernels: what is refused before the driver is asked, and what the kernel gets.

#[path = "../../src/test_bench.rs"]
mod test_bench;

mod allocations;
mod at_once;
mod attributes;
mod limits;
mod random;
mod tensor_maps;
mod typed;

use cupola_managers::module::Function;
use cupola_managers::{Error, Result, Stream};
use cupola_sim::{DeviceConfig, Machine, MachineBuilder};

use test_bench::TestBench;

/// A bench with a stream.
struct Bench {
    base: TestBench,
    stream: Stream,
}

impl Bench {
    fn new() -> Self {
        Self::on(hopper())
    }

    fn on(machine: MachineBuilder) -> Self {
        let base = TestBench::on(machine);
        let stream = base.stream();
        Self { base, stream }
    }

    /// The kernel of this name, of the PTX with this body.
    fn function(&self, body: &str, name: &str) -> Function {
        let ptx = format!(".version 7.8\n.target sm_90\n.address_size 64\n{body}");
        let module = self.base.context.modules().load_ptx(&ptx).unwrap();
        module.function(name).unwrap()
    }

    #[track_caller]
    fn finish<T>(self, last: T) {
        drop((last, self.stream));
        self.base.finish();
    }
}

/// A machine whose device has all attributes of launches.
fn hopper() -> MachineBuilder {
    let device = DeviceConfig::new().compute_capability(9, 0);
    Machine::builder().device(device).worker_threads(1)
}

/// The field that is named by a refusal, and why.
#[track_caller]
fn invalid<T: std::fmt::Debug>(result: Result<T>) -> (&'static str, String) {
    match result {
        Err(Error::Invalid { field, problem }) => (field, problem),
        other => panic!("{other:?}"),
    }
}
