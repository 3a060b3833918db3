//! Graphs as files for people to look at.

use std::ffi::{c_char, c_uint};

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::get;
use crate::device::calls::args::{Reply, Text};
use crate::device::calls::call::Call;
use crate::device::graphs::picture;

/// Any flag asks for what nodes do. The text is this device's own, and not a GPU's driver's.
fn print(call: &Call<'_>, graph: CUgraph, path: Text, flags: c_uint) -> Reply {
    let graph = get(call, graph)?;
    let text = picture(&graph, flags != 0);
    let written = std::fs::write(path.path()?, text);
    written.map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
}

functions! {
    Initialized {
        cuGraphDebugDotPrint: (graph: CUgraph, path: *const c_char, flags: c_uint) = print;
    }
}
