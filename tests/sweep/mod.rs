//! The scenarios of the k-th-call sweep.

mod executor;
pub(crate) mod graphs;
pub(crate) mod host;
mod interface;
mod lifecycle;
pub(crate) mod memory;
mod occupancy;
mod peer_imports;
mod peers;
mod sharing;
mod tensor_maps;
mod tensors;
mod work;

pub(crate) use executor::{executor, profile};
pub(crate) use interface::interface;
pub(crate) use lifecycle::lifecycle;
pub(crate) use occupancy::occupancy;
pub(crate) use peer_imports::{imported, imported_copies, semaphores};
pub(crate) use peers::{access, copies, opened};
pub(crate) use sharing::sharing;
pub(crate) use tensor_maps::tensor_maps;
pub(crate) use tensors::tensors;
pub(crate) use work::{by_thread, work};
