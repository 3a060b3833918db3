//! The scenarios of the k-th-call sweep.

mod executor;
pub(crate) mod graphs;
mod interface;
mod lifecycle;
pub(crate) mod memory;
mod occupancy;
mod work;

pub(crate) use executor::{executor, profile};
pub(crate) use interface::interface;
pub(crate) use lifecycle::lifecycle;
pub(crate) use occupancy::occupancy;
pub(crate) use work::{by_thread, work};
