//! Execution of PTX, checked against Rust's own arithmetic. All PTX here is
//! hand-written.

mod arithmetic;
mod bounds;
mod control;
mod device;
mod fault;
mod forms;
mod fused;
mod kernels;
mod memory;
mod patterns;
mod residency;
mod warp;
