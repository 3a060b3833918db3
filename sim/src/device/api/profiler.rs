//! The profiler that programs may switch on and off. There is none.

use std::ffi::c_char;

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;

fn switch(call: &Call<'_>) -> Reply {
    call.context().map(drop)
}

/// No driver of today supports it: the tools that it configured are gone.
fn initialize(_: &Call<'_>, _: *const c_char, _: *const c_char, _: CUoutput_mode) -> Reply {
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

functions! {
    Initialized {
        cuProfilerStart: () = switch;
        cuProfilerStop: () = switch;
        cuProfilerInitialize: (config: *const c_char, output: *const c_char, mode: CUoutput_mode)
            = initialize;
    }
}
