//! How pages get memory and lose it: the page heap, the limits and the driver, composed.

mod charges;
pub(crate) mod chunks;
pub(crate) mod map;
pub(crate) mod peers;
pub(crate) mod reclaim;

#[cfg(all(test, not(loom)))]
mod tests;
