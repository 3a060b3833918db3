//! Contexts: the primary one of a device, shared; parts of it (green contexts); ones of our
//! own; and ones that other code made.
//!
//! A [`Context`] is a lease. The driver's context ends with the last lease and the last object made
//! in it; the manager holds the primary one, green ones and contexts of other code until their
//! handles are released.

mod borrow;
mod config;
mod graph_usage;
mod green;
mod lease;
mod primary_flags;
mod shutdown;
#[cfg(feature = "test-utils")]
mod test_hooks;
mod thread;

use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cupola_core::tag;
use cupola_sys::driver::{CUcontext, CUdevice, Driver, DriverError};

pub use self::config::ContextsConfig;
pub use graph_usage::GraphUsage;
pub use green::{GreenConfig, GreenPartition};
pub use lease::{Context, MemoryInfo};
pub use primary_flags::PrimaryState;
pub(crate) use shutdown::{ClosedContext, End};

pub use crate::driver::{ContextKind, CurrentGuard, Live, context_switches};
pub use crate::handle::ContextHandle;

use crate::buffer::BufferManager;
use crate::copies::Copies;
use crate::driver::{ContextCore, Ledger, Ownership, current};
use crate::error::{Cause, Error, Result, Site};
use crate::event::EventManager;
use crate::host::HostMemory;
use crate::module::ModuleManager;
use crate::peer::PeerCheck;
use crate::registry::{Name, Registry};
use crate::stream::StreamManager;
use crate::sync::capacity::Permit;
use crate::sync::thread_exit::ThreadExit;

/// How the host waits in a created context (`CU_CTX_SCHED_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// The driver decides.
    #[default]
    Auto,
    /// Spins: least latency, one busy core.
    Spin,
    /// Gives up the processor between looks.
    Yield,
    /// Sleeps until the device signals.
    Block,
}

impl Waiting {
    fn flags(self) -> u32 {
        match self {
            Self::Auto => 0,
            Self::Spin => 1,
            Self::Yield => 2,
            Self::Block => 4,
        }
    }
}

/// The contexts of one device.
pub struct ContextManager {
    driver: Driver,
    device: CUdevice,
    ordinal: u32,
    ledger: Arc<Ledger>,
    contexts: Contexts,
    /// How contexts are set up from now on.
    config: Mutex<ContextsConfig>,
    /// The handle of the primary context, once it was asked for. Never locked across a
    /// driver call. Its lock also keeps a shutdown and a start from running side by side.
    primary: Mutex<Option<ContextHandle>>,
    /// How the managers in contexts are set up for a test, if for one.
    #[cfg(feature = "test-utils")]
    test: Mutex<Option<crate::testing::TestConfig>>,
    /// Held while a context of other code is looked for and taken in.
    borrowing: Mutex<()>,
}

pub(crate) type Contexts = Registry<ContextInner, tag::Context>;

pub(crate) struct ContextInner {
    handle: ContextHandle,
    // Declared before `core`, although any order would do: each keeps the core alive.
    streams: StreamManager,
    events: EventManager,
    buffers: BufferManager,
    modules: ModuleManager,
    copies: Copies,
    host: HostMemory,
    thread_exit: ThreadExit,
    core: Arc<ContextCore>,
    /// Of a context that the manager does not hold.
    name: OnceLock<Name<Self, tag::Context>>,
}

impl ContextManager {
    pub(crate) fn new(
        driver: Driver,
        (device, ordinal): (CUdevice, u32),
        ledger: Arc<Ledger>,
        config: ContextsConfig,
    ) -> Self {
        Self {
            driver,
            device,
            ordinal,
            ledger,
            contexts: Registry::new(config.capacity),
            config: Mutex::new(config),
            primary: Mutex::new(None),
            #[cfg(feature = "test-utils")]
            test: Mutex::new(None),
            borrowing: Mutex::new(()),
        }
    }

    /// The device's primary context, retained at the first call
    /// (`cuDevicePrimaryCtxRetain`) until its handle is released. One of several threads that
    /// ask at once makes the call; the others sleep, and get its result.
    ///
    /// If an object from before a release or a shutdown still holds the primary context, this is
    /// that one, under a new handle and with new managers: nothing is retained again, objects made
    /// in it before may be used with objects made now, and an error that lost it has lost it.
    ///
    /// Other execution managers of the same driver, of this process, retain the same context. Each
    /// has managers and handles of its own, and shuts down by itself; but their objects work
    /// together, as those of one manager do, and an error that loses the context loses it for all.
    /// The driver's context ends with the last of them.
    ///
    /// # Errors
    /// What the driver returned: the next call tries again. [`Error::Full`] when the manager has room
    /// for no more contexts; [`Error::ShutDown`], [`Error::Forked`].
    #[doc(alias = "cuDevicePrimaryCtxRetain")]
    #[track_caller]
    pub fn primary(&self) -> Result<Context> {
        self.not_forked()?;
        loop {
            let handle = self.primary_handle()?;
            match self.ensure_alive(handle) {
                // Released meanwhile: it has another handle now.
                Err(Error::StaleHandle { .. }) if !self.contexts.is_shut() => {
                    self.forget_primary(handle);
                }
                outcome => return outcome,
            }
        }
    }

