//! `ContextCore`: one driver context and all that an operation in it needs.
//!
//! Everything that was made in a context holds an `Arc` of this, and dropping the last one
//! destroys the context. It refers to nothing above it, so no order of drops can go wrong
//! and there is no cycle.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cupola_sys::driver::{CUcontext, CUdevice, CUresult, Driver, DriverError};

use super::current::{self, CurrentGuard, Identity};
use super::hold::{ContextKind, Hold, Part};
use super::ledger::{Kind, Ledger};
use super::{ContextHandle, Contexts};
use crate::error::{
    Blame, Cause, Error, Latch, Launches, Loss, OnLoss, PoisonPolicy, Result, Site,
};
use crate::memory::relaxed::Relaxed;
use crate::sync::capacity::Permit;

pub(crate) struct ContextCore {
    driver: Driver,
    raw: CUcontext,
    identity: Identity,
    hold: Hold,
    device: CUdevice,
    ordinal: u32,
    /// The newest handle that it has had, and its share of the most contexts that there may
    /// be; there once it is in a manager.
    name: Mutex<Option<(ContextHandle, Permit)>>,
    /// Destroyed, or left to the parent of a fork.
    ended: bool,
    /// Shared by a primary context and its green ones.
    latch: Arc<Latch>,
    checked: AtomicBool,
    tracked: AtomicBool,
    launches: Launches,
    /// `None`: as the execution manager says.
    policy: Mutex<Option<PoisonPolicy>>,
    ledger: Arc<Ledger>,
}

// SAFETY: a CUcontext may be used from any thread; everything else is Send and Sync.
unsafe impl Send for ContextCore {}
// SAFETY: as above; the driver does its own locking.
unsafe impl Sync for ContextCore {}

