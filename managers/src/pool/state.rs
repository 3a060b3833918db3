//! `Pool`: the components that the handles ([`MemoryPool`](super::MemoryPool)) and blocks of one
//! pool share. The way of a request through them is in [`alloc`](super::alloc):
//!
//! ```text
//! magazine of this thread and stream      no lock, no driver call
//! transfer cache of the stream            one exchange for a batch
//! slabs and heap                          one short lock
//! mapper                                  driver calls, budget, slow path
//! ```

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::buffer::BufferTable;
use crate::driver::{BlockHistory, ContextCore, Holds, Kind};
use crate::error::Result;
use crate::pool::alloc::reclaim_step::LeftOut;
use crate::pool::cache::thread_caches::ThreadCaches;
use crate::pool::config::{PoolConfig, Source};
use crate::pool::heap::block_header::{BlockHeader, PoolRef};
use crate::pool::heap::central::Central;
use crate::pool::inspect::history::History;
use crate::pool::inspect::observer::Observer;
use crate::pool::inspect::region_hooks::RegionHooks;
use crate::pool::lifetime::orphan::Orphan;
use crate::pool::limit::budget::PoolBudget;
use crate::pool::limit::over_limit::OverLimit;
use crate::pool::mapping::peers::PoolPeers;
use crate::pool::member::Member;
use crate::pool::pages::page_mapper::PageMapper;
use crate::pool::streams::pool_streams::PoolStreams;
use crate::sync::rundown::{Rundown, RundownWeak};
use crate::sync::spin_lock::SpinLock;

/// The reference that keeps a closed pool. A thread drops it when no piece of the pool is out any
/// more, and so ends the pool, or leaves that to a free that is just over.
pub(crate) struct Kept(Arc<Pool>);

impl Kept {
    pub(crate) fn new(pool: &Arc<Pool>) -> Self {
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

pub(crate) struct Pool {
    /// No other pool of the process has it.
    pub(crate) number: u64,
    pub(crate) core: Arc<ContextCore>,
    pub(crate) pages: PageMapper,
    /// Contexts of other devices that may access its memory.
    pub(crate) peers: PoolPeers,
    pub(crate) budget: Arc<PoolBudget>,
    /// Of a graph's memory: the pool that it shares the limit with.
    pub(crate) parent: Option<Arc<Self>>,
    /// Keeps that open: it ends after this.
    _open: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) config: PoolConfig,
    pub(crate) central: SpinLock<Central>,
    pub(crate) streams: PoolStreams<Self>,
    pub(crate) caches: ThreadCaches,
    pub(crate) left_out: LeftOut,
    pub(crate) over_limit: OverLimit,
    pub(crate) observer: Observer,
    pub(crate) table: Arc<BufferTable>,
    /// Closed under the lock of the caches.
    pub(crate) orphan: Orphan<Kept>,
    /// Counts threads that borrow the pool for other pools, or for figures.
    pub(crate) rundown: Rundown,
}

/// Events that a pool remembers where addresses are checked: a refusal tells those of its address.
const CHECKED_HISTORY: usize = 1 << 12;

impl Pool {
    #[track_caller]
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
    ) -> Result<Arc<Self>> {
        let budget = Arc::new(PoolBudget::new(config.limit));
        let pool = Self::build(core, table, config, budget, None)?;
        if let Some(shared) = &pool.config.within {
            shared.register(pool.member());
        }
        Ok(pool)
    }

    /// A pool that shares another's limit, and gives nothing up before its end.
    /// `open` keeps that pool open.
    #[track_caller]
    pub(crate) fn within(
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
        budget: Arc<PoolBudget>,
        above: Option<(&Arc<Self>, Arc<dyn Any + Send + Sync>)>,
    ) -> Result<Arc<Self>> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        core.healthy()?;
        let checked = core.checks_pointers().then(|| core.live_blocks());
        let events = match checked {
            Some(_) => config.history.max(CHECKED_HISTORY),
            None => config.history,
        };
        let history = Arc::new(History::new(events, checked.cloned()));
        if let Some(live) = checked {
            live.add(Arc::<History>::downgrade(&history) as Weak<dyn BlockHistory>);
        }
        let (parent, open) = above.unzip();
        let is_chunks = config.source == Source::Chunks;
        let like = parent.map(|parent| &parent.pages);
        let pages = PageMapper::new(core, &history, is_chunks, like)?;
        let pool = Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            core: Arc::clone(core),
            pages,
            peers: PoolPeers::default(),
            budget,
            parent: parent.map(Arc::clone),
            _open: open,
            config,
            central: SpinLock::new(Central::new()),
            streams: PoolStreams::new(),
            caches: ThreadCaches::new(),
            left_out: LeftOut::default(),
            over_limit: OverLimit::default(),
            observer: Observer::new(core.driver(), &history),
            table: Arc::clone(table),
            orphan: Orphan::new(),
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
    pub(crate) fn of(header: &BlockHeader) -> *const Self {
        header.pool().as_ptr().cast()
    }

    /// The pool as its headers keep it.
    #[inline]
    pub(crate) fn reference(self: &Arc<Self>) -> PoolRef {
        PoolRef::new(Arc::as_ptr(self).cast())
    }

    /// How other pools find it: a reference that does not end the pool.
    pub(crate) fn member(self: &Arc<Self>) -> RundownWeak<dyn Member> {
        let weak: Weak<dyn Member> = Arc::<Self>::downgrade(self);
        RundownWeak::new(&self.rundown, weak)
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Whether it is the memory of a graph.
    pub(crate) fn is_of_graph(&self) -> bool {
        self.parent.is_some()
    }

    /// The hooks of a driver that checks the uses of the pool's blocks, if it does.
    #[inline]
    pub(crate) fn region_hooks(&self) -> Option<&RegionHooks> {
        self.observer.region_hooks()
    }

    #[inline]
    pub(crate) fn table(&self) -> &BufferTable {
        &self.table
    }

    /// The caller's side of the barrier in `with_buffers`.
    #[inline]
    pub(crate) fn light(&self) {
        self.caches.light();
    }

    /// Calls `work` with every header there is, in use or not, within the central lock, which is
    /// given up in between: a thread that waits for the lock does not wait for all headers.
    pub(crate) fn with_headers(&self, mut work: impl FnMut(&BlockHeader)) {
        for number in 0.. {
            let central = self.central.lock();
            let Some(headers) = central.headers().section(number) else {
                break;
            };
            headers.iter().for_each(&mut work);
        }
    }
}
