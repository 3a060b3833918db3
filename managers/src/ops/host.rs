//! Functions that a stream calls on the host.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Result;
use crate::stream::Stream;

/// Calls `function` on a thread of the driver when all that is on `stream` now has
/// completed (`cuLaunchHostFunc`). What comes on the stream waits for it, so it should be
/// short, and it must not call CUDA: that is how a driver deadlocks.
///
/// If the context is lost before, the function is never called, and what it captured is
/// never dropped. A panic ends in the function.
///
/// # Errors
/// What the driver returned; the function is dropped then.
pub fn host_function<F>(stream: &Stream, function: F) -> Result<()>
where
    F: FnOnce() + Send + 'static,
{
    let core = stream.core();
    let driver = core.enter()?;
    let boxed = Box::into_raw(Box::new(function));
    // SAFETY: `call::<F>` takes the box back, once; the stream is alive.
    let put = unsafe { driver.cuLaunchHostFunc(stream.as_raw(), Some(call::<F>), boxed.cast()) };
    if put.is_err() {
        // SAFETY: from `into_raw` above, and the driver did not take it.
        drop(unsafe { Box::from_raw(boxed) });
    }
    core.check(put)
}

/// # Safety
/// `data` is a box of `F` that nobody else owns.
unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
    // SAFETY: the caller's promise.
    let function = unsafe { Box::from_raw(data.cast::<F>()) };
    // Unwinding into the driver would end the process. Dropping a panic's payload may panic
    // again, so it is leaked.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(function)) {
        let _ = ManuallyDrop::new(payload);
    }
}
