//! A machine: devices, their contexts, and all handles that a program holds.

pub(super) mod config;
pub(super) mod messages;
pub(super) mod usage;
pub(super) mod visible;

use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::ThreadId;

use cupola_sys::driver::hooks::MemoryHooks;
use cupola_sys::driver::{CUresult, CUstreamCaptureMode, Driver, ProcAddress, SYMBOLS};
use cupola_sys::{Symbol, SymbolId, Version};

use crate::device::api;
use crate::device::calls::args::Reply;
use crate::device::calls::logs::Logs;
use crate::device::contexts::context::Context;
use crate::device::contexts::green::Green;
use crate::device::contexts::multiprocessors::Resource;
use crate::device::machine::config::{DeviceConfig, Exports, MachineBuilder};
use crate::device::machine::messages::{Messages, Output};
use crate::device::machine::usage::Usage;
use crate::device::memory::{Account, PoolLimits, Space};
use crate::device::modules::library::Libraries;
use crate::device::modules::link::Links;
use crate::device::modules::module::Modules;
use crate::device::operations::engine::Engines;
use crate::device::operations::op::{MachineId, in_host_function};
use crate::device::schedule::{Schedule, Trace};
use crate::device::streams::event::Event;
use crate::device::streams::stream::Stream;
use crate::device::strict::{self, Finding, Monitor};
use crate::device::sync::{lock, read, write};

/// Most devices of a machine: as many as the address space has room for.
pub(crate) const MOST_DEVICES: usize = 16;

/// A software CUDA machine. Clones are the same machine; a process can have several.
///
/// The machine lives until its last clone and its last [`Driver`] are gone. Work that is
/// then still queued does not run. The last one waits for the work that runs, unless it
/// goes in a function that a stream or a kernel's output calls, which would wait for
/// itself.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<Inner>,
}

impl Machine {
    /// Describes a machine: one device, driver version 13.0, no delays, unless told.
    #[must_use]
    pub fn builder() -> MachineBuilder {
        MachineBuilder::default()
    }

    /// A driver of this machine: the same functions and types as the real library's.
    ///
    /// # Panics
    /// Never: a machine always knows its version, the one thing that could fail.
    #[must_use]
    pub fn driver(&self) -> Driver {
        let source = Source(Arc::clone(&self.inner));
        // SAFETY: the functions of a machine are callable as soon as it exists.
        let driver = unsafe { Driver::from_source(Box::new(source)) };
        driver.expect("a machine knows its driver version")
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// What programs hold of this machine now.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::of(&self.inner)
    }

    /// What programs have not given back, as a report; `None` if there is nothing.
    #[must_use]
    pub fn leaks(&self) -> Option<String> {
        let usage = self.usage();
        (!usage.is_empty()).then(|| usage.to_string())
    }

    /// What error codes could not say, oldest first: faults with kernel, line, block and
    /// thread; images that have no PTX; kernels that cannot run. The last 256 are kept.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.inner.messages.since(0)
    }

    /// How many messages there have been, forgotten ones included.
    #[must_use]
    pub fn message_count(&self) -> u64 {
        self.inner.messages.count()
    }

    /// The messages after the first `count`, as far as they are kept.
    #[must_use]
    pub fn messages_since(&self, count: u64) -> Vec<String> {
        self.inner.messages.since(count)
    }

    /// What strict mode has found, oldest first. The last 1024 are kept.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.inner.strict.findings()
    }

    /// What strict mode has found since the last time, and forgets it.
    #[must_use]
    pub fn take_findings(&self) -> Vec<Finding> {
        self.inner.strict.take()
    }

    /// Everything that programs have not given back yet, as findings, which are not kept:
    /// what would be reported if the machine ended now.
    #[must_use]
    pub fn leak_report(&self) -> Vec<Finding> {
        strict::of_machine(&self.inner)
    }

    /// Reports everything that programs have not given back, as the machine's end does:
    /// for processes that end without it.
    pub fn report_leaks(&self) {
        strict::report_leaks(&self.inner);
    }

    /// What the machine has done, in order; `None` with
    /// [`Order::Threads`](crate::device::Order::Threads), whose order is not recorded.
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        let schedule = self.inner.schedule.as_ref();
        schedule.map(|schedule| schedule.trace())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (devices, version) = (self.inner.devices.len(), self.inner.version);
        write!(f, "Machine({devices} devices, CUDA {version})")
    }
}

