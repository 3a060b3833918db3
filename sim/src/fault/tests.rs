//! The fault table over an injected driver of two functions.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cupola_sys::driver::{CUresult, Driver, id, pfn};
use cupola_sys::{CallError, Version};

use super::FaultTable;

unsafe extern "C" fn version(version: *mut c_int) -> CUresult {
    // SAFETY: the driver passes a valid pointer.
    unsafe { *version = 12_020 };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn count(devices: *mut c_int) -> CUresult {
    // SAFETY: the tests pass a valid pointer.
    unsafe { *devices = 7 };
    CUresult::CUDA_SUCCESS
}

fn faults() -> FaultTable {
    // SAFETY: both functions have the types of the names that they answer for.
    let driver = unsafe {
        Driver::from_proc_address(|base, _, _| match base.to_bytes() {
            b"cuDriverGetVersion" => version as pfn::cuDriverGetVersion as *const c_void,
            b"cuDeviceGetCount" => count as pfn::cuDeviceGetCount as *const c_void,
            _ => std::ptr::null(),
        })
    };
    FaultTable::new(driver.unwrap())
}

fn devices(driver: &Driver) -> Result<c_int, CUresult> {
    let mut devices = 0;
    // SAFETY: the pointer is valid.
    match unsafe { driver.cuDeviceGetCount(&raw mut devices) } {
        Ok(()) => Ok(devices),
        Err(CallError::Failed { code, .. }) => {
            // A failed call did not run.
            assert_eq!(devices, 0);
            Err(code)
        }
        Err(CallError::Missing { .. }) => Err(CUresult::CUDA_ERROR_NOT_FOUND),
    }
}

/// Without it a sweep could skip a call, or fail the wrong one.
#[test]
fn fails_exactly_the_kth_call() {
    let faults = faults();
    let driver = faults.driver();
    faults.fail(id::cuDeviceGetCount, 2, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    faults.fail_from(id::cuDeviceGetCount, 4, CUresult(12345));
    let seen: Vec<_> = (0..5).map(|_| devices(&driver)).collect();
    assert_eq!(
        seen,
        [
            Ok(7),
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY),
            Ok(7),
            Err(CUresult(12345)),
            Err(CUresult(12345)),
        ]
    );
    assert_eq!(faults.count(id::cuDeviceGetCount), 5);
    faults.reset();
    assert_eq!(devices(&driver), Ok(7));
    assert_eq!(
        faults.counts().into_iter().collect::<Vec<_>>(),
        [(id::cuDeviceGetCount, 1)]
    );
}

/// Without it the table could claim functions that the driver lacks.
#[test]
fn has_what_the_driver_has_less_what_is_hidden() {
    let faults = faults();
    assert_eq!(faults.driver().driver_version(), Version(12_020));
    assert!(!faults.driver().has(id::cuInit));
    assert!(faults.driver().has(id::cuDeviceGetCount));
    faults.hide(id::cuDeviceGetCount);
    assert!(!faults.driver().has(id::cuDeviceGetCount));
}

/// Without it a delay could be dropped, or fail the call.
#[test]
fn delays_a_call_and_then_runs_it() {
    let faults = faults();
    let driver = faults.driver();
    faults.delay(id::cuDeviceGetCount, 1, Duration::from_millis(30));
    let start = Instant::now();
    assert_eq!(devices(&driver), Ok(7));
    assert!(start.elapsed() >= Duration::from_millis(30));
}

/// Without it no test could play a driver that reports an earlier error through a call
/// that did its work.
#[test]
fn a_call_can_run_and_fail() {
    let faults = faults();
    let driver = faults.driver();
    faults.fail_after(id::cuDeviceGetCount, 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let mut devices = 0;
    // SAFETY: the pointer is valid.
    let error = unsafe { driver.cuDeviceGetCount(&raw mut devices) }.unwrap_err();
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_LAUNCH_FAILED));
    assert_eq!(devices, 7, "it ran");
}

/// Without it a test could not see between which other calls a call is made, nor what the driver
/// says of that moment.
#[test]
fn a_watcher_is_told_before_each_call() {
    let faults = faults();
    let (driver, wrapped) = (faults.driver(), faults.state.wrapped.clone());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let watch = move |function| told.lock().unwrap().push((function, devices(&wrapped)));
    assert!(faults.watch(watch));
    assert!(!faults.watch(|_| panic!("there is one")));
    faults.fail(id::cuDeviceGetCount, 2, CUresult(12345));
    assert_eq!(devices(&driver), Ok(7));
    assert_eq!(devices(&driver), Err(CUresult(12345)));
    assert_eq!(*seen.lock().unwrap(), [(id::cuDeviceGetCount, Ok(7)); 2]);
    assert_eq!(faults.count(id::cuDeviceGetCount), 2);
}
