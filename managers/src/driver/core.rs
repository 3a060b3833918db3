//! `ContextCore`: one driver context of an execution manager, and all that an operation in it needs.
//!
//! What belongs to the driver's context itself is in a [`SharedContext`], which the cores of all
//! execution managers that have the context refer to.
//!
//! Every object that was made in a context holds an `Arc` of this, and dropping the last one
//! destroys the context. It refers to nothing above it, so no order of drops can go wrong and there
//! is no cycle.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cupola_core::{Tag, tag};
use cupola_sys::driver::{CUcontext, CUdevice, Driver, DriverError};

use super::RelaxedCapture;
use super::current::{self, Identity};
use super::fork::Origin;
use super::graveyard::Graveyard;
use super::intern::{self, Member};
use super::ledger::{ExecutableCounts, Kind, Ledger};
use super::ownership::{ContextKind, GreenPart, Ownership, forgive_shutdown};
use super::reactor::Reactor;
use super::shared::{LiveBlocks, PeerTable, ShapeLimits, SharedContext};
use crate::error::{Error, Latch, Launches, Result, Site};
use crate::handle::ContextHandle;
use crate::sync::capacity::{Capacity, Permit};

/// What most operations read is in its first cache line.
#[repr(C, align(64))]
pub(crate) struct ContextCore {
    pub(super) driver: Driver,
    /// Of this context for all execution managers that have it; of a green one its primary
    /// context's.
    pub(super) shared: Arc<SharedContext>,
    pub(super) ledger: Arc<Ledger>,
    /// The ledger's.
    origin: Origin,
    checked: AtomicBool,
    tracked: AtomicBool,
    checks_pointers: AtomicBool,
    checks_peers: AtomicBool,
    pub(super) device: CUdevice,
    pub(super) ordinal: u32,
    pub(super) raw: CUcontext,
    identity: Identity,
    /// The driver's number of the context, if it tells that.
    id: Option<u64>,
    pub(super) ownership: Ownership,
    /// The primary context that a green one is a part of, and whose objects all but its streams
    /// are.
    pub(super) parent: Option<Arc<ContextCore>>,
    /// The newest handle that it has had, and its share of the most contexts that there may
    /// be; there once it is in a manager.
    name: Mutex<Option<(ContextHandle, Permit)>>,
    /// Destroyed, or left to the parent of a fork.
    pub(super) ended: bool,
    /// This execution manager among those; of a green context none of them.
    pub(super) member: Arc<Member>,
    pub(super) graveyard: Graveyard,
    executables: ExecutableCounts,
}

// SAFETY: a CUcontext may be used from any thread; everything else is Send and Sync.
unsafe impl Send for ContextCore {}
// SAFETY: a CUcontext may be shared, because the driver does its own locking; everything else is
// Sync.
unsafe impl Sync for ContextCore {}

