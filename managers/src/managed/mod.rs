//! `ManagedContext`: steps from a configuration to its telemetry, one at a time or overlapped.

mod config;
mod step;
mod telemetry;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

pub use config::{ManagedConfig, Mode};
pub use step::Stepped;
pub use telemetry::Telemetry;

use crate::buffer::DeviceCopy;
use crate::context::Context;
use crate::error::{Error, ItemError, ItemStage, Result};
use crate::pipeline::{GraphReport, Pipeline, Report, Step};
use crate::pool::MemoryPool;
use crate::stream::{Stream, StreamPurpose};
use crate::sync;
use crate::sync::deferred::DeferCallbacks;
use step::{Deliver, Reply};
use telemetry::Spare;

/// A kernel that is run again and again, each time with a configuration that goes up and telemetry
/// that comes down. Synchronous by default; asynchronous when asked, by the
/// [pipeline](crate::pipeline). The telemetry is the same in both modes, in the same order.
///
/// A step cannot overlap with itself, so in asynchronous mode a caller has the choice:
/// [`step`](Self::step) returns at once, and its telemetry is waited for or awaited later;
/// [`triple_buffered_step`](Self::triple_buffered_step) returns that of an earlier step.
///
/// Asynchronous steps pay where kernels and copies take about as long, and there are many: at equal
/// stages up to three times as many a second, less where one stage takes most of the time, and each
/// of them arrives no sooner.
///
/// Three ways to use it:
///
/// ```
/// use cupola_managers::managed::{ManagedConfig, ManagedContext, Mode};
/// use cupola_managers::{Context, Error, ExecutionManager, MemoryPool, PoolConfig, ops};
///
/// # fn kernel(step: cupola_managers::pipeline::Step<'_, u32, u32>) -> Result<usize, Error> {
/// #     let len = step.input.len();
/// #     ops::copy(step.input, step.output.slice(..len)?, step.stream).map(|()| len)
/// # }
/// // 1. Retrofit: a module that has a path of its own gets an optional field.
/// struct Repair {
///     managed: Option<ManagedContext<u32, u32>>,
/// }
///
/// impl Repair {
///     fn new(context: &Context, pool: &MemoryPool, enable_streams: bool) -> Result<Self, Error> {
///         let config = ManagedConfig::new(4, 4).asynchronous();
///         let managed = || ManagedContext::new(context, pool, config, kernel);
///         Ok(Self { managed: enable_streams.then(managed).transpose()? })
///     }
///
///     fn repair(&mut self, config: [u32; 4]) -> Result<Vec<u32>, Error> {
///         match &mut self.managed {
///             Some(managed) => Ok(managed.step(&config)?.wait()?.to_vec()),
///             None => Ok(config.to_vec()), // as it was before
///         }
///     }
/// }
///
/// // 2. Built in: one path, and the mode is a setting.
/// fn run(context: &Context, pool: &MemoryPool, mode: Mode) -> Result<Vec<u32>, Error> {
///     let config = ManagedConfig::new(1, 1).mode(mode);
///     let mut managed = ManagedContext::new(context, pool, config, kernel)?;
///     let mut sums = Vec::new();
///     for step in 0..10 {
///         if let Some(telemetry) = managed.triple_buffered_step(&[step])? {
///             sums.push(telemetry[0]);
///         }
///     }
///     managed.drain(|telemetry| {
///         sums.push(telemetry[0]);
///         Ok(())
///     })?;
///     Ok(sums)
/// }
///
/// // 3. A coordinator of several.
/// struct Phases {
///     first: ManagedContext<u32, u32>,
///     second: ManagedContext<u32, u32>,
/// }
///
/// impl Phases {
///     fn run(&mut self, config: &[u32]) -> Result<(), Error> {
///         let (first, second) = (self.first.step(config)?, self.second.step(config)?);
///         // Both run at once.
///         assert_eq!(first.wait()?[..], second.wait()?[..]);
///         Ok(())
///     }
/// }
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// for enable_streams in [false, true] {
///     assert_eq!(Repair::new(&context, &pool, enable_streams)?.repair([7; 4])?, [7; 4]);
/// }
/// let results = run(&context, &pool, Mode::Synchronous)?;
/// assert_eq!(results, run(&context, &pool, Mode::Asynchronous { depth: 3 })?);
/// let config = ManagedConfig::new(4, 4).asynchronous();
/// let phase = || ManagedContext::new(&context, &pool, config, kernel);
/// Phases { first: phase()?, second: phase()? }.run(&[1, 2])?;
/// # Ok::<_, Error>(())
/// ```
#[doc(alias = "ManagedGpuContext")]
pub struct ManagedContext<C: DeviceCopy, T: DeviceCopy> {
    inner: Arc<Mutex<Inner<C, T>>>,
    context: Context,
    mode: Mode,
}

