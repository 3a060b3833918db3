//! `TestBench`: a software machine, its execution manager, and a look at what is left.

use std::fmt;

use cupola_managers::stream::StreamConfig;
use cupola_managers::testing::TestConfig;
use cupola_managers::{
    Context, Device, ExecutionConfig, ExecutionManager, Live, MemoryPool, PoolConfig, Result,
    Stream,
};
use cupola_sim::fault::FaultTable;
use cupola_sim::{Finding, FindingKind, Machine, MachineBuilder, Strict, Usage};

/// A software machine with an execution manager on it, whose every call goes through a
/// [`FaultTable`].
///
/// Dropping it checks nothing and says nothing; [`finish`](Self::finish) does.
#[derive(Debug)]
pub struct TestBench {
    machine: Machine,
    faults: FaultTable,
    execution: ExecutionManager,
}

/// Describes a [`TestBench`]; made by [`TestBench::builder`].
#[derive(Clone, Debug)]
#[must_use = "it is only a description"]
pub struct BenchBuilder {
    machine: MachineBuilder,
    config: ExecutionConfig,
    test: Option<TestConfig>,
}

impl BenchBuilder {
    /// The machine: devices, driver version, order of execution, strictness.
    pub fn machine(mut self, machine: MachineBuilder) -> Self {
        self.machine = machine;
        self
    }

    /// How the execution manager is set up.
    pub fn config(mut self, config: ExecutionConfig) -> Self {
        self.config = config;
        self
    }

    /// Small managers, soon worn out.
    pub fn test_config(mut self, config: TestConfig) -> Self {
        self.test = Some(config);
        self
    }

    /// Builds the machine and opens it.
    ///
    /// # Errors
    /// [`Error::Invalid`](cupola_managers::Error::Invalid) naming the field of a configuration
    /// that cannot be.
    #[track_caller]
    pub fn open(self) -> Result<TestBench> {
        let machine = self.machine.build();
        let faults = FaultTable::new(machine.driver());
        let execution = ExecutionManager::with_config(faults.driver(), self.config)?;
        if let Some(config) = self.test {
            execution.configure_for_test(config)?;
        }
        Ok(TestBench {
            machine,
            faults,
            execution,
        })
    }
}

impl TestBench {
    /// A bench with one device, and one worker thread so that runs repeat. It looks for everything
    /// that strict mode finds of memory: of kernels too reads of what was never written and races
    /// of streams, for which every access of theirs is followed. That makes accesses many times
    /// slower, and tests are small; [`builder`](Self::builder) takes a machine that looks for less.
    ///
    /// # Errors
    /// As [`BenchBuilder::open`].
    #[track_caller]
    pub fn new() -> Result<Self> {
        Self::builder().open()
    }

    /// Describes a bench: as [`new`](Self::new) unless told. A machine of the caller's own looks for
    /// what it says itself.
    pub fn builder() -> BenchBuilder {
        let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
        BenchBuilder {
            machine: Machine::builder().worker_threads(1).strict(strict),
            config: ExecutionConfig::default(),
            test: None,
        }
    }

    /// The software machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Makes calls fail or take long, and counts them.
    #[must_use]
    pub fn faults(&self) -> &FaultTable {
        &self.faults
    }

    /// The execution manager.
    #[must_use]
    pub fn execution(&self) -> &ExecutionManager {
        &self.execution
    }

    /// The first device.
    ///
    /// # Errors
    /// What the driver returned: only with a fault.
    #[track_caller]
    pub fn device(&self) -> Result<Device> {
        self.execution.devices().get(0)
    }

    /// The first device's primary context.
    ///
    /// # Errors
    /// What the driver returned: only with a fault.
    #[track_caller]
    pub fn context(&self) -> Result<Context> {
        self.device()?.primary()
    }

    /// A stream of the primary context.
    ///
    /// # Errors
    /// [`Error::Full`](cupola_managers::Error::Full); what the driver returned: only with a fault.
    #[track_caller]
    pub fn stream(&self) -> Result<Stream> {
        self.context()?.streams().acquire(StreamConfig::default())
    }

    /// A pool of the primary context with a limit of so many bytes.
    ///
    /// # Errors
    /// What the driver returned: only with a fault.
    #[track_caller]
    pub fn pool(&self, bytes: u64) -> Result<MemoryPool> {
        self.context()?.memory_pool(PoolConfig::limit(bytes))
    }

    /// Drops the execution manager, and looks at what is left: objects that the managers
    /// still count, things that the machine was not given back, and what strict mode found.
    /// Drop everything else first.
    ///
    /// With faults, objects may have to be given up ([`Live::abandoned`]): what the driver refuses to
    /// take back, and what work in a lost context may still use. That is not the test's doing, so where
    /// it has happened leaks of the machine are not looked at.
    ///
    /// # Errors
    /// What is left.
    pub fn finish(self) -> Result<(), Box<Remains>> {
        let watch = self.execution.watch();
        drop(self.execution);
        let mut remains = Remains {
            live: watch.live(),
            usage: self.machine.usage(),
            findings: self.machine.findings(),
        };
        if remains.live.abandoned > 0 {
            (remains.live.abandoned, remains.live.abandoned_bytes) = (0, 0);
            remains.usage = Usage::default();
            remains
                .findings
                .retain(|finding| finding.kind != FindingKind::Leak);
        }
        if remains.is_nothing() {
            Ok(())
        } else {
            Err(Box::new(remains))
        }
    }
}

/// What a test left behind.
#[derive(Clone)]
#[non_exhaustive]
pub struct Remains {
    /// What the managers still count.
    pub live: Live,
    /// What the machine was not given back.
    pub usage: Usage,
    /// What strict mode found.
    pub findings: Vec<Finding>,
}

impl Remains {
    fn is_nothing(&self) -> bool {
        self.live.is_empty() && self.usage.is_empty() && self.findings.is_empty()
    }
}

impl fmt::Display for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the test leaves something behind")?;
        if !self.live.is_empty() {
            write!(f, "\n  the managers count {:?}", self.live)?;
        }
        if !self.usage.is_empty() {
            write!(f, "\n  the machine was not given back {}", self.usage)?;
        }
        for finding in &self.findings {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}

/// As `Display`, because that is what `unwrap` and a test's `main` show.
impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Remains {}