    /// The handle of the primary context, which may not be made yet. It is good until it is
    /// released; then the primary context gets another.
    ///
    /// # Errors
    /// [`Error::ShutDown`], [`Error::Forked`].
    pub fn primary_handle(&self) -> Result<ContextHandle> {
        self.not_forked()?;
        let mut primary = self.primary_name();
        if let Some(handle) = *primary {
            return Ok(handle);
        }
        let handle = self.contexts.reserve()?;
        *primary = Some(handle);
        Ok(handle)
    }

    /// The primary context gets another handle if this was it.
    fn forget_primary(&self, handle: ContextHandle) {
        let mut primary = self.primary_name();
        if *primary == Some(handle) {
            *primary = None;
        }
    }

    fn primary_name(&self) -> MutexGuard<'_, Option<ContextHandle>> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases the context that `handle` names, and makes it first if it is the primary one
    /// and not made yet.
    ///
    /// # Errors
    /// [`Error::StaleHandle`], [`Error::ShutDown`], or as [`primary`](Self::primary).
    #[track_caller]
    pub fn ensure_alive(&self, handle: ContextHandle) -> Result<Context> {
        self.not_forked()?;
        let site = Site {
            device: Some(self.ordinal),
            ..Site::here()
        };
        let make = || match self.ledger.primary(self.device) {
            // Held under a handle of before. A second core for the one context would not
            // know that it is lost, nor which of its kernels may still run.
            Some(core) => self.enter(handle, None, core),
            None => {
                let permit = self.contexts.permit()?;
                self.enter(handle, Some(permit), self.retain(site)?)
            }
        };
        self.contexts.ensure_permitted(handle, make).map(Context)
    }

    fn retain(&self, site: Site) -> Result<Arc<ContextCore>> {
        let mut raw: CUcontext = ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        unsafe {
            self.driver
                .cuDevicePrimaryCtxRetain(&raw mut raw, self.device)
        }
        .map_err(|call| self.failed(call, site))?;
        // SAFETY: retained just now, for this value.
        unsafe { self.core(raw, Ownership::Primary, None, site) }
    }

    /// Whether `handle` names a context that is there: not one that is to be made, nor one
    /// that was released.
    #[must_use]
    pub fn is_alive(&self, handle: ContextHandle) -> bool {
        self.contexts.is_alive(handle)
    }

    /// A new context (`cuCtxCreate_v2`). The calling thread's current context stays the same,
    /// unless the driver refuses to take the new one off again (`cuCtxPopCurrent_v2`): then that is
    /// current, which is no error and matters only to calls that this crate does not make. Most
    /// programs want one primary context: kernels of two contexts do not run side by side.
    ///
    /// It ends with its last lease and the last object made in it.
    ///
    /// # Errors
    /// What the driver returned; [`Error::Full`], [`Error::ShutDown`], [`Error::Forked`].
    #[doc(alias = "cuCtxCreate")]
    #[track_caller]
    pub fn create(&self, waiting: Waiting) -> Result<Context> {
        self.not_forked()?;
        let made = self.made(waiting, Site::here());
        let enter = |handle, permit| self.enter(handle, Some(permit), made()?);
        let inner = self.contexts.insert_leased(enter)?;
        if let Some(name) = self.contexts.releaser(inner.handle) {
            let _ = inner.name.set(name);
        }
        Ok(Context(inner))
    }

    /// A new context, as [`create`](Self::create) makes it, which the manager keeps until
    /// [`release`](Self::release): the handle stays good without leases.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    #[track_caller]
    pub fn create_held(&self, waiting: Waiting) -> Result<Context> {
        self.not_forked()?;
        self.insert(self.made(waiting, Site::here()))
    }

    /// Makes a context of our own.
    fn made(&self, waiting: Waiting, site: Site) -> impl FnOnce() -> Result<Arc<ContextCore>> {
        move || {
            let mut raw: CUcontext = ptr::null_mut();
            // SAFETY: `raw` outlives the call.
            unsafe {
                self.driver
                    .cuCtxCreate_v2(&raw mut raw, waiting.flags(), self.device)
            }
            .map_err(|call| self.failed(call, site))?;
            // Creating pushed the context; take it off again, and leave the one below. If that
            // fails the thread's current context is no longer known.
            let mut popped: CUcontext = ptr::null_mut();
            // SAFETY: `popped` outlives the call.
            let taken_off = unsafe { self.driver.cuCtxPopCurrent_v2(&raw mut popped) };
            // SAFETY: made just now, and known to no other code.
            let core = unsafe { self.core(raw, Ownership::Created, None, site) };
            if let Err(call) = taken_off {
                current::forget();
                if let Ok(core) = &core {
                    core.note(call, site);
                }
            }
            core
        }
    }