impl ContextCore {
    /// # Safety
    /// `raw` is a live context of `device`, which this value alone ends as `hold` says.
    pub(crate) unsafe fn new(
        driver: Driver,
        raw: CUcontext,
        hold: Hold,
        (device, ordinal): (CUdevice, u32),
        ledger: Arc<Ledger>,
    ) -> Arc<Self> {
        ledger.add(Kind::Context, 1);
        let latch = match hold.part() {
            Some(part) => Arc::clone(&part.parent.latch),
            None => Arc::default(),
        };
        let core = Arc::new(Self {
            driver,
            raw,
            identity: Identity::of(raw),
            hold,
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
        if !core.hold.is_ours() {
            core.launches().note_unknown();
        }
        core.ledger.enter_context(&core);
        core
    }

    pub(crate) fn kind(&self) -> ContextKind {
        self.hold.kind()
    }

    /// How many multiprocessors a green context was given.
    pub(crate) fn multiprocessors(&self) -> Option<u32> {
        self.hold.part().map(|part| part.multiprocessors)
    }

    /// What makes it a green context, if it is one.
    pub(super) fn part(&self) -> Option<&Part> {
        self.hold.part()
    }

    /// The context whose memory, modules and events this one's are.
    fn root(&self) -> &Self {
        self.hold.part().map_or(self, |part| &part.parent)
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

    /// Enters a manager under this handle: in `permit`, else in the one that it has there,
    /// else in a new one. A permit in another manager is given up. Whether this is the first
    /// time.
    pub(super) fn enter_manager(
        &self,
        contexts: &Contexts,
        handle: ContextHandle,
        permit: Option<Permit>,
    ) -> Result<bool> {
        let mut name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((newest, own)) = name.as_mut()
            && contexts.owns(own)
        {
            *newest = handle;
            return Ok(false);
        }
        let permit = permit.map_or_else(|| contexts.permit(), Ok)?;
        Ok(name.replace((handle, permit)).is_none())
    }

    /// Its newest handle, if it has its permit in this manager.
    pub(super) fn handle_in(&self, contexts: &Contexts) -> Option<ContextHandle> {
        let name = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        let (handle, permit) = name.as_ref()?;
        contexts.owns(permit).then_some(*handle)
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

    /// The driver, whatever state the context is in.
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

    /// As [`enter`](Self::enter), for closures, which do not know their caller's caller.
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

    /// As [`healthy`](Self::healthy).
    #[inline]
    pub(crate) fn is_healthy(&self) -> bool {
        self.latch.get().is_none() && !self.ledger.is_forked()
    }

    /// Makes the context current, and what was current before again with the guard's drop.
    #[track_caller]
    pub(crate) fn guard(self: &Arc<Self>) -> Result<CurrentGuard<'_>> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        let site = self.site();
        self.check_at(CurrentGuard::enter(self, site), site)
    }

    /// Ends an operation: an error after which the context is lost sets the latch, and any
    /// error after that one is reported as that one.
    #[inline]
    #[track_caller]
    pub(crate) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(call) => Err(self.failed(call)),
        }
    }

    /// As [`check`](Self::check), for closures, which do not know their caller's caller.
    #[inline]
    pub(crate) fn check_at<T>(&self, result: Result<T, DriverError>, site: Site) -> Result<T> {
        result.map_err(|call| self.failed_as(Cause::new(call, self.on_device(site))))
    }

    #[cold]
    #[track_caller]
    pub(crate) fn failed(&self, call: DriverError) -> Error {
        self.failed_as(Cause::new(call, self.site()))
    }

    /// A call failed whose error is reported to nobody: the context may be lost all the same.
    #[cold]
    pub(crate) fn note(&self, call: DriverError, site: Site) {
        if call.class().is_sticky() || says_nothing_of_ours(&call) {
            let _told_by_the_next = self.failed_as(Cause::new(call, self.on_device(site)));
        }
    }

    /// The caller's place in the program, on this device.
    #[track_caller]
    pub(crate) fn site(&self) -> Site {
        self.on_device(Site::here())
    }

    /// A place in the program, on this device.
    pub(crate) fn on_device(&self, site: Site) -> Site {
        Site {
            device: Some(self.ordinal),
            ..site
        }
    }

    /// As [`failed`](Self::failed), with all that is known of the cause, and what the driver says.
    #[cold]
    pub(crate) fn failed_as(&self, mut cause: Cause) -> Error {
        if let Err(call) = cause.explain(&self.driver)
            && call.class().is_sticky()
        {
            // Told by the next operation.
            let _ = self.failed_of(Cause::new(call, cause.site));
        }
        self.failed_of(cause)
    }

    fn failed_of(&self, mut cause: Cause) -> Error {
        if says_nothing_of_ours(&cause.call) && self.latch.get().is_none() {
            current::forget();
            return Error::of_cause(cause);
        }
        let sticky = cause.call.class().is_sticky();
        if sticky && self.latch.get().is_none() && cause.blame.is_none() {
            cause.blame = self.launches().blame(&cause.site, false);
        }
        // What the process was lost to comes out of whatever is called next, in every context.
        if self.ledger.lost().is_some()
            && let Some(Blame::Launch(launch)) = cause.blame.as_deref()
        {
            cause.blame = Some(Arc::new(Blame::OneOf(vec![launch.clone()])));
        }
        match self.latch.note(cause) {
            Ok(cause) => {
                if !sticky {
                    return Error::of_cause(cause);
                }
                let first = self.latch.get();
                if let Some(first) = first {
                    self.ledger.lose(first);
                }
                self.announce();
                match first.filter(|first| self.lost_before(first).is_some()) {
                    Some(first) => self.lost_to(first),
                    None => Error::of_cause(cause),
                }
            }
            Err(first) => {
                let lost = self.lost_to(first);
                if mutant!("policy_by_everybody") {
                    self.announce();
                }
                lost
            }
        }
    }

    /// The latch was set just now: carries out what is to happen then.
    #[cold]
    fn announce(&self) {
        let own = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = own.clone();
        drop(own);
        let policy = policy.unwrap_or_else(|| self.ledger.poison_policy());
        let watchers = self.latch.take_watchers();
        if let Some(error) = self.poison() {
            let loss = Loss {
                policy,
                watchers,
                error,
            };
            loss.tell();
        }
    }

    /// Tells `watcher` when the context is lost, or now if it is.
    pub(crate) fn watch(&self, watcher: Arc<dyn OnLoss>) {
        if self.latch.watch(Arc::downgrade(&watcher))
            && let Some(error) = self.poison()
        {
            let loss = Loss {
                policy: PoisonPolicy::Keep,
                watchers: vec![watcher],
                error,
            };
            loss.tell();
        }
    }

    pub(crate) fn set_poison_policy(&self, policy: PoisonPolicy) {
        let mut own = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let before = own.replace(policy);
        // What was there is dropped after the lock: it may be somebody's closure.
        drop(own);
        drop(before);
    }

    /// The kernels that may still run.
    #[inline]
    pub(crate) fn launches(&self) -> &Launches {
        // The device of a lost context says so in every part of it.
        &self.root().launches
    }

    #[cold]
    fn lost_to(&self, first: &Arc<Cause>) -> Error {
        Error::Poisoned {
            first: Arc::clone(first),
            device: self.ordinal,
            before: self.lost_before(first).cloned(),
        }
    }

    /// The error that the process was lost to before this context was lost to another such
    /// error, which may be what came of it.
    fn lost_before(&self, first: &Arc<Cause>) -> Option<&Arc<Cause>> {
        let lost = self.ledger.lost();
        lost.filter(|lost| !Arc::ptr_eq(lost, first))
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
    /// a lost context too, where the driver refuses it: whatever the driver can still give
    /// back is given back. It is made once: an object whose destruction returned an error
    /// may be gone, and destroying it twice would be worse than leaking it.
    ///
    /// # Errors
    /// What the call returned; `Forked` when it was not made.
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

    /// A call that gives something back; a driver that has shut down has taken it back.
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
        // This one means the current context, whichever that is.
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
            let _relaxed = Relaxed::uncounted(&self.driver);
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

/// Whether the error says that the *thread's* current context is destroyed, or a primary one that
/// nothing retains. A context of ours is alive as long as its core, so another one was current,
/// which other code made so meanwhile. The exception is a primary context that other code has reset
/// (`cuDevicePrimaryCtxReset`): what was made in it is gone, every call in it returns this code, and
/// its latch stays open, as the two cannot be told apart.
fn says_nothing_of_ours(call: &DriverError) -> bool {
    call.status() == Some(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
}

/// At the end of a process the driver may be gone before us; all is freed then.
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
            self.hold.leave();
            return Ok(());
        }
        self.ledger.forget_contexts();
        // What other code has a share in stays current where it is: that code may count on it.
        if self.hold.ends_the_context()
            && let Err(call) = current::leave(self)
        {
            self.note(call, site);
        }
        // SAFETY: everything made in the context held this value, which ends here.
        let result = unsafe { self.hold.end(&self.driver, self.device, self.raw) };
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
        // What went wrong is counted as abandoned.
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
