//! Checks each row of the symbol table against a driver library:
//! `cuGetProcAddress_v2(base, introduced)` must give the address that the dynamic loader
//! gives for the exact exported name.

use std::ffi::{c_int, c_void};
use std::path::Path;

use cupola_sys::driver::{CUdriverProcAddressQueryResult, Driver, SYMBOLS};
use serde::Serialize;

/// The outcome for every row of the table.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SymbolCheck {
    /// Rows for which both give the same address.
    pub(crate) same: usize,
    /// Rows that neither has: newer than the driver.
    pub(crate) absent: usize,
    /// Rows that only one of the two has.
    pub(crate) one_only: Vec<&'static str>,
    /// Rows for which the two differ: the table would call another ABI.
    pub(crate) different: Vec<&'static str>,
}

impl SymbolCheck {
    /// Whether the table is right for this driver.
    pub(crate) fn passed(&self) -> bool {
        self.one_only.is_empty() && self.different.is_empty() && self.same > 0
    }
}

/// Compares all rows for the driver that was loaded from `path`.
pub(crate) fn check(driver: &Driver, path: &Path) -> Result<SymbolCheck, String> {
    // SAFETY: the file is the driver library that this process has already loaded, so its
    // initialisers have run.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    let mut check = SymbolCheck::default();
    for symbol in SYMBOLS {
        let mut queried: *mut c_void = std::ptr::null_mut();
        let mut status = CUdriverProcAddressQueryResult(0);
        let version = c_int::try_from(symbol.introduced.0).unwrap_or(c_int::MAX);
        let flags = if symbol.is_per_thread() { 2 } else { 1 };
        // SAFETY: the name ends with NUL, and both results outlive the call. A driver that
        // is older than `version` answers with an error and leaves them.
        let answer = unsafe {
            driver.cuGetProcAddress_v2(
                symbol.base.as_ptr(),
                &raw mut queried,
                version,
                flags,
                &raw mut status,
            )
        };
        if answer.is_err() {
            queried = std::ptr::null_mut();
        }
        // SAFETY: only the address is taken; nothing is called or read through it.
        let exported = unsafe { library.get::<*mut c_void>(symbol.name.to_bytes_with_nul()) }
            .map_or(std::ptr::null_mut(), |found| *found);
        match (queried.is_null(), exported.is_null()) {
            (true, true) => check.absent += 1,
            (false, false) if queried == exported => check.same += 1,
            (false, false) => check.different.push(symbol.as_str()),
            _ => check.one_only.push(symbol.as_str()),
        }
    }
    // The driver is never unloaded: it has threads and exit handlers of its own.
    let _ = std::mem::ManuallyDrop::new(library);
    Ok(check)
}
