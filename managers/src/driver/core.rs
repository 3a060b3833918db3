//! `ContextCore`: one driver context and all that an operation in it needs.
//!
//! Every object that was made in a context holds an `Arc` of this, and dropping the last one
//! destroys the context. It refers to nothing above it, so no order of drops can go wrong and there
//! is no cycle.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cupola_core::{Tag, tag};
use cupola_sys::driver::{CUcontext, CUdevice, CUresult, Driver, DriverError};

use super::RelaxedCapture;
use super::current::{self, Identity};
use super::current_guard;
use super::ledger::{Kind, Ledger};
use super::ownership::{ContextKind, GreenPart, Ownership};
use crate::error::{Error, Latch, Launches, PoisonPolicy, Result, Site};
use crate::handle::ContextHandle;
use crate::sync::capacity::{Capacity, Permit};

pub(crate) struct ContextCore {
    pub(super) driver: Driver,
    raw: CUcontext,
    identity: Identity,
    ownership: Ownership,
    /// The primary context that a green one is a part of, and whose objects all but its streams
    /// are.
    parent: Option<Arc<ContextCore>>,
    device: CUdevice,
    pub(super) ordinal: u32,
    /// The newest handle that it has had, and its share of the most contexts that there may
    /// be; there once it is in a manager.
    name: Mutex<Option<(ContextHandle, Permit)>>,
    /// Destroyed, or left to the parent of a fork.
    ended: bool,
    /// Shared by a primary context and its green ones.
    pub(super) latch: Arc<Latch>,
    checked: AtomicBool,
    tracked: AtomicBool,
    launches: Launches,
    /// `None`: the execution manager's policy holds.
    pub(super) policy: Mutex<Option<PoisonPolicy>>,
    pub(super) ledger: Arc<Ledger>,
}

// SAFETY: a CUcontext may be used from any thread; everything else is Send and Sync.
unsafe impl Send for ContextCore {}
// SAFETY: a CUcontext may be shared, because the driver does its own locking; everything else is
// Sync.
unsafe impl Sync for ContextCore {}

impl ContextCore {
    /// `parent` is the primary context of a green one.
    ///
    /// # Safety
    /// `raw` is a live context of `device`, which this value alone ends as `ownership` says.
    pub(crate) unsafe fn new(
        driver: Driver,
        raw: CUcontext,
        ownership: Ownership,
        parent: Option<Arc<Self>>,
        device: CUdevice,
        ordinal: u32,
        ledger: Arc<Ledger>,
    ) -> Arc<Self> {
        ledger.add(Kind::Context, 1);
        let latch = parent.as_ref().map(|parent| Arc::clone(&parent.latch));
        let latch = latch.unwrap_or_default();
        let core = Arc::new(Self {
            driver,
            raw,
            identity: Identity::of(raw),
            ownership,
            parent,
            device,
            ordinal,
            name: Mutex::new(None),
            ended: false,
            latch,
            checked: AtomicBool::new(false),
            tracked: AtomicBool::new(true),
            launches: Launches::default(),
            policy: Mutex::new(None),
            ledger,
        });
        if !core.ownership.is_ours() {
            core.launches().note_unknown();
        }
        core.ledger.enter_context(&core);
        core
    }

    pub(crate) fn kind(&self) -> ContextKind {
        self.ownership.kind()
    }

    /// How many multiprocessors a green context was given.
    pub(crate) fn multiprocessors(&self) -> Option<u32> {
        self.ownership.green_part().map(|part| part.multiprocessors)
    }

    /// The green context that it is, if it is one.
    pub(crate) fn green_part(&self) -> Option<&GreenPart> {
        self.ownership.green_part()
    }

    /// The context whose memory, modules and events this one's are.
    fn root(&self) -> &Self {
        self.parent.as_deref().unwrap_or(self)
    }

