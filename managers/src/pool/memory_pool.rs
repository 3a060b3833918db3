//! `MemoryPool`: the users' handle of a pool.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use cupola_core::Pressure;

use crate::buffer::{Block, Buffer, BufferTable, DeviceCopy, byte_len};
use crate::driver::ContextCore;
use crate::error::{Account, Error, Result};
use crate::pool::alloc::reclaim_step::ReclaimStep;
use crate::pool::config::PoolConfig;
use crate::pool::graph_memory::GraphMemory;
use crate::pool::heap::block_name::BlockName;
use crate::pool::inspect::history::Recording;
use crate::pool::inspect::layout::Layout;
use crate::pool::inspect::usage::Usage;
use crate::pool::named::AsBlockName;
use crate::pool::raw_block::RawBlock;
use crate::pool::request::AllocRequest;
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::stream::Stream;

/// The source of a pool's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backing {
    /// Pages of virtual memory management (`cuMemCreate`), mapped where they are needed.
    Pages,
    /// Chunks of `cuMemAlloc`, because the device or the driver has no virtual memory
    /// management or the configuration says so.
    Chunks,
}

impl fmt::Display for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pages => "pages of virtual memory",
            Self::Chunks => "chunks of device memory",
        })
    }
}

/// Hands out device memory under a limit. Clones share the pool.
///
/// The limit is hard: it counts every byte that the pool has from the driver, in whole pages,
/// and is charged before the driver is asked.
///
/// The memory goes back to the driver when the last clone and the last block are gone. If work
/// may still use freed memory, that waits for it: unmapping is not ordered on streams.
///
/// A stream is its [`Stream`] and the clones of that. One that was
/// [borrowed](crate::stream::StreamManager::borrow_raw) again after its last lease is another stream to
/// the pool, and to a graph's memory, as one is that another execution manager borrowed.
///
/// # Capture
///
/// A graph uses its addresses again at each launch, which the pool cannot see. A stream that
/// allocates or frees while it captures needs a [`graph_memory`](Self::graph_memory), from before
/// the capture: without it memory that was freed while capturing is free as soon as the stream has
/// come that far, and others may have it while the graph runs.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use cupola_managers::{ExecutionManager, pool::PoolConfig, stream::StreamConfig};
/// # let execution = ExecutionManager::new(cupola_sys::driver::Driver::load()?)?;
/// # let context = execution.devices().get(0)?.primary()?;
/// # let stream = context.streams().create(StreamConfig::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(1 << 30))?;
/// let block = pool.allocate_raw(1 << 20, 256, &stream)?;
/// // ... put work on the stream that uses block.address() ...
/// // SAFETY: all work that uses the block is on the stream.
/// unsafe { block.free(&stream)? };
/// assert_eq!(pool.usage()?.live, 0);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct MemoryPool(Arc<Owner>);

