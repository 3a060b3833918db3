//! `Residency`: slots that share a limit of device memory.

use std::collections::VecDeque;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, TryLockError, Weak};
use std::time::Duration;

use cupola_managers::host::{PinnedPool, PinnedPoolConfig};
use cupola_managers::pool::{DeviceLimit, DriverCalls, WeakMemoryPool};
use cupola_managers::stream::{StreamConfig, Ticket};
use cupola_managers::vmm::{AddressRange, PhysicalMemory, VirtualMemory};
use cupola_managers::{Context, Stream};

use crate::config::{ResidencyConfig, SlotConfig};
use crate::error::{ResidencyError, Result};
use crate::metrics::{Metrics, Usage};
use crate::pieces::{Layout, Stock};
use crate::policy::EvictionPolicy;
use crate::slot::{Slot, SlotCore};
use crate::source::{Loader, Source, Staging};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::table::{Entry, RoomQueue, Table, TableMonitor};

/// Models that share a device's memory under one exact limit, see the [crate](crate). Clones are the same.
#[derive(Clone)]
pub struct Residency(pub(crate) Arc<Inner>);

/// What residency, slots and leases share.
///
/// Locks are taken in this order: the engine, a slot's source, the table. A lease of a slot that has all
/// its memory takes the table's alone, for some tens of nanoseconds; the engine's is held while memory is
/// mapped, and while a thread waits for work that uses memory. A loader fills a host copy under the source's alone,
/// and none is held while a request waits for leases to end.
pub(crate) struct Inner {
    pub(crate) context: Context,
    pub(crate) memory: VirtualMemory,
    pub(crate) layout: Layout,
    pub(crate) chunk: u64,
    pub(crate) wait: Duration,
    pub(crate) patience: Duration,
    /// What slots are loaded on.
    pub(crate) copies: Stream,
    /// Memory of host copies and of staging: a region each, so that all of it goes with its slot.
    pub(crate) host: PinnedPool,
    pub(crate) host_limit: u64,
    engine: Mutex<Engine>,
    pub(crate) slots: TableMonitor,
    /// Those that share the limit, and give memory up for slots.
    pools: Mutex<Vec<WeakMemoryPool>>,
}

/// The memory of slots.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) stock: Stock,
    /// By the number of the slot.
    spaces: Vec<Option<Space>>,
    /// Slots that have [left](Space::left) places.
    pub(crate) leaving: Vec<usize>,
    /// For slots without a host copy.
    pub(crate) staging: Option<Staging>,
    /// The last copy that was put ahead of a request.
    pub(crate) ahead: Option<Arc<Ticket>>,
    /// Why one could not be put, for the next call that returns it.
    pub(crate) ahead_failure: Option<ResidencyError>,
}

/// The addresses of a slot, and its pieces in order.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) range: AddressRange,
    /// For what is written back, and loaded ahead. The program has the other end.
    pub(crate) slot: Weak<SlotCore>,
    /// Where each piece begins.
    pub(crate) pieces: Vec<u64>,
    /// Where memory is still mapped that has gone to other slots.
    pub(crate) left: Vec<u64>,
    /// Memory for the next pieces, in order.
    pub(crate) reserved: VecDeque<PhysicalMemory>,
}

impl Space {
    /// Where the last piece begins.
    pub(crate) fn last_piece(&self) -> Option<u64> {
        self.pieces.last().copied()
    }

    /// Where the last piece ends.
    pub(crate) fn end(&self) -> u64 {
        let last = self.last_piece();
        let end = |at| Some(at + self.range.piece(at)?.bytes());
        last.and_then(end).unwrap_or(0)
    }
}

impl Engine {
    pub(crate) fn space(&mut self, number: usize) -> Option<&mut Space> {
        self.spaces.get_mut(number)?.as_mut()
    }

    pub(crate) fn remove(&mut self, number: usize) -> Option<Space> {
        self.spaces.get_mut(number)?.take()
    }

    /// Every slot's, which it has no more.
    fn take_all(&mut self) -> impl Iterator<Item = (usize, Space)> + '_ {
        let spaces = self.spaces.iter_mut().enumerate();
        spaces.filter_map(|(number, space)| Some((number, space.take()?)))
    }
}

fn invalid(field: &'static str, problem: impl Into<String>) -> ResidencyError {
    ResidencyError::Invalid {
        field,
        problem: problem.into(),
    }
}

