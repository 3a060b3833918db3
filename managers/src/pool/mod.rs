//! `MemoryPool`: device memory under a hard limit, from a pool that is lock-free where it is
//! hit, ordered on streams, and tight.
//!
//! The layers, from the top:
//!
//! * `cache`: what one thread keeps of one stream's memory in magazines. A hit costs no driver
//!   call, no lock and no atomic read-modify-write.
//! * `transfer cache`: full magazines on their way from threads that free to threads that allocate.
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
pub(crate) mod alloc;
mod allocator;
pub(crate) mod cache;
mod config;
mod counters;
mod deadline;
mod graph_memory;
pub(crate) mod heap;
pub(crate) mod inspect;
pub(crate) mod lifetime;
pub(crate) mod limit;
pub(crate) mod mapping;
pub(crate) mod member;
mod membership;
mod memory_pool;
mod named;
pub(crate) mod pages;
mod raw_block;
mod request;
mod state;
pub(crate) mod streams;

pub use allocator::{Allocation, Allocator, DriverAllocator, DriverBlock};
pub use config::{PoolConfig, Source};
pub use graph_memory::GraphMemory;
pub(crate) use heap::block_header::BlockHeader;
pub use heap::block_name::BlockName;
pub use inspect::history::Recording;
pub use inspect::layout::Layout;
pub(crate) use inspect::region_hooks::RegionHooks;
pub use inspect::usage::Usage;
pub use limit::device_limit::DeviceLimit;
pub(crate) use member::Member;
pub use memory_pool::{Backing, MemoryPool, NamedUsage, WeakMemoryPool};
pub use named::AsBlockName;
pub use pages::vmm::DriverCalls;
pub use raw_block::RawBlock;
pub(crate) use request::AllocRequest;
pub(crate) use state::Pool;

#[cfg(all(test, not(loom)))]
mod tests;

pub use inspect::{history, layout};
