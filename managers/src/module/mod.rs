//! Modules: loaded device code, and the functions in it.

mod function;
mod functions;
mod global;
mod jit;
mod link;
mod ptx;
mod shared_memory;
mod shutdown;
mod uses;

use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use cupola_core::tag;
use cupola_sys::driver::{CUmodule, CUresult};

pub(crate) use function::LaunchLimits;
pub use function::{Function, FunctionAttributes, Parameter};

use crate::driver::RelaxedCapture;
use crate::driver::{ContextCore, Kind};
use crate::error::{Cause, Error, Result, Site};
use crate::handle::ManagedHandle;
use crate::lists;
use crate::registry::{Name, Registry};
use crate::stream::StreamsConfig;
use crate::sync::capacity::Permit;
use functions::FunctionStore;
pub use functions::{FunctionHandle, FunctionManager};
pub use global::Global;
pub use link::{LinkConfig, LinkPiece, LinkedBinary, PieceKind};
pub(crate) use shutdown::ClosedModules;
pub(crate) use uses::Uses;

/// Names a module of a [`ModuleManager`].
pub type ModuleHandle = ManagedHandle<tag::Module>;

/// How a [`ModuleManager`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModulesConfig {
    /// The most modules that may exist at a time.
    pub capacity: usize,
    /// The most functions of one module that may be known at a time.
    pub functions: usize,
}

impl Default for ModulesConfig {
    fn default() -> Self {
        Self {
            capacity: StreamsConfig::MOST,
            functions: StreamsConfig::MOST,
        }
    }
}

/// The modules of one context.
#[derive(Debug)]
pub struct ModuleManager {
    modules: Registry<ModuleInner, tag::Module>,
    /// The most functions of modules that are loaded from now on.
    functions: AtomicUsize,
    /// Held while the manager is shut or opened: one of the two at a time.
    door: Mutex<()>,
    core: Arc<ContextCore>,
}

pub(crate) struct ModuleInner {
    handle: ModuleHandle,
    functions: FunctionStore,
    raw: RawModule,
    /// Of a module that the manager does not hold.
    name: OnceLock<Name<Self, tag::Module>>,
}

/// A driver module; unloaded with this value.
pub(crate) struct RawModule {
    /// Null once unloaded.
    raw: CUmodule,
    /// Where its code may run.
    uses: Uses,
    /// Held while an attribute of a function is looked at and raised.
    raising: Mutex<()>,
    /// Its share of the most modules that there may be.
    _permit: Permit,
    core: Arc<ContextCore>,
    /// The messages of the driver's compiler when it took the module.
    remarks: Box<str>,
    /// The kernels that wait for the kernel before them, of a module that was loaded from PTX.
    waiting: Box<[Box<str>]>,
}

// SAFETY: a CUmodule may be used from any thread; the rest is Send and Sync.
unsafe impl Send for RawModule {}
// SAFETY: a CUmodule may be shared, because the driver does its own locking; the rest is Sync.
unsafe impl Sync for RawModule {}

impl RawModule {
    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// Whether the kernel of this name is known to wait for the kernel before it.
    fn waits(&self, name: &CStr) -> bool {
        let is_it = |waiting: &str| waiting.as_bytes() == name.to_bytes();
        self.waiting.iter().any(|waiting| is_it(waiting))
    }

    /// An error about a function of that name, with the compiler's messages about it.
    fn explain(&self, error: Error, name: &CStr) -> Error {
        // That there is no such kernel is all there is to say of it.
        if error.status() == Some(CUresult::CUDA_ERROR_NOT_FOUND) {
            return error;
        }
        let name = name.to_string_lossy();
        let lines = self.remarks.lines().filter(|line| names(line, &name));
        let log = lists::join(lines, "\n");
        match error {
            Error::Driver(cause) if !log.is_empty() && !cause.call.class().is_sticky() => {
                Error::Load {
                    cause: Box::new(cause),
                    log,
                }
            }
            other => other,
        }
    }

    #[track_caller]
    fn unload(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        if raw.is_null() {
            return Ok(());
        }
        // A kernel that still runs needs its code.
        if !self.uses.settle(&self.core, Site::here()) {
            let ledger = self.core.ledger();
            ledger.remove(Kind::Module, 1);
            ledger.add(Kind::Abandoned, 1);
            return Err(Error::invalid(
                "module",
                "it cannot be unloaded: waiting for its kernels failed",
            ));
        }
        self.core.dispose(Kind::Module, |driver| {
            let _relaxed = RelaxedCapture::uncounted(driver);
            // SAFETY: loaded by the manager, and this was the only copy; nothing runs that was
            // launched from it.
            unsafe { driver.cuModuleUnload(raw) }
        })
    }
}

impl Drop for RawModule {
    fn drop(&mut self) {
        let _ = self.unload();
    }
}

