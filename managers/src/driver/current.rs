//! Which context is current on this thread.
//!
//! The driver is asked before each operation: other code of the process (another crate, a C
//! library) sets contexts too, and says nothing of it. An address alone would not do, as the
//! driver gives that of a destroyed context, which stays current on other threads, to a new one.
//! So a thread remembers the context that it set last by a number that is never used twice in
//! the process, and an operation makes no call to set its own if both agree. Where several operations
//! of this crate follow each other, with no other code between them, the first one asks for all
//! ([`Held`]).

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

use crate::sync::per_thread;

per_thread! {
    /// The context that this thread set last.
    static CURRENT: Cell<Last> = Cell::new(Last { identity: 0, is_held: false });
    /// How often this thread asked the driver to set a context.
    static SWITCHES: Cell<u64> = Cell::new(0);
}

/// The context that a thread set last.
#[derive(Clone, Copy)]
struct Last {
    /// 0 when it is not known.
    identity: u64,
    /// Whether it is current for certain: see [`hold`].
    is_held: bool,
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
    let last = last();
    let was_set =
        last.identity == identity.0 || (mutant!("current_is_any_context") && last.identity != 0);
    let is_certain = last.is_held || mutant!("current_trusts_the_thread");
    if was_set && (is_certain || get(driver)? == raw) {
        return Ok(());
    }
    switch(driver, identity, raw)
}

/// Whether the context is current on this thread for certain: see [`hold`].
#[inline]
pub(super) fn is_held(Identity(identity): Identity) -> bool {
    let last = last();
    last.is_held && last.identity == identity
}

/// Until this is dropped no code runs on its thread but this crate's and the driver's, and the context
/// is not asked for again that is current.
pub(crate) struct Held {
    /// It is of this thread.
    _thread: PhantomData<*const ()>,
}

/// Holds the context that was made current on this thread just now. Setting another one ends that.
pub(super) fn hold() -> Held {
    let _ = CURRENT.try_with(|current| {
        let identity = current.get().identity;
        let is_held = identity != 0;
        current.set(Last { identity, is_held });
    });
    Held {
        _thread: PhantomData,
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if mutant!("current_is_held_for_ever") {
            return;
        }
        let_go();
    }
}

/// Other code is about to run on this thread: nothing is held on it any more.
pub(super) fn let_go() {
    remember(remembered());
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

/// What this thread set last. A thread that is past its thread-locals sets its context on every call.
#[inline]
fn last() -> Last {
    const NONE: Last = Last {
        identity: 0,
        is_held: false,
    };
    CURRENT.try_with(Cell::get).unwrap_or(NONE)
}

/// The context that this thread set last.
pub(super) fn remembered() -> Identity {
    Identity(last().identity)
}

pub(super) fn remember(Identity(identity): Identity) {
    let _ = CURRENT.try_with(|current| {
        let is_held = false;
        current.set(Last { identity, is_held });
    });
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use cupola_sim::Machine;
    use cupola_sys::driver::{CUresult, DriverError, id};

    use crate::test_bench::TestBench;

    // Without it each of several operations in a row could ask the driver, or those after them could
    // trust that no other code has set another context in between.
    #[test]
    fn a_held_context_is_asked_for_once() {
        let bench = TestBench::on(Machine::builder());
        let core = bench.context.core();
        let asked = |operations: u32| {
            bench.faults.reset();
            for _ in 0..operations {
                core.enter().unwrap();
            }
            bench.faults.count(id::cuCtxGetCurrent)
        };
        core.enter().unwrap();
        assert_eq!(asked(3), 3);
        let held = core.hold().unwrap();
        assert_eq!(asked(3), 0);
        // What an error sets off is other code.
        let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let symbol = id::cuMemAlloc_v2;
        core.failed(DriverError::Failed { symbol, code });
        assert_eq!(asked(1), 1);
        drop(held);
        // SAFETY: null leaves the thread without a context.
        unsafe { core.driver().cuCtxSetCurrent(ptr::null_mut()) }.unwrap();
        assert_eq!(asked(1), 1);
        assert_eq!(super::get(core.driver()).unwrap(), core.current_raw());
    }
}
