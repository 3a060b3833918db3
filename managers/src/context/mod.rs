//! Contexts: the primary one of a device, shared, and ones of our own.
//!
//! A [`Context`] is a lease. The manager holds the context until its handle is released;
//! the driver's context ends with the last lease and the last thing made in it.

mod core;
mod current;
mod fork;
mod ledger;

use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_core::{Handle, tag};
use cupola_sys::driver::{CUcontext, CUdevice, Driver};

pub(crate) use self::core::ContextCore;
pub use self::core::ContextKind;
pub(crate) use current::Identity;
pub use current::{CurrentGuard, context_switches, forget_current};
pub use ledger::Live;
pub(crate) use ledger::{Kind, Ledger};

use crate::buffer::BufferManager;
use crate::error::{Error, Result};
use crate::event::EventManager;
use crate::memory::{MemoryPool, PoolConfig};
use crate::module::ModuleManager;
use crate::registry::Registry;
use crate::stream::StreamManager;

/// Names a context of a [`ContextManager`].
pub type ContextHandle = Handle<tag::Context>;

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
    contexts: Registry<ContextInner, tag::Context>,
    /// Handle of the primary context, once it was asked for.
    primary: Mutex<Option<ContextHandle>>,
}

pub(crate) struct ContextInner {
    handle: ContextHandle,
    // Declared before `core`, although any order would do: each keeps the core alive.
    streams: StreamManager,
    events: EventManager,
    buffers: BufferManager,
    modules: ModuleManager,
    core: Arc<ContextCore>,
}

impl ContextManager {
    pub(crate) fn new(
        driver: Driver,
        (device, ordinal): (CUdevice, u32),
        ledger: Arc<Ledger>,
    ) -> Self {
        Self {
            driver,
            device,
            ordinal,
            ledger,
            contexts: Registry::new(),
            primary: Mutex::new(None),
        }
    }

