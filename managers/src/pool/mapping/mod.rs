//! How pages get memory and lose it: the page heap, the limits and the driver, composed.

pub(crate) mod apply_plan;
pub(crate) mod chunks;
pub(crate) mod map;
pub(crate) mod physical;
pub(crate) mod reclaim;
