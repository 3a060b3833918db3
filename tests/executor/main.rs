//! Executions and profiles. Runs unchanged on the software device and, with `CUPOLA_TEST_DEVICE=gpu`,
//! on a GPU.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "sim")]
mod faults;
mod handles;
mod profiles;
#[cfg(feature = "sim")]
mod steady;
#[cfg(feature = "sim")]
mod virtual_time;

use std::sync::mpsc::{Sender, channel};

use cupola_kernels::executor::{Executor, ExecutorConfig};
use cupola_managers::{Stream, ops};

use common::Bench;

/// An executor with so many streams.
fn executor(bench: &Bench, streams: usize) -> Executor {
    Executor::new(&bench.context, ExecutorConfig::streams(streams)).unwrap()
}

/// Holds the stream up until the value is dropped.
fn hold(stream: &Stream) -> cupola_managers::Result<Sender<()>> {
    let (hold, held) = channel::<()>();
    ops::host_function(stream, move || {
        let _ended = held.recv();
    })?;
    Ok(hold)
}
