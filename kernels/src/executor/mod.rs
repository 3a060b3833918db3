//! Executions: work on streams of a pool, with a handle for the end of each.
//!
//! An [`Executor`] takes the stream with the least outstanding work, has a closure put work there, and
//! returns an [`Execution`]: waited for on the host, by a future, or by other executions on the device.
//! One that is not timed costs the calls of the driver that its work makes, and no memory of the host.
//! One that is timed says how long it waited, was launched and ran ([`ExecutionTimes`]), and is in the
//! executor's [trace](Executor::trace).
//!
//! ```
//! use cupola_kernels::Kernels;
//! use cupola_kernels::executor::{Executor, ExecutorConfig};
//! use cupola_managers::{ExecutionManager, PoolConfig};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let device = ExecutionManager::new(driver)?.devices().get(0)?;
//! let context = device.primary()?;
//! let kernels = Kernels::load(&context, device.info()?)?;
//! let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
//! let executor = Executor::new(&context, ExecutorConfig::streams(4))?;
//!
//! let x = executor.execute(|stream| pool.upload(&[1.0_f32, 2.0, 3.0], stream))?;
//! let scaled = executor.request().after(&[x.fence()]).timed().execute(|stream| {
//!     let mut y = pool.allocate::<f32>(3, stream)?;
//!     kernels.scale(2.0, x.output(), &mut y, stream)?;
//!     y.to_vec(stream)
//! })?;
//! println!("{}", scaled.times()?.expect("it is timed"));
//! assert_eq!(scaled.join()?, [2.0, 4.0, 6.0]);
//! # Ok::<_, cupola_managers::Error>(())
//! ```

mod batch;
mod clock;
mod cooperative;
mod execution;
mod fence;
mod future;
mod request;
mod times;
mod trace;

use std::fmt;
use std::sync::{Arc, OnceLock};

use cupola_managers::module::Function;
use cupola_managers::ops::{KernelArgs, LaunchConfig};
use cupola_managers::stream::{StreamPool, StreamPoolConfig};
use cupola_managers::{Context, Result, Stream};

pub use batch::{Batch, BatchError};
pub use cooperative::{CooperativeError, TooManyBlocks};
pub use execution::Execution;
pub use fence::Fence;
pub use future::ExecutionFuture;
pub use request::Request;
pub use times::ExecutionTimes;
pub(crate) use times::milliseconds;
pub use trace::ExecutionTrace;

use clock::Clock;
use trace::Log;

/// How an [`Executor`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutorConfig {
    /// The streams that executions run on.
    pub streams: StreamPoolConfig,
    /// How many timed executions are remembered for the [trace](Executor::trace): the oldest go
    /// first. 1024 unless told.
    pub remembered: usize,
}

impl ExecutorConfig {
    /// Up to so many streams, made when they are needed.
    #[must_use]
    pub const fn streams(count: usize) -> Self {
        Self {
            streams: StreamPoolConfig::new(count),
            remembered: 1024,
        }
    }
}

/// Puts work on the streams of a pool. Clones are the same executor, and threads share it.
///
/// The stream of an execution is the one with the least outstanding work, as far as is known without
/// asking the driver: waiting for executions makes it known.
#[derive(Clone)]
pub struct Executor {
    shared: Arc<Shared>,
}

/// Declared in the order in which it goes: the context last.
struct Shared {
    streams: StreamPool,
    clock: Clock,
    log: Arc<Log>,
    /// Those that kernels of the context run on, once they were asked for.
    multiprocessors: OnceLock<u32>,
    context: Context,
}

impl Executor {
    /// An executor on streams of this context. Nothing is created before it is needed.
    ///
    /// # Errors
    /// [`Error::Invalid`](cupola_managers::Error::Invalid) when there are to be no streams;
    /// [`Error::Forked`](cupola_managers::Error::Forked).
    #[track_caller]
    pub fn new(context: &Context, config: ExecutorConfig) -> Result<Self> {
        let shared = Shared {
            streams: StreamPool::new(context, config.streams)?,
            clock: Clock::new(),
            log: Arc::new(Log::new(config.remembered)),
            multiprocessors: OnceLock::new(),
            context: context.clone(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// An execution with wishes: that it is timed, or comes after others.
    pub fn request(&self) -> Request<'_> {
        Request::new(self)
    }

    /// Has `work` put something on a stream, and returns the handle of its end. What `work` returns is
    /// the execution's: buffers that kernels write, for one.
    ///
    /// # Errors
    /// What `work` returned. What it had put runs all the same.
    /// [`StreamManager::create`](cupola_managers::stream::StreamManager::create)'s when a stream is made.
    #[track_caller]
    pub fn execute<R>(&self, work: impl FnOnce(&Stream) -> Result<R>) -> Result<Execution<R>> {
        self.request().execute(work)
    }

    /// Launches a kernel ([`ops::launch`](cupola_managers::ops::launch)) on a stream.
    ///
    /// # Errors
    /// Those of [`ops::launch`](cupola_managers::ops::launch) and [`execute`](Self::execute).
    ///
    /// # Safety
    /// The conditions of [`ops::launch`](cupola_managers::ops::launch). A kernel that uses memory of
    /// another execution comes [after](Request::after) that.
    #[doc(alias = "cuLaunchKernel")]
    #[track_caller]
    pub unsafe fn launch(
        &self,
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<Execution<()>> {
        // SAFETY: the conditions are those of this function.
        unsafe { self.request().launch(function, config, arguments) }
    }

    /// Has each of `works` put something on a stream of its own, as far as there are streams.
    #[track_caller]
    pub fn batch<R, W>(&self, works: impl IntoIterator<Item = W>) -> Batch<R>
    where
        W: FnOnce(&Stream) -> Result<R>,
    {
        self.request().batch(works)
    }

    /// The timed executions of which times are known by now, to look at.
    #[must_use]
    pub fn trace(&self) -> ExecutionTrace {
        self.shared.log.trace()
    }

    /// Executions whose end is not known, of all streams.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.shared.streams.outstanding()
    }

    /// The context that it works in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// How many multiprocessors kernels run on.
    #[track_caller]
    fn multiprocessors(&self) -> Result<u32> {
        if let Some(&known) = self.shared.multiprocessors.get() {
            return Ok(known);
        }
        let asked = self.shared.context.multiprocessors()?;
        Ok(*self.shared.multiprocessors.get_or_init(|| asked))
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("streams", &self.shared.streams)
            .finish_non_exhaustive()
    }
}
