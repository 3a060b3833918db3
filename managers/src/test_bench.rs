//! `TestBench`: a software machine, the managers on it and a context.
//!
//! What tests of this crate begin with: those in `src`, and those in `tests`, which compile this
//! file by its path. Tests of crates above have `cupola_testing::TestBench`.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use cupola_managers::pool::{Arenas, RawBlock};
use cupola_managers::{Context, ExecutionManager, Live, MemoryPool, PoolConfig, Stream, ops};
use cupola_sim::fault::FaultTable;
use cupola_sim::{Machine, MachineBuilder};

/// A machine behind a table of faults, its execution manager and its primary context.
pub(crate) struct TestBench {
    /// Of pools that are made here.
    pub(crate) arenas: Arenas,
    pub(crate) context: Context,
    pub(crate) execution: ExecutionManager,
    pub(crate) faults: FaultTable,
    pub(crate) machine: Machine,
}

impl TestBench {
    /// A bench with one worker thread, so that runs repeat.
    pub(crate) fn new() -> Self {
        Self::with_workers(1)
    }

    /// A bench on which the work of so many streams, less one, can be held up.
    pub(crate) fn with_workers(workers: usize) -> Self {
        Self::on(Machine::builder().worker_threads(workers))
    }

    /// A bench on a machine of the caller's own.
    pub(crate) fn on(machine: MachineBuilder) -> Self {
        let machine = machine.build();
        let faults = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(faults.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        Self {
            arenas: Arenas::default(),
            context,
            execution,
            faults,
            machine,
        }
    }

    /// The bench, whose pools have arenas as told.
    pub(crate) fn arenas(self, arenas: Arenas) -> Self {
        Self { arenas, ..self }
    }

    /// A new stream.
    pub(crate) fn stream(&self) -> Stream {
        self.context.streams().create(Default::default()).unwrap()
    }

    /// A pool with a limit of so many bytes.
    pub(crate) fn pool(&self, limit: u64) -> MemoryPool {
        self.pool_of(PoolConfig::limit(limit))
    }

    /// A pool that waits for nothing on the host.
    pub(crate) fn impatient(&self, limit: u64) -> MemoryPool {
        self.pool_of(PoolConfig {
            wait: Duration::ZERO,
            ..PoolConfig::limit(limit)
        })
    }

    fn pool_of(&self, config: PoolConfig) -> MemoryPool {
        self.context
            .memory_pool(config.arenas(self.arenas))
            .unwrap()
    }

    /// Bytes that pools have from the driver.
    pub(crate) fn on_device(&self) -> u64 {
        let usage = self.machine.usage();
        usage.physical_bytes + usage.device_bytes
    }

    /// Drops the bench, after all else was dropped: nothing is left, of the managers or of the
    /// machine, and strict mode has found nothing.
    #[track_caller]
    pub(crate) fn finish(self) {
        self.finish_after(|| ());
    }

    /// As [`finish`](Self::finish); `last` is done between the managers' end and the look at what is
    /// left.
    #[track_caller]
    pub(crate) fn finish_after<T>(self, last: impl FnOnce() -> T) -> T {
        let watch = self.execution.watch();
        drop((self.context, self.execution, self.faults));
        let last = last();
        // A scope waits for the closures of its threads alone: one that still ends may have the
        // pool in its hands.
        let until = Instant::now() + Duration::from_secs(20);
        let is_left = || !watch.live().is_empty() || self.machine.leaks().is_some();
        while is_left() && Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(watch.live(), Live::default());
        assert_eq!(self.machine.leaks(), None);
        let findings = self.machine.findings();
        assert!(findings.is_empty(), "{findings:?}");
        last
    }
}

/// A bench with one pool and a stream, for what the pool does on it.
pub(crate) struct PoolBench {
    pub(crate) pool: MemoryPool,
    pub(crate) stream: Stream,
    pub(crate) base: TestBench,
}

impl PoolBench {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self::on(TestBench::with_workers(2), config)
    }

    pub(crate) fn on(base: TestBench, config: PoolConfig) -> Self {
        Self {
            pool: base.context.memory_pool(config).unwrap(),
            stream: base.stream(),
            base,
        }
    }

    #[track_caller]
    pub(crate) fn take(&self, bytes: u64) -> RawBlock {
        self.pool.allocate_raw(bytes, 1, &self.stream).unwrap()
    }

    #[track_caller]
    pub(crate) fn put(&self, block: RawBlock) {
        free(block, &self.stream);
    }

    /// As [`TestBench::finish`].
    #[track_caller]
    pub(crate) fn finish(self) {
        drop((self.pool, self.stream));
        self.base.finish();
    }
}

/// Frees a block that nothing uses but work on this stream.
#[track_caller]
pub(crate) fn free(block: RawBlock, stream: &Stream) {
    // SAFETY: all work that uses the block is on the stream.
    unsafe { block.free(stream) }.unwrap();
}

/// Holds up what is put on the stream from now on, until the sender is dropped.
pub(crate) fn hold(stream: &Stream) -> Sender<()> {
    let (hold, held) = channel::<()>();
    ops::host_function(stream, move || {
        let _ended = held.recv();
    })
    .unwrap();
    hold
}