impl MachineBuilder {
    /// Makes the machine. More than 16 devices are cut to 16.
    #[must_use]
    pub fn build(self) -> Machine {
        let inner = Arc::new_cyclic(|this: &std::sync::Weak<Inner>| {
            // Handles of machines that live at the same time differ, because their
            // addresses do: a handle of another machine is an invalid one.
            let first = (this.as_ptr().addr() as u64 >> 4) << 22;
            let id = MachineId(first);
            let strict = Arc::new(Monitor::new(self.strict, self.sink, id));
            let space = Arc::new(Space::new(Arc::clone(&strict)));
            let handles = AtomicU64::new(first);
            let mut configs = self.devices;
            configs.truncate(MOST_DEVICES);
            let schedule = Schedule::new(self.order, &configs);
            let devices = configs.into_iter().enumerate();
            let messages = Arc::new(Messages::default());
            let shared = Shared {
                workers: self.workers,
                space: Arc::clone(&space),
                messages: Arc::clone(&messages),
                strict: Arc::clone(&strict),
                output: self.output.of(id),
                machine: id,
                schedule: schedule.clone(),
            };
            let new_handle = || handles.fetch_add(1, Ordering::Relaxed);
            let devices = devices.map(|(ordinal, config)| {
                Arc::new(Device::new(
                    ordinal,
                    config,
                    &shared,
                    (new_handle(), new_handle()),
                ))
            });
            let devices: Vec<_> = devices.collect();
            let pools = devices
                .iter()
                .map(|device| (device.default_pool, device.ordinal));
            Inner {
                version: self.version,
                functions: api::implemented(self.version, &self.without),
                known: api::known(self.version, &self.without),
                exports: self.exports,
                hides_unsupported: self.hides_unsupported,
                apart: self.apart,
                contradictory: self.contradictory,
                launch_blocking: self.launch_blocking,
                initialized: AtomicBool::new(false),
                space,
                pools: RwLock::new(pools.collect()),
                devices,
                handles,
                ids: AtomicU64::new(1),
                contexts: RwLock::default(),
                greens: RwLock::default(),
                descriptors: RwLock::default(),
                streams: RwLock::default(),
                events: RwLock::default(),
                modules: Modules::default(),
                libraries: Libraries::default(),
                links: Links::default(),
                messages,
                logs: Logs::default(),
                strict,
                capture_modes: Mutex::default(),
                id,
                schedule,
            }
        });
        Machine { inner }
    }
}

/// What all devices of a machine have in common.
struct Shared {
    workers: usize,
    space: Arc<Space>,
    messages: Arc<Messages>,
    strict: Arc<Monitor>,
    output: Output,
    machine: MachineId,
    schedule: Option<Arc<Schedule>>,
}

/// A device and what its contexts share.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) ordinal: usize,
    /// Among all devices, also those that the process does not see.
    pub(super) number: usize,
    pub(super) config: DeviceConfig,
    pub(super) workers: usize,
    pub(super) engines: Engines,
    pub(super) account: Account,
    pub(super) space: Arc<Space>,
    pub(super) messages: Arc<Messages>,
    pub(super) strict: Arc<Monitor>,
    pub(super) output: Output,
    pub(super) machine: MachineId,
    /// Decides what runs next, unless streams have threads.
    pub(super) schedule: Option<Arc<Schedule>>,
    /// The same for every life of the primary context.
    pub(super) primary_handle: u64,
    pub(super) primary: Mutex<Primary>,
    /// How often the primary context is retained. Changes under the slot's lock; apart
    /// from it so that [`Usage`] can be asked while the slot waits for a stream's work.
    pub(super) retained: AtomicU32,
    /// How many green contexts hold the primary context, likewise.
    pub(super) greens: AtomicU32,
    /// Handle of the pool that cannot be destroyed.
    pub(super) default_pool: u64,
    /// Handle of the pool that `cuMemAllocAsync` takes.
    pub(super) current_pool: AtomicU64,
}

/// A device's primary context.
#[derive(Debug, Default)]
pub(super) struct Primary {
    pub(super) flags: u32,
    pub(super) context: Option<Arc<Context>>,
}

impl Device {
    /// `handles` are those of the primary context and of the default pool.
    fn new(ordinal: usize, config: DeviceConfig, shared: &Shared, handles: (u64, u64)) -> Self {
        let (primary, pool) = handles;
        let account = Account::new(config.memory);
        account.add_pool(
            pool,
            PoolLimits {
                reuse: [1; 3],
                ..PoolLimits::default()
            },
        );
        Self {
            ordinal,
            number: config.number.unwrap_or(ordinal),
            engines: Engines::new(&config, shared.schedule.is_none()),
            config,
            workers: shared.workers,
            account,
            space: Arc::clone(&shared.space),
            messages: Arc::clone(&shared.messages),
            strict: Arc::clone(&shared.strict),
            output: shared.output.clone(),
            machine: shared.machine,
            schedule: shared.schedule.clone(),
            primary_handle: primary,
            primary: Mutex::default(),
            retained: AtomicU32::new(0),
            greens: AtomicU32::new(0),
            default_pool: pool,
            current_pool: AtomicU64::new(pool),
        }
    }
}

