//! Execution of PTX, checked against Rust's own arithmetic. All PTX here is
//! hand-written.

mod bounds;
mod control;
mod convert;
mod device;
mod fault;
mod float;
mod forms;
mod fused;
mod integer;
mod kernels;
mod memory;
mod patterns;
mod residency;
mod warp;
