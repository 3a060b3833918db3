//! Limits in bytes, and the behaviour of a pool near and beyond them. Budgets and levels are
//! components; `control`, `pressure` and `release_excess` are the pool's.

pub(crate) mod budget;
pub(crate) mod control;
pub(crate) mod device_limit;
pub(crate) mod levels;
pub(crate) mod limit_budget;
pub(crate) mod over_limit;
pub(crate) mod pressure;
pub(crate) mod release_excess;
pub(crate) mod shared_budget;

#[cfg(all(test, not(loom)))]
mod tests;
