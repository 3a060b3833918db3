//! Functions that a stream calls on the host.

use core::ffi::c_void;
use std::sync::Arc;

use cupola_sys::driver::{CUresult, DriverError, id};

use crate::error::{Error, OnLoss, Once, Result, contain};
use crate::stream::Stream;

/// Calls `function` on a thread of the driver when all work that is on `stream` now has completed
/// (`cuLaunchHostFunc`). Later work on the stream waits for it, so it should be short, and it must
/// not call CUDA: that is how a driver deadlocks. Dropping a stream, an event, a buffer, a module
/// or a context calls CUDA, so the function must not hold the last of one either: its captures are
/// dropped on the driver's thread. Send such things to another thread, or keep a clone outside of
/// the function.
///
/// If the context is lost before, the function is not called, and its captures are dropped on the
/// thread that notices the loss: the receiver of a channel whose sender is in it wakes. A loss is
/// noticed by a call of this crate that fails, see [`Context::on_loss`](crate::Context::on_loss). A
/// panic ends in the function.
///
/// It is called once, so a stream that is being captured is refused: the graph could be launched any
/// number of times. Code that begins a capture on the stream does so before this call or after it,
/// and not on another thread meanwhile.
///
/// # Errors
/// [`Error::Capturing`](crate::Error::Capturing); nothing was put on the stream then, and the
/// function is dropped. What the driver returned. The function is dropped if the code says that the driver did
/// not take it; after any other error it may still be called, and else is dropped when the
/// context is lost. [`Error::Unverified`](crate::Error::Unverified) for such a code that else
/// would be good to try again, and in [checked mode](crate::Context::set_checked).
/// [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked).
#[doc(alias = "cuLaunchHostFunc")]
#[track_caller]
pub fn host_function<F>(stream: &Stream, function: F) -> Result<()>
where
    F: FnOnce() + Send + 'static,
{
    // The graph would have the address for each of its launches, and the first one takes the
    // reference back.
    stream.refuse_captured("host_function")?;
    let driver = stream.core().enter()?;
    let function = Arc::new(HostFunction(Once::new(function)));
    let raw = Arc::into_raw(Arc::clone(&function));
    // SAFETY: `call::<F>` takes this reference back, once; the stream is alive.
    let put = unsafe {
        let raw = raw.cast_mut().cast();
        driver.cuLaunchHostFunc(stream.raw(), Some(call::<F>), raw)
    };
    if put.is_err_and(was_refused) {
        // SAFETY: from `into_raw` above, and the driver did not take it.
        drop(unsafe { Arc::from_raw(raw) });
    } else {
        // A driver that does not call it keeps its reference, with nothing in it after a loss.
        stream.core().watch(function);
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

/// A function that a stream is to call. Taken by the driver's call, or by the loss of the context.
struct HostFunction<F>(Once<F>);

impl<F: Send> OnLoss for HostFunction<F> {
    fn lost(&self, _: &Error) {
        contain(|| drop(self.0.take()));
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
/// `data` is a reference to a `HostFunction<F>` that is the callee's.
unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
    // SAFETY: needs a reference from `into_raw` that is the callee's, which `data` is by this
    // function's condition.
    let function = unsafe { Arc::from_raw(data.cast_const().cast::<HostFunction<F>>()) };
    // Unwinding into the driver would end the process.
    contain(|| {
        if let Some(function) = function.0.take() {
            function();
        }
    });
}
