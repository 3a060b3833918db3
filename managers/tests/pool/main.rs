//! The memory pool from outside, on the software device: on pages of virtual memory, and on
//! chunks where a device has none.

mod addresses;
mod arenas;
mod basics;
mod canary;
mod capture;
mod deadlines;
mod ends;
mod faults;
mod figures;
mod fork;
mod gauges;
mod handles;
mod hopeless;
mod idle;
mod leases;
mod limit;
mod lives;
mod patience;
mod peaks;
mod random;
mod refusals;
mod shared;
mod threads;

use cupola_random::Random;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use cupola_managers::pool::{Arenas, Backing, PoolConfig, RawBlock};
use cupola_managers::{Context, ExecutionManager, MemoryPool, Stream, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::id;

/// Bytes of a page.
const PAGE: u64 = 2 << 20;

/// A device, and at the end the proof that nothing is left on it.
struct Bench {
    /// Of its pools.
    arenas: Arenas,
    context: Context,
    execution: ExecutionManager,
    table: FaultTable,
    machine: Machine,
}

impl Bench {
    fn new(backing: Backing) -> Self {
        Self::with_memory(backing, 16 << 30)
    }

    fn with_memory(backing: Backing, bytes: u64) -> Self {
        let device = DeviceConfig::new().memory(bytes);
        let mut builder = Machine::builder().device(device).worker_threads(2);
        if backing == Backing::Chunks {
            builder = builder.without(id::cuMemCreate);
        }
        let machine = builder.build();
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        Self {
            arenas: Arenas::default(),
            context,
            execution,
            table,
            machine,
        }
    }

    fn pool(&self, limit: u64) -> MemoryPool {
        let config = PoolConfig::limit(limit).arenas(self.arenas);
        self.context.memory_pool(config).unwrap()
    }

    /// A pool that waits for nothing on the host.
    fn impatient(&self, limit: u64) -> MemoryPool {
        let config = PoolConfig {
            wait: Duration::ZERO,
            arenas: self.arenas,
            ..PoolConfig::limit(limit)
        };
        self.context.memory_pool(config).unwrap()
    }

    fn stream(&self) -> Stream {
        self.context.streams().create(Default::default()).unwrap()
    }

    /// Bytes that pools have from the driver.
    fn on_device(&self) -> u64 {
        let usage = self.machine.usage();
        usage.physical_bytes + usage.device_bytes
    }

    fn finish(self) {
        let watch = self.execution.watch();
        drop((self.context, self.execution, self.table));
        // A scope waits for the closures of its threads alone: one that still ends may have the
        // pool in its hands.
        let until = Instant::now() + Duration::from_secs(20);
        let is_left = || !watch.live().is_empty() || self.machine.leaks().is_some();
        while is_left() && Instant::now() < until {
            std::thread::yield_now();
        }
        assert!(watch.live().is_empty(), "{:?}", watch.live());
        assert_eq!(self.machine.leaks(), None);
        let findings = self.machine.findings();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

/// Runs a test on both kinds of memory.
fn on_both(test: impl Fn(Bench)) {
    for backing in [Backing::Pages, Backing::Chunks] {
        println!("on {backing}");
        test(Bench::new(backing));
    }
}

/// Runs a test on both kinds of memory, and on pages where each thread has an arena.
fn on_all(test: impl Fn(Bench)) {
    on_both(&test);
    println!("with arenas");
    test(Bench {
        arenas: Arenas::Always,
        ..Bench::new(Backing::Pages)
    });
}

/// Frees a block that nothing uses on the stream that it was allocated on.
fn free(block: RawBlock, stream: &Stream) {
    // SAFETY: nothing uses the block, and it was allocated on this stream.
    unsafe { block.free(stream) }.unwrap();
}

/// Gives everything back that nothing uses, until no more than this is mapped: the driver may
/// need a moment to see that work is complete.
fn trim_to(pool: &MemoryPool, bytes: u64) {
    let until = Instant::now() + Duration::from_secs(20);
    while pool.mapped() > bytes {
        pool.trim().unwrap();
        assert!(Instant::now() < until, "{:?}", pool.usage());
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
