//! Placeholder line replaced by the crate's documentation.

pub mod exec;
pub mod fault;
pub mod ptx;
