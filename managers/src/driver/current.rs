//! Which context is current on this thread.
//!
//! A call that names a stream or an event takes the context from there, and is made without a question
//! ([`ContextCore::call`](super::ContextCore::call)). Before any other the driver is asked: other code of
//! the process (another crate, a C library) sets contexts too, and says nothing of it. An address alone
//! would not do, as the driver gives that of a destroyed context, which stays current on other threads, to
//! a new one. So a thread remembers the context that it set last by a number that is never used twice in
//! the process, and an operation makes no call to set its own if both agree.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{CUcontext, CUresult, Driver, DriverError};

use crate::sync::per_thread;

per_thread! {
    /// The context that this thread set last, by its number; 0 when it is not known.
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

/// Makes a context current on this thread; whether it was not.
#[inline]
pub(crate) fn set(
    driver: &Driver,
    identity: Identity,
    raw: CUcontext,
) -> Result<bool, DriverError> {
    let last = remembered();
    let was_set = last == identity || (mutant!("current_is_any_context") && last.0 != 0);
    if was_set && (mutant!("current_trusts_the_thread") || get(driver)? == raw) {
        return Ok(false);
    }
    switch(driver, identity, raw)?;
    Ok(true)
}

/// Whether an error of a call that names its context may say something of another one, which is current on
/// this thread, or that none is. A driver may want one to be current, and call everything else invalid;
/// where one is that was destroyed, R580 refuses copies, as it does copies of memory of `cuMemCreate` to which
/// the device of the current context has no access (an invalid value); and what one is lost to may be the
/// answer to any call.
pub(super) fn may_be_of_the_thread(driver: &Driver, error: DriverError) -> bool {
    match error.status() {
        Some(
            CUresult::CUDA_ERROR_INVALID_CONTEXT
            | CUresult::CUDA_ERROR_INVALID_HANDLE
            | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUresult::CUDA_ERROR_INVALID_VALUE,
        ) => true,
        _ => error.class().is_sticky() && get(driver).is_ok_and(|current| !current.is_null()),
    }
}

/// The context that the driver says is current, which may be destroyed: it is for comparing only.
#[inline]
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

/// The context that this thread set last. A thread that is past its thread-locals sets its context on
/// every question.
#[inline]
pub(super) fn remembered() -> Identity {
    Identity(CURRENT.try_with(Cell::get).unwrap_or(0))
}

pub(super) fn remember(Identity(identity): Identity) {
    let _ = CURRENT.try_with(|current| current.set(identity));
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
