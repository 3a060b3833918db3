//! Machines that take their order from a seed, or from virtual time.

#[path = "../support/mod.rs"]
mod support;

mod copies;
mod seed;
mod time;
