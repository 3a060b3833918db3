//! What every integration test starts from: a device, a context, a stream and a pool.
//!
//! `CUPOLA_TEST_DEVICE` says which device: `sim` (the default), `library` or `gpu`;
//! `CUPOLA_SIM_PROFILE` which kind the software device plays. Nothing else is read at run time,
//! so that a test binary can be carried to another machine.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod sharing;
mod target;

use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::module::Function;
use cupola_managers::pool::PoolConfig;
use cupola_managers::stream::StreamConfig;
use cupola_managers::{Context, Device, ExecutionManager, LiveWatch, MemoryPool, Stream};
use cupola_sys::driver::Driver;

pub(crate) use sharing::User;
pub(crate) use target::{Where, target};

#[cfg(feature = "sim")]
use cupola_sim::{DeviceConfig, Machine};

/// Everything a test needs, and at its end the proof that nothing leaked.
pub(crate) struct Bench {
    pub(crate) pool: MemoryPool,
    pub(crate) stream: Stream,
    pub(crate) context: Context,
    pub(crate) device: Device,
    pub(crate) execution: ExecutionManager,
    #[cfg(feature = "sim")]
    pub(crate) machine: Option<Machine>,
    // The last to go.
    _user: User,
}

/// Whether the tests run on a GPU.
pub(crate) fn on_gpu() -> bool {
    target() == Where::Gpu
}

impl Bench {
    /// The device that the environment names.
    pub(crate) fn open() -> Self {
        #[cfg(feature = "sim")]
        return Self::with_device(DeviceConfig::new());
        #[cfg(not(feature = "sim"))]
        Self::loaded()
    }

    fn loaded() -> Self {
        Self::over(Driver::load().expect("a CUDA driver"))
    }

    /// A software device like this one, or what the environment names instead.
    #[cfg(feature = "sim")]
    pub(crate) fn with_device(config: DeviceConfig) -> Self {
        if target() != Where::Sim {
            return Self::loaded();
        }
        let machine = Machine::builder()
            .profile(target::profile())
            .device(config)
            .build();
        let mut bench = Self::over(machine.driver());
        bench.machine = Some(machine);
        bench
    }

    /// So many devices at least, of the software device just as many. `None`, said on standard error,
    /// where the environment names fewer, or the driver shows a process one only (of a divided GPU it does).
    pub(crate) fn with_devices(count: usize) -> Option<Self> {
        #[cfg(feature = "sim")]
        let bench = if target() == Where::Sim {
            let machine = Machine::builder().profile(target::profile()).devices(count);
            let machine = machine.build();
            let mut bench = Self::over(machine.driver());
            bench.machine = Some(machine);
            bench
        } else {
            Self::loaded()
        };
        #[cfg(not(feature = "sim"))]
        let bench = Self::loaded();
        let there = bench.execution.devices().count() as usize;
        if there >= count {
            return Some(bench);
        }
        eprintln!("SKIPPED: it needs {count} devices, and there is {there}");
        None
    }

    /// A bench over any driver.
    pub(crate) fn over(driver: Driver) -> Self {
        let user = User::new();
        let execution = ExecutionManager::new(driver).expect("cuInit");
        let device = execution.devices().get(0).expect("device 0");
        let context = device.primary().expect("primary context");
        let stream = context
            .streams()
            .create(StreamConfig::default())
            .expect("stream");
        let pool = context
            .memory_pool(PoolConfig::limit(1 << 30))
            .expect("pool");
        Self {
            pool,
            stream,
            context,
            device,
            execution,
            #[cfg(feature = "sim")]
            machine: None,
            _user: user,
        }
    }

    /// The same driver, opened once more.
    pub(crate) fn open_again(&self) -> Self {
        #[cfg(feature = "sim")]
        if let Some(machine) = &self.machine {
            return Self::over(machine.driver());
        }
        Self::loaded()
    }

    /// Another stream of the context.
    pub(crate) fn another_stream(&self) -> Stream {
        self.context
            .streams()
            .create(StreamConfig::default())
            .expect("stream")
    }

    /// A kernel of this project.
    pub(crate) fn kernel(&self, entry: &str) -> Function {
        let file = cupola_kernels::Embedded::with_entry(entry).expect("an embedded kernel");
        let module = self
            .context
            .modules()
            .load_ptx(file.ptx())
            .expect("its PTX loads");
        module.function(entry).expect("the module has it")
    }

    /// Drops everything and proves that nothing is left.
    pub(crate) fn finish(self) {
        let watch = self.execution.watch();
        #[cfg(feature = "sim")]
        let machine = self.machine.clone();
        drop(self);
        assert_nothing_left(&watch);
        #[cfg(feature = "sim")]
        if let Some(machine) = machine {
            assert_eq!(machine.leaks(), None);
            assert_no_findings(&machine);
        }
    }
}

impl Bench {
    /// Drops what the test has left, and then [finishes](Self::finish_later).
    pub(crate) fn finish_after<T>(self, rest: T) {
        drop(rest);
        self.finish_later();
    }

    /// As [`finish`](Self::finish), where things are released some time after their last use, on another
    /// thread.
    pub(crate) fn finish_later(self) {
        let watch = self.execution.watch();
        #[cfg(feature = "sim")]
        let machine = self.machine.clone();
        drop(self);
        let end = Instant::now() + Duration::from_secs(10);
        let wait = |is_over: &dyn Fn() -> bool| {
            while !is_over() && Instant::now() < end {
                thread::sleep(Duration::from_millis(1));
            }
        };
        wait(&|| watch.live().is_empty());
        assert_nothing_left(&watch);
        #[cfg(feature = "sim")]
        if let Some(machine) = machine {
            wait(&|| machine.leaks().is_none());
            assert_eq!(machine.leaks(), None);
            assert_no_findings(&machine);
        }
    }
}

/// Waits until this is so, for some seconds.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(10), "never: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Strict mode has found nothing wrong.
#[cfg(feature = "sim")]
pub(crate) fn assert_no_findings(machine: &Machine) {
    let findings = machine.findings();
    let lines: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "strict mode found: {lines:#?}");
}

/// The managers hold nothing and gave nothing up.
pub(crate) fn assert_nothing_left(watch: &LiveWatch) {
    let live = watch.live();
    assert!(live.is_empty(), "left over: {live:?}");
}

/// Bytes that look random and depend on `seed` alone.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    cupola_random::Random::new(seed).bytes(len)
}
