//! Why there is no memory at an address: what was missed, by how much, or what was there.

use crate::device::memory::{Access, AccessRequest, Around, Block, HostRange, Place, Space};
use crate::device::strict::Monitor;
use crate::device::strict::finding::{Allocation, Finding, FindingKind, Memory};
use crate::device::strict::options::Strict;
use crate::device::strict::site::Here;
use crate::device::sync::lock;

/// How far from page-locked or managed memory an address still is taken for a miss of it: what lies
/// around it is the program's own.
const NEAR_HOST: u64 = 4096;

/// How far from a device block an address still is taken for a miss of it.
const NEAR_DEVICE: u64 = 1 << 30;

/// Addresses below this are null pointers with an offset.
const NULL_END: u64 = 1 << 16;

impl Block {
    pub(in crate::device) fn allocation(&self) -> Allocation {
        let memory = match (self.module, self.pool) {
            (true, _) => Memory::Variable,
            (false, Some(_)) => Memory::Pool,
            (false, None) if self.managed.is_some() => Memory::Managed,
            (false, None) => Memory::Device,
        };
        Allocation {
            base: self.address,
            size: self.len,
            memory,
            name: self.name().map(ToOwned::to_owned),
            allocated: self.made.site(),
            freed: None,
        }
    }
}

impl HostRange {
    pub(in crate::device) fn allocation(&self) -> Allocation {
        let memory = if self.is_allocated() {
            Memory::PageLocked
        } else {
            Memory::Registered
        };
        Allocation {
            base: self.address,
            size: self.len,
            memory,
            name: None,
            allocated: self.made.site(),
            freed: None,
        }
    }
}

impl Place {
    /// The first address and the length.
    pub(in crate::device::strict) fn span(&self) -> (u64, u64) {
        match self {
            Self::Device(block) => (block.address, block.len),
            Self::Pinned(range) => (range.address, range.len),
            Self::Mapped(view) => (view.base, view.len),
        }
    }

    /// Unique in the machine.
    pub(in crate::device::strict) fn id(&self) -> u64 {
        match self {
            Self::Device(block) => block.id,
            Self::Pinned(range) => range.id,
            Self::Mapped(view) => view.id,
        }
    }

    pub(in crate::device::strict) fn allocation(&self) -> Allocation {
        match self {
            Self::Device(block) => block.allocation(),
            Self::Pinned(range) => range.allocation(),
            Self::Mapped(view) => Allocation {
                base: view.base,
                size: view.len,
                memory: Memory::Mapped,
                name: None,
                allocated: view.made.site(),
                freed: None,
            },
        }
    }

    fn near(&self) -> u64 {
        match self {
            Self::Device(block) if block.managed.is_some() => NEAR_HOST,
            Self::Device(_) | Self::Mapped(_) => NEAR_DEVICE,
            Self::Pinned(_) => NEAR_HOST,
        }
    }
}

/// An access that an allocation does not hold, or not for that.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Miss<'a> {
    /// `read`, `write`, `copy to device memory`.
    pub(in crate::device) what: &'a str,
    pub(in crate::device) address: u64,
    pub(in crate::device) bytes: u64,
    pub(in crate::device) wanted: Access,
    /// Ordinal of the device that accesses; `None` if it is the memory's own.
    pub(in crate::device) device: Option<usize>,
}

impl<'a> Miss<'a> {
    /// By something that found no memory.
    pub(in crate::device) fn of(what: &'a str, address: u64, bytes: u64) -> Self {
        Self {
            what,
            address,
            bytes,
            wanted: Access::Read,
            device: None,
        }
    }

    /// By an operation that may not do what it wants.
    pub(in crate::device) fn request(
        request: &AccessRequest<'a>,
        address: u64,
        bytes: u64,
    ) -> Self {
        Self {
            wanted: request.access,
            device: request.accessor.map(|accessor| accessor.device()),
            ..Self::of(request.what, address, bytes)
        }
    }
}

impl Monitor {
    /// A call or an operation named memory that is not there.
    pub(in crate::device) fn missed(&self, space: &Space, miss: Miss<'_>) {
        if self.wants(Strict::ACCESSES) {
            let finding = self.explain(space, miss);
            self.report(Finding {
                call: Some(Here::now().site()),
                ..finding
            });
        }
    }

