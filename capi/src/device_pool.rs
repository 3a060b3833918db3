//! A device's pool, as callers in C use it: blocks by address, streams by the driver's handles.

use std::ptr;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use cupola_managers::context::CurrentGuard;
use cupola_managers::pool::{PoolConfig, Usage};
use cupola_managers::{Context, Device, MemoryPool, ops};
use cupola_sys::driver::{CUcontext, CUstream};

use crate::blocks::{self, LiveBlock};
use crate::error::{self, Failure, is_lack_of_memory};
use crate::limit;
use crate::pool_id::PoolId;
use crate::private::PrivatePools;
use crate::std_function::StreamFilter;
use crate::streams::{ForeignStreams, KnownStream};
use crate::sync::lock;

/// The alignment of every block, which is that of `cudaMalloc`.
const ALIGN: u64 = 256;
/// Blocks without a stream are given back together: so many, so many bytes, or this part of the limit.
const RETURNED_BLOCKS: usize = 64;
const RETURNED_BYTES: u64 = 256 << 20;
const RETURNED_PART: u64 = 16;

/// How a device's pool is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Bytes; none for what `CUPOLA_LIMIT` says, or the default.
    pub(crate) limit: Option<u64>,
    /// The longest wait for work that still uses freed memory; none for the pool's own.
    pub(crate) wait: Option<Duration>,
}

/// The pool of a device's primary context.
pub(crate) struct DevicePool {
    ordinal: u32,
    context: Context,
    raw_context: CUcontext,
    pool: MemoryPool,
    streams: ForeignStreams,
    /// Where blocks without a stream are allocated. No work is ever on it but waits of the pool's.
    own: Arc<KnownStream>,
    returned: Mutex<Returned>,
    private: PrivatePools,
    /// Locked while a thread gives back what needs all work to be over.
    settling: Mutex<()>,
}

// SAFETY: a CUcontext may be used from any thread; the rest is Send and Sync.
unsafe impl Send for DevicePool {}
// SAFETY: as above.
unsafe impl Sync for DevicePool {}

/// Blocks whose callers have given them back without a stream: they are free when all work is over that was
/// put on any stream before.
#[derive(Default)]
struct Returned {
    blocks: Vec<LiveBlock>,
    bytes: u64,
}

impl Returned {
    fn add(&mut self, block: LiveBlock) {
        self.bytes += block.bytes;
        self.blocks.push(block);
    }
}

impl DevicePool {
    pub(crate) fn new(device: &Device, wanted: Wanted) -> Result<Self, Failure> {
        let context = device.primary()?;
        let raw_context = context.as_raw();
        let current = enter(&context, raw_context)?;
        let limit = match wanted.limit {
            Some(limit) => limit,
            None => limit::of_device(context.memory_info()?.total)?,
        };
        let mut config = PoolConfig::limit(limit);
        config.wait = wanted.wait.unwrap_or(config.wait);
        let pool = context.memory_pool(config)?;
        let own = context.streams().create(Default::default())?;
        drop(current);
        Ok(Self {
            ordinal: device.ordinal(),
            own: KnownStream::own(own),
            raw_context,
            pool,
            streams: ForeignStreams::default(),
            returned: Mutex::default(),
            private: PrivatePools::default(),
            settling: Mutex::new(()),
            context,
        })
    }

    pub(crate) fn not_forked(&self) -> Result<(), Failure> {
        Ok(self.context.not_forked()?)
    }

