//! Programs of others on the software device's `libcuda.so.1`, and how it behaves in a
//! process: loaded by the system's loader, configured by the environment, at exit, after a
//! fork.
#![cfg(all(feature = "sim", target_os = "linux"))]

#[path = "../common/library.rs"]
mod library;

mod cudarc_client;
mod pool;
mod process;
mod python;
mod raw_handles;
mod two_crates;