    /// What an access missed.
    pub(in crate::device::strict) fn explain(&self, space: &Space, miss: Miss<'_>) -> Finding {
        let (kind, how, allocation) = self.reason(space, miss);
        let (what, bytes, address) = (miss.what, miss.bytes, miss.address);
        Finding {
            address: Some(address),
            bytes: Some(bytes),
            allocation,
            ..Finding::new(
                kind,
                format!("{what} of {bytes} bytes at 0x{address:x}: {how}"),
            )
        }
    }

    fn reason(&self, space: &Space, miss: Miss<'_>) -> (FindingKind, String, Option<Allocation>) {
        use FindingKind as K;
        let Miss { address, bytes, .. } = miss;
        let end = address.saturating_add(bytes);
        if let Some(why) = space.mapped().why_not(address, bytes, None) {
            let history = lock(&self.history);
            return match history.find(address) {
                Some((_, freed)) => {
                    let how = format!("{} bytes into unmapped memory", address - freed.base);
                    (K::UseAfterFree, how, Some(freed.clone()))
                }
                None => (K::UnmappedAccess, why, None),
            };
        }
        if let Some(heap) = space.heap(address) {
            let (kind, how) = match heap.around(address) {
                Around::Inside { base, len } if end - base > len => {
                    let past = end - base - len;
                    let how = format!("it ends {past} bytes past the end of {len} bytes of malloc");
                    (K::OutOfBounds, how)
                }
                Around::Inside { .. } => {
                    let how = "only kernels of its context reach what malloc gave";
                    (K::UnmappedAccess, how.into())
                }
                Around::Freed { base } => {
                    let how = format!("{} bytes into what a kernel has freed", address - base);
                    (K::UseAfterFree, how)
                }
                Around::After { base, len } => {
                    let past = address - base - len;
                    let how = format!("{past} bytes past the end of {len} bytes of malloc");
                    (K::OutOfBounds, how)
                }
                Around::Nothing => (K::UnmappedAccess, "malloc has not given it".into()),
            };
            return (kind, how, None);
        }
        if let Some(place) = space.find(address) {
            let (base, len) = place.span();
            let allocation = Some(place.allocation());
            if end - base > len {
                let how = format!("it ends {} bytes past the end", end - base - len);
                return (K::OutOfBounds, how, allocation);
            }
            let writes = miss.wanted == Access::Write;
            match &place {
                Place::Device(block) if block.constant && writes => {
                    let how = "kernels cannot write it".into();
                    return (K::ReadOnlyWrite, how, allocation);
                }
                Place::Pinned(range) if writes && !range.is_writable() => {
                    let how = "it is registered for reading alone".into();
                    return (K::ReadOnlyWrite, how, allocation);
                }
                Place::Mapped(view) => {
                    let device = miss.device.unwrap_or(view.device);
                    let (kind, how) = match view.access(device) {
                        Access::Read if writes => (K::ReadOnlyWrite, "may only read it"),
                        _ => (K::UnmappedAccess, "has no access to the mapping"),
                    };
                    return (kind, format!("device {device} {how}"), allocation);
                }
                _ => {}
            }
            let how = "the memory is of another context or device".into();
            return (K::ForeignContext, how, allocation);
        }
        if let Some((_, freed)) = lock(&self.history).find(address) {
            let how = format!("{} bytes into freed memory", address - freed.base);
            return (K::UseAfterFree, how, Some(freed.clone()));
        }
        let distance = |place: &Place| {
            let (base, len) = place.span();
            if address < base {
                base - address
            } else {
                (address - base).saturating_sub(len)
            }
        };
        let around = space.around(address);
        let near = around
            .iter()
            .filter(|place| distance(place) <= place.near())
            .min_by_key(|place| distance(place));
        if address < NULL_END {
            return (
                K::UnmappedAccess,
                "a null pointer and an offset".into(),
                None,
            );
        }
        let Some(place) = near else {
            let how = if Space::is_device_address(address) {
                "no allocation is near"
            } else {
                "no device memory, and no host memory that is page-locked"
            };
            return (K::UnmappedAccess, how.into(), None);
        };
        let side = if address < place.span().0 {
            "before the start"
        } else {
            "past the end"
        };
        let how = format!("{} bytes {side}", distance(place));
        (K::OutOfBounds, how, Some(place.allocation()))
    }
}
