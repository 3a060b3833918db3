//! Limits in bytes, and what a pool does near and beyond them.

pub(crate) mod budget;
pub(crate) mod control;
pub(crate) mod device_limit;
pub(crate) mod levels;
pub(crate) mod over_limit;
pub(crate) mod pressure;
pub(crate) mod release_excess;
