//! Memory: loads and stores, atomic operations, fences, and moves between registers and spaces.

pub(super) mod atom;
pub(super) mod hint;
pub(super) mod load_store;
pub(super) mod moves;
