//! `PinnedPool`: pinned memory under a limit.

use std::collections::VecDeque;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cupola_core::Budget;
use cupola_core::tlsf::Block;

use super::config::{HostCaching, PinnedPoolConfig};
use super::error::HostMemoryError;
use super::region::{PinnedBacking, QUANTUM, Region};
use super::state::{LARGEST, Pending, State};
use super::usage::PinnedUsage;
use crate::buffer::{BlockOwner, BufferTable, Copies, DeviceCopy, Home, PinnedBuffer, byte_len};
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::event::EventPool;
use crate::sync;
use crate::sync::deferred::DeferCallbacks;

/// The strongest alignment of elements: that of pages.
const MOST_ALIGN: usize = 4 << 10;
/// Regions of more than a huge page are whole multiples of one, where the limit has room.
const HUGE_PAGE: u64 = 2 << 20;
/// How long a thread sleeps between two looks at copies that it waits for.
const PAUSE: Duration = Duration::from_micros(50);

/// Page-locked host memory of one context under a hard limit of bytes. Its buffers are
/// [`PinnedBuffer`]s, which every operation takes, and clones share the pool.
///
/// Memory is page-locked in regions of [`PinnedPoolConfig::region_bytes`] or, for larger requests, as
/// large as the request, and buffers are cut from them at lines of 64 bytes, so that no buffer wastes
/// more than 12.5 % of its memory, or, below 449 bytes, than 63 bytes. A region is made of pages of the process that several threads touch before
/// they are registered, which is much faster than `cuMemHostAlloc`; where the device refuses
/// registrations the pool uses that by itself, and [`backing`](Self::backing) tells. While a region is
/// made, threads that find memory free go on.
///
/// Dropping a buffer waits for nothing and makes no call: its memory is used again when the last copy
/// from or to it is over. Finding memory takes one lock, a search in constant time and no call.
/// Memory stays page-locked until [`trim`](Self::trim), or until the limit needs it; the rest is given
/// back when the last of the pool's clones and buffers is dropped, which waits for copies.
///
/// ```
/// use cupola_managers::host::PinnedPoolConfig;
/// use cupola_managers::{ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let host = context.pinned_pool(PinnedPoolConfig::limit(256 << 20))?;
/// let mut numbers = host.allocate::<u32>(1000)?;
/// numbers.as_mut_slice()?.fill(7);
/// let mut there = context.memory_pool(PoolConfig::limit(8 << 20))?.allocate(1000, &stream)?;
/// ops::copy_to_device(&numbers, &mut there, &stream)?;
/// drop(numbers); // The copy goes on, and the memory is used again after it.
/// assert_eq!(there.to_vec(&stream)?, [7; 1000]);
/// assert_eq!(host.usage()?.live, 0);
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "cuMemHostAlloc")]
#[doc(alias = "cuMemHostRegister")]
pub struct PinnedPool(Arc<Pool>);

struct Pool {
    config: PinnedPoolConfig,
    /// Of the bytes that are page-locked.
    budget: Budget,
    /// Held by the thread that changes the regions. Taken before the other lock.
    growth: Mutex<()>,
    /// Taken for moments, in which no call is made but the end of an event whose manager was shut
    /// down.
    state: Mutex<State>,
    table: Arc<BufferTable>,
    events: Arc<EventPool>,
    core: Arc<ContextCore>,
}

impl PinnedPool {
    /// A pool that has nothing yet, of a device that gives memory as `backing` says.
    pub(crate) fn new(
        core: &Arc<ContextCore>,
        events: &Arc<EventPool>,
        table: &Arc<BufferTable>,
        config: PinnedPoolConfig,
        backing: PinnedBacking,
    ) -> Self {
        let backing = match config.caching {
            HostCaching::Cached => backing,
            HostCaching::WriteCombined => PinnedBacking::Allocated { refused: None },
        };
        Self(Arc::new(Pool {
            config,
            budget: Budget::new(config.limit),
            growth: Mutex::new(()),
            state: Mutex::new(State::new(backing)),
            table: Arc::clone(table),
            events: Arc::clone(events),
            core: Arc::clone(core),
        }))
    }