/// Whether the line has this name, and not only a longer one that it is part of.
fn names(line: &str, name: &str) -> bool {
    let is_more = |next: Option<char>| {
        next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '$' | '%'))
    };
    line.match_indices(name).any(|(at, found)| {
        let (before, after) = (&line[..at], &line[at + found.len()..]);
        !found.is_empty() && !is_more(before.chars().next_back()) && !is_more(after.chars().next())
    })
}

impl ModuleManager {
    pub(crate) fn new(core: &Arc<ContextCore>, config: ModulesConfig) -> Self {
        Self {
            modules: Registry::new(config.capacity),
            functions: AtomicUsize::new(config.functions),
            door: Mutex::new(()),
            core: Arc::clone(core),
        }
    }

    /// Compiles and loads PTX (`cuModuleLoadDataEx`), and leases the module: it is unloaded with
    /// the last lease of it and of its functions, see [`Module`].
    ///
    /// # Errors
    /// [`Error::Load`] with the messages of the driver's compiler; [`Error::Invalid`] when the text
    /// has a NUL inside; [`Error::Full`], [`Error::ShutDown`], [`Error::Poisoned`],
    /// [`Error::Forked`].
    #[doc(alias = "cuModuleLoadDataEx")]
    #[track_caller]
    pub fn load_ptx(&self, ptx: &str) -> Result<Module> {
        self.load_text(ptx, false)
    }

    /// Loads PTX, as [`load_ptx`](Self::load_ptx) does, and the manager keeps the module until
    /// [`release`](Self::release): the handle stays good without leases.
    ///
    /// # Errors
    /// As [`load_ptx`](Self::load_ptx).
    #[track_caller]
    pub fn load_ptx_held(&self, ptx: &str) -> Result<Module> {
        self.load_text(ptx, true)
    }

    /// Loads a cubin or a fat binary (`cuModuleLoadDataEx`), and leases the module, as
    /// [`load_ptx`](Self::load_ptx) does.
    ///
    /// # Errors
    /// [`Error::Load`] with the driver's messages; [`Error::Full`], [`Error::ShutDown`],
    /// [`Error::Poisoned`], [`Error::Forked`].
    ///
    /// # Safety
    /// `image` is a whole cubin or fat binary: the driver reads as far as its headers say.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[track_caller]
    pub unsafe fn load_binary(&self, image: &[u8]) -> Result<Module> {
        // SAFETY: needs a whole binary, which `image` is by this function's condition.
        unsafe { self.load(image, Box::default(), false) }
    }

    /// Loads a binary, as [`load_binary`](Self::load_binary) does, and the manager keeps the module
    /// until [`release`](Self::release).
    ///
    /// # Errors
    /// As [`load_binary`](Self::load_binary).
    ///
    /// # Safety
    /// As [`load_binary`](Self::load_binary).
    #[track_caller]
    pub unsafe fn load_binary_held(&self, image: &[u8]) -> Result<Module> {
        // SAFETY: needs a whole binary, which `image` is by this function's condition.
        unsafe { self.load(image, Box::default(), true) }
    }

    #[track_caller]
    fn load_text(&self, ptx: &str, held: bool) -> Result<Module> {
        let text = text(ptx)?;
        // SAFETY: PTX is text that ends with a NUL.
        unsafe { self.load(text.as_bytes_with_nul(), ptx::waiting_kernels(ptx), held) }
    }

    /// Loads a module, of whose kernels those of the names `waiting` wait for the kernel before them.
    ///
    /// # Safety
    /// `image` is text with a NUL at its end, or a whole binary.
    #[track_caller]
    unsafe fn load(&self, image: &[u8], waiting: Box<[Box<str>]>, held: bool) -> Result<Module> {
        let driver = self.core.enter()?;
        let site = self.core.site();
        let make = |handle, permit| {
            let mut raw: CUmodule = ptr::null_mut();
            let mut logs = jit::Logs::new();
            let (options, values) = logs.options();
            let count = u32::try_from(options.len()).unwrap_or(0);
            let loaded = {
                let _relaxed = RelaxedCapture::uncounted(driver);
                // SAFETY: the image is as the caller promised, `raw`, options and values outlive
                // the call, and the context is current.
                unsafe {
                    driver.cuModuleLoadDataEx(
                        &raw mut raw,
                        image.as_ptr().cast(),
                        count,
                        options.as_mut_ptr(),
                        values.as_mut_ptr(),
                    )
                }
            };
            loaded.map_err(|call| self.refused(Cause::new(call, site), &logs))?;
            self.core.ledger().add(Kind::Module, 1);
            Ok(ModuleInner {
                handle,
                functions: FunctionStore::new(self.functions.load(Ordering::Relaxed)),
                raw: RawModule {
                    raw,
                    uses: Uses::new(),
                    raising: Mutex::new(()),
                    _permit: permit,
                    core: Arc::clone(&self.core),
                    remarks: logs.remarks().into(),
                    waiting,
                },
                name: OnceLock::new(),
            })
        };
        if held {
            return self.modules.insert_with(make).map(Module);
        }
        let inner = self.modules.insert_leased(make)?;
        if let Some(name) = self.modules.releaser(inner.handle) {
            let _ = inner.name.set(name);
        }
        Ok(Module(inner))
    }

