//! Finding a place for a request, and having its pages mapped.

use cupola_core::tlsf::Block;

use crate::error::{Error, Result};
use crate::pool::counters::count;
use crate::pool::heap::best_fit::Heap;
use crate::pool::heap::central::HeapRequest;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::{Found, From, Mapper};
use crate::pool::pages::mapper_guard::MapperGuard;
use crate::pool::pages::page_table::PageTable;
use crate::pool::pages::search::Search;
use crate::pool::pages::vmm::{Vmm, is_out_of_memory};
use crate::pool::request::Wait;
use crate::pool::state::Pool;
use crate::pool::streams::free_stamp::Stamp;

/// Pages from which on the device is asked first whether it has as many.
const MANY: u64 = 32;
/// Pages up to which each has its own handle, wherever the limits are.
const SINGLE: u64 = 4;
/// Most addresses that are reserved at a time.
const MOST_ADDRESSES: u64 = 1 << 44;

impl Pool {
    /// Locks the mapper.
    pub(crate) fn mapper(&self) -> MapperGuard<'_> {
        MapperGuard::lock(&self.mapper)
    }

    /// Locks the mapper for a request that may wait so long.
    ///
    /// # Errors
    /// [`Error::Busy`] when another thread has it for longer.
    pub(crate) fn mapper_within(&self, wait: Wait) -> Result<MapperGuard<'_>> {
        MapperGuard::lock_within(&self.mapper, wait)
    }

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
        let Some(vmm) = &self.vmm else {
            return self.find_in_chunks(mapper, search, want, from);
        };
        let mut is_apart = false;
        loop {
            let place = {
                let mut central = self.central.lock();
                match central.heap.look(want.bytes, want.align, want.stream) {
                    Some(place) if place.rank == 0 => {
                        let Some(block) = central.heap.take(place, want.stream) else {
                            continue;
                        };
                        central.note_peak();
                        return Ok(Some((block, place.data)));
                    }
                    Some(place) if from == From::Idle => {
                        if let Some(found) = central.in_mapped_stretch(want) {
                            return Ok(Some(found));
                        }
                        Some(place)
                    }
                    place => place,
                }
            };
            match place {
                Some(place) => {
                    let take = |heap: &mut Heap| {
                        let block = heap.take(place, want.stream)?;
                        Some((block, place.data))
                    };
                    let mut mapped = self.map_place(vmm, mapper, search, place.rank, from, take)?;
                    if matches!(mapped, Mapped::Soon) {
                        search.patient = false;
                        // As much as that is had at once, from threads, transfer caches and slabs.
                        search.soon = self.kept() < want.bytes;
                        if search.soon {
                            return Ok(None);
                        }
                        mapped = Mapped::Short;
                    }
                    if matches!(mapped, Mapped::Short) && from == From::Idle {
                        mapped = self.map_cheapest(vmm, mapper, search, want, place.rank)?;
                        let is_first = !std::mem::replace(&mut is_apart, true);
                        if matches!(mapped, Mapped::Short)
                            && is_first
                            && self.unmap_large(vmm, mapper, search, place.rank)?
                        {
                            continue;
                        }
                    }
                    // Others cannot take it but for its pages that are there, which makes it
                    // dearer: then the search begins anew.
                    match mapped {
                        Mapped::Done(found) => return Ok(Some(found)),
                        Mapped::Lost => {}
                        Mapped::Short | Mapped::Soon => return Ok(None),
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
            .and_then(|bytes| bytes.checked_next_multiple_of(self.page))
            .ok_or_else(|| self.refuse(want.bytes))?;
        // Addresses cost next to nothing, and the more there are the less often a request
        // meets the end of a range.
        let (_, total) = self.device_memory()?;
        let mut bytes = total
            .saturating_mul(8)
            .clamp(self.page, MOST_ADDRESSES)
            .next_power_of_two()
            .max(least);
        let base = loop {
            match vmm.reserve(bytes) {
                Ok(base) => break base,
                Err(error) if bytes == least || !self.core.is_healthy() => return Err(error),
                Err(_) => bytes = (bytes / 2).max(least).next_multiple_of(self.page),
            }
        };
        let region = PageTable::new(base, bytes, self.page);
        if self.central.lock().heap.add_region(region).is_err() {
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
        let (bytes, stream) = (want.bytes, want.stream);
        let found = {
            let heap = &self.central.lock().heap;
            heap.cheapest(bytes, want.align, stream, below)
        };
        let Some((address, missing)) = found else {
            return Ok(Mapped::Short);
        };
        let take = |heap: &mut Heap| heap.take_usable_at(address, bytes, stream);
        self.map_place(vmm, mapper, search, missing, From::Idle, take)
    }

    /// Maps the missing pages of a place, `rank` of them, and makes it a block.
    #[track_caller]
    fn map_place(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        search: &mut Search,
        rank: u64,
        from: From,
        take: impl FnOnce(&mut Heap) -> Option<(Block, Stamp)>,
    ) -> Result<Mapped> {
        let mut plan = MapPlan::default();
        // A plan that cannot work out must not fill the device up first.
        let (mut device, mut sizes) = (None, None);
        if search.full.is_none() {
            let used = self.budget.used() / self.page;
            sizes = mapper.known(used);
            if rank >= MANY || (rank > SINGLE && sizes.is_none()) {
                device = Some(self.ask_device(mapper, used)?);
                sizes = device;
            }
            device = device.filter(|_| rank >= MANY);
        }
        let (block, was) = {
            let mut central = self.central.lock();
            let heap = &mut central.heap;
            let Some((block, was)) = take(heap) else {
                return Ok(Mapped::Lost);
            };
            let was = heap.lasting(was);
            plan.find_missing(heap, block);
            let needed = plan.pages();
            let mut there = mapper.cached();
            if search.full.is_none() {
                let room = self.available_pages();
                let left = device.map_or(u64::MAX, |device| device.free);
                search.lacking = left < room;
                there += room.min(left);
            }
            let short = usize::try_from(needed.saturating_sub(there)).unwrap_or(usize::MAX);
            if short > 0 {
                let idle = match from {
                    From::Limit => Vec::new(),
                    From::Idle => heap.idle(short),
                };
                let found: u64 = idle.iter().map(|(_, it)| u64::from(it.pages)).sum();
                if found < short as u64 {
                    let patient = search.patient && from == From::Idle;
                    let soon = patient && heap.whole_pages() >= short as u64;
                    heap.undo(block, was);
                    return Ok(if soon { Mapped::Soon } else { Mapped::Short });
                }
                plan.begin_unmap(heap, idle);
            }
            plan.handles = sizes.map_or(HandleSizes::default(), |device| {
                self.handle_sizes(needed, device)
            });
            plan.begin_map(heap);
            (block, was)
        };
        let done = self.apply_plan(vmm, mapper, search, &mut plan);
        let mut central = self.central.lock();
        plan.write_back(&mut central.heap);
        match done {
            Ok(true) => {
                central.note_peak();
                count(&self.counters.grown);
                Ok(Mapped::Done((block, was.stamp())))
            }
            other => {
                central.heap.undo(block, was);
                other.map(|_| Mapped::Short)
            }
        }
    }

    /// The device's free memory, from the driver.
    #[track_caller]
    fn ask_device(&self, mapper: &mut Mapper, used: u64) -> Result<Device> {
        let (free, total) = self.device_memory()?;
        let device = Device {
            free: free / self.page,
            total: total / self.page,
        };
        mapper.known = Some((device, used));
        Ok(device)
    }
}

enum Mapped {
    Done(Found),
    /// Another thread took part of the place first.
    Lost,
    /// There is too little memory.
    Short,
    /// As long as work uses freed memory.
    Soon,
}
