//! Waits that fail: no success is reported, and no memory is given back under a copy that
//! may still run.

mod buffers;
mod captures;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod host_functions;
mod modules;
mod transfers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cupola_managers::ops::LaunchConfig;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Error, Function, PoolConfig, Stream, ops};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, CUstreamCaptureMode as Mode, Driver, id};

use common::{TestBench, hold, open};

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

const PTX: &str =
    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";

fn launch(function: &Function, stream: &Stream) {
    // SAFETY: the kernel takes no arguments and touches no memory.
    unsafe { ops::launch(function, LaunchConfig::linear(1, 1), (), stream) }.unwrap();
}
