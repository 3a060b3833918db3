//! Device memory, pinned host memory, and their accounts.
//!
//! A device address is not a host address: device memory lies in a range of its own, and
//! every access goes through the table of live allocations in [`space`].

mod account;
mod block;
mod space;
mod transfer;

pub(super) use account::{Account, PoolLimits};
pub(super) use block::Block;
pub(super) use space::{GRANULE, Owner, Place, Space};
pub(super) use transfer::{Copy, Fill, Pointer, Side};