    /// Whether objects of one may be used on streams of the other: they are one context, or
    /// parts of one primary context.
    #[inline]
    pub(crate) fn shares_objects(&self, other: &Self) -> bool {
        ptr::eq(self, other) || ptr::eq(self.root(), other.root())
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

    /// The newest handle that it has had, which may be stale by now.
    pub(crate) fn handle(&self) -> Option<ContextHandle> {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        name.as_ref().map(|(handle, _)| *handle)
    }

    /// Registers the context under `handle` of the manager that has this capacity: with `permit`,
    /// else with the one that it has there, else with a new one. A permit of another manager is
    /// given back. Whether this is the first time.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub(crate) fn register(
        &self,
        manager: &Arc<Capacity>,
        handle: ContextHandle,
        permit: Option<Permit>,
    ) -> Result<bool> {
        let mut name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((newest, own)) = name.as_mut()
            && own.is_of(manager)
        {
            *newest = handle;
            return Ok(false);
        }
        let full = || Error::Full {
            kind: tag::Context::NAME,
        };
        let permit = permit.or_else(|| Capacity::acquire(manager));
        let permit = permit.ok_or_else(full)?;
        Ok(name.replace((handle, permit)).is_none())
    }

    /// Its newest handle, if its permit is of this capacity.
    pub(crate) fn handle_in(&self, manager: &Arc<Capacity>) -> Option<ContextHandle> {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        let (handle, permit) = name.as_ref()?;
        permit.is_of(manager).then_some(*handle)
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// The context that operations in this one are made in. Of a green context it is the primary
    /// one, whose objects all but its streams are: a green context may be current to one thread
    /// at a time, and nothing in the driver orders calls of several, so it never is.
    #[inline]
    pub(crate) fn current_raw(&self) -> CUcontext {
        self.root().raw
    }

    /// The identity of that.
    #[inline]
    pub(crate) fn current_identity(&self) -> Identity {
        self.root().identity
    }

    /// Makes it current on this thread.
    #[inline]
    fn make_current(&self) -> Result<(), DriverError> {
        let root = if mutant!("green_context_is_current") {
            self
        } else {
            self.root()
        };
        current::set(&self.driver, root.identity, root.raw)
    }

    /// Whether the driver's objects of both contexts may meet in one call: they are of one
    /// execution manager, so of one driver.
    pub(crate) fn shares_driver(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ledger, &other.ledger)
    }

    /// The driver, also of a context that is lost.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The error that made the context unusable.
    pub(crate) fn poison(&self) -> Option<Error> {
        self.latch.get().map(|first| self.lost_to(first))
    }

