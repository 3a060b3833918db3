//! Kernels: what they say about themselves, how many fit, and their launches.

pub(super) mod function;
pub(super) mod kernel;
pub(super) mod launch;
pub(super) mod occupancy;
pub(super) mod shape;
