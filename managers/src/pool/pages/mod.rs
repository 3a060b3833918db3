//! Pages of virtual memory: which have physical memory, and how a plan changes that.

mod apply_plan;
pub(crate) mod chunk_list;
pub(crate) mod device_memory;
pub(crate) mod handle_cache;
pub(crate) mod handle_size;
pub(crate) mod map_plan;
pub(crate) mod mapper;
pub(crate) mod mapper_guard;
pub(crate) mod page_mapper;
pub(crate) mod page_table;
mod physical;
pub(crate) mod search;
pub(crate) mod vmm;
