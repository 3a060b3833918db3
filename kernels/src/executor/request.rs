//! `Request`: an execution that is about to be put, and what its caller wishes.

use std::sync::Arc;
use std::time::Instant;

use cupola_managers::module::Function;
use cupola_managers::ops::{self, KernelArgs, LaunchAttributes, LaunchConfig};
use cupola_managers::stream::PooledStream;
use cupola_managers::{Result, Stream};

use super::batch::Batch;
use super::clock::timing_event;
use super::cooperative::{CooperativeError, check_resident};
use super::execution::Execution;
use super::fence::Fence;
use super::times::{Marks, Timing};
use super::{Executor, Shared};

/// How the end of an execution is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// By an event that is recorded when it is first asked for.
    WhenAsked,
    /// By an event of its own.
    Exact,
    /// By an event of its own, between others that take the time.
    Timed,
}

/// An execution that is about to be put, see [`Executor::request`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is put before `execute` or `launch`"]
pub struct Request<'a> {
    executor: &'a Executor,
    end: End,
    predecessors: &'a [&'a Fence],
    label: Option<&'a str>,
}

impl<'a> Request<'a> {
    pub(super) fn new(executor: &'a Executor) -> Self {
        Self {
            executor,
            end: End::WhenAsked,
            predecessors: &[],
            label: None,
        }
    }

    /// It is timed ([`Execution::times`]), by four events. Its end is [exact](Self::exact). About once
    /// a second the first that is timed waits some ten microseconds on the host, to find the device's
    /// clock in the host's.
    pub fn timed(self) -> Self {
        let end = End::Timed;
        Self { end, ..self }
    }

    /// Its end is told apart from the ends of executions that are put on its stream later, by an event
    /// that is recorded at once (`cuEventRecord`). Else that is recorded when the end is first asked
    /// for, behind all that is on the stream by then. A program needs it where one of those waits for
    /// what the program does when this one has ended.
    #[doc(alias = "cuEventRecord")]
    pub fn exact(self) -> Self {
        match self.end {
            End::Timed => self,
            End::WhenAsked | End::Exact => Self {
                end: End::Exact,
                ..self
            },
        }
    }

    /// It begins when these have ended. The device waits, and not the host (`cuStreamWaitEvent`, and
    /// `cuEventRecord` for one that has no event; none of them for one of the same stream, or that is
    /// known to have ended).
    #[doc(alias = "cuStreamWaitEvent")]
    pub fn after(self, predecessors: &'a [&'a Fence]) -> Self {
        Self {
            predecessors,
            ..self
        }
    }

    /// It has this name in the [trace](Executor::trace); unless told a launch has its kernel's.
    pub fn named(self, label: &'a str) -> Self {
        let label = Some(label);
        Self { label, ..self }
    }

    /// As [`Executor::execute`].
    ///
    /// # Errors
    /// As [`Executor::execute`]; [`Fence`]'s of those that it comes after;
    /// [`EventManager::create`](cupola_managers::event::EventManager::create)'s where it has events.
    #[track_caller]
    pub fn execute<R>(self, work: impl FnOnce(&Stream) -> Result<R>) -> Result<Execution<R>> {
        if self.end == End::Timed {
            return self.execute_timed(work);
        }
        let stream = self.begin()?;
        let output = work(&stream)?;
        let fence = Fence::new(stream.deferred_ticket(), None);
        if self.end == End::Exact {
            fence.ticket()?;
        }
        Ok(Execution::new(output, fence))
    }

    #[track_caller]
    fn execute_timed<R>(self, work: impl FnOnce(&Stream) -> Result<R>) -> Result<Execution<R>> {
        let Shared {
            context,
            clock,
            log,
            ..
        } = &*self.executor.shared;
        let put = clock.mark_put(context)?;
        let (begin, end) = (timing_event(context)?, timing_event(context)?);
        let stream = self.begin()?;
        ops::record(&begin, &stream)?;
        let called = Instant::now();
        let output = work(&stream)?;
        let launch = called.elapsed();
        ops::record(&end, &stream)?;
        let label = self.label.unwrap_or("execution");
        let marks = Marks { put, begin, end };
        let timing = Arc::new(Timing::new(label, stream.serial(), launch, marks));
        let fence = Fence::new(stream.deferred_ticket(), Some(Arc::clone(&timing)));
        fence.ticket()?;
        log.add(timing);
        Ok(Execution::new(output, fence))
    }

    /// A stream, behind what it is to come after.
    #[track_caller]
    fn begin(&self) -> Result<PooledStream> {
        let stream = self.executor.shared.streams.lease_as_known()?;
        for predecessor in self.predecessors {
            predecessor.wait_on(&stream)?;
        }
        Ok(stream)
    }

    /// As [`Executor::launch`].
    ///
    /// # Errors
    /// Those of [`ops::launch`](cupola_managers::ops::launch) and [`execute`](Self::execute).
    ///
    /// # Safety
    /// The conditions of [`Executor::launch`].
    #[doc(alias = "cuLaunchKernel")]
    #[track_caller]
    pub unsafe fn launch(
        self,
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<Execution<()>> {
        // SAFETY: the conditions are those of this function.
        let work = |stream: &Stream| unsafe { ops::launch(function, config, arguments, stream) };
        self.named_after(function, |request| request.execute(work))
    }

    /// Launches a kernel all of whose blocks run at the same time, so that they may wait for each other
    /// ([`LaunchAttributes::cooperative`]). The driver is asked first how many blocks that can be
    /// (`cuOccupancyMaxActiveBlocksPerMultiprocessor`).
    ///
    /// # Errors
    /// [`CooperativeError::TooManyBlocks`] where they cannot, and nothing is put then. Else as
    /// [`launch`](Self::launch), with [`Error::Unsupported`](cupola_managers::Error::Unsupported) by a
    /// driver before CUDA 11.6.
    ///
    /// # Safety
    /// The conditions of [`Executor::launch`].
    #[doc(alias = "cuLaunchCooperativeKernel")]
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    #[track_caller]
    pub unsafe fn launch_cooperative(
        self,
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<Execution<()>, CooperativeError> {
        check_resident(function, config, self.executor.multiprocessors()?)?;
        let attributes = LaunchAttributes::new().cooperative();
        // SAFETY: the conditions are those of this function.
        let work = |stream: &Stream| unsafe {
            ops::launch_with(function, config, attributes, arguments, stream)
        };
        Ok(self.named_after(function, |request| request.execute(work))?)
    }

    /// Has each of `works` put something on a stream of its own, as far as there are streams, until one
    /// is refused. This request's wishes are those of each.
    #[track_caller]
    pub fn batch<R, W>(self, works: impl IntoIterator<Item = W>) -> Batch<R>
    where
        W: FnOnce(&Stream) -> Result<R>,
    {
        let mut batch = Batch::new();
        for work in works {
            if let Err(error) = self.execute(work).map(|execution| batch.add(execution)) {
                batch.refuse(error);
                break;
            }
        }
        batch
    }

    /// Does `put` with the request, which has the kernel's name if it has none and needs one.
    #[track_caller]
    fn named_after<T>(
        self,
        function: &Function,
        put: impl FnOnce(Request<'_>) -> Result<T>,
    ) -> Result<T> {
        match (self.end, self.label) {
            (End::Timed, None) => put(self.named(&function.name().to_string_lossy())),
            _ => put(self),
        }
    }
}
