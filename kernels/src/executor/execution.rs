//! `Execution`: the handle of work that was put.

use cupola_managers::Result;

use super::fence::Fence;
use super::future::ExecutionFuture;
use super::times::ExecutionTimes;

/// Work that an [`Executor`](super::Executor) has put on a stream, and what the closure that put it has
/// returned. A `&Execution` is awaited for its end, an `Execution` for its output too.
///
/// The crate's own objects (kernels, memory, modules) are kept for as long as the work may use them,
/// whether the handle is there or not: a handle that is dropped lets the work run, and its errors are
/// those of later calls. Memory of a caller's own that the work uses belongs into the output.
///
/// After the loss of the context, every wait for an execution that is not known to have ended returns
/// that first error ([`Error::Poisoned`](cupola_managers::Error::Poisoned)).
#[derive(Debug)]
#[must_use = "an execution that is dropped runs, and tells nothing"]
pub struct Execution<R> {
    output: R,
    fence: Fence,
}

impl<R> Execution<R> {
    pub(super) fn new(output: R, fence: Fence) -> Self {
        Self { output, fence }
    }

    /// Its end.
    #[must_use]
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// What the closure returned, for work that is put after this.
    #[must_use]
    pub fn output(&self) -> &R {
        &self.output
    }

    /// Whether the work has completed (`cuEventQuery`, unless it is known).
    ///
    /// # Errors
    /// As [`Fence::is_done`].
    #[doc(alias = "cuEventQuery")]
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        self.fence.is_done()
    }

    /// Waits on the host until the work has completed (`cuEventSynchronize`, unless it is known).
    ///
    /// # Errors
    /// As [`Fence::wait`]: the error of failed work among it.
    #[doc(alias = "cuEventSynchronize")]
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        self.fence.wait()
    }

    /// [Waits](Self::wait), and returns what the closure returned.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn join(self) -> Result<R> {
        self.wait()?;
        Ok(self.output)
    }

    /// [Waits](Self::wait), and tells how long it took; `None` when it was not
    /// [timed](super::Request::timed).
    ///
    /// # Errors
    /// As [`wait`](Self::wait), and [`ops::elapsed`](cupola_managers::ops::elapsed).
    #[doc(alias = "cuEventElapsedTime")]
    #[track_caller]
    pub fn times(&self) -> Result<Option<ExecutionTimes>> {
        self.wait()?;
        self.fence.timing().map(|timing| timing.read()).transpose()
    }
}

impl<R> IntoFuture for Execution<R> {
    type Output = Result<R>;
    type IntoFuture = ExecutionFuture<R>;

    #[track_caller]
    fn into_future(self) -> ExecutionFuture<R> {
        ExecutionFuture::new(self.fence.own_ticket(), self.output)
    }
}

impl<R> IntoFuture for &Execution<R> {
    type Output = Result<()>;
    type IntoFuture = ExecutionFuture<()>;

    #[track_caller]
    fn into_future(self) -> ExecutionFuture<()> {
        ExecutionFuture::new(self.fence.own_ticket(), ())
    }
}
