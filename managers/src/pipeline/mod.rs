//! `Pipeline`: uploads, kernels and downloads of a row of items, overlapped.
//!
//! Three non-blocking streams, one for each stage, and a ring of whole slots (pinned input,
//! device input, device output, pinned output). The stages of an item wait for each other on
//! the device, through events that take no time. A steady step allocates nothing and waits
//! on the host only when all slots are in flight, and then for one thing: the download of
//! the oldest. That wait is the back-pressure.
//!
//! Items are pushed ([`Pipeline::try_input`]) and pulled ([`Pipeline::output`]) by one engine. The other
//! ways to use it are made of these two: callbacks ([`Pipeline::run`]), inputs that other threads fill
//! ([`Pipeline::producers`]), an iterator ([`Pipeline::iter`]), and with the
//! feature `futures` an asynchronous stream. A step is one closure, or a typed chain of
//! kernels ([`PipelineBuilder`]). One that repeats is launched as a graph, by one call ([`Graphs`]).
//!
//! Where copies of pinned memory block, downloads are put by a thread of the pipeline's own ([`CopyThreads`]).
//!
//! A pipeline measures as many of its items as [`Sampling`] says, and tells what bound it
//! ([`OverlapReport`]), how long steps took ([`StepTimes`]) and what overlapped ([`Timeline`]). A profiler
//! that names its library in `NVTX_INJECTION64_PATH` sees ranges of the host's part of each item, and a
//! subscriber of `tracing` the same as spans.

mod arrival;
mod chain;
mod config;
pub(crate) mod depth;
pub(crate) mod downloads;
mod engine;
pub(crate) mod faces;
mod graphs;
mod input;
mod item;
mod rings;
mod slot;
mod streams;
mod submit;
mod telemetry;

use std::fmt;

pub use crate::error::{ItemError, ItemStage};
pub use chain::{Chain, KernelChain, PipelineBuilder, Upload};
pub use config::{PipelineConfig, Rings};
pub use depth::Growth;
pub use downloads::{CopyThread, CopyThreads};
pub use faces::{Consumer, InputSlot, MultiInput, MultiPipeline, Producer};
pub use graphs::{DirectReason, GraphReport, Graphs};
pub use input::Input;
pub use item::{Item, Step};
pub use telemetry::{
    Asymptote, Bound, Diagnosis, Histogram, Measured, OverlapReport, Report, Sample, Sampling,
    StageTimes, StepTimes, Timeline, Utilisation,
};

use crate::buffer::DeviceCopy;
use crate::context::Context;
use crate::copies::CopyMode;
use crate::error::{Error, Result};
use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::{Stream, StreamPurpose, Ticket};
use engine::Engine;
use telemetry::Clock;

/// Overlaps upload, computation and download, in order, with as many items in flight as
/// [`PipelineConfig::depth`] says.
///
/// ```
/// use cupola_managers::pipeline::{Pipeline, PipelineConfig};
/// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// let config = PipelineConfig::new(100, 100);
/// let mut pipeline: Pipeline<u32, u32> = Pipeline::new(&context, &pool, config)?;
/// let (mut sent, mut received) = (0, 0);
/// while received < 10 {
///     match pipeline.try_input().filter(|_| sent < 10) {
///         Some(mut input) => {
///             input.fill(sent);
///             // In place of a kernel.
///             input.submit(100, |step| ops::copy(step.input, step.output, step.stream).map(|()| 100))?;
///             sent += 1;
///         }
///         // All slots are in flight: the oldest item makes room.
///         None => {
///             let item = pipeline.output()?.expect("one is in flight");
///             assert_eq!(item.output, [received; 100]);
///             received += 1;
///         }
///     }
/// }
/// # Ok::<_, Error>(())
/// ```
pub struct Pipeline<I: DeviceCopy, O: DeviceCopy> {
    engine: Engine<I, O>,
}

