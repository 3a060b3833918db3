//! Calls that tests of several files make of a driver.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::support::{Code, code};

/// Allocates and frees; the code of the allocation.
pub(crate) fn alloc(driver: &Driver) -> Code {
    let mut address = 0;
    // SAFETY: the place outlives the calls.
    unsafe {
        let result = code(driver.cuMemAlloc_v2(&raw mut address, 16));
        if result == Code::CUDA_SUCCESS {
            driver.cuMemFree_v2(address).unwrap();
        }
        result
    }
}

/// The current context of this thread.
pub(crate) fn current(driver: &Driver) -> CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuCtxGetCurrent(&raw mut context) }.unwrap();
    context
}

/// Queues a closure, which runs once and is dropped where it ran.
pub(crate) fn queue(driver: &Driver, stream: CUstream, work: impl FnOnce() + Send + 'static) {
    type Work = Box<dyn FnOnce() + Send>;
    unsafe extern "C" fn run(data: *mut c_void) {
        // SAFETY: made from a box below, once.
        let work = unsafe { Box::from_raw(data.cast::<Work>()) };
        work();
    }
    let work: Box<Work> = Box::new(Box::new(work));
    // SAFETY: the function takes this pointer, and runs once.
    unsafe { driver.cuLaunchHostFunc(stream, Some(run), Box::into_raw(work).cast()) }.unwrap();
}
