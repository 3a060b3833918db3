//! Virtual memory management: reserved addresses, physical allocations, and what is mapped
//! where. It belongs to the machine, not to a context.

mod permissions;
mod places;
mod reservation;
mod runs;
mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::memory::access::Access;
use crate::device::memory::pages::{Heap, Pages};
use crate::device::strict::Here;
use crate::device::sync::{read, write};
use permissions::Permissions;
use reservation::Reservation;
use runs::Runs;
use table::{Mapping, Physical, Reserved, Table};

pub(in crate::device) use reservation::View;

/// Sizes and addresses are multiples of this, as on an H200.
pub(in crate::device) const PAGE: u64 = 2 << 20;

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Memory that nothing refers to any more: its device's account gets it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::device) struct Freed {
    pub(in crate::device) device: usize,
    pub(in crate::device) bytes: u64,
}

/// A mapping that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Unmapped {
    pub(in crate::device) base: u64,
    pub(in crate::device) len: u64,
    pub(in crate::device) id: u64,
    /// The call that mapped it.
    pub(in crate::device) made: Here,
}

/// What [`Virtual::physical`] tells.
#[derive(Clone, Debug)]
pub(in crate::device) struct Described {
    pub(in crate::device) device: usize,
    pub(in crate::device) exportable: bool,
    pub(in crate::device) pages: Arc<Pages>,
}

/// What [`Virtual::find_mapping`] tells.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Mapped {
    /// The mapping.
    pub(in crate::device) base: u64,
    pub(in crate::device) len: u64,
    pub(in crate::device) id: u64,
    /// The device that the memory is on.
    pub(in crate::device) device: usize,
    /// Whether the memory can be given to other processes.
    pub(in crate::device) exportable: bool,
    /// The reservation.
    pub(in crate::device) reserved: (u64, u64),
}

/// How much of it all there is.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::device) struct Totals {
    pub(in crate::device) reservations: usize,
    pub(in crate::device) physical: usize,
    pub(in crate::device) bytes: u64,
}

/// Reservations, physical memory and mappings of a machine.
#[derive(Debug, Default)]
pub(in crate::device) struct Virtual {
    table: RwLock<Table>,
    heap: Arc<Heap>,
}

/// The end of a range of whole pages.
fn end_of(address: u64, len: u64) -> Reply<u64> {
    let good = len > 0 && address.is_multiple_of(PAGE) && len.is_multiple_of(PAGE);
    address.checked_add(len).filter(|_| good).ok_or(BAD)
}

impl Virtual {
    /// Reserves addresses, at `wanted` if that is free. `align` is 0 or a power of two.
    pub(in crate::device) fn reserve(&self, len: u64, align: u64, wanted: u64) -> Reply<u64> {
        let whole = len > 0 && len.is_multiple_of(PAGE) && wanted.is_multiple_of(PAGE);
        if !whole || align != 0 && !align.is_power_of_two() {
            return Err(BAD);
        }
        let mut table = write(&self.table);
        let base = table.place(len, align.max(PAGE), wanted).ok_or(MEMORY)?;
        let reservation = Reservation::new(base, len).ok_or(MEMORY)?;
        table.reserved.insert(
            base,
            Reserved {
                reservation: Arc::new(reservation),
                mappings: BTreeMap::new(),
                permissions: Runs::default(),
            },
        );
        Ok(base)
    }

    /// Ends a reservation in which nothing is mapped.
    pub(in crate::device) fn unreserve(&self, base: u64, len: u64) -> Reply {
        let mut table = write(&self.table);
        let reserved = table.reserved.get(&base).ok_or(BAD)?;
        if reserved.reservation.len != len || !reserved.mappings.is_empty() {
            return Err(BAD);
        }
        table.reserved.remove(&base);
        Ok(())
    }

    /// Makes physical memory under a handle of the caller's choice, held once. With a
    /// name it can be given to other processes. The caller has charged the account.
    pub(in crate::device) fn create(
        &self,
        handle: u64,
        device: usize,
        len: u64,
        shared: Option<&str>,
    ) -> Reply {
        let pages = match shared {
            Some(name) => Pages::shared(len, name),
            None => self.heap.allocate(len),
        };
        self.insert(handle, device, pages.ok_or(MEMORY)?, true);
        Ok(())
    }

