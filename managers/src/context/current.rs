//! Which context is current on this thread.
//!
//! A thread remembers the context it set last by a number that is never used twice in the
//! process. A context's address would not do: the driver gives it again to a new context.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

thread_local! {
    /// The identity of the context that this thread set last; 0 when it is not known.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    /// How often this thread asked the driver to set a context.
    static SWITCHES: Cell<u64> = const { Cell::new(0) };
}

/// A context's number, never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64);

impl Identity {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
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
    CURRENT
        .try_with(Cell::get)
        .is_ok_and(|current| current == identity.0)
}

/// Makes no context current if `identity` is: it is about to be destroyed.
pub(crate) fn leave(driver: &Driver, identity: Identity) {
    if is(identity) {
        // If this fails the thread keeps a dead context, which the next operation replaces.
        let _ = switch(driver, 0, ptr::null_mut());
    }
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

/// Keeps a context current on this thread; the one before is restored when it is dropped.
#[derive(Debug)]
#[must_use = "the previous context is restored when the guard is dropped"]
pub struct CurrentGuard<'c> {
    driver: &'c Driver,
    previous: Option<(u64, CUcontext)>,
    /// A guard stays on its thread.
    thread: PhantomData<*const ()>,
}

impl<'c> CurrentGuard<'c> {
    pub(crate) fn enter(
        driver: &'c Driver,
        identity: Identity,
        raw: CUcontext,
    ) -> Result<Self, DriverError> {
        let mut previous = None;
        if !is(identity) {
            let mut before: CUcontext = ptr::null_mut();
            // SAFETY: `before` outlives the call.
            unsafe { driver.cuCtxGetCurrent(&raw mut before) }?;
            let known = CURRENT.try_with(Cell::get).unwrap_or(0);
            switch(driver, identity.0, raw)?;
            previous = Some((known, before));
        }
        Ok(Self {
            driver,
            previous,
            thread: PhantomData,
        })
    }
}

impl Drop for CurrentGuard<'_> {
    fn drop(&mut self) {
        if let Some((identity, raw)) = self.previous {
            // A context that was destroyed meanwhile is refused, and then none is known.
            let _ = switch(self.driver, identity, raw);
        }
    }
}
