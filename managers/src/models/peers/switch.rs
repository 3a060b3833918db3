//! The driver's side: one switch, which is the access of one context to the other's memory, and the
//! kernels that use it.

use std::ffi::{c_int, c_uint};

use cupola_sys::driver::{CUcontext, CUdevice, CUresult};
use loom::sync::{Mutex, MutexGuard};

use crate::models::test_driver::{completed, put_work};

#[derive(Default)]
pub(in crate::models) struct Switch {
    is_on: bool,
    /// The last kernel that uses the access, among all work.
    last_kernel: u64,
    /// How often it was switched on.
    pub(super) enables: u32,
    mistakes: Vec<&'static str>,
}

loom::lazy_static! {
    static ref SWITCH: Mutex<Switch> = Mutex::new(Switch::default());
}

/// The switch of this run of a model.
pub(super) fn switch() -> MutexGuard<'static, Switch> {
    SWITCH.lock().unwrap()
}

impl Switch {
    /// A kernel that uses the access is put on a stream.
    pub(super) fn put_kernel(&mut self) {
        if !self.is_on {
            self.mistakes.push("a kernel has no access");
        }
        self.last_kernel = put_work();
    }

    pub(super) fn turn_off(&mut self) -> CUresult {
        if completed() < self.last_kernel {
            self.mistakes
                .push("a kernel loses its access while it may run");
        }
        match std::mem::replace(&mut self.is_on, false) {
            true => CUresult::CUDA_SUCCESS,
            false => CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
        }
    }

    pub(super) fn turn_on(&mut self) -> CUresult {
        if std::mem::replace(&mut self.is_on, true) {
            return CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        }
        self.enables += 1;
        CUresult::CUDA_SUCCESS
    }

    /// It is off, as it was, and no call was wrong.
    pub(super) fn check_off(&self) {
        assert_eq!(self.mistakes, [""; 0]);
        assert!(!self.is_on, "the access is left on");
    }
}

pub(in crate::models) unsafe extern "C" fn can_access(
    can: *mut c_int,
    _: CUdevice,
    _: CUdevice,
) -> CUresult {
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *can = 1 };
    CUresult::CUDA_SUCCESS
}

pub(in crate::models) unsafe extern "C" fn enable(_: CUcontext, _: c_uint) -> CUresult {
    switch().turn_on()
}

pub(in crate::models) unsafe extern "C" fn disable(_: CUcontext) -> CUresult {
    switch().turn_off()
}
