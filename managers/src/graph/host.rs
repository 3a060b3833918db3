//! Functions that the launches of a graph call on the host.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::driver::ContextCore;
use crate::error::contain;

/// A function that launches call.
pub(super) struct HostFunction<F> {
    function: ManuallyDrop<Arc<F>>,
    core: Arc<ContextCore>,
}

impl<F> HostFunction<F> {
    pub(super) fn new(function: F, core: &Arc<ContextCore>) -> Self {
        Self {
            function: ManuallyDrop::new(Arc::new(function)),
            core: Arc::clone(core),
        }
    }

    /// What [`call`] gets: good as long as this lives.
    pub(super) fn address(&self) -> *mut c_void {
        Arc::as_ptr(&self.function).cast_mut().cast()
    }
}

impl<F> Drop for HostFunction<F> {
    fn drop(&mut self) {
        // In a lost context it may run at this moment, for all that is known.
        if self.core.healthy().is_ok() {
            // SAFETY: it is dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.function) };
        }
    }
}

/// # Safety
/// `data` leads to an `F`, which is there as long as the graph may run.
pub(super) unsafe extern "C" fn call<F: Fn()>(data: *mut c_void) {
    // SAFETY: the condition of this function.
    let function = unsafe { &*data.cast_const().cast::<F>() };
    // Unwinding into the driver would end the process.
    contain(function);
}
