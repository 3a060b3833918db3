//! `Pool`: what a [`MemoryPool`](super::MemoryPool) and its blocks share. The way of a request
//! through its layers is in [`take`](super::take) and [`put`](super::put):
//!
//! ```text
//! magazine of this thread and stream      no lock, no driver call
//! depot of the stream                     one exchange for a batch
//! slabs and heap                          one short lock
//! mapper                                  driver calls, budget, ladder
//! ```

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::central::Central;
use super::charge::Own;
use super::config::{PoolConfig, Source};
use super::counters::Counters;
use super::device_memory::DeviceMemory;
use super::excess::Excess;
use super::flow::Flow;
use super::header::{Header, PoolRef};
use super::history::History;
use super::keep::Keep;
use super::lane::Lane;
use super::levels::Levels;
use super::lines::Lines;
use super::mapper::Mapper;
use super::member::Member;
use super::open_graphs::OpenGraphs;
use super::seam::Seam;
use super::signs::Changes;
use super::vmm::LEAST_PAGE;
use super::vmm::{Calls, Vmm};
use crate::buffer::BufferTable;
use crate::driver::{ContextCore, Holds, Kind};
use crate::error::{Error, Result};
use crate::sync::asymmetric_fence::AsymmetricFence;
use crate::sync::rundown::{Rundown, RundownWeak};
use crate::sync::spin_lock::SpinLock;
use crate::sync::thread_exit::ThreadExit;

/// What keeps a closed pool. Whoever drops this has found that nobody has a piece of it any more,
/// and ends the pool, or leaves that to a free that is just over.
pub(super) struct Kept(Arc<Pool>);

impl Kept {
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        Self(Arc::clone(pool))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Requests of other pools wait for the end from the moment on that they cannot see this
        // one.
        self.0.rundown.run_down(|| self.0.note_ending());
    }
}

/// What is asked before a request is refused.
pub(super) type Callback = Arc<dyn Fn(&Error) -> bool + Send + Sync>;

pub(crate) struct Pool {
    /// No other pool of the process has it.
    pub(super) number: u64,
    /// `None`: the driver checks nothing.
    pub(super) seam: Option<Seam>,
    pub(super) core: Arc<ContextCore>,
    /// `None`: chunks.
    pub(super) vmm: Option<Vmm>,
    pub(super) page: u64,
    pub(super) device_memory: DeviceMemory,
    pub(super) budget: Arc<Own>,
    /// Of a graph's memory: the pool that it shares the limit with.
    pub(super) parent: Option<Arc<Self>>,
    /// Keeps that open: it ends after this.
    _open: Option<Arc<dyn Any + Send + Sync>>,
    pub(super) graphs: OpenGraphs<Self>,
    pub(super) config: PoolConfig,
    pub(super) central: SpinLock<Central>,
    pub(super) mapper: Mutex<Mapper>,
    pub(super) lines: Mutex<Lines>,
    /// Held by the one who looks whose streams are gone.
    pub(super) reaper: Mutex<()>,
    pub(super) lanes: Mutex<Vec<Arc<Lane>>>,
    pub(super) thread_exit: ThreadExit,
    /// What went through lanes that are gone, and past all lanes.
    pub(super) past: Flow,
    pub(super) counters: Counters,
    pub(super) changes: Changes,
    pub(super) levels: Levels,
    pub(super) excess: Excess,
    pub(super) calls: Arc<Calls>,
    pub(super) history: Arc<History>,
    pub(super) table: Arc<BufferTable>,
    pub(super) barrier: AsymmetricFence,
    pub(super) callback: Mutex<Option<Callback>>,
    /// Closed under the lock of the lanes.
    pub(super) keep: Keep<Kept>,
    /// Who borrows it for other pools, or for figures.
    pub(super) rundown: Rundown,
}

impl Pool {
    #[track_caller]
    pub(super) fn new(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
    ) -> Result<Arc<Self>> {
        let budget = Arc::new(Own::new(config.limit));
        let pool = Self::build(core, table, config, budget, None)?;
        if let Some(shared) = &pool.config.within {
            shared.register(pool.member());
        }
        Ok(pool)
    }

