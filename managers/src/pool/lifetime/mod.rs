//! The end of streams and of the pool.

pub(crate) mod orphan;
pub(crate) mod retire;
pub(crate) mod teardown;
