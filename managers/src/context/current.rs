//! Which context is current on this thread.
//!
//! The driver is asked before each operation: other code of the process (another crate, a C
//! library) sets contexts too, and says nothing of it. An address alone would not do, as the
//! driver gives that of a destroyed context, which stays current on other threads, to a new one.
//! So a thread remembers the context that it set last by a number that is never used twice in
//! the process, and an operation makes no call to set its own if both agree.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

use super::ContextCore;
use crate::error::{ErrorClass, Site};
use crate::sync::per_thread;

per_thread! {
    /// The identity of the context that this thread set last; 0 when it is not known.
    static CURRENT: Cell<u64> = Cell::new(0);
    /// How often this thread asked the driver to set a context.
    static SWITCHES: Cell<u64> = Cell::new(0);
    /// The contexts of the guards that this thread holds, the innermost last.
    static GUARDS: RefCell<Vec<Weak<ContextCore>>> = RefCell::new(Vec::new());
}

/// A context's number, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    /// The next number, for a context that was made at this address.
    pub(crate) fn of(raw: CUcontext) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        if mutant!("current_by_address") {
            return Self(raw.addr() as u64);
        }
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Makes a context current on this thread, unless it is.
#[inline]
pub(crate) fn set(driver: &Driver, identity: Identity, raw: CUcontext) -> Result<(), DriverError> {
    if was_set(identity) && (get(driver)? == raw || mutant!("current_trusts_the_thread")) {
        return Ok(());
    }
    switch(driver, identity, raw)
}

/// What the driver says is current, which may be destroyed: it is for comparing only.
fn get(driver: &Driver) -> Result<CUcontext, DriverError> {
    let mut raw: CUcontext = ptr::null_mut();
    // SAFETY: `raw` outlives the call.
    unsafe { driver.cuCtxGetCurrent(&raw mut raw) }?;
    Ok(raw)
}

#[cold]
fn switch(driver: &Driver, identity: Identity, raw: CUcontext) -> Result<(), DriverError> {
    forget();
    count_switch();
    // SAFETY: the context that the caller keeps alive.
    unsafe { driver.cuCtxSetCurrent(raw) }?;
    remember(identity);
    Ok(())
}

/// Whether this thread set the context last.
fn was_set(identity: Identity) -> bool {
    let last = remembered();
    last == identity || (mutant!("current_is_any_context") && last.0 != 0)
}

/// What this thread set last. A thread that is past its thread-locals sets its context on every
/// call.
fn remembered() -> Identity {
    Identity(CURRENT.try_with(Cell::get).unwrap_or(0))
}

fn remember(identity: Identity) {
    let _ = CURRENT.try_with(|current| current.set(identity.0));
}

/// The next operation of this thread sets its context, whatever the driver says.
pub(super) fn forget() {
    remember(Identity(0));
}

fn count_switch() {
    let _ = SWITCHES.try_with(|count| count.set(count.get() + 1));
}

/// How often this thread has asked the driver to make a context current.
#[must_use]
pub fn context_switches() -> u64 {
    SWITCHES.try_with(Cell::get).unwrap_or(0)
}

/// Takes a context that is about to be destroyed off this thread, if it is current: other
/// code may have set another. Within a guard that guard's context takes its place, so that the
/// driver's stack is as high as the guard expects.
///
/// # Errors
/// What the driver returned: the driver takes it off with its end then.
pub(super) fn leave(core: &ContextCore) -> Result<(), DriverError> {
    if get(core.driver())? != core.raw() {
        return Ok(());
    }
    forget();
    // No borrow is held where a context may end.
    let guards = GUARDS.try_with(|guards| guards.borrow().clone());
    let mut guards = guards.unwrap_or_default().into_iter().rev();
    let outer = guards.find_map(|guard| guard.upgrade().filter(|it| it.shares_driver(core)));
    let raw = outer
        .as_ref()
        .map_or(ptr::null_mut(), |outer| outer.current_raw());
    // SAFETY: null, or a context that `outer` keeps alive.
    unsafe { core.driver().cuCtxSetCurrent(raw) }
}

/// Keeps a context current on this thread; the one before is current again when it is
/// dropped, unless it was destroyed meanwhile.
///
/// A context of the same execution manager that was current before is kept alive by the
/// guard. Operations in other contexts that run on this thread meanwhile make those current:
/// the guard does not set its own again. Other code that changes the thread's context within
/// the guard leaves the driver's stack of contexts as high as it was, as setting one does: what
/// the guard takes off is the top (`cuCtxPopCurrent_v2`). It never names the context before to
/// the driver, as other code may have destroyed that.
#[derive(Debug)]
#[must_use = "the previous context is restored when the guard is dropped"]
pub struct CurrentGuard<'c> {
    core: &'c Arc<ContextCore>,
    /// What was current, for comparing only.
    before: CUcontext,
    /// What this thread had set last.
    remembered: Identity,
    /// One of the execution manager's is not destroyed before it is current again.
    kept: Option<Arc<ContextCore>>,
    site: Site,
    /// A guard stays on its thread.
    thread: PhantomData<*const ()>,
}

impl<'c> CurrentGuard<'c> {
    pub(crate) fn enter(core: &'c Arc<ContextCore>, site: Site) -> Result<Self, DriverError> {
        let driver = core.driver();
        let before = get(driver)?;
        let kept = core.ledger().context(before);
        let remembered = remembered();
        forget();
        count_switch();
        // SAFETY: `core` keeps it alive.
        unsafe { driver.cuCtxPushCurrent_v2(core.current_raw()) }?;
        remember(core.current_identity());
        let _ = GUARDS.try_with(|guards| {
            let mut guards = guards.borrow_mut();
            guards.retain(|guard| guard.strong_count() > 0);
            guards.push(Arc::downgrade(core));
        });
        Ok(Self {
            core,
            before,
            remembered,
            kept,
            site,
            thread: PhantomData,
        })
    }

    /// Takes the top off the driver's stack. Not if that is what was there before, and no
    /// context of the guard's is above it any more: then other code took that off.
    fn restore(&self) -> Result<(), DriverError> {
        let driver = self.core.driver();
        forget();
        if mutant!("current_guard_names_what_was_there") {
            // SAFETY: none: this is the mistake.
            return unsafe { driver.cuCtxSetCurrent(self.before) };
        }
        let is_back = get(driver)? == self.before && self.before != self.core.current_raw();
        if !is_back {
            let mut popped: CUcontext = ptr::null_mut();
            // SAFETY: `popped` outlives the call.
            unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) }?;
        }
        // Good again if the driver agrees, which the next operation asks it.
        remember(self.remembered);
        Ok(())
    }
}

impl Drop for CurrentGuard<'_> {
    fn drop(&mut self) {
        let _ = GUARDS.try_with(|guards| {
            let mut guards = guards.borrow_mut();
            let own = |guard: &Weak<ContextCore>| ptr::eq(guard.as_ptr(), Arc::as_ptr(self.core));
            if let Some(place) = guards.iter().rposition(own) {
                guards.remove(place);
            }
        });
        if !self.core.ledger().is_forked()
            && let Err(call) = self.restore()
            // It may be of the context that is current again.
            && (call.class() != ErrorClass::StickyContext
                || self.before == self.core.current_raw())
        {
            self.core.note(call, self.site);
        }
        // What it kept ends now if nothing else has it, no longer under another on the stack.
        self.kept = None;
    }
}
