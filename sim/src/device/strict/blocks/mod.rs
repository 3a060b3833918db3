//! Blocks that an allocator of the program cuts out of the driver's memory.

pub(super) mod bounds;
pub(super) mod extent;
pub(super) mod regions;
pub(super) mod search;