    /// Makes a handle of memory that another process made.
    #[cfg(target_os = "linux")]
    pub(in crate::device) fn import(&self, handle: u64, device: usize, pages: Pages) {
        self.insert(handle, device, pages, false);
    }

    fn insert(&self, handle: u64, device: usize, pages: Pages, charged: bool) {
        let physical = Physical {
            device,
            pages: Arc::new(pages),
            handles: 1,
            mappings: 0,
            charged,
            made: Here::now(),
        };
        write(&self.table).physical.insert(handle, physical);
    }

    /// What a handle is of.
    pub(in crate::device) fn physical(&self, handle: u64) -> Reply<Described> {
        let table = read(&self.table);
        let physical = table.held(handle)?;
        Ok(Described {
            device: physical.device,
            exportable: physical.is_exportable(),
            pages: Arc::clone(&physical.pages),
        })
    }

    /// Lets go of a handle once. Memory that is mapped stays until it is unmapped.
    pub(in crate::device) fn release(&self, handle: u64) -> Reply<Option<Freed>> {
        let mut table = write(&self.table);
        table.held(handle)?;
        Ok(table.drop_reference(handle, |physical| &mut physical.handles))
    }

    /// Holds the handle of the memory at an address once more.
    pub(in crate::device) fn retain(&self, address: u64) -> Reply<u64> {
        let mut table = write(&self.table);
        let (_, mapping) = table.mapping(address).ok_or(BAD)?;
        let physical = table.physical.get_mut(&mapping.handle).ok_or(BAD)?;
        physical.handles += 1;
        Ok(mapping.handle)
    }

