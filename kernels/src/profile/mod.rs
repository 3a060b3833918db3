//! Profiles: how long a kernel takes, how far that is from what the device can, and how long its
//! launch takes the host.
//!
//! ```
//! use cupola_kernels::Kernels;
//! use cupola_kernels::profile::{Cost, Profiler};
//! use cupola_managers::{ExecutionManager, PoolConfig};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let device = ExecutionManager::new(driver)?.devices().get(0)?;
//! let context = device.primary()?;
//! let kernels = Kernels::load(&context, device.info()?)?;
//! let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
//! let profiler = Profiler::new(&context, device.info()?)?;
//!
//! let n = 10_000;
//! let x = pool.zeros::<f32>(n, profiler.stream())?;
//! let mut y = pool.zeros::<f32>(n, profiler.stream())?;
//! let cost = Cost::new().bytes(12 * n as u64).flops(2 * n as u64);
//! let profile = profiler.profile("saxpy", cost, |stream| kernels.saxpy(2.0, &x, &mut y, stream))?;
//! println!("{profile}");
//! # Ok::<_, cupola_managers::Error>(())
//! ```

mod limits;
mod report;
mod statistics;

use std::time::{Duration, Instant};

use cupola_managers::{
    Context, DeviceInfo, Error, Event, EventConfig, Result, Stream, StreamConfig, ops,
};

pub use limits::DeviceLimits;
pub use report::Profile;
pub use statistics::Summary;

use crate::executor::milliseconds;

/// How a kernel is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileConfig {
    /// Launches before the first sample, which are not measured.
    pub warm_up: u32,
    /// Samples, of which there must be one.
    pub repetitions: u32,
    /// Launches of a sample.
    pub launches: Launches,
}

impl Default for ProfileConfig {
    /// 10 launches, then 100 samples of [as many launches as it needs](Launches::Automatic).
    fn default() -> Self {
        Self {
            warm_up: 10,
            repetitions: 100,
            launches: Launches::Automatic,
        }
    }
}

/// How many launches are between the two events of a sample, whose time is the sum's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launches {
    /// So many; at least 1.
    Exactly(u32),
    /// As many as take 50 us, a hundred times the resolution of events, and 256 at most.
    Automatic,
}

/// What a launch does, as its caller declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Bytes of device memory that it has to read and write.
    pub bytes: Option<u64>,
    /// Operations on 32-bit floats that it does; a fused multiplication and addition is two.
    pub flops: Option<u64>,
}

impl Cost {
    /// Nothing is declared, and no rate told.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: None,
            flops: None,
        }
    }

    /// It has to read and write so many bytes.
    #[must_use]
    pub const fn bytes(self, bytes: u64) -> Self {
        Self {
            bytes: Some(bytes),
            ..self
        }
    }

    /// It does so many operations on 32-bit floats.
    #[must_use]
    pub const fn flops(self, flops: u64) -> Self {
        Self {
            flops: Some(flops),
            ..self
        }
    }
}

/// One sample: of one launch, the mean where it has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How long it took the device.
    pub execute: Duration,
    /// How long the call took the host.
    pub launch: Duration,
}

/// Measures kernels, on a stream of its own.
#[derive(Debug)]
pub struct Profiler {
    config: ProfileConfig,
    stream: Stream,
    device: String,
    limits: DeviceLimits,
    context: Context,
}

/// What [`Launches::Automatic`] aims at.
const LONG_ENOUGH: Duration = Duration::from_micros(50);

/// Most launches of a sample of [`Launches::Automatic`].
const MOST_LAUNCHES: u32 = 256;

/// Launches that may be on the stream at a time: a driver's queue has about a thousand places, and a
/// launch that finds none waits.
const MOST_QUEUED: u32 = 256;

impl Profiler {
    /// A profiler in `context`, which is one of the device that `info` describes.
    ///
    /// # Errors
    /// As [`StreamManager::create`](cupola_managers::stream::StreamManager::create).
    #[track_caller]
    pub fn new(context: &Context, info: &DeviceInfo) -> Result<Self> {
        Ok(Self {
            config: ProfileConfig::default(),
            stream: context.streams().create(StreamConfig::default())?,
            device: info.name.clone(),
            limits: DeviceLimits::of(info),
            context: context.clone(),
        })
    }