/// The handles of a pool: with the last one it closes.
struct Owner(Arc<Pool>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl MemoryPool {
    #[track_caller]
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        table: &Arc<BufferTable>,
        config: PoolConfig,
    ) -> Result<Self> {
        let pool = Pool::new(core, table, config)?;
        Ok(Self(Arc::new(Owner(pool))))
    }

    /// A value that keeps the pool open.
    pub(crate) fn keep_open(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::<Owner>::clone(&self.0)
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0.0
    }

    /// A buffer of `len` elements, ready for use on `stream`, and on other streams: one of them
    /// sees the writes of another only behind [`ops::wait`](crate::ops::wait). The contents are
    /// unspecified. A stream that captures needs a [graph memory](Self#capture).
    ///
    /// # Errors
    /// [`Error::OverLimit`] when it does not fit the limit, [`Error::OutOfMemory`] when the
    /// device has too little left, each with the pool's account; [`Error::Full`] when 65 535
    /// other streams use the pool, or when there are as many buffers as their manager may have;
    /// [`Error::ShutDown`] when that was shut down; [`Error::WrongContext`] when the stream is
    /// another context's; [`Error::Invalid`] when `len` elements are more bytes than there are
    /// addresses; [`Error::Poisoned`], [`Error::Forked`]; the error that the driver returned.
    #[doc(alias = "cuMemAlloc")]
    #[doc(alias = "cuMemAllocAsync")]
    #[track_caller]
    pub fn allocate<T: DeviceCopy>(&self, len: usize, stream: &Stream) -> Result<Buffer<T>> {
        self.allocate_as(None, len, stream)
    }

    /// A buffer by [`allocate`](Self::allocate), under a name that shows in
    /// [`named`](Self::named) and in pictures of the pool.
    ///
    /// With a [`BlockName`] the name costs nothing. A text is looked up each time, under a lock
    /// that all pools of the process share: that is for buffers that are allocated seldom.
    ///
    /// ```no_run
    /// # fn f(pool: &cupola_managers::MemoryPool, stream: &cupola_managers::Stream)
    /// #     -> cupola_managers::Result<()> {
    /// let kv = pool.name("key-value cache")?;
    /// for _ in 0..1000 {
    ///     let block = pool.allocate_named::<f32>(kv, 4096, stream)?;
    /// }
    /// let weights = pool.allocate_named::<f32>("weights", 1 << 20, stream)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate).
    #[track_caller]
    pub fn allocate_named<T: DeviceCopy>(
        &self,
        name: impl AsBlockName,
        len: usize,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        self.allocate_as(Some(name.in_pool(self)?), len, stream)
    }

    /// A name for blocks, to make once and allocate under as often as needed, from any pool. The
    /// text is kept as long as the process: names are for kinds of blocks, not for each of them.
    ///
    /// # Errors
    /// [`Error::Poisoned`] in a lost context; [`Error::Forked`].
    pub fn name(&self, name: &str) -> Result<BlockName> {
        self.pool().intern(name)
    }

    #[track_caller]
    fn allocate_as<T: DeviceCopy>(
        &self,
        name: Option<BlockName>,
        len: usize,
        stream: &Stream,
    ) -> Result<Buffer<T>> {
        let ask = AllocRequest {
            bytes: byte_len::<T>(len)? as u64,
            align: align_of::<T>() as u64,
            name: name.map(BlockName::word),
            buffer: true,
            wait: Wait::AsConfigured,
        };
        Ok(Buffer::new(Block::new(self.pool(), ask, stream)?, len))
    }

    /// `bytes` bytes at a multiple of `align`, a power of two up to the size of a page (2 MiB),
    /// ready for use on `stream`. Any number of bytes will do: a block of none has address 0.
    /// The contents are unspecified.
    ///
    /// The block is given back with [`RawBlock::free`], not when it is dropped. A stream that
    /// captures needs a [graph memory](Self#capture).
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`Error::Invalid`] naming `align`.
    #[doc(alias = "cuMemAlloc")]
    #[inline]
    #[track_caller]
    pub fn allocate_raw(&self, bytes: u64, align: u64, stream: &Stream) -> Result<RawBlock> {
        let ask = AllocRequest {
            bytes,
            align,
            name: None,
            buffer: false,
            wait: Wait::AsConfigured,
        };
        self.pool().allocate(ask, stream).map(RawBlock::new)
    }

    /// Leaves a step of reclaim out from now on, to measure what it buys. No part of the interface.
    #[doc(hidden)]
    pub fn leave_out(&self, step: ReclaimStep) {
        self.pool().left_out.leave_out(step);
    }

    /// A block by [`allocate_raw`](Self::allocate_raw), under a name, which costs as much as in
    /// [`allocate_named`](Self::allocate_named).
    ///
    /// # Errors
    /// Those of [`allocate_raw`](Self::allocate_raw).
    #[track_caller]
    pub fn allocate_raw_named(
        &self,
        name: impl AsBlockName,
        bytes: u64,
        align: u64,
        stream: &Stream,
    ) -> Result<RawBlock> {
        let ask = AllocRequest {
            bytes,
            align,
            name: Some(name.in_pool(self)?.word()),
            buffer: false,
            wait: Wait::AsConfigured,
        };
        self.pool().allocate(ask, stream).map(RawBlock::new)
    }

    /// Whether the pool is of this context.
    pub(crate) fn is_in(&self, core: &Arc<ContextCore>) -> bool {
        self.pool().core().shares_objects(core)
    }

    /// The source of the memory.
    #[must_use]
    pub fn backing(&self) -> Backing {
        match self.pool().pages.vmm() {
            Some(_) => Backing::Pages,
            None => Backing::Chunks,
        }
    }

    /// The source of the memory and the limit, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let limit = self.pool().budget.limit();
        format!("{}, limit {limit} bytes", self.backing())
    }

    /// Bytes of a page: limits count whole pages.
    #[must_use]
    pub fn page(&self) -> u64 {
        self.pool().pages.page()
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.pool().budget.limit()
    }

    /// Bytes that the pool has from the driver.
    #[must_use]
    pub fn mapped(&self) -> u64 {
        self.pool().budget.used()
    }

    /// Bytes that the limits, and the free memory of the device, leave for allocations: those that
    /// can be mapped, and those that are free already, after a poll of the work. They need not be
    /// in one piece. Memory that other pools under the same [`DeviceLimit`](super::DeviceLimit)
    /// keep for reuse is not counted, though they give it up when it is needed.
    ///
    /// # Errors
    /// The driver's error when it was asked for the free memory of the device (`cuMemGetInfo`), or
    /// for completed work (an event on each stream that has freed something since it was asked
    /// last); [`Error::Forked`].
    #[track_caller]
    pub fn available(&self) -> Result<u64> {
        self.pool().available()
    }

    /// How full the pool is: the mapped memory that is not ready for reuse, of the tighter limit.
    /// Memory that all pools under a [`DeviceLimit`](super::DeviceLimit) keep ready counts as free
    /// of that one, and where others fill the device, its free rest is the limit. It polls the
    /// work, looks at all free blocks and at the caches of threads, and asks the driver for the
    /// free memory. A level begins at its threshold and ends 5 % of the limit below it, so it
    /// depends on the look before.
    #[must_use]
    pub fn pressure_level(&self) -> Pressure {
        self.pool().pressure()
    }

    /// Changes the limit; more than [`Budget::MAX_LIMIT`](cupola_core::Budget::MAX_LIMIT) counts as
    /// that. Memory that nothing uses is given back until the limit is kept, and nothing more is
    /// mapped until it is.
    ///
    /// Live blocks stay alive, and go back to the device, as far as they are over the limit, when
    /// they are freed: with the free itself, or, where work still uses them then, with one that
    /// comes after that work has completed, an allocation or [`trim`](Self::trim). Until then
    /// nothing is a hit: threads keep nothing, and every allocation and free of a page or more,
    /// and one in 64 of less, looks for memory that can go.
    ///
    /// Memory goes back as it came from the driver: a piece of several pages, mapped far from all
    /// limits, goes when nothing lives in the piece any more.
    ///
    /// # Errors
    /// The driver's error when memory was given back. The limit is changed all the same.
    /// [`Error::Forked`], and it is not.
    #[track_caller]
    pub fn set_limit(&self, bytes: u64) -> Result<()> {
        self.pool().set_limit(bytes)
    }

    /// Gives memory that nothing uses back to the device, also from the caches of threads: how many
    /// bytes that was. It goes by the pieces that the driver gave: a page each near a limit, and
    /// up to 256 MiB for large requests far from all of them.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; the error that the driver returned.
    #[doc(alias = "cuMemUnmap")]
    #[doc(alias = "cuMemRelease")]
    #[track_caller]
    pub fn trim(&self) -> Result<u64> {
        self.pool().trim()
    }

    /// Sets the callback that is asked before a request is refused: `callback` gets the refusal,
    /// and says whether it has made room, so that it is worth another try: at most 64 times for one
    /// request.
    ///
    /// It is asked for a request that goes to a [`GraphMemory`] of the pool too: its stream may be
    /// captured meanwhile, and the calls of the callback must be allowed then.
    ///
    /// In the child of a fork this does nothing.
    ///
    /// It may use the pool, and change its limit. No callback is asked about refusals of its own
    /// requests meanwhile, by this pool or another one. It is kept as long as the pool, so it must
    /// not keep the pool: let it have a [`WeakMemoryPool`], and a weak reference to the blocks it
    /// frees.
    ///
    /// ```no_run
    /// # use std::sync::{Arc, Mutex, Weak};
    /// # use cupola_managers::{Buffer, MemoryPool};
    /// # fn f(pool: &MemoryPool, cache: &Arc<Mutex<Vec<Buffer<f32>>>>) {
    /// let cache: Weak<Mutex<Vec<Buffer<f32>>>> = Arc::downgrade(cache);
    /// pool.on_refusal(move |refusal| {
    ///     eprintln!("{refusal}");
    ///     let oldest = cache.upgrade().and_then(|cache| cache.lock().unwrap().pop());
    ///     oldest.is_some()
    /// });
    /// # }
    /// ```
    pub fn on_refusal(&self, callback: impl Fn(&Error) -> bool + Send + Sync + 'static) {
        self.pool().set_callback(Arc::new(callback));
    }

    /// The gauges and counters.
    ///
    /// # Errors
    /// The driver's error when it was asked for the free memory of the device;
    /// [`Error::Forked`].
    #[track_caller]
    pub fn usage(&self) -> Result<Usage> {
        self.pool().usage()
    }

    /// Begins a recording, which keeps the last `events` operations; one that was begun before
    /// is lost. Host memory is taken as events come.
    ///
    /// While the pool is recorded an operation takes two locks and a look at the clock. After
    /// this returns everything is recorded, on every thread; an operation that runs meanwhile
    /// may be. Allocations, frees and pages of a [`GraphMemory`] are not: only frees of the
    /// pool's own blocks that it holds back are.
    ///
    /// # Errors
    /// [`Error::Forked`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cupola_managers::{ExecutionManager, PoolConfig, StreamConfig};
    /// # let execution = ExecutionManager::new(cupola_sys::driver::Driver::load()?)?;
    /// # let context = execution.devices().get(0)?.primary()?;
    /// # let stream = context.streams().create(StreamConfig::default())?;
    /// # let pool = context.memory_pool(PoolConfig::limit(1 << 30))?;
    /// pool.record(100_000)?;
    /// drop(pool.allocate::<f32>(1 << 20, &stream)?);
    /// for event in pool.take_recording()?.events {
    ///     println!("{:?} {:#x} {} bytes", event.action, event.address, event.bytes);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn record(&self, events: usize) -> Result<()> {
        self.pool().record(events)
    }

    /// Ends the recording, and returns it; an empty one when none was begun.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn take_recording(&self) -> Result<Recording> {
        self.pool().take_recording()
    }

    /// The last operations, as many as [`PoolConfig::history`] says. Before a refusal is
    /// returned, [`on_refusal`](Self::on_refusal) may look at them.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn history(&self) -> Result<Recording> {
        self.pool().last_events()
    }

    /// Blocks that are alive and their bytes, by name, the largest first.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, NamedUsage)> {
        self.pool().named()
    }

    /// Memory for the graph that the work of `stream` is about to be captured into: the stream's
    /// allocations from now on come from it, until [`GraphMemory::end`], and no other stream gets
    /// it before the value is dropped. The caller's contract is there.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `stream` when one is open for it; [`Error::WrongContext`];
    /// [`Error::Full`] when 65 535 other streams use the pool; [`Error::Poisoned`],
    /// [`Error::Forked`]; the error that the driver returned.
    #[track_caller]
    pub fn graph_memory(&self, stream: &Stream) -> Result<GraphMemory> {
        self.pool().graph_memory(self, stream)
    }

    /// Where everything is now: pages, blocks and their owners, at one moment.
    ///
    /// Other threads wait meanwhile when they allocate or free. It looks at every block, and is
    /// as large as all that the pool knows of them. [`on_refusal`](Self::on_refusal) may call it
    /// for a picture of a failure; the pool itself keeps none.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn layout(&self) -> Result<Layout> {
        self.pool().layout()
    }

    /// The account that an error would have now.
    #[must_use]
    pub fn account(&self) -> Account {
        self.pool().account(0)
    }

    /// The pool, for a holder that must not keep it: its callback, or an object that it is kept by.
    #[must_use]
    pub fn downgrade(&self) -> WeakMemoryPool {
        WeakMemoryPool(Arc::downgrade(&self.0))
    }
}

/// A [`MemoryPool`] as long as another handle keeps it.
#[derive(Clone)]
pub struct WeakMemoryPool(Weak<Owner>);

impl WeakMemoryPool {
    /// The pool, unless its last handle is gone: its memory may still be there then, as long as
    /// its blocks are.
    #[must_use]
    pub fn upgrade(&self) -> Option<MemoryPool> {
        self.0.upgrade().map(MemoryPool)
    }
}

impl fmt::Debug for WeakMemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

/// The blocks that are alive under a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedUsage {
    /// Blocks.
    pub blocks: u64,
    /// Bytes, as they were asked for.
    pub bytes: u64,
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pool = self.pool();
        f.debug_struct("MemoryPool")
            .field("backing", &self.backing())
            .field("budget", &pool.budget)
            .field("allocations", &pool.traffic().allocations())
            .finish_non_exhaustive()
    }
}
