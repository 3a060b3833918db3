//! `MemoryPool`: device memory under a hard limit, from a pool that is lock-free where it is
//! hit, ordered on streams, and tight.
//!
//! Rooms of components, which know no pool and can be tested without one:
//!
//! * `cache`: a thread's magazines for one stream. A hit costs no driver call, no lock and no
//!   atomic read-modify-write. Transfer caches carry full magazines from threads that free to
//!   threads that allocate.
//! * `heap`: one best-fit heap for all sizes and streams, slabs over it for small sizes, and the
//!   headers of blocks, under one short lock (`Central`).
//! * `pages`: which pages of 2 MiB have memory, what a plan changes, and the driver's calls
//!   (`Vmm`).
//! * `streams`: a stream's place in the pool, and the stamps of freed memory.
//!
//! Rooms that compose, in which most files are `impl Pool`:
//!
//! * `alloc`: the way of a request, and of a free. Its slow path has the steps that are tried
//!   before a request is refused.
//! * `mapping`: pages get memory when they are needed, and lose it for use elsewhere when the limit
//!   is reached: defragmentation without copying. On devices without virtual memory management,
//!   chunks.
//! * `limit`: budgets and levels, which are components, and how a pool keeps a lowered limit.
//! * `lifetime`: the end of streams, of a pool whose blocks are still out, and of the pool.
//! * `inspect`: figures, history, layout, and the hooks of a driver that checks programs.
//!
//! `state.rs` holds the components (`Pool`), and the other files here are the public face. Rooms of
//! components import each other's types; of a composing room they import only plain values (`Wait`)
//! and components (`History`), and never `Pool`. Composing rooms import all of them.
//!
//! A free makes no driver call, but where a lowered limit makes it give something back or it is the
//! pool's last: it is *stamped* with its stream and the open batch of that stream's `Timeline`. The
//! stream itself may use the memory again at once; others when the batch is complete, for which one
//! event is recorded when a request asks.

mod aligned;
pub(crate) mod alloc;
mod allocator;
pub(crate) mod cache;
mod config;
mod deadline;
mod graph_memory;
pub(crate) mod heap;
pub(crate) mod inspect;
pub(crate) mod lifetime;
pub(crate) mod limit;
mod limit_use;
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

#[doc(hidden)]
pub use alloc::reclaim_step::ReclaimStep;
pub use allocator::{Allocation, Allocator, DriverAllocator, DriverBlock};
pub use config::{Arenas, PoolConfig, Source};
pub(crate) use graph_memory::GraphArena;
pub use graph_memory::GraphMemory;
pub(crate) use heap::block_header::BlockHeader;
pub use heap::block_name::BlockName;
pub use inspect::history::Recording;
pub use inspect::layout::Layout;
pub(crate) use inspect::region_hooks::RegionHooks;
pub use inspect::usage::Usage;
pub use limit::device_limit::DeviceLimit;
pub(crate) use limit::limit_budget::LimitCharge;
pub use limit::shared_budget::SharedBudget;
pub(crate) use member::Member;
pub use memory_pool::{Backing, MemoryPool, NamedUsage, WeakMemoryPool};
pub use named::AsBlockName;
pub use pages::vmm::DriverCalls;
pub(crate) use pages::vmm::{Calls as VmmCalls, MemoryHandle, Vmm, is_out_of_memory};
pub use raw_block::RawBlock;
pub(crate) use request::AllocRequest;
pub(crate) use state::Pool;

#[cfg(all(test, not(loom)))]
mod tests;

pub use inspect::{history, layout};

/// A history of the page heap, for the fuzz target `page_heap`.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn replay_page_heap(steps: impl IntoIterator<Item = [u8; 3]>) {
    heap::central::plans::replay::replay(steps);
}
