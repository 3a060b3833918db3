//! What a thread keeps of a stream's memory, and what threads hand to each other.

pub(crate) mod counters;
pub(crate) mod magazine;
pub(crate) mod size_class;
pub(crate) mod thread_cache;
pub(crate) mod thread_local;
pub(crate) mod transfer_cache;
