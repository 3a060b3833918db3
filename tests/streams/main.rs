//! Pipelines over many items, and the ways to use them. Runs unchanged on the software device and,
//! with `CUPOLA_TEST_DEVICE=gpu`, on a GPU.

#[path = "../common/mod.rs"]
mod common;

mod awaited;
#[cfg(feature = "sim")]
mod controls;
mod patterns;
