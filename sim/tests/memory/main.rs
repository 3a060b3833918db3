//! Memory of devices and hosts: allocations, copies, peers, managed and mapped memory.

#[path = "../support/mod.rs"]
mod support;

mod allocation;
mod batches;
mod copies;
mod host;
mod managed;
// Elsewhere the software device has no virtual memory management.
#[cfg(target_os = "linux")]
mod mapping;
#[cfg(target_os = "linux")]
mod mapping_model;
mod peers;
mod pools;
mod regions;
mod rows;