    /// The same profiler, which measures as told.
    #[must_use]
    pub fn config(self, config: ProfileConfig) -> Self {
        Self { config, ..self }
    }

    /// The stream that it launches on: memory that is written there is ready for the kernel.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Measures what `launch` puts on the stream. It is called for each launch, those that warm up among
    /// them.
    ///
    /// Samples follow each other without a wait on the host, so that the device does not wait for
    /// launches as long as a kernel takes longer than its launch. Where it does not, the times are those
    /// of launching, and the profile [says so](Profile::is_launch_bound).
    ///
    /// # Errors
    /// What `launch` returned; [`Error::Invalid`] when there are to be no repetitions; [`Error::Full`]
    /// when there are too many events; the error of a kernel that failed, and others that the driver
    /// returned.
    #[doc(alias = "cuEventElapsedTime")]
    #[track_caller]
    pub fn profile(
        &self,
        label: &str,
        cost: Cost,
        mut launch: impl FnMut(&Stream) -> Result<()>,
    ) -> Result<Profile> {
        for _ in 0..self.config.warm_up {
            launch(&self.stream)?;
        }
        let launches = match self.config.launches {
            Launches::Exactly(launches) => launches.max(1),
            Launches::Automatic => self.launches_that_take_long_enough(&mut launch)?,
        };
        let repetitions = self.config.repetitions;
        let mut samples = Vec::new();
        let at_a_time = (MOST_QUEUED / launches).max(1);
        let mut window = Vec::new();
        for _ in 0..at_a_time.min(repetitions) {
            window.push(Marks::new(&self.context)?);
        }
        let mut left = repetitions as usize;
        while left > 0 {
            let now = left.min(window.len());
            self.measure(&mut window[..now], launches, &mut launch, &mut samples)?;
            left -= now;
        }
        let summary = |time: fn(&Sample) -> Duration| {
            let times: Vec<_> = samples.iter().map(time).collect();
            Summary::of(&times).ok_or_else(|| Error::Invalid {
                field: "repetitions",
                problem: "a profile needs a sample".into(),
            })
        };
        Ok(Profile {
            label: label.into(),
            device: self.device.clone(),
            warm_up: self.config.warm_up,
            launches,
            execute: summary(|sample| sample.execute)?,
            launch: summary(|sample| sample.launch)?,
            cost,
            limits: self.limits,
            samples,
        })
    }

    /// How many launches are so long that the resolution of events is a hundredth of them.
    #[track_caller]
    fn launches_that_take_long_enough(
        &self,
        launch: &mut impl FnMut(&Stream) -> Result<()>,
    ) -> Result<u32> {
        let mut marks = [Marks::new(&self.context)?];
        let mut launches = 1;
        loop {
            let mut samples = Vec::with_capacity(1);
            self.measure(&mut marks, launches, launch, &mut samples)?;
            let took: Duration = samples.iter().map(|sample| sample.execute * launches).sum();
            if took >= LONG_ENOUGH || launches == MOST_LAUNCHES {
                return Ok(launches);
            }
            launches *= 2;
        }
    }

    /// Takes a sample for each of these marks, one behind the other, and waits for them.
    #[track_caller]
    fn measure(
        &self,
        window: &mut [Marks],
        launches: u32,
        launch: &mut impl FnMut(&Stream) -> Result<()>,
        samples: &mut Vec<Sample>,
    ) -> Result<()> {
        let stream = &self.stream;
        // Not measured: the device has something to do while the first sample is put.
        launch(stream)?;
        for marks in &mut *window {
            ops::record(&marks.begin, stream)?;
            let called = Instant::now();
            for _ in 0..launches {
                launch(stream)?;
            }
            marks.launch = called.elapsed();
            ops::record(&marks.end, stream)?;
        }
        ops::synchronize(stream)?;
        for marks in window {
            let execute = milliseconds(ops::elapsed(&marks.begin, &marks.end)?);
            samples.push(Sample {
                execute: execute / launches,
                launch: marks.launch / launches,
            });
        }
        Ok(())
    }
}

/// The events of a sample, and what its launches took the host.
struct Marks {
    begin: Event,
    end: Event,
    launch: Duration,
}

impl Marks {
    #[track_caller]
    fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            begin: context.events().create(EventConfig::timing())?,
            end: context.events().create(EventConfig::timing())?,
            launch: Duration::ZERO,
        })
    }
}
