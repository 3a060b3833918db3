//! Which context is current on this thread.
//!
//! A thread remembers the context it set last by a number that is never used twice in the
//! process. A context's address would not do: the driver gives it again to a new context.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

use super::ContextCore;
use crate::error::{ErrorClass, Site};
use crate::sync::per_thread;

per_thread! {
    /// The identity of the context that this thread set last; 0 when it is not known.
    static CURRENT: Cell<u64> = Cell::new(0);
    /// How often this thread asked the driver to set a context.
    static SWITCHES: Cell<u64> = Cell::new(0);
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

/// Makes a context current on this thread; no driver call when it is.
#[inline]
pub(crate) fn set(driver: &Driver, identity: Identity, raw: CUcontext) -> Result<(), DriverError> {
    if is(identity) {
        return Ok(());
    }
    switch(driver, identity.0, raw)
}

#[cold]
fn switch(driver: &Driver, identity: u64, raw: CUcontext) -> Result<(), DriverError> {
    forget_current();
    // A thread that is past its thread-locals sets the context on every call.
    let _ = SWITCHES.try_with(|count| count.set(count.get() + 1));
    // SAFETY: `raw` is null or a context that the caller keeps alive.
    unsafe { driver.cuCtxSetCurrent(raw) }?;
    let _ = CURRENT.try_with(|current| current.set(identity));
    Ok(())
}

/// Whether this thread knows the context to be current.
pub(crate) fn is(identity: Identity) -> bool {
    CURRENT.try_with(Cell::get).is_ok_and(|current| {
        current == identity.0 || (mutant!("current_is_any_context") && current != 0)
    })
}

/// Makes no context current if `identity` is: it is about to be destroyed.
///
/// # Errors
/// What the driver returned: the thread keeps a dead context then, which the next operation
/// replaces.
pub(crate) fn leave(driver: &Driver, identity: Identity) -> Result<(), DriverError> {
    if is(identity) {
        return switch(driver, 0, ptr::null_mut());
    }
    Ok(())
}

/// Forgets which context is current on this thread, so that the next operation sets its
/// own again. Call it after code outside of this crate has changed the thread's context.
pub fn forget_current() {
    let _ = CURRENT.try_with(|current| current.set(0));
}

/// How often this thread has asked the driver to make a context current.
#[must_use]
pub fn context_switches() -> u64 {
    SWITCHES.try_with(Cell::get).unwrap_or(0)
}

/// Keeps a context current on this thread; the one before is restored when it is dropped,
/// the same one if it was current already.
///
/// A context of the same execution manager that was current before is kept alive by the
/// guard. One that other code made is restored by its address: that code keeps it alive
/// until the guard is dropped. Operations in other contexts that run on this thread
/// meanwhile make those current: the guard does not set its own again.
#[derive(Debug)]
#[must_use = "the previous context is restored when the guard is dropped"]
pub struct CurrentGuard<'c> {
    core: &'c ContextCore,
    previous: Previous,
    site: Site,
    /// A guard stays on its thread.
    thread: PhantomData<*const ()>,
}

/// The context to restore.
#[derive(Debug)]
enum Previous {
    /// The guard's own, which was current already.
    Same,
    /// One of the execution manager's.
    Ours(Arc<ContextCore>),
    /// None, or one of other code.
    Foreign(CUcontext),
}

impl<'c> CurrentGuard<'c> {
    pub(crate) fn enter(core: &'c ContextCore, site: Site) -> Result<Self, DriverError> {
        let mut previous = Previous::Same;
        if !is(core.identity()) {
            let mut raw: CUcontext = ptr::null_mut();
            // SAFETY: `raw` outlives the call.
            unsafe { core.driver().cuCtxGetCurrent(&raw mut raw) }?;
            let found = core.ledger().context(raw);
            switch(core.driver(), core.identity().0, core.raw())?;
            previous = found.map_or(Previous::Foreign(raw), Previous::Ours);
        }
        Ok(Self {
            core,
            previous,
            site,
            thread: PhantomData,
        })
    }

    /// Makes the previous context current, with no driver call when it is.
    fn restore(&self) -> Result<(), DriverError> {
        let driver = self.core.driver();
        let previous = match &self.previous {
            Previous::Same => self.core,
            Previous::Ours(core) => core,
            // Which context the thread remembered before does not matter: with a second
            // driver in use it may have been one of that, and no longer current there.
            Previous::Foreign(raw) => return switch(driver, 0, *raw),
        };
        if is(previous.identity()) {
            return Ok(());
        }
        let identity = if mutant!("current_guard_keeps_its_own") {
            self.core.identity()
        } else {
            previous.identity()
        };
        switch(driver, identity.0, previous.raw())
    }
}

impl Drop for CurrentGuard<'_> {
    fn drop(&mut self) {
        if !self.core.ledger().is_forked()
            && let Err(call) = self.restore()
            // The end of a context that is restored says nothing of this one.
            && (call.class() != ErrorClass::StickyContext
                || matches!(self.previous, Previous::Same))
        {
            self.core.note(call, self.site);
        }
    }
}
