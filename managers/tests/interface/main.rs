//! What programs do with memory and modules every day, on a software device in strict mode.

mod allocators;
mod buffers;
mod fill;
mod modules;
mod old_drivers;
mod pinned;
mod primary;
mod rows;

use std::sync::mpsc::{Sender, channel};

use cupola_managers::{Context, ExecutionManager, MemoryPool, PoolConfig, Stream, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{DeviceConfig, Machine, Strict};

/// A device that looks for everything, and at the end the proof that nothing is left on it.
struct Bench {
    pool: MemoryPool,
    stream: Stream,
    context: Context,
    execution: ExecutionManager,
    table: FaultTable,
    machine: Machine,
}

impl Bench {
    fn new() -> Self {
        Self::on(DeviceConfig::new())
    }

    fn on(device: DeviceConfig) -> Self {
        let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
        let builder = Machine::builder().device(device).worker_threads(1);
        let machine = builder.strict(strict).build();
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        Self {
            pool: context.memory_pool(PoolConfig::limit(64 << 20)).unwrap(),
            stream: context.streams().create(Default::default()).unwrap(),
            context,
            execution,
            table,
            machine,
        }
    }

    fn another_stream(&self) -> Stream {
        self.context.streams().create(Default::default()).unwrap()
    }

    fn finish(self) {
        let watch = self.execution.watch();
        drop((self.pool, self.stream, self.context, self.execution));
        assert!(watch.live().is_empty(), "{:?}", watch.live());
        assert_eq!(self.machine.leaks(), None);
        let findings = self.machine.findings();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

/// Holds up what is put on the stream from now on, until the sender is dropped.
fn hold(stream: &Stream) -> Sender<()> {
    let (hold, held) = channel::<()>();
    ops::host_function(stream, move || {
        let _ended = held.recv();
    })
    .unwrap();
    hold
}
