//! Functions that a stream calls on the host.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cupola_sys::driver::{CUresult, DriverError, id};

use crate::error::Result;
use crate::stream::Stream;

/// Calls `function` on a thread of the driver when all that is on `stream` now has
/// completed (`cuLaunchHostFunc`). What comes on the stream waits for it, so it should be
/// short, and it must not call CUDA: that is how a driver deadlocks. Dropping a stream, an
/// event, a buffer, a module or a context calls CUDA, so the function must not hold the
/// last of one either: what it captured is dropped on the driver's thread. Send such things
/// to another thread, or keep a clone outside of the function.
///
/// If the context is lost before, the function is never called, and what it captured is
/// never dropped. A panic ends in the function.
///
/// # Errors
/// What the driver returned. The function is dropped if the code says that the driver did
/// not take it; after any other error it may still be called, and is never dropped if it is
/// not. [`Error::Unverified`](crate::Error::Unverified) for such a code that else would be good
/// to try again.
#[track_caller]
pub fn host_function<F>(stream: &Stream, function: F) -> Result<()>
where
    F: FnOnce() + Send + 'static,
{
    let driver = stream.core().enter()?;
    let boxed = Box::into_raw(Box::new(function));
    // SAFETY: `call::<F>` takes the box back, once; the stream is alive.
    let put = unsafe { driver.cuLaunchHostFunc(stream.raw(), Some(call::<F>), boxed.cast()) };
    if put.is_err_and(was_refused) {
        // SAFETY: from `into_raw` above, and the driver did not take it.
        drop(unsafe { Box::from_raw(boxed) });
    }
    match put {
        Ok(()) => stream.verify_after(id::cuLaunchHostFunc),
        // To be called twice is worse than not to be called.
        Err(call) if call.class().is_retryable() && !was_refused(call) => {
            Err(stream.failed(call).unverified(id::cuLaunchHostFunc))
        }
        Err(call) => Err(stream.failed(call)),
    }
}

/// Whether the error says that the call did nothing. Other codes may be those of earlier
/// work, and tell nothing of this call.
fn was_refused(call: DriverError) -> bool {
    matches!(call, DriverError::Missing { .. })
        || matches!(
            call.status(),
            Some(
                CUresult::CUDA_ERROR_INVALID_VALUE
                    | CUresult::CUDA_ERROR_OUT_OF_MEMORY
                    | CUresult::CUDA_ERROR_INVALID_CONTEXT
                    | CUresult::CUDA_ERROR_INVALID_HANDLE
                    | CUresult::CUDA_ERROR_NOT_INITIALIZED
                    | CUresult::CUDA_ERROR_NOT_PERMITTED
                    | CUresult::CUDA_ERROR_NOT_SUPPORTED
            )
        )
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
