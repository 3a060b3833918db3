//! Finding a place for a request, and having its pages mapped.

use crate::error::{Error, Result};
use crate::pool::alloc::reclaim_step::ReclaimStep;
use crate::pool::heap::central::HeapRequest;
use crate::pool::heap::central::plans::{BarePlace, Placed, Planned, Room};
use crate::pool::inspect::counters::Happened;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::mapper::{Found, From, Mapper};
use crate::pool::pages::page_table::PageTable;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::{Vmm, is_out_of_memory};
use crate::pool::state::Pool;

/// Pages from which on the device is asked first whether it has as many.
const MANY: u64 = 32;
/// Pages up to which each has its own handle, wherever the limits are.
const SINGLE: u64 = 4;
/// Most addresses that are reserved at a time.
const MOST_ADDRESSES: u64 = 1 << 44;

impl Pool {
    /// Finds a block, and has its pages mapped. `None` when there is too little memory to be
    /// had from there.
    ///
    /// # Errors
    /// The driver's error, except that it is out of memory; all is as before then, but that unused
    /// pages may be mapped.
    #[track_caller]
    pub(crate) fn find(
        &self,
        mapper: &mut Mapper,
        search: &mut Search,
        want: HeapRequest,
        from: From,
    ) -> Result<Option<Found>> {
        // Pages of a graph's memory stay where they are.
        let from = match self.parent {
            Some(_) => From::Limit,
            None => from,
        };
        let Some(vmm) = self.pages.vmm() else {
            return self.find_in_chunks(mapper, search, want, from);
        };
        let mut is_apart = false;
        loop {
            let place = match self.central.lock().place(want, from) {
                Placed::Ready(found) => return Ok(Some(found)),
                Placed::Bare(place) => Some(place),
                Placed::Nowhere => None,
            };
            match place {
                Some(place) => {
                    let mut mapped = self.map_place(vmm, mapper, search, want, place, from)?;
                    if matches!(mapped, Mapped::Short) && from == From::Idle {
                        let below = place.missing();
                        if !self.left_out.has(ReclaimStep::Cheapest) {
                            mapped = self.map_cheapest(vmm, mapper, search, want, below)?;
                        }
                        let is_first = !std::mem::replace(&mut is_apart, true);
                        if matches!(mapped, Mapped::Short)
                            && is_first
                            && !self.left_out.has(ReclaimStep::LargeHandles)
                            && self.unmap_large(vmm, mapper, search, below)?
                        {
                            continue;
                        }
                    }
                    // Others cannot take it but for its pages that are there, which makes it
                    // dearer: then the search begins anew.
                    match mapped {
                        Mapped::Done(found) => return Ok(Some(found)),
                        Mapped::Lost => {}
                        Mapped::Short => return Ok(None),
                    }
                }
                None => match self.reserve(vmm, want) {
                    Ok(()) => {}
                    refused if is_out_of_memory(&refused) => {
                        // Memory that others have freed may still do.
                        search.full = refused.err();
                        return Ok(None);
                    }
                    refused => refused?,
                },
            }
        }
    }

    /// Reserves addresses for a request that the ones there are too few for.
    #[track_caller]
    fn reserve(&self, vmm: &Vmm, want: HeapRequest) -> Result<()> {
        let least = want
            .bytes
            .checked_add(want.align)
            .and_then(|bytes| bytes.checked_next_multiple_of(self.pages.page()))
            .ok_or_else(|| self.refuse(want.bytes))?;
        // Addresses cost next to nothing, and the more there are the less often a request
        // meets the end of a range.
        let (_, total) = self.pages.free_memory()?;
        let mut bytes = total
            .saturating_mul(8)
            .clamp(self.pages.page(), MOST_ADDRESSES)
            .next_power_of_two()
            .max(least);
        let base = loop {
            match vmm.reserve(bytes) {
                Ok(base) => break base,
                Err(error) if bytes == least || !self.core.is_healthy() => return Err(error),
                Err(_) => bytes = (bytes / 2).max(least).next_multiple_of(self.pages.page()),
            }
        };
        let region = PageTable::new(base, bytes, self.pages.page());
        if self.central.lock().add_region(region).is_err() {
            // SAFETY: reserved above as a whole, with no mapping, and no block has the addresses.
            let _ = unsafe { vmm.unreserve(base, bytes) };
            let problem = "the driver reserved addresses that are reserved already";
            return Err(Error::invalid("memory", problem));
        }
        Ok(())
    }

    /// Where there is too little memory for the best place that a search by size finds: any other
    /// one that misses fewer pages.
    #[cold]
    #[track_caller]
    fn map_cheapest(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        want: HeapRequest,
        below: u64,
    ) -> Result<Mapped> {
        let found = self.central.lock().cheapest_place(want, below);
        match found {
            Some(place) => self.map_place(vmm, mapper, search, want, place, From::Idle),
            None => Ok(Mapped::Short),
        }
    }

    /// Maps the missing pages of a place, and makes it a block.
    #[track_caller]
    fn map_place(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        want: HeapRequest,
        place: BarePlace,
        from: From,
    ) -> Result<Mapped> {
        // A plan that cannot work out must not fill the device up first.
        let (mut device, mut sizes) = (None, None);
        let mut there = mapper.cached();
        if search.full.is_none() {
            let missing = place.missing();
            let used = self.budget.used() / self.pages.page();
            sizes = mapper.known(used);
            if missing >= MANY || (missing > SINGLE && sizes.is_none()) {
                device = Some(self.ask_device(mapper, used)?);
                sizes = device;
            }
            device = device.filter(|_| missing >= MANY);
            let room = self.available_pages_for(missing.saturating_sub(there));
            let left = device.map_or(u64::MAX, |device| device.free);
            search.lacking = left < room;
            there += room.min(left);
        }
        let handles = |needed| {
            sizes.map_or(HandleSizes::default(), |device| {
                self.handle_sizes(needed, device)
            })
        };
        let room = Room::new(there, from);
        let planned =
            (self.central.lock()).begin_mapping(want, place, room, self.pages.page(), handles);
        let mut mapping = match planned {
            Planned::Mapping(mapping) => mapping,
            Planned::Lost => return Ok(Mapped::Lost),
            Planned::Short => return Ok(Mapped::Short),
        };
        let done = self
            .pages
            .apply_plan(self, vmm, mapper, search, mapping.plan());
        let found = {
            let mut central = self.central.lock();
            let mapped = self.budget.used();
            central.note_mapped(mapped, mapped + self.available_pages() * self.pages.page());
            central.finish_mapping(&mapping, done == Ok(true))
        };
        if !done? {
            return Ok(Mapped::Short);
        }
        self.observer.note(Happened::Grown);
        Ok(found.map_or(Mapped::Short, Mapped::Done))
    }

    /// The device's free memory, from the driver.
    #[track_caller]
    fn ask_device(&self, mapper: &mut Mapper, used: u64) -> Result<Device> {
        let (free, total) = self.pages.free_memory()?;
        let device = Device {
            free: free / self.pages.page(),
            total: total / self.pages.page(),
        };
        mapper.note_known(device, used);
        Ok(device)
    }
}

enum Mapped {
    Done(Found),
    /// Another thread took part of the place first.
    Lost,
    /// There is too little memory.
    Short,
}
