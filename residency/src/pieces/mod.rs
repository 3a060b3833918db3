//! Pieces of memory: how slots are cut into them, and those that no slot has.

mod layout;
mod stock;

pub(crate) use layout::Layout;
pub(crate) use stock::Stock;
