//! The caches of threads, and the transfer caches through which threads hand memory to each other.

pub(crate) mod counters;
pub(crate) mod magazine;
pub(crate) mod size_class;
pub(crate) mod thread_cache;
pub(crate) mod thread_caches;
pub(crate) mod thread_local;
pub(crate) mod transfer_cache;