impl Residency {
    /// Slots on the device of `context`.
    ///
    /// # Errors
    /// [`ResidencyError::Invalid`] naming a field that will not do; [`ResidencyError::Device`] where the
    /// device has no virtual memory management, or a call of the driver failed.
    #[track_caller]
    pub fn new(context: &Context, config: ResidencyConfig) -> Result<Self> {
        let memory = context.virtual_memory(&config.limit)?;
        let layout = Layout::new(memory.granularity(), config.piece);
        let layout = layout.ok_or_else(|| {
            invalid(
                "piece",
                format!(
                    "{} is no power of two times the granularity, {}",
                    config.piece,
                    memory.granularity()
                ),
            )
        })?;
        if config.chunk == 0 || !config.chunk.is_multiple_of(config.piece) {
            return Err(invalid("chunk", "not a multiple of the piece, or 0"));
        }
        if config.slots == 0 {
            return Err(invalid("slots", "there are none"));
        }
        let copies = context.streams().create(StreamConfig::default())?;
        let host = PinnedPoolConfig::limit(config.host_limit).region_bytes(0);
        Ok(Self(Arc::new(Inner {
            context: context.clone(),
            memory,
            layout,
            chunk: config.chunk,
            wait: config.wait,
            patience: config.patience,
            copies,
            host: context.pinned_pool(host)?,
            host_limit: config.host_limit,
            engine: Mutex::new(Engine {
                stock: Stock::default(),
                spaces: (0..config.slots).map(|_| None).collect(),
                leaving: Vec::new(),
                staging: None,
                ahead: None,
                ahead_failure: None,
            }),
            slots: TableMonitor::new(Table::new(
                config.slots,
                config.policy,
                RoomQueue::new(config.passes),
                config.load_ahead,
            )),
            pools: Mutex::new(Vec::new()),
        })))
    }

    /// Makes a slot for what `loader` has. It gets addresses, which are its own as long as it lives, and no
    /// memory before it is leased or [preloaded](Self::preload).
    ///
    /// # Errors
    /// [`ResidencyError::Loader`] when the loader cannot say how much that is;
    /// [`ResidencyError::TooLarge`] when it would never fit; [`ResidencyError::Full`];
    /// [`ResidencyError::Invalid`] when there are no bytes; [`ResidencyError::Device`].
    #[track_caller]
    pub fn register(&self, config: SlotConfig, loader: impl Loader + 'static) -> Result<Slot> {
        let SlotConfig {
            name,
            priority,
            pinned,
            host_copy,
        } = config;
        let bytes = loader.bytes().map_err(|source| ResidencyError::Loader {
            slot: name.clone(),
            source,
        })?;
        if bytes == 0 {
            return Err(invalid("bytes", format!("{name} has none")));
        }
        let inner = &self.0;
        let limit = inner.limit().limit();
        let rounded = inner.layout.round(bytes).filter(|&it| it <= limit);
        let rounded = rounded.ok_or_else(|| ResidencyError::TooLarge {
            slot: name.clone(),
            bytes,
            limit,
        })?;
        let mut engine = inner.engine();
        inner.sweep(&mut engine);
        let range = inner.memory.reserve(rounded)?;
        let address = range.address();
        let entry = Entry::new(&name, bytes, rounded, priority, pinned);
        let number = inner.table().insert(entry)?;
        let slot = Arc::new(SlotCore {
            inner: Arc::clone(inner),
            number,
            address,
            bytes,
            name: name.into(),
            source: Mutex::new(Source::new(Box::new(loader), host_copy)),
            is_kept: host_copy,
        });
        if let Some(space) = engine.spaces.get_mut(number) {
            *space = Some(Space {
                range,
                slot: Arc::downgrade(&slot),
                pieces: Vec::new(),
                left: Vec::new(),
                reserved: VecDeque::new(),
            });
        }
        drop(engine);
        Ok(Slot(slot))
    }

