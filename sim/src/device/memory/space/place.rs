//! What an address belongs to.

use std::sync::Arc;

use crate::device::memory::block::{Block, HostRange};
use crate::device::memory::mapped::View;

/// What an address belongs to.
#[derive(Clone, Debug)]
pub(in crate::device) enum Place {
    Device(Arc<Block>),
    Pinned(Arc<HostRange>),
    /// Physical memory at reserved addresses.
    Mapped(View),
}

impl Place {
    /// Whether `len` bytes from `address` lie within.
    pub(in crate::device) fn holds(&self, address: u64, len: u64) -> bool {
        match self {
            Self::Device(block) => block.holds(address, len),
            Self::Pinned(range) => range.holds(address, len),
            Self::Mapped(view) => view.holds(address, len),
        }
    }

    /// Host address of the byte at `address`, which must lie within.
    pub(in crate::device) fn host(&self, address: u64) -> *mut u8 {
        match self {
            Self::Device(block) => block.host(address),
            Self::Pinned(range) => range.host(address),
            Self::Mapped(view) => view.host(address),
        }
    }

    /// Ordinal of the device that it was made on.
    pub(in crate::device) fn device(&self) -> usize {
        match self {
            Self::Device(block) => block.device,
            Self::Pinned(range) => range.device,
            Self::Mapped(view) => view.device,
        }
    }
}
