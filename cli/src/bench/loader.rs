//! What the table adds to a driver call: the same function called by its address and as a
//! method of `Driver`, alternately.

use std::ffi::{c_int, c_void};
use std::hint::black_box;

use cupola_sys::driver::{CUresult, Driver, DriverError, id, pfn};

use super::{Figures, nanoseconds};

const ROUNDS: usize = 31;
const CALLS: u32 = 200_000;

unsafe extern "C" fn nothing(version: *mut c_int) -> CUresult {
    // SAFETY: callers pass a pointer that is valid for the call.
    unsafe { *version = 13_000 };
    CUresult::CUDA_SUCCESS
}

/// Measures calls of a function that does nothing, and of one of `driver`'s own; with `quick` so
/// few that the figures mean nothing.
///
/// # Errors
/// A function that every driver has is missing or fails.
pub fn run(driver: &Driver, device: String, quick: bool) -> Result<Figures, DriverError> {
    let (rounds, calls) = if quick { (1, 100) } else { (ROUNDS, CALLS) };
    let mut figures = Figures::new("loader", device);
    // SAFETY: the function has the type of the one name that is answered.
    let injected = unsafe {
        Driver::from_proc_address(|base, _, _| match base.to_bytes() {
            b"cuDriverGetVersion" => nothing as pfn::cuDriverGetVersion as *const c_void,
            _ => std::ptr::null(),
        })
    }?;
    pair(&mut figures, &injected, "empty function", rounds, calls)?;
    // A software device's functions need the scope that only the method sets: for them the
    // raw call ends early and says nothing.
    if driver.library_path().is_some() {
        pair(&mut figures, driver, "cuDriverGetVersion", rounds, calls)?;
    }
    Ok(figures)
}

fn pair(
    figures: &mut Figures,
    driver: &Driver,
    what: &str,
    rounds: usize,
    calls: u32,
) -> Result<(), DriverError> {
    let address = driver.address(id::cuDriverGetVersion)?;
    // SAFETY: the address is that of `cuDriverGetVersion`.
    let raw = unsafe { std::mem::transmute::<*const c_void, pfn::cuDriverGetVersion>(address) };
    let mut version: c_int = 0;
    let mut raw_rounds = Vec::new();
    let mut table_rounds = Vec::new();
    for _ in 0..rounds {
        raw_rounds.extend(nanoseconds(1, calls, || {
            // SAFETY: the pointer is valid for the call.
            let code = unsafe { black_box(raw)(&raw mut version) };
            black_box(code);
        }));
        table_rounds.extend(nanoseconds(1, calls, || {
            // SAFETY: the pointer is valid for the call.
            let result = unsafe { black_box(driver).cuDriverGetVersion(&raw mut version) };
            let _ = black_box(result);
        }));
    }
    let (raw, table) = (
        format!("{what}, by address"),
        format!("{what}, through the table"),
    );
    figures.push(&raw, "ns", &raw_rounds, None);
    figures.push(&table, "ns", &table_rounds, Some(&raw));
    Ok(())
}