/// What was in flight when a pipeline was [cancelled](Pipeline::cancel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancelled {
    /// Items of the run that were taken before.
    pub taken: u64,
    /// Items that were submitted and are dropped.
    pub dropped: u64,
}

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// A pipeline of this configuration; everything it needs is made here.
    ///
    /// # Errors
    /// [`Error::OverLimit`] when the slots do not fit the pool, [`Error::OutOfMemory`] when the device
    /// has too little left; [`Error::WrongContext`] when the pool is another context's;
    /// [`Error::Full`] when there are too many streams, events or buffers for its own,
    /// [`Error::ShutDown`] when their manager was shut down; [`Error::Full`] also when the process can have no
    /// thread that is [asked](CopyThreads::Always) for; [`Error::Invalid`] when an item is more
    /// bytes than there are addresses, or the depth is 0; [`Error::Poisoned`], [`Error::Forked`];
    /// what the driver returned.
    #[track_caller]
    pub fn new(context: &Context, pool: &MemoryPool, config: PipelineConfig) -> Result<Self> {
        Ok(Self {
            engine: Engine::new(context, pool, config)?,
        })
    }

    /// How many items may be in flight.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.engine.turns().depth()
    }

    /// How an [adaptive](PipelineConfig::adaptive) pipeline has grown; `None` of any other.
    #[must_use]
    pub fn growth(&self) -> Option<&Growth> {
        self.engine.growth()
    }

    /// How many items were submitted and not taken.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.engine.items_in_flight()
    }

    /// Whether all slots are in use, so that an item must be taken before another is submitted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !self.engine.has_room()
    }

    /// The pinned input of the next item, to fill and [submit](Input::submit). `None` while all slots
    /// are in flight, which is the back-pressure: take an [`output`](Self::output).
    pub fn try_input(&mut self) -> Option<Input<'_, I, O>> {
        Input::of(&mut self.engine)
    }

    /// The oldest item in flight, if it has arrived (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// As [`output`](Self::output).
    #[track_caller]
    pub fn try_output(&mut self) -> Result<Option<Item<'_, O>>, ItemError<Error>> {
        if !self.engine.find_item() || !self.engine.has_arrived()? {
            return Ok(None);
        }
        self.engine.take()
    }

    /// The oldest item in flight; waits until it has arrived (`cuEventSynchronize`, unless it is
    /// known). `None` when none is in flight. Items come in the order in which they were submitted,
    /// each of them once.
    ///
    /// # Errors
    /// What the driver returned, the error of failed work among it, and [`Error::Poisoned`],
    /// [`Error::Forked`]: the item is still the oldest then. [`Error::Invalid`] when the kernels wrote
    /// bytes that are no values of `O`, and what the driver returned to the
    /// [thread](Self::copy_thread) that puts downloads: the item is over.
    #[track_caller]
    pub fn output(&mut self) -> Result<Option<Item<'_, O>>, ItemError<Error>> {
        if !self.engine.find_item() {
            return Ok(None);
        }
        if !self.engine.has_room() {
            self.engine.make_room();
        }
        self.engine.take()
    }

    /// Drops the items in flight, once no work of theirs runs any more: the driver cannot take back
    /// what it was given, so it is waited for. Items count from 0 again.
    ///
    /// # Errors
    /// The error that the context was lost to; [`Error::Invalid`] when the end of the work is not
    /// known for another reason: the pipeline is of no use any more then. [`Error::Forked`].
    #[track_caller]
    pub fn cancel(&mut self) -> Result<Cancelled, ItemError<Error>> {
        let dropped = self.in_flight() as u64;
        let taken = self.engine.report().items - dropped;
        self.engine.begin()?;
        Ok(Cancelled { taken, dropped })
    }

    /// The items and the waits since the pipeline was made or [cancelled](Self::cancel), or of its
    /// last run.
    #[must_use]
    pub fn report(&self) -> Report {
        self.engine.report()
    }

    /// How many items were launched as graphs, and why others were not.
    #[must_use]
    pub fn graph_report(&self) -> &GraphReport {
        self.engine.graphs.report()
    }

    /// How long steps took since then, of the items whose times are [taken](Sampling); `None` when no
    /// times are.
    #[must_use]
    pub fn step_times(&self) -> Option<&StepTimes> {
        self.engine.clock().map(Clock::steps)
    }

    /// The items whose times were taken last; `None` when no times are.
    #[must_use]
    pub fn timeline(&self) -> Option<&Timeline> {
        self.engine.clock().map(Clock::timeline)
    }

    /// Whether copies of pinned memory block the thread that puts them ([`CopyMode::Blocking`]). It is
    /// measured with the first call for the context, see [`Context::copy_mode`]; pipelines that are made
    /// after it know, and have a [thread](Self::copy_thread) for downloads.
    ///
    /// # Errors
    /// As [`Context::copy_mode`].
    #[track_caller]
    pub fn copy_mode(&self) -> Result<CopyMode> {
        self.engine.streams().context.copy_mode()
    }

    /// Which thread puts the downloads, and why: in words, with its `Display`.
    #[must_use]
    pub fn copy_thread(&self) -> &CopyThread {
        self.engine.copy_thread()
    }

    /// The stream of the stage for this purpose, if it is a stage's.
    pub(crate) fn stream_of(&self, purpose: StreamPurpose) -> Option<&Stream> {
        let streams = self.engine.streams();
        match purpose {
            StreamPurpose::ConfigUpload => Some(&streams.upload),
            StreamPurpose::KernelExecution => Some(&streams.compute),
            StreamPurpose::TelemetryDownload => Some(&streams.download),
            StreamPurpose::P2PTransfer | StreamPurpose::AuxCompute => None,
        }
    }

    /// A ticket of the item that was submitted last, and of nothing later.
    #[track_caller]
    pub(crate) fn download_ticket(&mut self) -> Result<Ticket> {
        self.engine.last_ticket()
    }

    /// Waits on the host until all its streams are idle.
    ///
    /// # Errors
    /// As [`ops::synchronize`].
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        if let Some(thread) = self.engine.downloads.thread() {
            thread.wait_until_idle();
        }
        for stream in self.engine.all_streams() {
            ops::synchronize(stream)?;
        }
        Ok(())
    }
}

impl<I: DeviceCopy, O: DeviceCopy> fmt::Debug for Pipeline<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("depth", &self.depth())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}