    #[track_caller]
    fn insert(&self, make: impl FnOnce() -> Result<Arc<ContextCore>>) -> Result<Context> {
        let inner = self
            .contexts
            .insert_with(|handle, permit| self.enter(handle, Some(permit), make()?))?;
        Ok(Context(inner))
    }

    /// Another handle for a context that has none.
    fn insert_again(&self, core: Arc<ContextCore>) -> Result<Context> {
        let enter = |handle| self.enter(handle, None, core);
        self.contexts.insert_permitted(enter).map(Context)
    }

    /// Takes a context in: one that was made just now, or one that is known and has no handle
    /// any more, which stays as it was set up, and has a permit already if it is of here.
    fn enter(
        &self,
        handle: ContextHandle,
        permit: Option<Permit>,
        core: Arc<ContextCore>,
    ) -> Result<ContextInner> {
        let config = self.config();
        if core.register(self.contexts.capacity(), handle, permit)? {
            core.set_checked(config.checked);
            core.set_checks_peers(config.peers == PeerCheck::FirstUse);
        }
        let events = EventManager::new(&core, config.events);
        let streams = StreamManager::new(&core, events.pool(), config.streams);
        #[cfg(feature = "test-utils")]
        self.hand_down_for_test(&streams, &events)?;
        Ok(ContextInner {
            handle,
            streams,
            buffers: BufferManager::new(&core, events.pool(), config.buffers),
            events,
            modules: ModuleManager::new(&core, config.modules),
            copies: Copies::default(),
            host: HostMemory::default(),
            thread_exit: ThreadExit::new(),
            core,
            name: OnceLock::new(),
        })
    }

    /// # Safety
    /// `raw` is a live context of this device, which this value alone ends as `ownership` says.
    /// `parent` is the primary context of a green one.
    unsafe fn core(
        &self,
        raw: CUcontext,
        ownership: Ownership,
        parent: Option<Arc<ContextCore>>,
        site: Site,
    ) -> Result<Arc<ContextCore>> {
        let (driver, ledger) = (self.driver.clone(), Arc::clone(&self.ledger));
        let device = (self.device, self.ordinal);
        // SAFETY: the condition of `ContextCore::new` is this function's own.
        unsafe { ContextCore::new(driver, raw, ownership, parent, device, ledger, site) }
    }

    /// The error of a call for the device.
    fn failed(&self, call: DriverError, site: Site) -> Error {
        let site = Site {
            device: Some(self.ordinal),
            ..site
        };
        let mut cause = Cause::new(call, site);
        // An error of asking says nothing of this call.
        let _ = cause.explain(&self.driver);
        Error::of_cause(cause)
    }

    /// Leases the context that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    #[track_caller]
    pub fn lease(&self, handle: ContextHandle) -> Result<Context> {
        self.contexts.lease(handle).map(Context)
    }

    /// Gives the context up: the handle is stale from now on. The driver's context ends when the
    /// last lease and every object made in it are gone.
    ///
    /// # Errors
    /// [`Error::StaleHandle`], [`Error::Forked`]; what the driver returned if it was
    /// destroyed here.
    #[doc(alias = "cuDevicePrimaryCtxRelease")]
    #[doc(alias = "cuCtxDestroy")]
    #[track_caller]
    pub fn release(&self, handle: ContextHandle) -> Result<()> {
        self.not_forked()?;
        let released = self.contexts.take(handle)?;
        self.forget_primary(handle);
        match released.map(ContextInner::part) {
            Some(Ok(context)) => context.end(),
            Some(Err(_)) | None => Ok(()),
        }
    }

    /// Handles of the contexts that have one now: they are leased or held, and were not released.
    pub fn handles(&self) -> impl Iterator<Item = ContextHandle> + '_ {
        self.contexts.handles()
    }

    /// Whether the context is of this device, under whichever execution manager.
    pub(crate) fn has_device_of(&self, core: &ContextCore) -> bool {
        self.device == core.device() && (self.is_of(core) || self.driver.is_same(core.driver()))
    }

    /// Whether these are the contexts of the device that `core` is a context of.
    pub(crate) fn is_of(&self, core: &ContextCore) -> bool {
        ptr::eq(&raw const *self.ledger, core.ledger()) && self.device == core.device()
    }

    pub(crate) fn not_forked(&self) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }
}

impl fmt::Debug for ContextManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextManager")
            .field("device", &self.ordinal)
            .field("contexts", &self.contexts)
            .finish_non_exhaustive()
    }
}