/// A stream and its context.
pub(super) type OwnedStream = (Arc<Context>, Arc<Stream>);

/// What everything of a machine shares.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) version: Version,
    /// Numbers of a device and of another whose memory it cannot access.
    apart: BTreeSet<(usize, usize)>,
    /// Addresses of the functions that this machine has, by position in [`SYMBOLS`].
    functions: Vec<Option<api::Function>>,
    /// Those that a driver of this version has, built here or not, by position in [`SYMBOLS`].
    known: Vec<bool>,
    /// Where a library exports them, if that is who calls.
    exports: Option<Exports>,
    /// Whether functions that are not built cannot be found.
    hides_unsupported: bool,
    /// The devices that are visible were told in a way that makes no sense.
    pub(super) contradictory: bool,
    /// Launches wait for their kernels.
    pub(super) launch_blocking: bool,
    pub(super) initialized: AtomicBool,
    pub(super) devices: Vec<Arc<Device>>,
    pub(super) space: Arc<Space>,
    handles: AtomicU64,
    ids: AtomicU64,
    pub(super) contexts: RwLock<HashMap<u64, Arc<Context>>>,
    /// Green contexts; nothing for those that were destroyed, which are told apart from what
    /// never was one.
    pub(super) greens: RwLock<HashMap<u64, Option<Arc<Green>>>>,
    /// What descriptors of resources name: a device, and some of its multiprocessors. No call
    /// destroys one.
    pub(super) descriptors: RwLock<HashMap<u64, Arc<Resource>>>,
    /// Created streams, each with its context.
    pub(super) streams: RwLock<HashMap<u64, OwnedStream>>,
    pub(super) events: RwLock<HashMap<u64, Arc<Event>>>,
    /// The device of each memory pool.
    pub(super) pools: RwLock<HashMap<u64, usize>>,
    pub(super) modules: Modules,
    pub(super) libraries: Libraries,
    pub(super) links: Links,
    pub(super) messages: Arc<Messages>,
    pub(super) logs: Logs,
    pub(super) strict: Arc<Monitor>,
    /// Of threads that have changed theirs.
    pub(super) capture_modes: Mutex<HashMap<ThreadId, CUstreamCaptureMode>>,
    pub(super) id: MachineId,
    pub(super) schedule: Option<Arc<Schedule>>,
}

impl Inner {
    /// The address of a function, by position in [`SYMBOLS`].
    pub(super) fn function(&self, position: usize) -> *const c_void {
        let function = self.functions.get(position).copied().flatten();
        function.map_or(std::ptr::null(), api::Function::address)
    }

    /// Whether a driver of this version has a function, built here or not, by position in
    /// [`SYMBOLS`].
    pub(super) fn knows(&self, position: usize) -> bool {
        self.known.get(position).copied().unwrap_or(false)
    }

    /// The address that `cuGetProcAddress` gives for a function, by position in [`SYMBOLS`].
    /// What is not built has one in a library, where it is not supported when it is called.
    pub(super) fn exported(&self, position: usize) -> *const c_void {
        let own = self.function(position);
        let hidden = own.is_null() && (self.hides_unsupported || !self.knows(position));
        match (self.exports, u16::try_from(position)) {
            (Some(exports), Ok(id)) if !hidden => exports(SymbolId::new(id)),
            _ => own,
        }
    }

