//! `MemoryPool`: device memory with a limit in bytes.
//!
//! The limit counts the blocks that are handed out, exactly: a block is charged before the
//! driver is asked for it, and a block that does not fit is refused without asking. What
//! the driver keeps beyond that, to hand out again, is in [`Usage::reserved`].

mod backing;
mod barrier;
#[cfg_attr(not(test), expect(dead_code, reason = "for the pool's own lists"))]
pub(crate) mod bias;
#[cfg_attr(not(test), expect(dead_code, reason = "for the pool's tickets"))]
pub(crate) mod clock;
mod usage;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::{Budget, Pressure};
use cupola_sys::driver::{CUdeviceptr, CUresult};

pub use backing::Backing;
use backing::Source;
pub use usage::Usage;

use crate::buffer::{Block, Buffer, BufferTable, DeviceCopy, byte_len};
use crate::context::{Context, ContextCore};
use crate::error::{Account, Error, Result};
use crate::stream::Stream;

/// How a pool is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Most bytes that may be alive at a time.
    pub limit: u64,
}

impl PoolConfig {
    /// A pool of at most `bytes`.
    #[must_use]
    pub const fn limit(bytes: u64) -> Self {
        Self { limit: bytes }
    }
}

/// Hands out device memory under a limit. Clones share the pool.
///
/// The pool lives until its last buffer is gone.
#[derive(Clone)]
pub struct MemoryPool(Arc<PoolInner>);

pub(crate) struct PoolInner {
    source: Source,
    budget: Budget,
    blocks: AtomicU64,
    counters: Counters,
    table: Arc<BufferTable>,
    core: Arc<ContextCore>,
}

/// What happened since the pool was made.
#[derive(Default)]
struct Counters {
    allocations: AtomicU64,
    frees: AtomicU64,
    refused: AtomicU64,
    trims: AtomicU64,
    exhausted: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl MemoryPool {
    #[track_caller]
    pub(crate) fn new(context: &Context, config: PoolConfig) -> Result<Self> {
        let core = context.core();
        Ok(Self(Arc::new(PoolInner {
            source: Source::new(core)?,
            budget: Budget::new(config.limit),
            blocks: AtomicU64::new(0),
            counters: Counters::default(),
            table: Arc::clone(context.buffers().table()),
            core: Arc::clone(core),
        })))
    }

    /// A buffer of `len` elements, ready for use on `stream`; on other streams too, which
    /// wait for it. The contents are unspecified.
    ///
    /// # Errors
    /// [`Error::OverLimit`] when it does not fit the limit, [`Error::OutOfMemory`] when the
    /// device has too little left, each with the pool's account.
    #[track_caller]
    pub fn allocate<T: DeviceCopy>(&self, len: usize, stream: &Stream) -> Result<Buffer<T>> {
        let bytes = byte_len::<T>(len)? as u64;
        Ok(Buffer::new(Block::new(&self.0, bytes, stream)?, len))
    }

    /// Whether the pool is of this context.
    pub(crate) fn is_in(&self, core: &Arc<ContextCore>) -> bool {
        self.0.core.shares_objects(core)
    }

    /// What the memory comes from.
    #[must_use]
    pub fn backing(&self) -> Backing {
        self.0.source.backing()
    }

    /// What the memory comes from and the limit, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("{}, limit {} bytes", self.backing(), self.0.budget.limit())
    }

    /// Bytes that would still fit the limit.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.0.budget.available()
    }

    /// How full the pool is.
    #[must_use]
    pub fn pressure_level(&self) -> Pressure {
        self.0.budget.pressure()
    }

    /// Changes the limit. What is alive stays alive; nothing more is granted until it fits.
    pub fn set_limit(&self, bytes: u64) {
        self.0.budget.set_limit(bytes);
    }

    /// Gives memory that nobody uses back to the device (`cuMemPoolTrimTo`).
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub fn trim(&self) -> Result<()> {
        self.0.trim()
    }

    /// The gauges and counters.
    ///
    /// # Errors
    /// What the driver returned when it was asked for what it reserves.
    #[track_caller]
    pub fn usage(&self) -> Result<Usage> {
        let pool = &*self.0;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Ok(Usage {
            live: pool.budget.used(),
            peak: pool.budget.peak(),
            limit: pool.budget.limit(),
            pressure: pool.budget.pressure(),
            blocks: read(&pool.blocks),
            reserved: pool.source.reserved(&pool.core)?,
            allocations: read(&pool.counters.allocations),
            frees: read(&pool.counters.frees),
            refused: read(&pool.counters.refused),
            exhausted: read(&pool.counters.exhausted),
            trims: read(&pool.counters.trims),
        })
    }
}

impl PoolInner {
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    pub(crate) fn table(&self) -> &BufferTable {
        &self.table
    }

    /// `bytes` bytes, charged; address 0 for none.
    #[track_caller]
    pub(crate) fn allocate(&self, bytes: u64, stream: &Stream) -> Result<CUdeviceptr> {
        if bytes == 0 {
            return Ok(0);
        }
        if let Some(poison) = self.core.poison() {
            return Err(poison);
        }
        let Ok(charged) = self.budget.reserve(bytes) else {
            count(&self.counters.refused);
            return Err(Error::OverLimit(self.account(bytes)));
        };
        // A size that does not fit a usize does not fit the device either.
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut found = self.source.allocate(&self.core, size, stream);
        if is_out_of_memory(&found) {
            // A trim that fails changes nothing; the second attempt tells.
            let _ = self.trim();
            found = self.source.allocate(&self.core, size, stream);
        }
        match found {
            Ok(address) => {
                let _: u64 = charged.commit();
                count(&self.blocks);
                count(&self.counters.allocations);
                Ok(address)
            }
            Err(error) if error.status() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
                charged.cancel();
                count(&self.counters.exhausted);
                Err(match error {
                    Error::Driver(cause) => Error::OutOfMemory {
                        cause: Box::new(cause),
                        account: self.account(bytes),
                    },
                    other => other,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Frees a block of [`allocate`](Self::allocate), after what is on `stream` now.
    #[track_caller]
    pub(crate) fn free(&self, address: CUdeviceptr, bytes: u64, stream: &Stream) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.source.free(&self.core, address, stream)?;
        // Fails only if more is released than was charged, which a block cannot.
        let _ = self.budget.release(bytes);
        self.blocks.fetch_sub(1, Ordering::Relaxed);
        count(&self.counters.frees);
        Ok(())
    }

    #[track_caller]
    fn trim(&self) -> Result<()> {
        count(&self.counters.trims);
        self.source.trim(&self.core)
    }

    fn account(&self, requested: u64) -> Account {
        Account {
            requested,
            live: self.budget.used(),
            peak: self.budget.peak(),
            limit: self.budget.limit(),
            blocks: self.blocks.load(Ordering::Relaxed),
        }
    }
}

fn is_out_of_memory<T>(result: &Result<T>) -> bool {
    matches!(result, Err(e) if e.status() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        self.source.destroy(&self.core);
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool")
            .field("backing", &self.backing())
            .field("budget", &self.0.budget)
            .finish_non_exhaustive()
    }
}
