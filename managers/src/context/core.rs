//! `ContextCore`: one driver context and all that an operation in it needs.
//!
//! Everything that was made in a context holds an `Arc` of this, and dropping the last one
//! destroys the context. It refers to nothing above it, so no order of drops can go wrong
//! and there is no cycle.

use std::fmt;
use std::sync::Arc;

use cupola_sys::driver::{CUcontext, CUdevice, CUresult, Driver, DriverError};

use super::current::{self, CurrentGuard, Identity};
use super::ledger::{Kind, Ledger};
use crate::error::{Error, Latch, Result};

/// Where a context came from, which says how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// The device's primary context, shared with every other user in the process.
    Primary,
    /// A context of our own.
    Created,
}

pub(crate) struct ContextCore {
    driver: Driver,
    raw: CUcontext,
    identity: Identity,
    kind: ContextKind,
    device: CUdevice,
    ordinal: u32,
    latch: Latch,
    ledger: Arc<Ledger>,
}

// SAFETY: a CUcontext may be used from any thread; everything else is Send and Sync.
unsafe impl Send for ContextCore {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for ContextCore {}

impl ContextCore {
    /// # Safety
    /// `raw` is a live context of `device`, retained or created for this value alone, which
    /// ends it as `kind` says.
    pub(crate) unsafe fn new(
        driver: Driver,
        raw: CUcontext,
        kind: ContextKind,
        (device, ordinal): (CUdevice, u32),
        ledger: Arc<Ledger>,
    ) -> Arc<Self> {
        ledger.add(Kind::Context, 1);
        let core = Arc::new(Self {
            driver,
            raw,
            identity: Identity::next(),
            kind,
            device,
            ordinal,
            latch: Latch::default(),
            ledger,
        });
        core.ledger.enter_context(&core);
        core
    }

    pub(crate) fn kind(&self) -> ContextKind {
        self.kind
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the driver's objects of both contexts may meet in one call: they are of one
    /// execution manager, so of one driver.
    pub(crate) fn shares_driver(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ledger, &other.ledger)
    }

    /// The driver, whatever state the context is in.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The error that made the context unusable.
    pub(crate) fn poison(&self) -> Option<Error> {
        self.latch.get().map(|first| Error::Poisoned {
            first,
            device: self.ordinal,
        })
    }

    /// Begins an operation: the context is healthy and current on this thread.
    #[inline]
    pub(crate) fn enter(&self) -> Result<&Driver> {
        if let Some(poison) = self.poison() {
            return Err(poison);
        }
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        if !current::is(self.identity) {
            self.check(current::set(&self.driver, self.identity, self.raw))?;
        }
        Ok(&self.driver)
    }

    /// Makes the context current, and what was current before again with the guard's drop.
    pub(crate) fn guard(&self) -> Result<CurrentGuard<'_>> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        self.check(CurrentGuard::enter(self))
    }

    /// Ends an operation: an error after which the context is lost sets the latch, and any
    /// error after that one is reported as that one.
    #[inline]
    pub(crate) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(|call| self.failed(call))
    }

    #[cold]
    pub(crate) fn failed(&self, call: DriverError) -> Error {
        match self.latch.note(call) {
            Some(first) => Error::Poisoned {
                first,
                device: self.ordinal,
            },
            None => Error::on(call, Some(self.ordinal)),
        }
    }

    /// Destroys a driver object; for `Drop` and explicit release alike. The call is made in
    /// a lost context too, where the driver refuses it: whatever the driver can still give
    /// back is given back. It is made once: an object whose destruction returned an error
    /// may be gone, and destroying it twice would be worse than leaking it.
    ///
    /// # Errors
    /// What the call returned; `Forked` when it was not made.
    pub(crate) fn dispose(
        &self,
        kind: Kind,
        destroy: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.ledger.remove(kind, 1);
        let result = self.give_back(destroy);
        if result.is_err() {
            self.ledger.add(Kind::Abandoned, 1);
        }
        result
    }

    /// A call that gives something back; a driver that has shut down has taken it back.
    pub(crate) fn give_back(
        &self,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.last_call(|driver| forgive_shutdown(call(driver)))
    }

    /// Waits on the host for all work in the context (`cuCtxSynchronize`), in a lost context
    /// too.
    pub(crate) fn synchronize(&self) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        // Unlike a destroying call, this one means the current context, whichever that is.
        self.check(current::set(&self.driver, self.identity, self.raw))?;
        // SAFETY: the call takes no pointers.
        self.check(unsafe { self.driver.cuCtxSynchronize() })
    }

    /// One call of cleanup: in the parent process only, and with the context current if that
    /// can be had.
    pub(crate) fn last_call(
        &self,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        // Most objects can be destroyed from any context, so the call is made even if the
        // context cannot be made current at the second attempt.
        let set = || current::set(&self.driver, self.identity, self.raw);
        let _ = set().or_else(|_| set());
        self.check(call(&self.driver))
    }
}

/// At the end of a process the driver may be gone before us; all is freed then.
pub(crate) fn forgive_shutdown(result: Result<(), DriverError>) -> Result<(), DriverError> {
    match result {
        Err(call) if call.status() == Some(CUresult::CUDA_ERROR_DEINITIALIZED) => Ok(()),
        other => other,
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        self.ledger.remove(Kind::Context, 1);
        self.ledger.forget_contexts();
        if self.ledger.is_forked() {
            return;
        }
        current::leave(&self.driver, self.identity);
        let result = match self.kind {
            // SAFETY: retained once for this value, which ends here.
            ContextKind::Primary => unsafe {
                self.driver.cuDevicePrimaryCtxRelease_v2(self.device)
            },
            // SAFETY: created for this value, which ends here with everything made in it.
            ContextKind::Created => unsafe { self.driver.cuCtxDestroy_v2(self.raw) },
        };
        if forgive_shutdown(result).is_err() {
            self.ledger.add(Kind::Abandoned, 1);
        }
    }
}

impl fmt::Debug for ContextCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.ordinal)
            .field("kind", &self.kind)
            .field("poisoned", &self.latch.get())
            .finish_non_exhaustive()
    }
}