    /// A handle that this machine has never given before.
    pub(super) fn new_handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// A handle and a small number.
    pub(super) fn new_ids(&self) -> (u64, u64) {
        (self.new_handle(), self.ids.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn device(&self, ordinal: i32) -> Reply<&Arc<Device>> {
        let device = usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
    }

    /// Whether contexts of a device can have access to the memory of another device.
    pub(super) fn can_access(&self, device: &Device, peer: &Device) -> bool {
        let (own, other) = (&device.config.capability, &peer.config.capability);
        device.ordinal != peer.ordinal
            && own.0 == other.0
            && !self.apart.contains(&(device.number, peer.number))
    }

    pub(super) fn context(&self, handle: u64) -> Option<Arc<Context>> {
        get(&self.contexts, &handle)
    }

    /// A context by handle, or the primary context of a green one.
    ///
    /// # Errors
    /// There is none, or the green context was destroyed.
    pub(super) fn context_or_primary(&self, handle: u64) -> Reply<Arc<Context>> {
        if let Some(context) = self.context(handle) {
            return Ok(context);
        }
        let green = self.green(handle)?;
        let primary = green.map(|green| Arc::clone(&green.primary));
        primary.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)
    }

    /// A green context by handle; `None` if the handle never was one's.
    ///
    /// # Errors
    /// It was destroyed.
    pub(super) fn green(&self, handle: u64) -> Reply<Option<Arc<Green>>> {
        match read(&self.greens).get(&handle) {
            Some(Some(green)) => Ok(Some(Arc::clone(green))),
            Some(None) => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
            None => Ok(None),
        }
    }

    /// Whether a handle may be made current: a primary context's always may, also while
    /// the context does not exist.
    pub(super) fn is_context(&self, handle: u64) -> bool {
        self.devices
            .iter()
            .any(|device| device.primary_handle == handle)
            || read(&self.contexts).contains_key(&handle)
    }

    pub(super) fn event(&self, handle: u64) -> Reply<Arc<Event>> {
        get(&self.events, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// The device of a memory pool.
    pub(super) fn pool_device(&self, pool: u64) -> Reply<&Arc<Device>> {
        let ordinal = read(&self.pools).get(&pool).copied();
        let device = ordinal.and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    /// Makes a context and registers it under `handle`.
    pub(super) fn create_context(
        &self,
        handle: u64,
        device: &Arc<Device>,
        flags: u32,
        primary: bool,
    ) -> Arc<Context> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let context = Context::new((handle, id), self.new_ids(), device, flags, primary);
        write(&self.contexts).insert(handle, Arc::clone(&context));
        context
    }

    /// Waits for a context's work and takes away everything that belongs to it.
    ///
    /// # Errors
    /// Another call has destroyed it.
    pub(super) fn destroy_context(&self, context: &Context) -> Reply {
        // No new work: the handle is gone first.
        let removed = write(&self.contexts).remove(&context.handle);
        removed.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        strict::context_ends(self, context);
        if !context.primary {
            self.strict.context_destroyed(context.handle, &context.made);
        }
        // The next primary context of the device has the same handle.
        for other in read(&self.contexts).values() {
            other.health.peers.remove(context.handle);
        }
        write(&self.streams).retain(|_, (owner, _)| owner.handle != context.handle);
        context.shut_down();
        context.end_heap();
        write(&self.events).retain(|_, event| event.context != context.handle);
        for module in self.modules.remove_context(context.handle) {
            self.strict.module_gone(module);
        }
        let (blocks, hosts) = self.space.drain(context.handle);
        for block in &blocks {
            // Memory whose free was called is settled already.
            if let Some(device) = self.devices.get(block.device)
                && block.doom()
            {
                device.account.give(block.pool, block.charge);
            }
        }
        drop((blocks, hosts));
        self.strict.context_closed(context.handle);
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        strict::report_leaks(self);
        let contexts: Vec<_> = lock_free(&mut self.contexts).drain().collect();
        // All at once: a stream may wait for an event of another context.
        contexts
            .iter()
            .for_each(|(_, context)| context.health.abandon());
        for device in &self.devices {
            lock(&device.primary).context = None;
        }
        if in_host_function(self.id) {
            if let Some(schedule) = &self.schedule {
                schedule.abandon();
            }
            // This thread's own stream is busy until this function returns. The threads
            // keep what they use and end by themselves.
            contexts.iter().for_each(|(_, context)| context.close());
        } else {
            contexts.iter().for_each(|(_, context)| context.shut_down());
        }
    }
}

fn lock_free<T>(lock: &mut RwLock<T>) -> &mut T {
    lock.get_mut()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A copy of what a registry has under a key.
pub(super) fn get<K: Eq + Hash, V>(
    registry: &RwLock<HashMap<K, Arc<V>>>,
    key: &K,
) -> Option<Arc<V>> {
    read(registry).get(key).cloned()
}

struct Source(Arc<Inner>);

// SAFETY: `api::implemented` pairs each symbol with a function of the type that its row has
// (checked when it is compiled), and functions are code of this program.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        let position = SYMBOLS.iter().position(|row| row == symbol);
        position.map_or(std::ptr::null(), |position| self.0.function(position))
    }

    fn scope(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    fn memory_hooks(&self) -> Option<MemoryHooks> {
        self.0.memory_hooks()
    }

    fn describe(&self) -> String {
        format!("cupola software device, CUDA {}", self.0.version)
    }
}