    /// Begins an operation: the context is healthy and current on this thread.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(&self) -> Result<&Driver> {
        self.healthy()?;
        self.check(self.make_current())?;
        Ok(&self.driver)
    }

    /// Begins an operation of a caller at `site`: a closure, unlike [`enter`](Self::enter), does
    /// not know its caller's caller.
    #[inline]
    pub(crate) fn enter_at(&self, site: Site) -> Result<&Driver> {
        self.healthy()?;
        self.check_at(self.make_current(), site)?;
        Ok(&self.driver)
    }

    /// This is the context's process. Asked before a lock is taken that another thread may
    /// have held when the process was forked.
    #[inline]
    pub(crate) fn not_forked(&self) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    /// The context is not lost, and this is its process.
    #[inline]
    pub(crate) fn healthy(&self) -> Result<()> {
        if let Some(first) = self.latch.get() {
            return Err(self.lost_to(first));
        }
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    /// Whether the context is not lost, and this is its process.
    #[inline]
    pub(crate) fn is_healthy(&self) -> bool {
        self.latch.get().is_none() && !self.ledger.is_forked()
    }

    /// The kernels that may still run.
    #[inline]
    pub(crate) fn launches(&self) -> &Launches {
        // The device reports a lost context in every part of it.
        &self.root().launches
    }

    /// Whether every operation waits for its work, so that its error is its own.
    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.checked.load(Ordering::Relaxed)
    }

    /// Whether launches are remembered.
    #[inline]
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracked.load(Ordering::Relaxed) || self.is_checked()
    }

    pub(crate) fn set_tracked(&self, tracked: bool) {
        self.tracked.store(tracked, Ordering::Relaxed);
    }

    pub(crate) fn set_checked(&self, checked: bool) {
        self.checked.store(checked, Ordering::Relaxed);
    }

    /// Destroys a driver object; for `Drop` and explicit release alike. The call is made in
    /// a lost context too, where the driver refuses it: all that the driver can still give back is
    /// given back. It is made once: an object whose destruction returned an error may be gone, and
    /// destroying it twice would be worse than leaking it.
    ///
    /// # Errors
    /// The call's error; `Forked` when it was not made.
    #[track_caller]
    pub(crate) fn dispose(
        &self,
        kind: Kind,
        destroy: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.ledger.remove(kind, 1);
        let result = self.give_back(Site::here(), destroy);
        if result.is_err() {
            self.ledger.add(Kind::Abandoned, 1);
        }
        result
    }

    /// A call that gives an object back; a driver that has shut down has taken it back.
    pub(crate) fn give_back(
        &self,
        site: Site,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        self.last_call(site, |driver| forgive_shutdown(call(driver)))
    }

    /// Waits on the host for all work that may use the context's objects
    /// (`cuCtxSynchronize`), in a lost context too. For a green context that is the work of
    /// the primary context, which includes that of every green one.
    pub(crate) fn synchronize(&self, site: Site) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        // This call is about the current context.
        self.check_at(self.make_current(), site)?;
        let marks = self.launches().mark();
        // SAFETY: the call takes no pointers.
        self.check_at(unsafe { self.driver.cuCtxSynchronize() }, site)?;
        for (ring, mark) in marks {
            ring.complete(mark);
        }
        Ok(())
    }

    /// One call of cleanup: in the parent process only, and with the context current if that
    /// can be had.
    pub(crate) fn last_call(
        &self,
        site: Site,
        call: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        // Most objects can be destroyed from any context, so the call is made even if the
        // context cannot be made current at the second attempt.
        let _made = self.make_current_twice(site);
        self.check_at(call(&self.driver), site)
    }

    /// A wait for a stream or an event that memory safety rests on: in the parent process only, and
    /// in a lost context too, but with the context current in any case. In another one a default
    /// stream would be that context's. It ends no capture of another stream, but for the legacy stream,
    /// whose caller asks before.
    pub(crate) fn last_wait(
        &self,
        site: Site,
        wait: impl FnOnce(&Driver) -> Result<(), DriverError>,
    ) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        self.make_current_twice(site)?;
        let waited = {
            let _relaxed = RelaxedCapture::uncounted(&self.driver);
            wait(&self.driver)
        };
        self.check_at(waited, site)
    }

    fn make_current_twice(&self, site: Site) -> Result<()> {
        if let Err(call) = self.make_current() {
            self.note(call, site);
            return self.check_at(self.make_current(), site);
        }
        Ok(())
    }
}

/// At the end of a process the driver may be gone before this crate; all is freed then.
pub(crate) fn forgive_shutdown(result: Result<(), DriverError>) -> Result<(), DriverError> {
    match result {
        Err(call) if call.status() == Some(CUresult::CUDA_ERROR_DEINITIALIZED) => Ok(()),
        other => other,
    }
}

impl ContextCore {
    /// Gives the driver's context back.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn end(mut self) -> Result<()> {
        let site = Site::here();
        self.finish(site)
            .map_err(|call| Error::at(call, Some(self.ordinal), site))
    }

    fn finish(&mut self, site: Site) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.ledger.remove(Kind::Context, 1);
        if self.ledger.is_forked() {
            // The list stays as it is: another thread may have held its lock at the fork.
            self.ownership.forget();
            return Ok(());
        }
        self.ledger.forget_contexts();
        // A context in which other code has a share stays current where it is: that code may count
        // on it.
        if self.ownership.ends_the_context()
            && let Err(call) = current_guard::take_off_thread(self)
        {
            self.note(call, site);
        }
        // SAFETY: every object made in the context held this value, which ends here.
        let result = unsafe { self.ownership.end(&self.driver, self.device, self.raw) };
        let result = forgive_shutdown(result);
        if let Err(call) = result {
            // A green context's loss is that of its primary context, which goes on.
            self.note(call, site);
            self.ledger.add(Kind::Abandoned, 1);
        }
        result
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        // A context whose end failed is counted as abandoned.
        let _ = self.finish(Site::here());
    }
}

impl fmt::Debug for ContextCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.ordinal)
            .field("kind", &self.kind())
            .field("poisoned", &self.latch.get())
            .finish_non_exhaustive()
    }
}