    /// Says which slots will be used next, in this order, after those that were announced before: a queue
    /// of requests that wait, say. Each lease of a slot takes its first announcement away.
    ///
    /// Slots with an announced use give memory up after all others, and of those the one that is used last
    /// gives it up first, which is the best that can be done. With the next 16 requests known, requests at
    /// random for 13 models reload a few percent more bytes than if all were known.
    ///
    /// The first of them begin to be [loaded ahead](Self::load_ahead).
    ///
    /// # Errors
    /// [`ResidencyError::Invalid`] when a slot is another residency's; none is announced then.
    /// [`ResidencyError::Device`] when loading ahead failed; all are announced.
    #[track_caller]
    pub fn announce<'s>(&self, slots: impl IntoIterator<Item = &'s Slot>) -> Result<()> {
        let slots: Vec<&Slot> = slots.into_iter().collect();
        for slot in &slots {
            self.check(slot)?;
        }
        let mut table = self.0.table();
        for slot in slots {
            table.announce(slot.0.number);
        }
        drop(table);
        self.0.load_ahead().map(drop)
    }

    /// Evicts by another policy from now on, which knows of no earlier use. What was announced stays.
    pub fn set_policy(&self, policy: impl EvictionPolicy + 'static) {
        self.0.table().set_policy(Box::new(policy));
    }

    /// Forgets what was announced.
    pub fn forget_announced(&self) {
        self.0.table().forget_announced();
    }

    /// Takes all memory of all slots that nothing holds, and gives it back with what is kept for reuse
    /// (`cuMemUnmap`, `cuMemRelease`): how many bytes that were. Slots keep their addresses and their host copies.
    /// Work that uses such a slot is waited for.
    ///
    /// # Errors
    /// [`ResidencyError::InUse`], [`ResidencyError::Device`]: the slots before have given theirs up.
    #[track_caller]
    pub fn sleep(&self) -> Result<u64> {
        let inner = &self.0;
        let mut engine = inner.engine();
        engine.unmap_all_left()?;
        let before = inner.memory.bytes();
        loop {
            let victims = inner.table().victims();
            let Some(&victim) = victims.first() else {
                break;
            };
            inner.evict_whole(&mut engine, victim)?;
        }
        engine.stock.clear();
        Ok(before.saturating_sub(inner.memory.bytes()))
    }

    /// Gives memory back that no slot has: how many bytes that were. It is kept for the next slot
    /// otherwise, and counts for the limit.
    pub fn trim(&self) -> u64 {
        let inner = &self.0;
        let mut engine = inner.engine();
        inner.sweep(&mut engine);
        // What stays is not counted as given back.
        let _ = engine.unmap_all_left();
        let before = inner.memory.bytes();
        engine.stock.clear();
        before.saturating_sub(inner.memory.bytes())
    }

    /// What it has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.0.table().metrics
    }

    /// What it has now, without slots that were given up and that no work uses any more. Waits while a slot
    /// is loaded.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let inner = &self.0;
        let mut engine = inner.engine();
        inner.sweep(&mut engine);
        let table = inner.table();
        let held = table.held();
        let limit = inner.limit();
        Usage {
            resident: table.each().map(|(_, slot)| slot.resident).sum(),
            reserved: table.each().map(|(_, slot)| slot.reserved).sum(),
            stock: engine.stock.bytes(),
            leased: held.leased,
            pinned: held.pinned,
            charged: limit.used(),
            limit: limit.limit(),
            // An error is that of a fork, which has none of it.
            host: inner.host.usage().map_or(0, |host| host.locked),
            host_limit: inner.host_limit,
            slots: table.each().count(),
        }
    }

    /// How often each function of the driver was called for its memory.
    #[must_use]
    pub fn driver_calls(&self) -> DriverCalls {
        self.0.memory.driver_calls()
    }

    pub(crate) fn check(&self, slot: &Slot) -> Result<()> {
        if Arc::ptr_eq(&self.0, &slot.0.inner) {
            return Ok(());
        }
        let problem = format!("{} is a slot of another residency", slot.0.name);
        Err(invalid("slot", problem))
    }
}

impl Inner {
    pub(crate) fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.engine)
    }

    /// The engine, unless another thread has it.
    pub(crate) fn try_engine(&self) -> Option<MutexGuard<'_, Engine>> {
        match self.engine.try_lock() {
            Ok(engine) => Some(engine),
            // A loader has panicked; what it left is marked.
            Err(TryLockError::Poisoned(engine)) => Some(engine.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.slots.lock()
    }

    pub(crate) fn pools(&self) -> MutexGuard<'_, Vec<WeakMemoryPool>> {
        lock(&self.pools)
    }

    pub(crate) fn limit(&self) -> &DeviceLimit {
        self.memory.limit()
    }
}

impl Drop for Inner {
    /// Waits for work that uses slots that were given up: there are no others any more.
    fn drop(&mut self) {
        let mut engine = self.engine();
        let table = self.table();
        for (number, space) in engine.take_all() {
            let work = table.get(number).map(Entry::open_work);
            let is_over = work.is_none_or(|work| work.wait().is_ok());
            // Where that cannot be told the memory is leaked, unless nothing runs because the context is
            // lost.
            if !is_over && self.context.poison().is_none() {
                let _ = ManuallyDrop::new(space);
            }
        }
    }
}

impl fmt::Debug for Residency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Residency")
            .field("limit", self.0.limit())
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}
