//! From images to results and faults: modules, links, launches, and what kernels may use.

#[path = "../support/mod.rs"]
mod support;

mod deadlock;
mod heap;
mod images;
mod launch;
mod shared_memory;