    /// Makes the context current, and with the guard's drop the one that was: a framework takes the
    /// thread's device from there.
    fn enter(&self) -> Result<Option<CurrentGuard<'_>>, Failure> {
        enter(&self.context, self.raw_context)
    }

    /// # Safety
    /// `raw` is a stream of the context, and alive until it was released.
    unsafe fn stream(&self, raw: CUstream) -> Result<Arc<KnownStream>, Failure> {
        // SAFETY: the condition of this function; the context is current within the methods below.
        unsafe { self.streams.get(&self.context, raw, || self.synchronize()) }
    }

    /// A block that work on a stream may use from now on.
    ///
    /// # Safety
    /// `raw` is a stream of the context, and alive until it was released.
    pub(crate) unsafe fn allocate_on(&self, bytes: u64, raw: CUstream) -> Result<u64, Failure> {
        let _current = self.enter()?;
        // SAFETY: the condition of this function.
        let stream = unsafe { self.stream(raw) }?;
        self.private.route(&self.pool, &stream, raw)?;
        self.obtain(bytes, stream)
    }

    /// A block that work on any stream may use, now.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<u64, Failure> {
        let _current = self.enter()?;
        let address = self.obtain(bytes, Arc::clone(&self.own))?;
        // The pool may have made the stream wait for what had the memory before.
        let own = self.own.stream();
        match ops::query(own) {
            Ok(true) => return Ok(address),
            Ok(false) => {}
            // The wait tells the error again, if it is one.
            Err(_) => {}
        }
        if let Err(error) = ops::synchronize(own) {
            self.return_block(blocks::remove(address)?);
            return Err(error.into());
        }
        Ok(address)
    }

    fn obtain(&self, bytes: u64, home: Arc<KnownStream>) -> Result<u64, Failure> {
        if bytes == 0 {
            return Ok(0);
        }
        let mut taken = self.pool.allocate_raw(bytes, ALIGN, home.stream());
        if taken.as_ref().is_err_and(is_lack_of_memory) && self.settle()? {
            taken = self.pool.allocate_raw(bytes, ALIGN, home.stream());
        }
        let block = taken?;
        let address = block.address();
        blocks::insert(LiveBlock {
            block,
            bytes,
            device: self.ordinal,
            home,
            others: Vec::new(),
        });
        Ok(address)
    }

    /// Takes a block back behind the work that is on a stream now, on its own one, and on those that were
    /// noted. A block that is refused is its caller's as before.
    ///
    /// # Safety
    /// `raw` is a stream of the context, and alive until it was released. All work that uses the block
    /// is on these streams.
    pub(crate) unsafe fn free_on(
        &self,
        mut block: LiveBlock,
        raw: CUstream,
    ) -> Result<(), Failure> {
        let entered = self.enter().and_then(|current| {
            if !block.home.is_called(raw) {
                // SAFETY: the condition of this function.
                block.add_user(&unsafe { self.stream(raw) }?);
            }
            self.private
                .route(&self.pool, &block.home, block.home.raw())?;
            Ok(current)
        });
        let _current = match entered {
            Ok(current) => current,
            Err(failure) => {
                blocks::insert(block);
                return Err(failure);
            }
        };
        let free = |block: LiveBlock| {
            // SAFETY: all work that uses it is on its streams, by the condition of this function.
            unsafe { block.free() }.map_err(|refused| {
                let (block, failure) = *refused;
                blocks::insert(block);
                failure
            })
        };
        match block.others.is_empty() {
            true => free(block),
            false => self.private.free_or_defer(block, free),
        }
    }

    /// Notes that work on a stream uses a block.
    ///
    /// # Safety
    /// `raw` is a stream of the context, and alive until it was released.
    pub(crate) unsafe fn use_on(&self, address: u64, raw: CUstream) -> Result<(), Failure> {
        let _current = self.enter()?;
        // SAFETY: the condition of this function.
        let stream = unsafe { self.stream(raw) }?;
        blocks::with(address, |block| block.add_user(&stream))
    }

    /// Takes a block back that work on any stream may still use. It is free when all of that is over, which
    /// is waited for when there are many such blocks.
    pub(crate) fn return_block(&self, block: LiveBlock) {
        let is_due = {
            let mut returned = lock(&self.returned);
            returned.add(block);
            returned.blocks.len() >= RETURNED_BLOCKS
                || returned.bytes >= RETURNED_BYTES.min(self.pool.limit() / RETURNED_PART)
        };
        if is_due && let Err(failure) = self.settle() {
            // They are kept for the next time.
            error::keep(&failure);
        }
    }

    /// Waits for all work of the context and gives back what needed that, if anything does: whether memory may
    /// have come back. Not while a private pool takes requests: a capture forbids such a wait.
    fn settle(&self) -> Result<bool, Failure> {
        if self.private.is_any_open() {
            return Ok(false);
        }
        let (_alone, another) = match self.settling.try_lock() {
            Ok(alone) => (alone, false),
            Err(TryLockError::Poisoned(left)) => (left.into_inner(), false),
            // What another thread is about to give back is a request's too that found nothing.
            Err(TryLockError::WouldBlock) => (lock(&self.settling), true),
        };
        Ok(self.settle_alone()? || another)
    }

    /// The part of `settle` that one thread does at a time.
    fn settle_alone(&self) -> Result<bool, Failure> {
        let _current = self.enter()?;
        self.free_deferred()?;
        let returned = std::mem::take(&mut *lock(&self.returned));
        let released = self.private.take_released();
        if returned.blocks.is_empty() && released.is_empty() {
            return Ok(false);
        }
        if let Err(failure) = self.synchronize() {
            let mut kept = lock(&self.returned);
            returned
                .blocks
                .into_iter()
                .for_each(|block| kept.add(block));
            drop(kept);
            self.private.put_released(released);
            return Err(failure);
        }
        drop(released);
        let over = |mut block: LiveBlock| {
            block.others.clear();
            block
        };
        // SAFETY: all work of the context that could use them is over.
        unsafe { self.free_all(returned.blocks.into_iter().map(over)) }?;
        Ok(true)
    }

    /// Frees all of them, and returns the first error. Their callers have given them back: one that is
    /// refused is kept for the next settling.
    ///
    /// # Safety
    /// All work that uses the blocks is on their streams, or over.
    unsafe fn free_all(&self, blocks: impl IntoIterator<Item = LiveBlock>) -> Result<(), Failure> {
        let mut freed = Ok(());
        for block in blocks {
            // SAFETY: the condition of this function.
            if let Err(refused) = unsafe { block.free() } {
                let (block, failure) = *refused;
                lock(&self.returned).add(block);
                freed = freed.and(Err(failure));
            }
        }
        freed
    }

    /// Waits for all work of the context (`cuCtxSynchronize`), which is current.
    fn synchronize(&self) -> Result<(), Failure> {
        // SAFETY: it takes nothing.
        unsafe { self.context.driver().cuCtxSynchronize() }?;
        Ok(())
    }

    pub(crate) fn trim(&self) -> Result<u64, Failure> {
        let _current = self.enter()?;
        self.settle()?;
        Ok(self.pool.trim()?)
    }

    pub(crate) fn set_limit(&self, bytes: u64) -> Result<(), Failure> {
        let _current = self.enter()?;
        Ok(self.pool.set_limit(bytes)?)
    }

    /// Sets the limit to a part of the device's memory.
    pub(crate) fn set_fraction(&self, fraction: f64) -> Result<(), Failure> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(Failure::Fraction(fraction));
        }
        let _current = self.enter()?;
        let total = self.context.memory_info()?.total;
        Ok(self.pool.set_limit(limit::part(fraction, total))?)
    }

    /// Bytes that can be had, those that are given back with the next settling among them; and all bytes of
    /// the device.
    pub(crate) fn memory_info(&self) -> Result<(u64, u64), Failure> {
        let _current = self.enter()?;
        let free = self.pool.available()? + lock(&self.returned).bytes;
        Ok((free, self.context.memory_info()?.total))
    }

    pub(crate) fn usage(&self) -> Result<(Usage, u64), Failure> {
        let _current = self.enter()?;
        Ok((self.pool.usage()?, lock(&self.returned).bytes))
    }

    pub(crate) fn release_stream(&self, raw: CUstream) -> Result<(), Failure> {
        let _current = self.enter()?;
        self.streams.release(&self.context, raw)
    }

    pub(crate) fn begin_private(&self, id: PoolId, filter: StreamFilter) -> Result<(), Failure> {
        self.private.begin(id, filter)
    }

    pub(crate) fn end_private(&self, id: PoolId) -> Result<(), Failure> {
        self.private.end(id)?;
        let _current = self.enter()?;
        self.free_deferred()
    }

    /// Frees what was kept while a private pool took requests, with the context current.
    fn free_deferred(&self) -> Result<(), Failure> {
        // SAFETY: all work that uses them was on their streams when they were freed.
        let free = |deferred| unsafe { self.free_all(deferred) };
        self.private.free_deferred(free)
    }

    pub(crate) fn release_private(&self, id: PoolId) -> Result<(), Failure> {
        self.private.release(id)
    }
}

/// Makes a context current, unless it is.
fn enter(context: &Context, raw: CUcontext) -> Result<Option<CurrentGuard<'_>>, Failure> {
    context.not_forked()?;
    let mut current = ptr::null_mut();
    // SAFETY: `current` outlives the call.
    unsafe { context.driver().cuCtxGetCurrent(&raw mut current) }?;
    match current == raw {
        true => Ok(None),
        false => Ok(Some(context.enter()?)),
    }
}
