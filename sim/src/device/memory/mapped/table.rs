//! The table of reservations, mappings and physical memory, under the lock of [`Virtual`].
//!
//! [`Virtual`]: crate::device::memory::mapped::Virtual

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::device::calls::args::Reply;
use crate::device::memory::mapped::reservation::Reservation;
use crate::device::memory::mapped::runs::Runs;
use crate::device::memory::mapped::{BAD, Freed};
use crate::device::memory::pages::Pages;
use crate::device::strict::Here;

/// What `cuMemCreate` makes. It lives while it has handles or mappings.
#[derive(Debug)]
pub(super) struct Physical {
    pub(super) device: usize,
    pub(super) pages: Arc<Pages>,
    /// How often the program holds the handle.
    pub(super) handles: u64,
    pub(super) mappings: u64,
    /// Whether the account of the device was charged. Memory of other processes is not.
    pub(super) charged: bool,
    /// The call that made it.
    pub(super) made: Here,
}

impl Physical {
    /// Whether it can be given to other processes. What came from one cannot.
    pub(super) fn is_exportable(&self) -> bool {
        self.charged && self.pages.is_shared()
    }
}

/// Physical memory at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) len: u64,
    /// Handle of the physical memory.
    pub(super) handle: u64,
    /// Unique in the machine.
    pub(super) id: u64,
    /// The call that mapped it.
    pub(super) made: Here,
}

#[derive(Debug)]
pub(super) struct Reserved {
    pub(super) reservation: Arc<Reservation>,
    pub(super) mappings: BTreeMap<u64, Mapping>,
    /// What of it is mapped, and who may access that.
    pub(super) permissions: Runs,
}

impl Reserved {
    /// The mapping that `address` is in, and its first address.
    pub(super) fn mapping(&self, address: u64) -> Option<(u64, Mapping)> {
        let (&start, &mapping) = self.mappings.range(..=address).next_back()?;
        (address - start < mapping.len).then_some((start, mapping))
    }

    /// The mappings that overlap a range, whole ones only.
    ///
    /// # Errors
    /// One of them lies partly outside.
    pub(super) fn whole(&self, start: u64, end: u64) -> Reply<Vec<(u64, Mapping)>> {
        let cut = |at: u64| self.mapping(at).is_some_and(|(first, _)| first < at);
        if cut(start) || cut(end) {
            return Err(BAD);
        }
        let range = self.mappings.range(start..end);
        Ok(range.map(|(&start, &mapping)| (start, mapping)).collect())
    }
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) reserved: BTreeMap<u64, Reserved>,
    /// By handle.
    pub(super) physical: HashMap<u64, Physical>,
    /// Where the next reservation is looked for.
    pub(super) cursor: u64,
}

impl Table {
    pub(super) fn reserved(&self, address: u64) -> Option<&Reserved> {
        let (_, reserved) = self.reserved.range(..=address).next_back()?;
        reserved.reservation.holds(address, 1).then_some(reserved)
    }

    /// The reservation that holds a whole range.
    pub(super) fn reserved_mut(&mut self, address: u64, len: u64) -> Option<&mut Reserved> {
        let (_, reserved) = self.reserved.range_mut(..=address).next_back()?;
        reserved.reservation.holds(address, len).then_some(reserved)
    }

    pub(super) fn mapping(&self, address: u64) -> Option<(u64, Mapping)> {
        self.reserved(address)?.mapping(address)
    }

    /// Physical memory of a handle that the program holds.
    pub(super) fn held(&self, handle: u64) -> Reply<&Physical> {
        let physical = self.physical.get(&handle);
        physical.filter(|physical| physical.handles > 0).ok_or(BAD)
    }

    /// Takes one reference of a kind away; with the last one of all kinds the memory goes.
    pub(super) fn drop_reference(
        &mut self,
        handle: u64,
        kind: impl FnOnce(&mut Physical) -> &mut u64,
    ) -> Option<Freed> {
        let physical = self.physical.get_mut(&handle)?;
        let count = kind(physical);
        *count = count.saturating_sub(1);
        if physical.handles > 0 || physical.mappings > 0 {
            return None;
        }
        let physical = self.physical.remove(&handle)?;
        Some(Freed {
            device: physical.device,
            bytes: if physical.charged {
                physical.pages.len()
            } else {
                0
            },
        })
    }
}
