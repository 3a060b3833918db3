//! Which context is current on this thread.
//!
//! The driver is asked before each operation: other code of the process (another crate, a C
//! library) sets contexts too, and says nothing of it. An address alone would not do, as the
//! driver gives that of a destroyed context, which stays current on other threads, to a new one.
//! So a thread remembers the context that it set last by a number that is never used twice in
//! the process, and an operation makes no call to set its own if both agree.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

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

/// Makes a context current on this thread, unless it is.
#[inline]
pub(crate) fn set(driver: &Driver, identity: Identity, raw: CUcontext) -> Result<(), DriverError> {
    if was_set(identity) && (get(driver)? == raw || mutant!("current_trusts_the_thread")) {
        return Ok(());
    }
    switch(driver, identity, raw)
}

/// The context that the driver says is current, which may be destroyed: it is for comparing only.
pub(super) fn get(driver: &Driver) -> Result<CUcontext, DriverError> {
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

/// The context that this thread set last. A thread that is past its thread-locals sets its context
/// on every call.
pub(super) fn remembered() -> Identity {
    Identity(CURRENT.try_with(Cell::get).unwrap_or(0))
}

pub(super) fn remember(identity: Identity) {
    let _ = CURRENT.try_with(|current| current.set(identity.0));
}

/// Makes the next operation of this thread set its context, even if the driver says that it is
/// current.
pub(crate) fn forget() {
    remember(Identity(0));
}

pub(super) fn count_switch() {
    let _ = SWITCHES.try_with(|count| count.set(count.get() + 1));
}

/// How often this thread has asked the driver to make a context current.
#[must_use]
pub fn context_switches() -> u64 {
    SWITCHES.try_with(Cell::get).unwrap_or(0)
}
