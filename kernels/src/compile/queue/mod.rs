//! [`CompileQueue`]: compiles on threads of their own, at most some at a time.

mod bounded;

use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Cancellation, CompileError, CompileRequest, Compiled, Compiler};
use bounded::{Bounded, Handle, Work};

/// Compiles at most so many requests at a time, first come, first served.
///
/// Each compile has a thread of its own that takes no part in anything else: an instance of NVRTC
/// holds hundreds of megabytes, so there are few. They are started when there is work for them.
///
/// Dropping the queue cancels what is under way and what waits, and waits until the threads have
/// ended.
#[derive(Debug)]
pub struct CompileQueue {
    compiler: Compiler,
    queue: Bounded<Compile>,
}

/// One of its compiles.
#[derive(Debug)]
struct Compile {
    compiler: Compiler,
    request: CompileRequest,
    cancellation: Cancellation,
}

impl Work for Compile {
    type Output = Result<Compiled, CompileError>;

    fn run(&self) -> Self::Output {
        self.compiler
            .compile_until(&self.request, &self.cancellation)
    }

    fn cancel(&self) {
        self.cancellation.cancel();
    }

    fn panicked() -> Self::Output {
        Err(CompileError::Panicked)
    }

    fn abandoned() -> Self::Output {
        Err(CompileError::QueueGone)
    }
}

/// A compile of a [`CompileQueue`]: a future of its result, which can be [waited](Self::wait) for
/// too. Dropping it cancels the compile.
#[derive(Debug)]
#[must_use = "dropping it cancels the compile"]
pub struct CompileJob(Handle<Compile>);

impl CompileQueue {
    /// As many compiles at a time as there are cores, but no more than this: an instance of the
    /// compiler holds hundreds of megabytes.
    pub const MOST_BY_DEFAULT: usize = 8;

    /// A queue with as many threads as there are cores, at most
    /// [`MOST_BY_DEFAULT`](Self::MOST_BY_DEFAULT).
    #[must_use]
    pub fn new(compiler: Compiler) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let width = cores.min(Self::MOST_BY_DEFAULT);
        Self::with_width(
            compiler,
            NonZeroUsize::new(width).unwrap_or(NonZeroUsize::MIN),
        )
    }

    /// A queue that compiles so many requests at a time.
    #[must_use]
    pub fn with_width(compiler: Compiler, width: NonZeroUsize) -> Self {
        let queue = Bounded::new(width);
        Self { compiler, queue }
    }

    /// The most compiles at a time.
    #[must_use]
    pub fn width(&self) -> NonZeroUsize {
        self.queue.width()
    }

    /// Compiles the request when its turn comes.
    ///
    /// # Errors
    /// [`CompileError::Thread`] when there is no thread and none can be started.
    pub fn submit(&self, request: CompileRequest) -> Result<CompileJob, CompileError> {
        let submitted = self.queue.submit(Compile {
            compiler: self.compiler.clone(),
            request,
            cancellation: Cancellation::new(),
        });
        let handle = submitted.map_err(|error| CompileError::Thread(error.to_string()))?;
        Ok(CompileJob(handle))
    }
}

impl CompileJob {
    /// Stops the compile; its result is then [`CompileError::Cancelled`], unless it was done.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Waits on this thread for the result.
    ///
    /// # Errors
    /// Those of [`Compiler::compile_until`]; [`CompileError::QueueGone`].
    pub fn wait(self) -> Result<Compiled, CompileError> {
        self.0.wait()
    }

    /// Whether the result is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.is_done()
    }
}

impl Future for CompileJob {
    type Output = Result<Compiled, CompileError>;

    /// Pending for ever once it has given its result, as futures may be.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(context)
    }
}