    /// The device's primary context, retained at the first call
    /// (`cuDevicePrimaryCtxRetain`) until its handle is released.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn primary(&self) -> Result<Context> {
        self.not_forked()?;
        let mut primary = self.primary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = primary.and_then(|handle| self.lease(handle).ok()) {
            return Ok(context);
        }
        let context = self.insert(ContextKind::Primary, || {
            let mut raw: CUcontext = ptr::null_mut();
            // SAFETY: `raw` outlives the call.
            unsafe {
                self.driver
                    .cuDevicePrimaryCtxRetain(&raw mut raw, self.device)
            }?;
            Ok(raw)
        })?;
        *primary = Some(context.handle());
        Ok(context)
    }

    /// A new context (`cuCtxCreate_v2`). The calling thread's current context stays what it
    /// was, unless the driver refuses to take the new one off again (`cuCtxPopCurrent_v2`):
    /// then that is current, which is no error and matters only to calls that this crate does
    /// not make. One primary context is what most programs want: kernels of two contexts do not
    /// run side by side.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn create(&self, waiting: Waiting) -> Result<Context> {
        self.not_forked()?;
        self.insert(ContextKind::Created, || {
            let mut raw: CUcontext = ptr::null_mut();
            // SAFETY: `raw` outlives the call.
            unsafe {
                self.driver
                    .cuCtxCreate_v2(&raw mut raw, waiting.flags(), self.device)
            }?;
            // Creating pushed the context; take it off again, leaving what was below. If
            // that fails the thread's current context is no longer known.
            let mut popped: CUcontext = ptr::null_mut();
            // SAFETY: `popped` outlives the call.
            if unsafe { self.driver.cuCtxPopCurrent_v2(&raw mut popped) }.is_err() {
                forget_current();
            }
            Ok(raw)
        })
    }

    fn insert(
        &self,
        kind: ContextKind,
        make: impl FnOnce() -> Result<CUcontext, cupola_sys::driver::DriverError>,
    ) -> Result<Context> {
        let inner = self.contexts.insert_with(|handle| {
            let raw = make().map_err(|call| Error::on(call, Some(self.ordinal)))?;
            let device = (self.device, self.ordinal);
            let ledger = Arc::clone(&self.ledger);
            // SAFETY: made just now, of this device, and known to nobody else.
            let core = unsafe { ContextCore::new(self.driver.clone(), raw, kind, device, ledger) };
            Ok(ContextInner {
                handle,
                streams: StreamManager::new(&core),
                events: EventManager::new(&core),
                buffers: BufferManager::new(&core),
                modules: ModuleManager::new(&core),
                core,
            })
        })?;
        Ok(Context(inner))
    }

    /// Leases the context that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    pub fn lease(&self, handle: ContextHandle) -> Result<Context> {
        self.contexts.lease(handle).map(Context)
    }

    /// Gives the context up: the handle is stale from now on. The driver's context ends
    /// when the last lease and everything made in it are gone.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    pub fn release(&self, handle: ContextHandle) -> Result<()> {
        self.contexts.release(handle).map(drop)
    }

    /// Handles of the contexts that are held now.
    pub fn handles(&self) -> impl Iterator<Item = ContextHandle> + '_ {
        self.contexts.handles()
    }

    fn not_forked(&self) -> Result<()> {
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

/// A leased context, and the managers of what is in it. Clones share the context.
#[derive(Clone)]
pub struct Context(Arc<ContextInner>);

impl Context {
    /// The context's handle.
    #[must_use]
    pub fn handle(&self) -> ContextHandle {
        self.0.handle
    }

    /// Whether it is the primary context or one of our own.
    #[must_use]
    pub fn kind(&self) -> ContextKind {
        self.0.core.kind()
    }

    /// Ordinal of the device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.0.core.ordinal()
    }

    /// The driver that the context is of.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        self.0.core.driver()
    }

    /// The streams of this context.
    #[must_use]
    pub fn streams(&self) -> &StreamManager {
        &self.0.streams
    }

    /// The events of this context.
    #[must_use]
    pub fn events(&self) -> &EventManager {
        &self.0.events
    }

    /// The device and pinned memory of this context.
    #[must_use]
    pub fn buffers(&self) -> &BufferManager {
        &self.0.buffers
    }

    /// The modules of this context.
    #[must_use]
    pub fn modules(&self) -> &ModuleManager {
        &self.0.modules
    }

    /// A pool of device memory with a limit of its own.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn memory_pool(&self, config: PoolConfig) -> Result<MemoryPool> {
        MemoryPool::new(self, config)
    }

    /// Free and total bytes of the device, counting every process (`cuMemGetInfo_v2`).
    ///
    /// # Errors
    /// What the driver returned.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        let driver = self.0.core.enter()?;
        // SAFETY: both outlive the call, and the context is current.
        let asked = unsafe { driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        self.0.core.check(asked)?;
        Ok(MemoryInfo {
            free: free as u64,
            total: total as u64,
        })
    }

    /// Makes the context current on this thread, for calls that this crate does not make;
    /// its own operations need no such guard. Dropping the guard restores the context that
    /// was current before.
    ///
    /// An operation of this crate in another context makes that one current on this thread,
    /// and leaves it so: between such an operation and a foreign call, enter again.
    ///
    /// # Errors
    /// What the driver returned.
    pub fn enter(&self) -> Result<CurrentGuard<'_>> {
        self.0.core.guard()
    }

    /// The error that made the context unusable, if one did. It never goes away.
    #[must_use]
    pub fn poison(&self) -> Option<Error> {
        self.0.core.poison()
    }

    /// The driver's context, for calls that this crate does not make. It is alive as long
    /// as this lease.
    #[must_use]
    pub fn as_raw(&self) -> CUcontext {
        self.0.core.raw()
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.0.core
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.core, f)
    }
}

/// Memory of a device in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that nobody uses.
    pub free: u64,
    /// All bytes.
    pub total: u64,
}