impl ContextCore {
    /// `parent` is the primary context of a green one. What other execution managers know of the
    /// context is this one's too. `site` is the caller's place.
    ///
    /// # Errors
    /// What the driver returned when it was asked which context it is; it is given up then, as
    /// `ownership` says.
    ///
    /// # Safety
    /// `raw` is a live context of `device`, and stays so until `ownership` ends it. Of a created or
    /// green one this value alone does so.
    pub(crate) unsafe fn new(
        driver: Driver,
        raw: CUcontext,
        ownership: Ownership,
        parent: Option<Arc<Self>>,
        (device, ordinal): (CUdevice, u32),
        ledger: Arc<Ledger>,
        site: Site,
    ) -> Result<Arc<Self>> {
        ledger.add(Kind::Context, 1);
        // SAFETY: `raw` is live by this function's condition.
        let id = unsafe { intern::id_of(&driver, raw) };
        let known_id = id.as_ref().ok().copied().flatten();
        let member = Member::new(Arc::clone(&ledger), ordinal);
        let is_new = ownership.ends_the_context();
        let (shared, identity) = match &parent {
            Some(parent) => {
                intern::add_green(&parent.shared, raw);
                (Arc::clone(&parent.shared), Identity::of(raw))
            }
            None => {
                let shared = intern::join(&driver, raw, known_id, is_new, &member);
                let identity = shared.identity();
                (shared, identity)
            }
        };
        let core = Arc::new(Self {
            driver,
            shared,
            origin: ledger.origin(),
            ledger,
            checked: AtomicBool::new(false),
            tracked: AtomicBool::new(true),
            checks_pointers: AtomicBool::new(false),
            checks_peers: AtomicBool::new(true),
            raw,
            identity,
            id: known_id,
            ownership,
            parent,
            device,
            ordinal,
            name: Mutex::new(None),
            ended: false,
            member,
            graveyard: Graveyard::default(),
            executables: ExecutableCounts::default(),
        });
        if !core.ownership.is_ours() {
            core.launches().note_unknown();
        }
        core.check_at(id, site)?;
        // A thread of another member that sets the latch looks for members after that.
        if let Some(first) = core.latch().get()
            && !mutant!("intern_late_member_is_not_told")
        {
            core.ledger.lose(first);
        }
        core.ledger.enter_context(&core);
        Ok(core)
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

    /// Whether objects of one may be used on streams of the other: they are one context of the
    /// driver, of whichever execution managers, or parts of one primary context.
    #[inline]
    pub(crate) fn shares_objects(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    #[inline]
    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    pub(crate) fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Whether the context that is at this one's address now is this one, as far as the driver
    /// tells: other code may have reset a primary context, and have another one.
    ///
    /// # Safety
    /// There is a live context at the address.
    pub(crate) unsafe fn is_there(&self) -> bool {
        // SAFETY: alive by this function's condition.
        let now = unsafe { intern::id_of(&self.driver, self.raw) };
        let now = now.ok().flatten();
        now.is_none() || self.id.is_none() || now == self.id
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

    /// The executables of graphs that are alive in this context.
    pub(crate) fn executables(&self) -> &ExecutableCounts {
        &self.executables
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Looks after callers that wait for work on the device. Not for the child of a fork.
    pub(crate) fn reactor(&self) -> Arc<Reactor> {
        self.ledger.reactor(self.device)
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// The context that operations in this one are made in. Of a green context it is the primary
    /// one, whose objects all but its streams are: a green context may be current to one thread
    /// at a time, and nothing in the driver orders calls of several, so it never is.
    #[inline]
    pub(crate) fn current_raw(&self) -> CUcontext {
        self.shared.raw()
    }

    /// The identity of that.
    #[inline]
    pub(crate) fn current_identity(&self) -> Identity {
        self.shared.identity()
    }

    /// Makes it current on this thread; whether it was not.
    #[inline]
    fn make_current(&self) -> Result<bool, DriverError> {
        if mutant!("green_context_is_current") {
            return current::set(&self.driver, self.identity, self.raw);
        }
        current::set(&self.driver, self.current_identity(), self.current_raw())
    }

    /// Makes a call about an object of the context that it names: a stream that was made, an event. The
    /// driver takes the context from there, whichever is current on this thread. Where it does not, it
    /// says so, and the call is made once more with the context current.
    #[inline]
    pub(crate) fn call<T>(
        &self,
        mut call: impl FnMut(&Driver) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        match call(&self.driver) {
            Ok(value) => Ok(value),
            Err(refused) => self.call_again(refused, call),
        }
    }

    /// After a [`call`](Self::call) that returned an error: it is made in the context, if it was not.
    #[cold]
    pub(crate) fn call_again<T>(
        &self,
        refused: DriverError,
        mut call: impl FnMut(&Driver) -> Result<T, DriverError>,
    ) -> Result<T, DriverError> {
        if !current::may_be_of_the_thread(&self.driver, refused) || mutant!("current_is_not_tried")
        {
            return Err(refused);
        }
        match self.make_current() {
            Ok(true) => call(&self.driver),
            Ok(false) => Err(refused),
            // What is lost already may not be made current any more.
            Err(_) if refused.class().is_sticky() => Err(refused),
            Err(failed) => Err(failed),
        }
    }

    /// Whether the driver's objects of both contexts may meet in one call: they are of one driver.
    pub(crate) fn shares_driver(&self, other: &Self) -> bool {
        self.shares_ledger(other) || self.driver.is_same(&other.driver)
    }

    /// Whether both are of one driver, as far as is seen at once: one that was loaded twice is not.
    #[inline]
    pub(crate) fn shares_ledger(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ledger, &other.ledger)
    }

    /// The error that the context was lost to, if it was.
    #[inline]
    pub(super) fn latch(&self) -> &Latch {
        self.shared.latch()
    }

    /// The driver, also of a context that is lost.
    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The error that made the context unusable.
    pub(crate) fn poison(&self) -> Option<Error> {
        self.latch().get().map(|first| self.lost_to(first))
    }

    /// Begins an operation: the context is healthy and current on this thread.
    #[inline]
    #[track_caller]
    pub(crate) fn enter(&self) -> Result<&Driver> {
        self.enter_at(Site::here())
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
        if self.origin.is_elsewhere() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    /// The context is not lost, and this is its process.
    #[inline]
    pub(crate) fn healthy(&self) -> Result<()> {
        if !self.is_healthy() {
            return self.unhealthy();
        }
        Ok(())
    }

    #[cold]
    fn unhealthy(&self) -> Result<()> {
        let Some(first) = self.latch().get() else {
            return Err(Error::Forked);
        };
        if !self.origin.is_elsewhere() && !mutant!("launches_gates_left_open_by_a_question") {
            // The thread that lost it may not have done so yet, and what this one launches next is refused too.
            self.launches().close_gates();
        }
        Err(self.lost_to(first))
    }

    /// Whether the context is not lost, and this is its process.
    #[inline]
    pub(crate) fn is_healthy(&self) -> bool {
        self.latch().get().is_none() && !self.origin.is_elsewhere()
    }

    /// The most blocks and threads that the device takes, asked once.
    pub(crate) fn shape_limits(&self) -> Result<ShapeLimits, DriverError> {
        self.shared.shape_limits(&self.driver, self.device)
    }

    /// The kernels that may still run.
    #[inline]
    pub(crate) fn launches(&self) -> &Launches {
        // The device reports a lost context in every part of it, and to all that have it.
        self.shared.launches()
    }

    /// Whether every operation waits for its work, so that its error is its own.
    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.checked.load(Ordering::Relaxed)
    }

    /// Whether a launch has nothing to ask of the context before it begins, until
    /// [gates are closed](Launches::close_gates).
    pub(crate) fn lets_launches_begin(&self) -> bool {
        let plain = self.tracks_launches() && !self.is_checked();
        plain && self.is_healthy() && self.origin.renumbers_threads()
    }

    /// Whether launches are remembered.
    #[inline]
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracks_launches() || self.is_checked()
    }

    /// Whether launches are remembered, in checked mode or not.
    #[inline]
    pub(crate) fn tracks_launches(&self) -> bool {
        self.tracked.load(Ordering::Relaxed)
    }

    /// Whether addresses that come from other code are looked for before they are used.
    #[inline]
    pub(crate) fn checks_pointers(&self) -> bool {
        self.checks_pointers.load(Ordering::Relaxed)
    }

    pub(crate) fn set_checks_pointers(&self, checks: bool) {
        self.checks_pointers.store(checks, Ordering::Relaxed);
    }

    /// The blocks of the pools that were made while addresses are checked, of all execution managers
    /// that have the context.
    pub(crate) fn live_blocks(&self) -> &Arc<LiveBlocks> {
        self.shared.live_blocks()
    }

    /// The other contexts that this one may access.
    #[inline]
    pub(crate) fn peers(&self) -> &PeerTable {
        self.shared.peers()
    }

    /// Whether the way to another device is checked before its first use.
    pub(crate) fn checks_peers(&self) -> bool {
        self.checks_peers.load(Ordering::Relaxed)
    }

    pub(crate) fn set_checks_peers(&self, checks: bool) {
        self.checks_peers.store(checks, Ordering::Relaxed);
    }

    pub(crate) fn set_tracked(&self, tracked: bool) {
        self.set(&self.tracked, tracked);
    }

    pub(crate) fn set_checked(&self, checked: bool) {
        self.set(&self.checked, checked);
    }

    /// Sets one of the flags that launches ask.
    fn set(&self, flag: &AtomicBool, value: bool) {
        if self.not_forked().is_err() {
            // No gate is open here, and a thread of the parent may have held the lock.
            flag.store(value, Ordering::Relaxed);
            return;
        }
        self.launches()
            .close_gates_if(|| flag.swap(value, Ordering::Relaxed) != value);
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
        if self.origin.is_elsewhere() {
            return Err(Error::Forked);
        }
        // This call is about the current context.
        self.check_at(self.make_current(), site)?;
        let marks = self.launches().mark();
        // SAFETY: the call takes no pointers.
        self.check_at(unsafe { self.driver.cuCtxSynchronize() }, site)?;
        for (ring, mark) in &marks {
            ring.complete(*mark);
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
        if self.origin.is_elsewhere() {
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
        if self.origin.is_elsewhere() {
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
            self.check_at(self.make_current(), site)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ContextCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.ordinal)
            .field("kind", &self.kind())
            .field("poisoned", &self.latch().get())
            .finish_non_exhaustive()
    }
}