    /// Pinned memory of `len` elements, whose contents are not specified: zeros, or what an earlier
    /// buffer has left there. No elements take no memory.
    ///
    /// # Errors
    /// [`Error::Host`] with [`HostMemoryError::OverLimit`] or [`HostMemoryError::System`];
    /// [`Error::Invalid`] when they are more bytes than a region may have (1 TiB), or aligned to more
    /// than 4096 bytes; [`Error::ShutDown`], [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned.
    #[track_caller]
    pub fn allocate<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let Pool {
            core,
            events,
            table,
            ..
        } = &*self.0;
        let bytes = byte_len::<T>(len)? as u64;
        core.healthy()?;
        if table.is_shut() {
            return Err(Error::ShutDown {
                kind: "PinnedBuffer",
            });
        }
        if bytes == 0 {
            return PinnedBuffer::new(core, events, len);
        }
        if align_of::<T>() > MOST_ALIGN {
            let problem = format!("elements are aligned to {} bytes", align_of::<T>());
            return Err(Error::invalid("pinned memory", problem));
        }
        if bytes > LARGEST {
            let problem = format!("{bytes} bytes are more than one region has");
            return Err(Error::invalid("pinned memory", problem));
        }
        let (block, start) = self.0.allocate(bytes, align_of::<T>() as u64)?;
        let home = Home::Block(Arc::clone(&self.0) as _, block);
        // SAFETY: the block has at least `bytes` bytes at `start`, initialised when the region was
        // made, aligned as asked for in a region that begins on a page, and free until now. The pool
        // keeps the region while the block is out.
        Ok(unsafe { PinnedBuffer::at_home(start.cast(), len, home, core, events) })
    }

    /// Pinned memory of `len` elements, all zero.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    #[track_caller]
    pub fn zeros<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let buffer = self.allocate::<T>(len)?;
        // SAFETY: the buffer's own elements, of which all bytes may be zero (`DeviceCopy`); no copy of
        // it was ordered yet.
        unsafe { buffer.host_may_touch().write_bytes(0, len) };
        Ok(buffer)
    }

    /// Gives the regions back that no buffer is in, after a look at the copies that still used
    /// dropped ones. Returns the bytes that were given back. Waits for no copy of the pool's; but the
    /// driver may wait for all work of the device when it unlocks pages.
    ///
    /// # Errors
    /// What the driver returned for the last region that it did not give back, which is abandoned;
    /// [`Error::Forked`].
    #[doc(alias = "cuMemHostUnregister")]
    #[doc(alias = "cuMemFreeHost")]
    #[track_caller]
    pub fn trim(&self) -> Result<u64> {
        let pool = &*self.0;
        pool.core.not_forked()?;
        let _defer = DeferCallbacks::new();
        let _growth = sync::lock(&pool.growth);
        pool.settle();
        pool.give_back_empty()
    }

    /// Changes the limit. What is page-locked beyond it is given back as far as no buffer is in it;
    /// the rest stays until it is dropped and [trimmed](Self::trim), and nothing is page-locked
    /// before the limit has room again.
    ///
    /// # Errors
    /// As [`trim`](Self::trim).
    #[track_caller]
    pub fn set_limit(&self, bytes: u64) -> Result<()> {
        self.0.core.not_forked()?;
        if self.0.budget.set_limit(bytes) > bytes {
            self.trim()?;
        }
        Ok(())
    }

    /// How the pool gets page-locked memory.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn backing(&self) -> Result<PinnedBacking> {
        self.0.core.not_forked()?;
        Ok(sync::lock(&self.0.state).backing)
    }

    /// The account.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn usage(&self) -> Result<PinnedUsage> {
        self.0.core.not_forked()?;
        Ok(self.0.usage())
    }
}

impl Pool {
    fn usage(&self) -> PinnedUsage {
        let usage = sync::lock(&self.state).usage();
        PinnedUsage {
            limit: self.budget.limit(),
            locked: self.budget.used(),
            peak: self.budget.peak(),
            ..usage
        }
    }

    #[track_caller]
    fn allocate(&self, bytes: u64, align: u64) -> Result<(Block, NonNull<u8>)> {
        {
            let _defer = DeferCallbacks::new();
            if let Some(found) = sync::lock(&self.state).take(bytes, align) {
                return Ok(found);
            }
        }
        let mut until = None;
        loop {
            if let Some(found) = self.allocate_slowly(bytes, align)? {
                return Ok(found);
            }
            let may_come = {
                let state = sync::lock(&self.state);
                let rest = self.budget.limit().saturating_sub(state.live_bytes());
                state.has_pending() && bytes <= rest
            };
            // No deadline if the sum is beyond all times.
            let until = until.get_or_insert_with(|| Instant::now().checked_add(self.config.wait));
            if !may_come || until.is_some_and(|until| Instant::now() >= until) {
                return Err(Error::Host(Box::new(HostMemoryError::OverLimit {
                    requested: bytes,
                    usage: self.usage(),
                })));
            }
            thread::sleep(PAUSE);
            self.core.healthy()?;
        }
    }

