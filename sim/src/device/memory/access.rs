//! Which context may access what.

use std::collections::BTreeSet;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device::contexts::health::Health;
use crate::device::machine::Device;
use crate::device::memory::space::Place;
use crate::device::sync::{read, write};

/// What may be done with memory; a larger one includes the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::device) enum Access {
    None,
    Read,
    Write,
}

/// The contexts whose memory a context may access: those that it named in
/// `cuCtxEnablePeerAccess`.
#[derive(Debug, Default)]
pub(in crate::device) struct Peers(RwLock<BTreeSet<u64>>);

impl Peers {
    /// False if it was there already.
    pub(in crate::device) fn add(&self, context: u64) -> bool {
        write(&self.0).insert(context)
    }

    /// False if it was not there.
    pub(in crate::device) fn remove(&self, context: u64) -> bool {
        write(&self.0).remove(&context)
    }

    fn has(&self, context: u64) -> bool {
        read(&self.0).contains(&context)
    }
}

/// What each device may do with a pool's memory: two bits for each.
#[derive(Debug, Default)]
pub(in crate::device) struct PoolAccess(AtomicU32);

impl PoolAccess {
    pub(in crate::device) fn get(&self, device: usize) -> Access {
        match self.0.load(Ordering::Acquire) >> (2 * device) & 3 {
            0 => Access::None,
            1 => Access::Read,
            _ => Access::Write,
        }
    }

    pub(in crate::device) fn set(&self, device: usize, access: Access) {
        let (bits, mask) = ((access as u32) << (2 * device), 3 << (2 * device));
        let change = |old| Some(old & !mask | bits);
        // The change is always made.
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
    }
}

/// A context as the one that accesses memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Accessor<'a> {
    device: usize,
    peers: &'a Peers,
}

impl<'a> Accessor<'a> {
    pub(in crate::device) fn new(device: &Device, health: &'a Health) -> Self {
        Self::of(device.ordinal, &health.peers)
    }

    /// The device's ordinal.
    pub(in crate::device) fn device(&self) -> usize {
        self.device
    }

    /// A context on the device of that ordinal.
    pub(in crate::device) fn of(device: usize, peers: &'a Peers) -> Self {
        Self { device, peers }
    }

    /// What kernels and memsets may do: another device's memory needs peer access, or for
    /// a pool's memory the pool's consent.
    pub(in crate::device) fn access(&self, place: &Place) -> Access {
        let block = match place {
            Place::Device(block) => block,
            Place::Pinned(range) if range.is_writable() => return Access::Write,
            Place::Pinned(_) => return Access::Read,
            Place::Mapped(view) => return view.access(self.device),
        };
        if block.device == self.device || block.managed.is_some() {
            return Access::Write;
        }
        match &block.access {
            Some(pool) => pool.get(self.device),
            None if self.peers.has(block.context) => Access::Write,
            None => Access::None,
        }
    }

    /// What copies may do. Between devices without peer access a driver copies through
    /// the host, but not the memory of pools.
    pub(in crate::device) fn copy_access(&self, place: &Place) -> Access {
        match place {
            Place::Device(block) if block.access.is_some() => self.access(place),
            Place::Mapped(_) | Place::Pinned(_) => self.access(place),
            Place::Device(_) => Access::Write,
        }
    }
}

/// What an operation is about to do with memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct AccessRequest<'a> {
    /// `memset`, `copy to device memory`.
    pub(in crate::device) what: &'a str,
    pub(in crate::device) access: Access,
    /// Who does it; `None` if the memory's own device does, whichever that is.
    pub(in crate::device) accessor: Option<Accessor<'a>>,
    /// Whether a driver may help itself, where the device has no access.
    pub(in crate::device) copies: bool,
}

impl AccessRequest<'_> {
    pub(in crate::device) fn may(&self, place: &Place) -> bool {
        let no_peers = Peers::default();
        let own = || Accessor::of(place.device(), &no_peers);
        let accessor = self.accessor.unwrap_or_else(own);
        let access = match self.copies {
            true => accessor.copy_access(place),
            false => accessor.access(place),
        };
        access >= self.access
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, one device's access to a pool could change another's.
    #[test]
    fn pools_keep_the_access_of_each_device() {
        let pool = PoolAccess::default();
        pool.set(15, Access::Write);
        pool.set(14, Access::Read);
        pool.set(0, Access::Write);
        pool.set(0, Access::Read);
        assert_eq!(pool.get(15), Access::Write);
        assert_eq!(pool.get(14), Access::Read);
        assert_eq!(pool.get(1), Access::None);
        assert_eq!(pool.get(0), Access::Read);
        pool.set(15, Access::None);
        assert_eq!((pool.get(15), pool.get(14)), (Access::None, Access::Read));
    }
}