/// The kernel of the steps.
type Kernel<C, T> = Box<dyn FnMut(Step<'_, C, T>) -> Result<usize> + Send>;

struct Inner<C: DeviceCopy, T: DeviceCopy> {
    pipeline: Pipeline<C, T>,
    kernel: Kernel<C, T>,
    /// The steps in flight whose telemetry is asked for, the oldest first.
    asked: VecDeque<(u64, Arc<Reply<T>>)>,
    /// Telemetry of other steps that has left the pipeline.
    left: VecDeque<Telemetry<T>>,
    spare: Arc<Spare<T>>,
}

impl<C: DeviceCopy, T: DeviceCopy> ManagedContext<C, T> {
    /// Steps of this configuration. `kernel`, which must not use this managed context, puts a step's
    /// kernels on [`Step::stream`] and returns how many elements of [`Step::output`] they write, from
    /// the first on.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    #[track_caller]
    pub fn new(
        context: &Context,
        pool: &MemoryPool,
        config: ManagedConfig,
        kernel: impl FnMut(Step<'_, C, T>) -> Result<usize> + Send + 'static,
    ) -> Result<Self> {
        let depth = config.depth();
        let inner = Inner {
            pipeline: Pipeline::new(context, pool, config.pipeline())?,
            kernel: Box::new(kernel),
            asked: VecDeque::with_capacity(depth),
            left: VecDeque::with_capacity(depth),
            spare: Spare::new(depth),
        };
        Ok(Self {
            inner: Arc::new(Mutex::new(inner)),
            context: context.clone(),
            mode: config.mode,
        })
    }

    /// The context that the steps run in.
    #[doc(alias = "device")]
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether steps overlap, on streams of their own.
    #[must_use]
    pub fn has_stream_management(&self) -> bool {
        self.mode != Mode::Synchronous
    }

    /// The stream for a purpose: those of the steps, and the context's shared ones for the others.
    /// `None` in synchronous mode.
    ///
    /// # Errors
    /// As [`StreamManager::shared`](crate::stream::StreamManager::shared).
    #[doc(alias = "get_stream")]
    #[track_caller]
    pub fn stream(&self, purpose: StreamPurpose) -> Result<Option<Stream>> {
        if !self.has_stream_management() {
            return Ok(None);
        }
        self.context.core().not_forked()?;
        if let Some(stream) = sync::lock(&self.inner).pipeline.stream_of(purpose) {
            return Ok(Some(stream.clone()));
        }
        self.context.streams().shared(purpose).map(Some)
    }

    /// The steps and the waits since the context was made or [reset](Self::reset), and how much of the
    /// steps overlapped that were [measured](ManagedConfig::sampling).
    ///
    /// # Errors
    /// [`Error::Forked`].
    #[track_caller]
    pub fn report(&self) -> Result<Report> {
        self.context.core().not_forked()?;
        Ok(sync::lock(&self.inner).pipeline.report())
    }

    /// How many of these steps were launched [as graphs](ManagedConfig::graphs), and why others were
    /// not.
    ///
    /// # Errors
    /// [`Error::Forked`].
    #[track_caller]
    pub fn graph_report(&self) -> Result<GraphReport> {
        self.context.core().not_forked()?;
        Ok(sync::lock(&self.inner).pipeline.graph_report().clone())
    }

    /// Submits a step, whose telemetry is taken later; in synchronous mode it is waited for. While all
    /// slots are in flight it waits for the oldest step, whose telemetry is kept for its owner.
    ///
    /// # Errors
    /// An error of the device or the kernel ([`Error::Item`]); [`Error::Invalid`] in it when `config` or
    /// the telemetry is longer than there is room for.
    #[track_caller]
    pub fn step(&mut self, config: &[C]) -> Result<Stepped<T>> {
        self.context.core().not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut inner = sync::lock(&self.inner);
        let index = inner.submit(config)?;
        let reply = Reply::new();
        inner.asked.push_back((index, Arc::clone(&reply)));
        let mut ticket = None;
        if self.has_stream_management() {
            ticket = Some(inner.pipeline.download_ticket()?);
        } else {
            inner.deliver_oldest()?;
        }
        drop(inner);
        let from: Arc<Mutex<Inner<C, T>>> = Arc::clone(&self.inner);
        Ok(Stepped::new(index, ticket, reply, from))
    }

    /// Submits a step, and returns the telemetry of the step that leaves the pipeline for it: in
    /// synchronous mode its own, and with a depth of `n` that of `n - 1` steps before, `None` for the
    /// first ones. [`drain`](Self::drain) gives the rest.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    #[track_caller]
    pub fn triple_buffered_step(&mut self, config: &[C]) -> Result<Option<Telemetry<T>>> {
        self.context.core().not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut inner = sync::lock(&self.inner);
        inner.submit(config)?;
        if inner.pipeline.is_full() {
            inner.deliver_oldest()?;
        }
        Ok(inner.left.pop_front())
    }

    /// Waits for all steps in flight, and gives the telemetry of those of
    /// [`triple_buffered_step`](Self::triple_buffered_step) to `sink`, in order.
    ///
    /// # Errors
    /// The first of the device or of `sink`; what was not given is there for the next call.
    #[track_caller]
    pub fn drain(&mut self, mut sink: impl FnMut(Telemetry<T>) -> Result<()>) -> Result<()> {
        loop {
            self.context.core().not_forked()?;
            let _defer = DeferCallbacks::new();
            let mut inner = sync::lock(&self.inner);
            if inner.left.is_empty() && inner.pipeline.in_flight() > 0 {
                inner.deliver_oldest()?;
                continue;
            }
            let Some(telemetry) = inner.left.pop_front() else {
                return Ok(());
            };
            drop(inner);
            sink(telemetry)?;
        }
    }

    /// Waits on the host until no step runs. Their telemetry stays to be taken.
    ///
    /// # Errors
    /// As [`ops::synchronize`](crate::ops::synchronize).
    #[track_caller]
    pub fn synchronize(&mut self) -> Result<()> {
        self.context.core().not_forked()?;
        let _defer = DeferCallbacks::new();
        sync::lock(&self.inner).pipeline.synchronize()
    }

    /// Drops the steps in flight, once none runs any more, and all telemetry that was not taken. Steps
    /// count from 0 again.
    ///
    /// # Errors
    /// As [`Pipeline::cancel`].
    #[doc(alias = "reset_pipeline")]
    #[track_caller]
    pub fn reset(&mut self) -> Result<()> {
        self.context.core().not_forked()?;
        let _defer = DeferCallbacks::new();
        let mut inner = sync::lock(&self.inner);
        for (_, reply) in inner.asked.drain(..) {
            reply.reset();
        }
        inner.left.clear();
        inner.pipeline.cancel()?;
        Ok(())
    }
}

impl<C: DeviceCopy, T: DeviceCopy> Inner<C, T> {
    /// Submits a step, for which there is room afterwards if need be. Its number.
    #[track_caller]
    fn submit(&mut self, config: &[C]) -> Result<u64> {
        if self.pipeline.is_full() {
            self.deliver_oldest()?;
        }
        let Some(mut input) = self.pipeline.try_input() else {
            return Err(Error::Full {
                kind: "pipeline slot",
            });
        };
        let Some(slot) = input.get_mut(..config.len()) else {
            let problem = format!(
                "{} elements, there is room for {}",
                config.len(),
                input.len()
            );
            let error = Error::invalid("managed configuration", problem);
            return Err(ItemError {
                index: input.index(),
                stage: ItemStage::Fill,
                error,
            }
            .into());
        };
        slot.copy_from_slice(config);
        Ok(input.submit(config.len(), &mut self.kernel)?)
    }

    /// Waits for the oldest step in flight, and gives its telemetry to its owner.
    #[track_caller]
    fn deliver_oldest(&mut self) -> Result<()> {
        let in_flight = self.pipeline.in_flight();
        let (index, found) = match self.pipeline.output() {
            Ok(Some(item)) => (
                item.index,
                Ok(Telemetry::copy(item.index, item.output, &self.spare)),
            ),
            Ok(None) => return Err(Error::invalid("managed step", "none is in flight")),
            Err(error) => (error.index, Err(Error::from(error))),
        };
        if found.is_err() && self.pipeline.in_flight() == in_flight {
            // Of the wait: the step is still the oldest.
            return found.map(drop);
        }
        if self.asked.front().is_some_and(|&(asked, _)| asked == index)
            && let Some((_, reply)) = self.asked.pop_front()
        {
            reply.answer(found);
            return Ok(());
        }
        self.left.push_back(found?);
        Ok(())
    }
}

impl<C: DeviceCopy, T: DeviceCopy> Deliver for Mutex<Inner<C, T>> {
    #[track_caller]
    fn deliver_oldest(&self) -> Result<()> {
        let _defer = DeferCallbacks::new();
        sync::lock(self).deliver_oldest()
    }
}

impl<C: DeviceCopy, T: DeviceCopy> fmt::Debug for ManagedContext<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedContext")
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
