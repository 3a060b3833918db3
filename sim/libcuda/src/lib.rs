//! The software CUDA device as `libcuda.so.1`.
//!
//! Every name of the driver API is exported, made from the API description. A function
//! counts and logs the call, finds the process's one machine, and calls it through the
//! same table that Rust programs use. `docs/design/sim.md` says what is different
//! from NVIDIA's library.

#[cfg(unix)]
mod entry;
#[cfg(unix)]
mod exports;
#[cfg(unix)]
mod log;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod report;
