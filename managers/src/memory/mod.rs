//! `MemoryPool`: device memory under a hard limit, from a pool that is lock-free where it is
//! hit, ordered on streams, and tight.
//!
//! The layers, from the top:
//!
//! * `lane`: what one thread keeps of one stream's memory in magazines. A hit costs no driver
//!   call, no lock and no atomic read-modify-write.
//! * `depot`: full magazines on their way from threads that free to threads that allocate.
//! * `slab`s for small sizes, over one best-fit `heap` for all sizes and streams
//!   (`central`, under one short lock).
//! * `pages` of 2 MiB, mapped when they are needed and unmapped for use elsewhere when the
//!   limit is reached (`mapper`, `vmm`): defragmentation without copying. On devices without
//!   virtual memory management, chunks.
//! * `ladder`: what is tried before a request is refused.
//!
//! A free makes no driver call, but where a lowered limit makes it give something back or it is the
//! pool's last: it is *stamped* with its stream and the open batch of that
//! stream's `clock`. The stream itself may use the memory again at once; others when the
//! batch is complete, for which one event is recorded when somebody asks.

mod aligned;
mod allocator;
mod behind;
pub(crate) mod cache;
mod carry;
mod central;
pub(crate) mod charge;
mod chunks;
pub(crate) mod classes;
pub(crate) mod cold_fields;
mod config;
mod control;
mod counters;
mod deadline;
pub(crate) mod depot;
mod device_limit;
mod device_memory;
pub(crate) mod excess;
mod flow;
mod gauges;
mod graph;
mod handle;
mod handle_sizes;
pub(crate) mod header;
mod heap;
pub mod history;
mod hopeless;
pub(crate) mod keep;
mod ladder;
pub(crate) mod lane;
mod lanes;
pub mod layout;
mod levels;
pub(crate) mod line;
mod lines;
mod local;
pub(crate) mod magazine;
mod map;
mod mapper;
mod mapping;
pub(crate) mod member;
mod membership;
#[cfg(all(test, loom))]
mod models;
mod named;
mod names;
mod neighbours;
mod open_graphs;
mod pages;
mod patience;
mod peak;
mod plan;
mod pool;
mod pressure;
mod put;
mod raw;
mod reap;
mod record;
mod request;
mod rules;
mod seam;
mod settle;
mod shed;
pub(crate) mod signs;
mod slab;
pub(crate) mod stamp;
mod supply;
mod take;
mod teardown;
mod unmap;
mod usage;
mod vmm;
mod wait;
mod waiting;

pub use allocator::{Allocation, Allocator, DriverAllocator, DriverBlock};
pub use config::{PoolConfig, Source};
pub use device_limit::DeviceLimit;
pub use graph::GraphMemory;
pub use handle::{Backing, MemoryPool, NamedUsage, WeakMemoryPool};
pub(crate) use header::Header;
pub use history::Recording;
pub use layout::Layout;
pub(crate) use member::Member;
pub use named::AsBlockName;
pub use names::BlockName;
pub(crate) use pool::Pool;
pub use raw::RawBlock;
pub(crate) use request::Ask;
pub(crate) use seam::Seam;
pub use usage::Usage;
pub use vmm::DriverCalls;

#[cfg(all(test, not(loom)))]
mod tests;
