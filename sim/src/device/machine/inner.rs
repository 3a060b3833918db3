//! What everything of a machine shares: its devices, and all handles that a program holds.

use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::ThreadId;

use cupola_sys::driver::{CUresult, CUstreamCaptureMode};
use cupola_sys::{SymbolId, Version};

use crate::device::api;
use crate::device::calls::args::Reply;
use crate::device::calls::logs::Logs;
use crate::device::contexts::context::Context;
use crate::device::contexts::green::Green;
use crate::device::contexts::multiprocessors::Resource;
use crate::device::graphs::Graphs;
use crate::device::machine::config::{DeviceConfig, Exports, MachineBuilder};
use crate::device::machine::device::{Device, Shared};
use crate::device::machine::messages::Messages;
use crate::device::machine::visible;
use crate::device::memory::{Space, settle};
use crate::device::modules::library::Libraries;
use crate::device::modules::link::Links;
use crate::device::modules::module::Modules;
use crate::device::operations::op::{MachineId, in_host_function};
use crate::device::schedule::Schedule;
use crate::device::streams::event::Event;
use crate::device::streams::stream::Stream;
use crate::device::strict::{self, Monitor};
use crate::device::sync::{lock, read, write};

/// Most devices of a machine: as many as the address space has room for.
pub(crate) const MOST_DEVICES: usize = 16;

/// A stream and its context.
pub(in crate::device) type OwnedStream = (Arc<Context>, Arc<Stream>);

/// What everything of a machine shares.
#[derive(Debug)]
pub(in crate::device) struct Inner {
    pub(in crate::device) version: Version,
    /// Numbers of a device and of another whose memory it cannot access.
    apart: BTreeSet<(usize, usize)>,
    /// Addresses of the functions that this machine has, by position in `SYMBOLS`.
    functions: Vec<Option<api::Function>>,
    /// Those that a driver of this version has, built here or not, by position in `SYMBOLS`.
    known: Vec<bool>,
    /// Where a library exports them, if that is who calls.
    exports: Option<Exports>,
    /// Whether functions that are not built cannot be found.
    hides_unsupported: bool,
    /// The devices that are visible were told in a way that makes no sense.
    pub(in crate::device) contradictory: bool,
    /// Launches wait for their kernels.
    pub(in crate::device) launch_blocking: bool,
    pub(in crate::device) initialized: AtomicBool,
    pub(in crate::device) devices: Vec<Arc<Device>>,
    pub(in crate::device) space: Arc<Space>,
    handles: Arc<AtomicU64>,
    ids: AtomicU64,
    pub(in crate::device) contexts: RwLock<HashMap<u64, Arc<Context>>>,
    /// Green contexts; nothing for those that were destroyed, which are told apart from what
    /// never was one.
    pub(in crate::device) greens: RwLock<HashMap<u64, Option<Arc<Green>>>>,
    /// What descriptors of resources name: a device, and some of its multiprocessors. No call
    /// destroys one.
    pub(in crate::device) descriptors: RwLock<HashMap<u64, Arc<Resource>>>,
    /// Created streams, each with its context.
    pub(in crate::device) streams: RwLock<HashMap<u64, OwnedStream>>,
    pub(in crate::device) events: RwLock<HashMap<u64, Arc<Event>>>,
    /// The device of each memory pool.
    pub(in crate::device) pools: RwLock<HashMap<u64, usize>>,
    pub(in crate::device) graphs: Arc<Graphs>,
    pub(in crate::device) modules: Modules,
    pub(in crate::device) libraries: Libraries,
    pub(in crate::device) links: Links,
    pub(in crate::device) messages: Arc<Messages>,
    pub(in crate::device) logs: Logs,
    pub(in crate::device) strict: Arc<Monitor>,
    /// Of threads that have changed theirs.
    pub(in crate::device) capture_modes: Mutex<HashMap<ThreadId, CUstreamCaptureMode>>,
    pub(in crate::device) id: MachineId,
    pub(in crate::device) schedule: Option<Arc<Schedule>>,
}

impl Inner {
    /// What a builder describes.
    pub(super) fn new(builder: MachineBuilder) -> Arc<Self> {
        Arc::new_cyclic(|this: &std::sync::Weak<Inner>| {
            // Handles of machines that live at the same time differ, because their
            // addresses do: a handle of another machine is an invalid one.
            let first = (this.as_ptr().addr() as u64 >> 4) << 22;
            let id = MachineId(first);
            let (configs, contradictory) = devices(&builder);
            let strict = Arc::new(Monitor::new(builder.strict, builder.sink, id));
            let space = Arc::new(Space::new(Arc::clone(&strict)));
            let handles = Arc::new(AtomicU64::new(first));
            let schedule = Schedule::new(builder.order, &configs);
            let messages = Arc::new(Messages::default());
            let graphs = Graphs::new(&handles);
            let numbers: Vec<_> = (configs.iter().enumerate())
                .map(|(ordinal, config)| config.number.unwrap_or(ordinal))
                .collect();
            let ordinal = |number| numbers.iter().position(|&known| known == number);
            let corrupt = builder.corrupt.iter();
            let corrupt = corrupt.filter_map(|&(from, to)| Some((ordinal(from)?, ordinal(to)?)));
            let shared = Shared {
                corrupt: Arc::new(corrupt.collect()),
                workers: builder.workers,
                space: Arc::clone(&space),
                messages: Arc::clone(&messages),
                strict: Arc::clone(&strict),
                output: builder.output.of(id),
                machine: id,
                schedule: schedule.clone(),
                graphs: Arc::clone(&graphs),
            };
            let devices = configs.into_iter().enumerate();
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
                version: builder.version,
                functions: api::implemented(builder.version, &builder.without),
                known: api::known(builder.version, &builder.without),
                exports: builder.exports,
                hides_unsupported: builder.hides_unsupported,
                apart: builder.apart,
                contradictory,
                launch_blocking: builder.launch_blocking,
                initialized: AtomicBool::new(false),
                space,
                pools: RwLock::new(pools.collect()),
                devices,
                graphs,
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
        })
    }

