//! The integration suite. It runs unchanged on the software device and, with
//! `CUPOLA_TEST_DEVICE=gpu`, on a GPU.

#[path = "../common/mod.rs"]
mod common;

mod child;
mod copies;
mod devices;
mod elements;
mod faults;
mod interface;
mod kernels;
mod memory;
mod nvml;
mod pipeline;
mod pool;
mod process;
mod recycle;
mod streams;