    /// A pool that shares another's limit, and gives nothing up before its end.
    /// `open` keeps that pool open.
    #[track_caller]
    pub(super) fn within(
        parent: &Arc<Self>,
        open: Arc<dyn Any + Send + Sync>,
    ) -> Result<Arc<Self>> {
        let config = PoolConfig {
            history: 0,
            ..parent.config.clone()
        };
        let budget = Arc::clone(&parent.budget);
        let above = Some((parent, open));
        Self::build(&parent.core, &parent.table, config, budget, above)
    }

    #[track_caller]
    fn build(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
        budget: Arc<Own>,
        above: Option<(&Arc<Self>, Arc<dyn Any + Send + Sync>)>,
    ) -> Result<Arc<Self>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        core.healthy()?;
        let calls = Arc::new(Calls::default());
        let history = Arc::new(History::new(config.history));
        let vmm = match config.source {
            Source::Best => Vmm::new(core, &calls, &history)?,
            Source::Chunks => None,
        };
        let (parent, open) = above.unzip();
        let device_memory = match parent {
            Some(parent) => parent.device_memory.clone(),
            None => DeviceMemory::of(core, &calls)?,
        };
        let pool = Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            seam: Seam::of(core.driver()),
            core: Arc::clone(core),
            page: vmm.as_ref().map_or(LEAST_PAGE, Vmm::page),
            vmm,
            device_memory,
            budget,
            parent: parent.map(Arc::clone),
            _open: open,
            graphs: OpenGraphs::default(),
            config,
            central: SpinLock::new(Central::new()),
            mapper: Mutex::default(),
            lines: Mutex::default(),
            reaper: Mutex::default(),
            lanes: Mutex::default(),
            thread_exit: ThreadExit::new(),
            past: Flow::default(),
            counters: Counters::default(),
            changes: Changes::default(),
            levels: Levels::default(),
            excess: Excess::default(),
            calls,
            history,
            table: Arc::clone(table),
            barrier: AsymmetricFence::of_process(),
            callback: Mutex::new(None),
            keep: Keep::new(),
            rundown: Rundown::new(),
        });
        core.ledger().add(Kind::Pool, 1);
        let holds: Weak<dyn Holds> = Arc::<Self>::downgrade(&pool) as Weak<dyn Holds>;
        core.ledger().watch(RundownWeak::new(&pool.rundown, holds));
        table.register(pool.member());
        Ok(pool)
    }

    /// The pool of a piece, which is there as long as the piece is in use.
    #[inline]
    pub(crate) fn of(header: &Header) -> *const Self {
        header.pool().as_ptr().cast()
    }

    /// The pool as its headers keep it.
    #[inline]
    pub(super) fn reference(self: &Arc<Self>) -> PoolRef {
        PoolRef::new(Arc::as_ptr(self).cast())
    }

    /// How others find it, who are not to end it.
    pub(crate) fn member(self: &Arc<Self>) -> RundownWeak<dyn Member> {
        let weak: Weak<dyn Member> = Arc::<Self>::downgrade(self);
        RundownWeak::new(&self.rundown, weak)
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Whether it is the memory of a graph.
    pub(crate) fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    /// The driver that checks what uses the pool's blocks, if it does.
    pub(crate) fn seam(&self) -> Option<&Seam> {
        self.seam.as_ref()
    }

    pub(crate) fn table(&self) -> &BufferTable {
        &self.table
    }

    /// The caller's side of the barrier in `with_buffers`.
    #[inline]
    pub(crate) fn light(&self) {
        self.barrier.light();
    }

    /// Calls `work` with every header there is, in use or not, within the central lock, which is
    /// given up in between: who waits for it does not wait for all.
    pub(super) fn with_headers(&self, mut work: impl FnMut(&Header)) {
        for number in 0.. {
            let central = self.central.lock();
            let Some(headers) = central.headers.section(number) else {
                break;
            };
            headers.iter().for_each(&mut work);
        }
    }
}