    /// The address of a function, by position in `SYMBOLS`.
    pub(in crate::device) fn function(&self, position: usize) -> *const c_void {
        let function = self.functions.get(position).copied().flatten();
        function.map_or(std::ptr::null(), api::Function::address)
    }

    /// Whether a driver of this version has a function, built here or not, by position in
    /// `SYMBOLS`.
    pub(in crate::device) fn knows(&self, position: usize) -> bool {
        self.known.get(position).copied().unwrap_or(false)
    }

    /// The address that `cuGetProcAddress` gives for a function, by position in `SYMBOLS`.
    /// What is not built has one in a library, where it is not supported when it is called.
    pub(in crate::device) fn exported(&self, position: usize) -> *const c_void {
        let own = self.function(position);
        let hidden = own.is_null() && (self.hides_unsupported || !self.knows(position));
        match (self.exports, u16::try_from(position)) {
            (Some(exports), Ok(id)) if !hidden => exports(SymbolId::new(id)),
            _ => own,
        }
    }

    /// A handle that this machine has never given before.
    pub(in crate::device) fn new_handle(&self) -> u64 {
        self.handles.fetch_add(1, Ordering::Relaxed)
    }

    /// A handle and a small number.
    pub(in crate::device) fn new_ids(&self) -> (u64, u64) {
        (self.new_handle(), self.ids.fetch_add(1, Ordering::Relaxed))
    }

    pub(in crate::device) fn device(&self, ordinal: i32) -> Reply<&Arc<Device>> {
        let device = usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)
    }

    /// Whether contexts of a device can have access to the memory of another device.
    pub(in crate::device) fn can_access(&self, device: &Device, peer: &Device) -> bool {
        let (own, other) = (&device.config.capability, &peer.config.capability);
        let have_peers = |device: &Device| device.config.kind().has_peers();
        device.ordinal != peer.ordinal
            && have_peers(device)
            && have_peers(peer)
            && own.0 == other.0
            && !self.apart.contains(&(device.number, peer.number))
    }

    pub(in crate::device) fn context(&self, handle: u64) -> Option<Arc<Context>> {
        get(&self.contexts, &handle)
    }

    /// A context by handle, or the primary context of a green one.
    ///
    /// # Errors
    /// There is none, or the green context was destroyed.
    pub(in crate::device) fn context_or_primary(&self, handle: u64) -> Reply<Arc<Context>> {
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
    pub(in crate::device) fn green(&self, handle: u64) -> Reply<Option<Arc<Green>>> {
        match read(&self.greens).get(&handle) {
            Some(Some(green)) => Ok(Some(Arc::clone(green))),
            Some(None) => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
            None => Ok(None),
        }
    }

    /// Whether a handle may be made current: a primary context's always may, also while
    /// the context does not exist.
    pub(in crate::device) fn is_context(&self, handle: u64) -> bool {
        self.devices
            .iter()
            .any(|device| device.primary_handle == handle)
            || read(&self.contexts).contains_key(&handle)
    }

    pub(in crate::device) fn event(&self, handle: u64) -> Reply<Arc<Event>> {
        get(&self.events, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// The device of a memory pool.
    pub(in crate::device) fn pool_device(&self, pool: u64) -> Reply<&Arc<Device>> {
        let ordinal = read(&self.pools).get(&pool).copied();
        let device = ordinal.and_then(|ordinal| self.devices.get(ordinal));
        device.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    /// Makes a context and registers it under `handle`.
    pub(in crate::device) fn create_context(
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
    pub(in crate::device) fn destroy_context(&self, context: &Context) -> Reply {
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
        for capture in self
            .graphs
            .captures
            .with(|stream| Arc::ptr_eq(&stream.health, &context.health))
        {
            self.graphs.discard(&capture);
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
                settle(device, block);
            }
        }
        for range in hosts.iter().filter(|range| range.is_allocated()) {
            if let Some(device) = self.devices.get(range.device) {
                device.settle_host(range.len);
            }
        }
        drop((blocks, hosts));
        self.strict.context_closed(context.handle);
        Ok(())
    }
}

/// The devices that a process sees, and whether it asks for them in a way that makes no sense.
fn devices(builder: &MachineBuilder) -> (Vec<DeviceConfig>, bool) {
    let all = builder.devices.iter().take(MOST_DEVICES).cloned();
    let all: Vec<_> = all.map(|device| device.settle(builder.profile)).collect();
    let Some(list) = &builder.visible else {
        return (visible::alone(all), false);
    };
    match visible::select(list, &all) {
        Ok(devices) => (visible::alone(devices), false),
        Err(visible::Twice) => (all, true),
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
pub(in crate::device) fn get<K: Eq + Hash, V>(
    registry: &RwLock<HashMap<K, Arc<V>>>,
    key: &K,
) -> Option<Arc<V>> {
    read(registry).get(key).cloned()
}
