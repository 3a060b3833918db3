//! What a launch costs beside the driver's own call, in all forms that this crate has, and in cudarc's.
//!
//! By how much two forms differ depends on where a process has its code and data, so several processes
//! measure, and a row is the median of theirs.

mod allocations;
mod form;
mod measure;
#[cfg(feature = "peers")]
mod peer;
mod processes;
mod samples;

use cupola_managers::{Device, Error};
use cupola_sys::driver::DriverError;

use super::Figures;
pub use processes::Processes;
pub use samples::Samples;

/// The row that the others are compared with.
const RAW: &str = "cuLaunchKernel";
/// The same once more: how far two rows may differ though they measure the same.
const AGAIN: &str = "cuLaunchKernel, once more";
const TYPED: &str = "a kernel with a signature";
/// Two of the arguments are addresses of other code.
const ADDRESSES: &str = "a kernel with a signature, of addresses";
const CHECKED: &str = "a kernel with a signature, of addresses that are checked";

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver that is compared with.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
    /// Of another library.
    #[error("{0}: {1}")]
    Peer(&'static str, String),
    /// Of a process that measures.
    #[error("a process that measures: {problem}")]
    Process {
        /// What it ended with, where it did not succeed.
        code: Option<i32>,
        /// What it said.
        problem: String,
    },
}

/// Measures launches on `device` in this process; with `quick` so few that the figures mean nothing.
///
/// # Errors
/// What the driver, or another library, returned.
pub fn measure(device: &Device, quick: bool) -> Result<Samples, LaunchError> {
    let is_software = device.info()?.name.contains("software");
    measure::measure(device, is_software, quick)
}

/// The figures of what was measured on the device of this name.
#[must_use]
pub fn figures(name: String, samples: &Samples) -> Figures {
    let mut figures = Figures::new("launch", name);
    samples.add_rows(&mut figures);
    figures
}
