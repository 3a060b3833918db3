//! `Pool`: what a [`MemoryPool`](super::MemoryPool) and its blocks share. The way of a request
//! through its layers is in [`take`](super::take) and [`put`](super::put):
//!
//! ```text
//! magazine of this thread and stream      no lock, no driver call
//! depot of the stream                     one exchange for a batch
//! slabs and heap                          one short lock
//! mapper                                  driver calls, budget, ladder
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::MemoryPool;
use super::central::Central;
use super::charge::Own;
use super::config::{PoolConfig, Source};
use super::control::Callback;
use super::device_memory::DeviceMemory;
use super::excess::Excess;
use super::flow::Flow;
use super::graph::Graphs;
use super::header::Header;
use super::history::History;
use super::keep::Keep;
use super::lane::Lane;
use super::lines::Lines;
use super::mapper::Mapper;
use super::names::Name;
use super::pages::LEAST_PAGE;
use super::patience::Wait;
use super::pressure::Levels;
use super::seam::Seam;
use super::signs::Changes;
use super::teardown::Kept;
use super::vmm::{Calls, Vmm};
use crate::buffer::BufferTable;
use crate::driver::{ContextCore, Holds, Kind};
use crate::error::Result;
use crate::stream::Stream;
use crate::sync::asymmetric_fence::AsymmetricFence;
use crate::sync::rundown::{Rundown, RundownWeak};
use crate::sync::spin_lock::SpinLock;
use crate::sync::thread_exit::ThreadExit;

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) bytes: u64,
    /// A power of two.
    pub(crate) align: u64,
    pub(crate) name: Name,
    /// Whether it is for a buffer.
    pub(crate) buffer: bool,
    pub(crate) wait: Wait,
}

impl Ask {
    /// What a header keeps of the stream.
    #[inline]
    pub(super) fn stream(self, stream: &Stream) -> (u64, bool) {
        let stream = if self.buffer {
            stream.handle().to_bits()
        } else {
            stream.serial()
        };
        (stream, self.buffer)
    }
}

/// What happened off the hit path.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Requests that the limit refused.
    pub(super) refused: AtomicU64,
    /// Requests that the device refused.
    pub(super) exhausted: AtomicU64,
    pub(super) trims: AtomicU64,
    /// The most bytes that were ever mapped, those of graphs included.
    pub(super) peak_mapped: AtomicU64,
    /// Requests that had to map pages.
    pub(super) grown: AtomicU64,
    /// Pages that were unmapped to be used elsewhere.
    pub(super) remapped: AtomicU64,
    /// Times that all lanes were seized.
    pub(super) drains: AtomicU64,
    /// Times that a request waited on the host.
    pub(super) host_waits: AtomicU64,
    /// Times that a request's stream was made to wait for another.
    pub(super) device_waits: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

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
    _open: Option<MemoryPool>,
    pub(super) graphs: Graphs,
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
    barrier: AsymmetricFence,
    pub(super) callback: Mutex<Option<Callback>>,
    /// Closed under the lock of the lanes.
    pub(super) keep: Keep<Kept>,
    /// Who borrows it for other pools, or for figures.
    pub(super) rundown: Rundown,
}

/// A lock whose holders leave what they guard whole at every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            shared.enter(&pool);
        }
        Ok(pool)
    }

    /// A pool that shares another's limit, and gives nothing up before its end.
    #[track_caller]
    pub(super) fn within(open: &MemoryPool) -> Result<Arc<Self>> {
        let parent = open.pool();
        let config = PoolConfig {
            history: 0,
            ..parent.config.clone()
        };
        let budget = Arc::clone(&parent.budget);
        Self::build(&parent.core, &parent.table, config, budget, Some(open))
    }

    #[track_caller]
    fn build(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
        budget: Arc<Own>,
        above: Option<&MemoryPool>,
    ) -> Result<Arc<Self>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        core.healthy()?;
        let calls = Arc::new(Calls::default());
        let history = Arc::new(History::new(config.history));
        let vmm = match config.source {
            Source::Best => Vmm::new(core, &calls, &history)?,
            Source::Chunks => None,
        };
        let device_memory = match above {
            Some(above) => above.pool().device_memory.clone(),
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
            parent: above.map(|above| Arc::clone(above.pool())),
            _open: above.cloned(),
            graphs: Graphs::default(),
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
        table.enter(&pool);
        Ok(pool)
    }

    /// How others find it, who are not to end it.
    pub(crate) fn host(self: &Arc<Self>) -> RundownWeak<Self> {
        RundownWeak::new(&self.rundown, Arc::downgrade(self))
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Whether it is the memory of a graph.
    pub(crate) fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
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

    /// How many buffers are alive.
    pub(crate) fn buffers_alive(&self) -> usize {
        self.flow().buffers().0 as usize
    }

    /// How many buffers were made.
    pub(crate) fn buffers_made(&self) -> u64 {
        self.flow().buffers_out.load(Ordering::Relaxed)
    }

    /// Calls `work` with every header of a buffer that is alive now, unless it is freed before its
    /// turn. It is not freed meanwhile: who frees it has its lane, or the central lock.
    pub(crate) fn with_buffers(&self, mut work: impl FnMut(&Header)) {
        let lanes = lock(&self.lanes);
        // What was stored before this call is seen by whoever is alive only after it.
        self.barrier.heavy();
        let _seized = Lane::revoke_all(&lanes);
        self.with_headers(|header| {
            if header.is_buffer() {
                work(header);
            }
        });
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

impl Holds for Pool {
    fn buffers(&self) -> (u64, u64) {
        self.flow().buffers()
    }
}
