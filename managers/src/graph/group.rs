//! `GraphGroup`: graphs that use the same memory, one after the other.

use std::fmt;
use std::sync::{Arc, Weak};

use super::order::LaunchOrder;
use super::{Capture, CaptureConfig, Graph};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::pool::{GraphArena, MemoryPool};
use crate::stream::StreamConfig;

/// Graphs that never run at the same time, and so share the memory of their captures: together they
/// need as much as the one that needs the most.
///
/// What a capture of the group has allocated on its [stream](Capture::stream) and dropped is there for
/// the next capture. A buffer that outlives its capture is no later capture's as long as it is there:
/// a later graph may use it, and finds in it what an earlier one has left, if no graph from before its
/// allocation was launched in between. All other work with it is refused
/// ([`Error::Invalid`]) as long as the group has a graph, because launches may use the memory at
/// any time: what is to be read or written outside is allocated outside, on another stream.
///
/// A launch of a graph of the group waits on the device for the launch before, of whichever of them
/// and on whatever stream. The memory is the pool's again when the last graph, executable and launch
/// is over, also while the group is there. Memory comes from the pool as ever for requests on other
/// streams, those of [branches](Capture::branch) too.
///
/// ```
/// use cupola_managers::graph::{CaptureConfig, GraphGroup};
/// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
/// let mut out = pool.zeros::<u32>(1 << 20, &stream)?;
///
/// let mut group = GraphGroup::new(&context, CaptureConfig::default().memory(&pool))?;
/// let mut executables = Vec::new();
/// for batch in 1..=8 {
///     let (graph, ()) = group.capture(|capture| {
///         let mut scratch = pool.allocate::<u32>(batch << 17, capture.stream())?;
///         ops::fill(&mut scratch, batch as u32, capture.stream())?;
///         ops::copy(&scratch, out.slice_mut(..batch << 17)?, capture.stream())?;
///         Ok::<_, Error>(())
///     })?;
///     executables.push(graph.instantiate()?);
/// }
/// assert_eq!(group.mapped()?, 4 << 20);
/// executables[2].launch(&stream)?;
/// assert_eq!(out.to_vec(&stream)?[..3 << 17], [3; 3 << 17]);
/// # Ok::<_, Error>(())
/// ```
pub struct GraphGroup {
    config: CaptureConfig,
    pool: MemoryPool,
    /// Its graphs keep it.
    arena: Weak<GraphArena>,
    order: Arc<LaunchOrder>,
    context: Context,
}

impl GraphGroup {
    /// A group without graphs, all of which are captured in this way.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a configuration without [memory](CaptureConfig::memory);
    /// [`Error::WrongContext`] for memory of another context; [`Error::Full`], [`Error::ShutDown`],
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[track_caller]
    pub fn new(context: &Context, config: CaptureConfig) -> Result<Self> {
        let Some(pool) = config.pool().cloned() else {
            let problem = "graphs of a group share memory of a pool: name one";
            return Err(Error::invalid("memory", problem));
        };
        let core = context.core();
        core.healthy()?;
        if !core.shares_objects(&pool.pool().core) {
            return Err(Error::WrongContext { what: "the memory" });
        }
        Ok(Self {
            config,
            pool,
            arena: Weak::new(),
            order: Arc::default(),
            context: context.clone(),
        })
    }

    /// Captures a graph of the group, as [`Graph::capture`] does.
    ///
    /// # Errors
    /// As [`Graph::capture`].
    #[doc(alias = "cuStreamBeginCapture")]
    #[doc(alias = "cuStreamEndCapture")]
    #[track_caller]
    pub fn capture<R, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&mut Capture<'_>) -> Result<R, E>,
    ) -> Result<(Graph, R), E> {
        let arena = self.arena()?;
        let mut capture = Capture::begin(&self.context, self.config.clone(), Some(&arena))?;
        let captured = capture.run(work);
        drop(capture);
        arena.gather();
        let (mut graph, value) = captured?;
        graph.join_order(&self.order)?;
        Ok((graph, value))
    }

    #[track_caller]
    fn arena(&mut self) -> Result<Arc<GraphArena>> {
        if let Some(arena) = self.arena.upgrade() {
            return Ok(arena);
        }
        let home = self
            .context
            .streams()
            .create_reserved(StreamConfig::default())?;
        let arena = GraphArena::shared(self.pool.pool(), self.pool.keep_open(), home)?;
        self.arena = Arc::downgrade(&arena);
        Ok(arena)
    }

    /// Bytes of pages that the group's graphs have together; they count for the pool's limit.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn mapped(&self) -> Result<u64> {
        self.context.core().not_forked()?;
        self.arena.upgrade().map_or(Ok(0), |arena| arena.mapped())
    }
}

impl fmt::Debug for GraphGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphGroup")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
