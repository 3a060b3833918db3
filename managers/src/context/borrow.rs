//! Contexts that other code made.

use std::any::Any;
use std::ptr;
use std::sync::{Arc, PoisonError};

use cupola_core::{Tag, tag};
use cupola_sys::driver::{CUcontext, CUdevice, DriverError};

use super::{Context, ContextManager};
use crate::driver::{ContextCore, ContextKind, Ownership, current, is_green};
use crate::error::{Error, Result, Site};
use crate::sync::deferred::DeferCallbacks;

/// Contexts that a thread looked at under the lock, and whose last owner it may be.
#[derive(Default)]
struct Seen {
    contexts: Vec<Context>,
    core: Option<Arc<ContextCore>>,
}

impl ContextManager {
    /// A context that other code made (another crate, a C library), to work in with this
    /// crate's objects. It is never destroyed here. `token` is dropped when no object of this crate
    /// refers to the context any more, on the thread where that happens; not in a fork.
    ///
    /// The driver is asked which device the context is of (`cuCtxPushCurrent_v2`,
    /// `cuCtxGetDevice`, `cuCtxPopCurrent_v2`).
    ///
    /// A context that this execution manager has, because it was borrowed before or made
    /// here, is not taken in twice: another lease of that one is returned, with its own
    /// kind, and `token` is dropped at once. A context that another execution manager of the driver
    /// has is one with that: objects of both work together, and a loss is that of both. If that one
    /// made it, it is destroyed when neither has it any more.
    ///
    /// Take the primary context with [`primary`](Self::primary), which shares it with other code
    /// anyway: borrowed *and* retained it has two handles here, each with managers of its own.
    ///
    /// # Errors
    /// [`Error::Invalid`] for null or a context of another device; [`Error::StaleHandle`] for a green
    /// context of another execution manager, as for its handle; [`Error::Full`] when the manager has
    /// room for no more contexts; [`Error::ShutDown`], [`Error::Forked`]; what the driver returned.
    ///
    /// # Safety
    /// - `raw` is a live context of this manager's driver, and lives as long as `token`.
    /// - Other code did not make it of a green context, which may be current to one thread at a time.
    /// - Other code leaves the objects of this crate in it alone.
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the caller gives its own share away, so that no other is needed"
    )]
    pub unsafe fn borrow(
        &self,
        raw: CUcontext,
        token: Arc<dyn Any + Send + Sync>,
    ) -> Result<Context> {
        self.not_forked()?;
        if raw.is_null() {
            return Err(Error::invalid("raw", "it is null, which is no context"));
        }
        // Dropped without the lock, as `token` is: their end may run other code.
        let mut seen = Seen::default();
        // A policy that a failing call sets off waits for the lock to be given back.
        let defer = DeferCallbacks::new();
        let one = self.borrowing.lock();
        let one = one.unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `take_in` has the conditions of this function, on the same `raw` and `token`.
        let taken = unsafe { self.take_in(raw, &token, &mut seen) };
        drop(one);
        drop(defer);
        taken
    }

    /// Takes a context in, or leases it if the execution manager has it: of threads that borrow one
    /// context at once, one takes it in.
    ///
    /// # Safety
    /// As [`borrow`](Self::borrow).
    #[track_caller]
    unsafe fn take_in(
        &self,
        raw: CUcontext,
        token: &Arc<dyn Any + Send + Sync>,
        seen: &mut Seen,
    ) -> Result<Context> {
        if let Some(core) = self.ledger.context(raw)
            // SAFETY: there is a live context at this address, by a condition of this function.
            && unsafe { core.is_there() }
        {
            // Another thread that holds it may let it go meanwhile.
            seen.core = Some(Arc::clone(&core));
            return self.known(core, seen);
        }
        if is_green(&self.driver, raw) {
            return Err(Error::stale(tag::Context::NAME, raw.addr() as u64));
        }
        let site = Site::here();
        // SAFETY: needs a live context, which `raw` is by a condition of this function.
        let device = unsafe { self.device_of(raw) }.map_err(|call| self.failed(call, site))?;
        if device != self.device {
            let problem = format!("it is of device {device}, not of {}", self.device);
            return Err(Error::invalid("raw", problem));
        }
        // SAFETY: live, of this device, and not ended by this value.
        self.insert(|| unsafe {
            self.core(raw, Ownership::Borrowed(Arc::clone(token)), None, site)
        })
    }

    /// Another lease of a context that the execution manager has.
    #[track_caller]
    fn known(&self, core: Arc<ContextCore>, seen: &mut Seen) -> Result<Context> {
        if !self.is_of(&core) {
            let problem = format!(
                "it is of device {}, not of {}",
                core.ordinal(),
                self.ordinal
            );
            return Err(Error::invalid("raw", problem));
        }
        // It has one handle at a time, which the next thread that asks for it may just give it.
        if core.kind() == ContextKind::Primary {
            return self.primary();
        }
        for handle in self.handles() {
            if let Ok(context) = self.lease(handle) {
                seen.contexts.push(context);
            }
        }
        let mut held = seen.contexts.iter();
        match held.find(|context| Arc::ptr_eq(context.core(), &core)) {
            Some(context) => Ok(context.clone()),
            // Its handle was released, and an object made in it is still there.
            None => self.insert_again(core),
        }
    }

    /// # Safety
    /// `raw` is a live context.
    unsafe fn device_of(&self, raw: CUcontext) -> Result<CUdevice, DriverError> {
        let (mut device, mut popped): (CUdevice, CUcontext) = (0, ptr::null_mut());
        // SAFETY: `raw` is a live context, by this function's condition.
        unsafe { self.driver.cuCtxPushCurrent_v2(raw) }?;
        // SAFETY: `device` outlives the call.
        let asked = unsafe { self.driver.cuCtxGetDevice(&raw mut device) };
        // SAFETY: `popped` outlives the call.
        if let Err(call) = unsafe { self.driver.cuCtxPopCurrent_v2(&raw mut popped) } {
            // The current context is no longer known.
            current::forget();
            if call.class().is_sticky() {
                return Err(call);
            }
        }
        asked.map(|()| device)
    }
}
