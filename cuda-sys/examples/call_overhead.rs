//! What a call through [`Driver`] costs over the same call through a plain function
//! pointer, in nanoseconds: medians over runs, as one line of JSON.

use core::ffi::{CStr, c_int, c_void};
use core::hint::black_box;
use std::time::Instant;

use cupola_sys::Version;
use cupola_sys::driver::{CUresult, Driver, pfn};

const CALLS: u32 = 1_000_000;
const RUNS: usize = 101;

unsafe extern "C" fn version(into: *mut c_int) -> CUresult {
    // SAFETY: valid by contract.
    unsafe { *into = 13050 };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn nothing(_: u32) -> CUresult {
    CUresult::CUDA_SUCCESS
}

fn address(base: &CStr, _: Version, _: u64) -> *const c_void {
    match base.to_bytes() {
        b"cuDriverGetVersion" => version as pfn::cuDriverGetVersion as *const c_void,
        b"cuInit" => nothing as pfn::cuInit as *const c_void,
        _ => core::ptr::null(),
    }
}

/// Nanoseconds for each call of `call`, over one run.
fn run(mut call: impl FnMut(u32) -> bool) -> f64 {
    let start = Instant::now();
    let failed = (0..CALLS).filter(|flags| !call(black_box(*flags))).count();
    let elapsed = start.elapsed();
    assert_eq!(failed, 0);
    elapsed.as_secs_f64() * 1e9 / f64::from(CALLS)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    // SAFETY: each address is a function of the type of the name that it answers for.
    let driver = unsafe { Driver::from_proc_address(address) }.expect("the version is there");
    let raw: pfn::cuInit = black_box(nothing);
    // Both are hidden from the optimiser alike, and take turns so that a change of clock
    // meets both.
    let (mut direct, mut through) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        // SAFETY: the function takes any number.
        direct.push(run(
            |flags| unsafe { black_box(raw)(flags) } == CUresult::CUDA_SUCCESS,
        ));
        through.push(run(|flags| {
            // SAFETY: as above.
            unsafe { black_box(&driver).cuInit(flags) }.is_ok()
        }));
    }
    let (direct, through) = (median(direct), median(through));
    println!(
        "{{\"raw_ns\":{direct:.3},\"driver_ns\":{through:.3},\"over_raw_ns\":{:.3},\"calls\":{CALLS},\"runs\":{RUNS}}}",
        through - direct
    );
}