    /// Looks at copies, then page-locks a region. `None` when the limit has no room.
    #[track_caller]
    fn allocate_slowly(&self, bytes: u64, align: u64) -> Result<Option<(Block, NonNull<u8>)>> {
        let _defer = DeferCallbacks::new();
        let _growth = sync::lock(&self.growth);
        self.settle();
        let mut backing = {
            let mut state = sync::lock(&self.state);
            if let Some(found) = state.take(bytes, align) {
                return Ok(Some(found));
            }
            state.backing
        };
        let least = bytes.next_multiple_of(QUANTUM);
        let mut charged = self.charge(least);
        if charged.is_none() {
            self.give_back_empty()?;
            charged = self.charge(least);
        }
        let Some(charged) = charged else {
            return Ok(None);
        };
        let region = Region::new(
            &self.core,
            charged.bytes(),
            self.config.caching,
            &mut backing,
        )?;
        let _: u64 = charged.commit();
        let mut state = sync::lock(&self.state);
        state.backing = backing;
        state.add(region);
        Ok(state.take(bytes, align))
    }

    /// Charges a region of at least this many bytes to the limit: of the usual size if there is room.
    fn charge(&self, least: u64) -> Option<cupola_core::Reservation<'_>> {
        let usual = least.max(self.config.region_bytes.min(LARGEST));
        let usual = usual.next_multiple_of(if usual < HUGE_PAGE {
            QUANTUM
        } else {
            HUGE_PAGE
        });
        if let Ok(charged) = self.budget.reserve(usual) {
            return Some(charged);
        }
        let room = self.budget.available() / QUANTUM * QUANTUM;
        let bytes = room.clamp(least, usual);
        self.budget.reserve(bytes).ok()
    }

    /// Asks which copies of dropped buffers are over. The caller holds the lock of growth.
    fn settle(&self) {
        let asked = sync::lock(&self.state).take_pending();
        if asked.is_empty() {
            return;
        }
        let site = self.core.site();
        // Without the lock: each may be a call. One that fails does not tell that the copy is over.
        let is_done = |pending: &Pending| pending.copies.query(site) == Ok(true);
        let (done, others): (VecDeque<_>, VecDeque<_>) = asked.into_iter().partition(is_done);
        sync::lock(&self.state).settle(&done, others);
    }

    /// Gives the regions back that no block is in. The caller holds the lock of growth.
    ///
    /// # Errors
    /// What the driver returned last; the region is abandoned then, and its bytes are not charged any
    /// more.
    #[track_caller]
    fn give_back_empty(&self) -> Result<u64> {
        let empty = sync::lock(&self.state).take_empty();
        let site = self.core.site();
        let mut outcome = Ok(0);
        for region in empty {
            let bytes = region.bytes();
            // SAFETY: no buffer is in it, and the copies of all that were are over.
            let given_back = unsafe { region.give_back(&self.core, site) };
            // It fails only if more is released than was charged.
            let _ = self.budget.release(bytes);
            match given_back {
                Ok(()) => outcome = outcome.map(|sum| sum + bytes),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }
}

impl BlockOwner for Pool {
    fn release(&self, block: Block, copies: Copies) {
        let _defer = DeferCallbacks::new();
        sync::lock(&self.state).put(block, copies);
    }
}

impl Drop for Pool {
    /// Waits for the copies of buffers that were dropped.
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(std::sync::PoisonError::into_inner);
        let state = std::mem::replace(state, State::new(state.backing));
        if self.core.not_forked().is_err() {
            // All of it is the parent's.
            return;
        }
        let site = self.core.site();
        for region in state.into_regions(|copies| copies.settle(site)) {
            if region.is_condemned {
                // SAFETY: the pool ends, and with it all buffers.
                unsafe { region.bury(&self.core) };
            } else {
                // SAFETY: neither is there a buffer any more, nor does a copy run.
                let _counted_as_abandoned = unsafe { region.give_back(&self.core, site) };
            }
        }
    }
}

impl fmt::Debug for PinnedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("PinnedPool");
        // Another thread may have held the lock at a fork.
        if self.0.core.not_forked().is_ok() {
            debug.field("usage", &self.0.usage());
        }
        debug.finish_non_exhaustive()
    }
}