    fn refused(&self, cause: Cause, logs: &jit::Logs) -> Error {
        match self.core.failed_as(cause) {
            Error::Driver(cause) if !cause.call.class().is_sticky() => Error::Load {
                cause: Box::new(cause),
                log: logs.errors(),
            },
            other => other,
        }
    }

    /// Leases the module that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    #[track_caller]
    pub fn lease(&self, handle: ModuleHandle) -> Result<Module> {
        self.modules.lease(handle).map(Module)
    }

    /// A function of the module that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`], or as [`Module::function`].
    #[track_caller]
    pub fn function(&self, handle: ModuleHandle, name: &str) -> Result<Function> {
        self.lease(handle)?.function(name)
    }

    /// Ends the handle, and the manager's hold on a module that it [keeps](Self::load_ptx_held).
    /// The module is unloaded with the last lease of it or of one of its functions, and that
    /// waits, see [`Module`].
    ///
    /// # Errors
    /// [`Error::StaleHandle`]; [`Error::Invalid`] when waiting failed, so that it stays
    /// loaded for ever; what the driver returned if it was unloaded here.
    #[doc(alias = "cuModuleUnload")]
    #[track_caller]
    pub fn release(&self, handle: ModuleHandle) -> Result<()> {
        self.core.not_forked()?;
        match self.modules.release(handle)? {
            Some(mut module) => module.raw.unload(),
            None => Ok(()),
        }
    }

    /// Handles of the modules that have one now: they are leased or held, and were not released.
    pub fn handles(&self) -> impl Iterator<Item = ModuleHandle> + '_ {
        self.modules.handles()
    }

    /// Number of modules that have a handle now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.modules.live()
    }
}

/// A leased module. Clones are the same module.
///
/// It is unloaded when the last lease and [`Function`] are dropped, or with its release if the
/// manager [keeps](ModuleManager::load_ptx_held) it until then. That drop waits on the host for the
/// work on the streams that its kernels were launched on, because they may still run. Keep a lease
/// where that matters. It breaks no capture: while one is open on such a stream (for the legacy
/// stream, on any blocking one), or where no event can be had to wait by, the module cannot be
/// waited for, and stays loaded for ever.
///
/// Two uses are not seen. Where other code launches a function that it was given
/// ([`as_raw`](Self::as_raw)): then all work in the context is waited for (`cuCtxSynchronize`),
/// which ends captures in it. And graphs: code that captured launches keeps a lease as long as the
/// graph may run.
#[derive(Clone)]
pub struct Module(Arc<ModuleInner>);

impl Module {
    /// The module's handle in its manager.
    #[must_use]
    pub fn handle(&self) -> ModuleHandle {
        self.0.handle
    }

    /// The kernel of this name (`cuModuleGetFunction`); asked of the driver once, together
    /// with its attributes and, from CUDA 12.4, the sizes of its parameters.
    ///
    /// # Errors
    /// What the driver returned: `CUDA_ERROR_NOT_FOUND` when the module has no such kernel.
    /// [`Error::Load`] when its compiler said something of the kernel as it took the module: the
    /// software device does of instructions that it cannot execute.
    /// [`Error::Invalid`] for a name with a NUL in it; [`Error::Full`], [`Error::ShutDown`],
    /// [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuModuleGetFunction")]
    #[track_caller]
    pub fn function(&self, name: &str) -> Result<Function> {
        self.functions().get(name)
    }

    /// The functions of this module that were asked for, by name and by handle.
    #[must_use]
    pub fn functions(&self) -> FunctionManager<'_> {
        FunctionManager::new(self)
    }

    /// The driver's module, for calls that this crate does not make. It is loaded as long
    /// as this lease. From now on no error is put down to one launch of the context for
    /// certain ([`Blame`](crate::Blame)): work of other code is not seen.
    #[must_use]
    pub fn as_raw(&self) -> CUmodule {
        self.core().launches().note_unknown();
        self.0.raw.uses.note_unknown();
        self.0.raw.raw
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        self.0.raw.core()
    }

    /// Where its code may run.
    #[inline]
    pub(crate) fn uses(&self) -> &Uses {
        &self.0.raw.uses
    }
}

/// PTX as the driver takes it.
fn text(ptx: &str) -> Result<CString> {
    CString::new(ptx.trim_end_matches('\0'))
        .map_err(|nul| Error::invalid("ptx", format!("a NUL at byte {}", nul.nul_position())))
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.handle, f)
    }
}
