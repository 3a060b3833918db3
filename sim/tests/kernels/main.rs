//! From images to results and faults: modules, links, launches, and what kernels may use.

#[path = "../support/mod.rs"]
mod support;

mod deadlock;
mod faults;
mod functions;
mod heap;
mod launch;
mod libraries;
mod linking;
mod loading;
mod ptx;
mod refused_launches;
mod shared_memory;