    /// Maps a handle's memory, without access for any device. `id` is unique in the machine.
    pub(in crate::device) fn map(&self, address: u64, len: u64, handle: u64, id: u64) -> Reply {
        let mut table = write(&self.table);
        let physical = table.held(handle)?;
        // In this order, as an H200 answers. Parts of an allocation cannot be mapped.
        if !address.is_multiple_of(PAGE) {
            return Err(BAD);
        }
        if len != physical.pages.len() {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let pages = Arc::clone(&physical.pages);
        let reserved = table.reserved_mut(address, len).ok_or(BAD)?;
        let end = address + len;
        let taken = reserved.mapping(address).is_some()
            || reserved.mappings.range(address..end).next().is_some();
        if taken {
            return Err(BAD);
        }
        if !reserved.reservation.show(address, &pages) {
            return Err(MEMORY);
        }
        let made = Here::now();
        let mapping = Mapping {
            len,
            handle,
            id,
            made,
        };
        reserved.mappings.insert(address, mapping);
        reserved
            .permissions
            .set(address, end, Permissions::default());
        if let Some(physical) = table.physical.get_mut(&handle) {
            physical.mappings += 1;
        }
        Ok(())
    }

    /// Unmaps whole mappings; where nothing is mapped, nothing happens, as on an H200.
    /// Gives the memory that nothing refers to any more, and what was mapped.
    pub(in crate::device) fn unmap(
        &self,
        address: u64,
        len: u64,
    ) -> Reply<(Vec<Freed>, Vec<Unmapped>)> {
        let end = end_of(address, len)?;
        let mut table = write(&self.table);
        let reserved = table.reserved_mut(address, len).ok_or(BAD)?;
        let mappings = reserved.whole(address, end)?;
        reserved.permissions.clear(address, end);
        for (start, _) in &mappings {
            reserved.mappings.remove(start);
        }
        let reservation = Arc::clone(&reserved.reservation);
        let mut freed = Vec::new();
        let gone = mappings.iter().map(|&(base, mapping)| Unmapped {
            base,
            len: mapping.len,
            id: mapping.id,
            made: mapping.made,
        });
        let gone = gone.collect();
        for (start, mapping) in mappings {
            if let Some(physical) = table.physical.get(&mapping.handle) {
                reservation.hide(start, Arc::clone(&physical.pages));
            }
            freed.extend(table.drop_reference(mapping.handle, |physical| &mut physical.mappings));
        }
        Ok((freed, gone))
    }

    /// Says what devices may do with a range, which is mapped without a gap and has no
    /// part of a mapping.
    pub(in crate::device) fn set_access(
        &self,
        address: u64,
        len: u64,
        access: &[(usize, Access)],
    ) -> Reply {
        let end = end_of(address, len)?;
        let mut table = write(&self.table);
        let reserved = table.reserved_mut(address, len).ok_or(BAD)?;
        reserved.whole(address, end)?;
        reserved.permissions.across(address, end).ok_or(BAD)?;
        let mut at = address;
        while let Some(run) = reserved.permissions.at(at).filter(|run| run.start < end) {
            let permissions = access
                .iter()
                .fold(run.permissions, |permissions, &(device, access)| {
                    permissions.with(device, access)
                });
            let stop = run.end.min(end);
            reserved.permissions.set(at, stop, permissions);
            at = stop;
            if at >= end {
                break;
            }
        }
        Ok(())
    }

    /// What a device may do at an address.
    pub(in crate::device) fn access(&self, address: u64, device: usize) -> Reply<Access> {
        let table = read(&self.table);
        let reserved = table.reserved(address).ok_or(BAD)?;
        let run = reserved.permissions.at(address).ok_or(BAD)?;
        Ok(run.permissions.of(device))
    }

    /// The mapped memory around a range, with the permissions that hold in all of the range.
    pub(in crate::device) fn find(&self, address: u64, len: u64) -> Option<View> {
        let table = read(&self.table);
        let reserved = table.reserved(address)?;
        let run = reserved
            .permissions
            .across(address, address.checked_add(len)?)?;
        let (_, mapping) = reserved.mapping(address)?;
        let device = table.physical.get(&mapping.handle)?.device;
        Some(View::new(&reserved.reservation, run, (device, mapping)))
    }

    /// The mapping that an address is in.
    pub(in crate::device) fn find_mapping(&self, address: u64) -> Option<Mapped> {
        let table = read(&self.table);
        let reserved = table.reserved(address)?;
        let (base, mapping) = reserved.mapping(address)?;
        let physical = table.physical.get(&mapping.handle)?;
        Some(Mapped {
            base,
            len: mapping.len,
            id: mapping.id,
            device: physical.device,
            exportable: physical.is_exportable(),
            reserved: (reserved.reservation.base, reserved.reservation.len),
        })
    }

    /// Why a range cannot be accessed: at all, or so by `who`. `None` if it can, or has
    /// nothing to do with reservations.
    pub(in crate::device) fn why_not(
        &self,
        address: u64,
        len: u64,
        who: Option<(usize, Access)>,
    ) -> Option<String> {
        let table = read(&self.table);
        let reserved = table.reserved(address)?;
        let (base, size) = (reserved.reservation.base, reserved.reservation.len);
        let of = format!("in the reservation of {size} bytes at 0x{base:x}");
        let end = address.saturating_add(len);
        let mut at = address;
        while at < end {
            if at >= reserved.reservation.end() {
                return Some(format!("0x{at:x} is behind the last byte {of}"));
            }
            let Some(run) = reserved.permissions.at(at) else {
                return Some(format!("no memory is mapped at 0x{at:x} {of}"));
            };
            if let Some((device, wanted)) = who
                && run.permissions.of(device) < wanted
            {
                let how = if run.permissions.of(device) == Access::Read {
                    "may only read"
                } else {
                    "has no access to"
                };
                return Some(format!(
                    "device {device} {how} the memory mapped at 0x{at:x} {of}"
                ));
            }
            at = run.end;
        }
        None
    }

    /// The reservations that the program has not freed: address, length, and who made it.
    pub(in crate::device) fn reservations(&self) -> Vec<(u64, u64, Here)> {
        let table = read(&self.table);
        let each = table
            .reserved
            .values()
            .map(|reserved| &reserved.reservation);
        each.map(|at| (at.base, at.len, at.made)).collect()
    }

    /// The physical memory whose handle the program holds: its length, and who made it.
    pub(in crate::device) fn handles(&self) -> Vec<(u64, Here)> {
        let table = read(&self.table);
        let held = table.physical.values().filter(|one| one.handles > 0);
        held.map(|one| (one.pages.len(), one.made)).collect()
    }

    pub(in crate::device) fn totals(&self) -> Totals {
        let table = read(&self.table);
        let bytes = |physical: &Physical| physical.pages.len();
        Totals {
            reservations: table.reserved.len(),
            physical: table.physical.len(),
            bytes: table.physical.values().map(bytes).sum(),
        }
    }
}
