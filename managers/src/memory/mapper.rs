//! `Mapper`: the one place that changes which pages have memory.
//!
//! Bytes are charged to the limit before memory is created and released after it was given
//! back, so what is mapped and what waits in the cache never exceeds the limit for an instant.
//! The mapper's lock is held over driver calls, the central lock never is: meanwhile a page is
//! *Busy*, and its block in use or its addresses free but dear.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use super::cache::Cache;
use super::central::Want;
use super::handle_sizes::{Device, HandleSizes};
use super::heap::Heap;
use super::pages::Pages;
use super::plan::Plan;
use super::pool::{Pool, count};
use super::stamp::{Stamp, StreamIndex};
use super::vmm::{Vmm, is_out_of_memory};
use crate::error::{Error, Result};

/// What only the holder of the lock may change.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    pub(super) cache: Cache,
    /// What the device had free when it was asked last, and what the pool had then, in pages.
    known: Option<(Device, u64)>,
    /// What the driver said when it had no memory left, in this search.
    pub(super) full: Option<Error>,
    /// The device has less left than the limit would grant, and too little for this search.
    pub(super) lacking: bool,
    /// The request would rather wait for pages than take a worse place.
    pub(super) patient: bool,
    /// So it was worth it in this search: the best place can have all its pages when work that is
    /// under way has completed.
    pub(super) soon: bool,
    /// In a pool of one stream: its serial, and the last ticket of it that a request has waited for
    /// in vain.
    pub(super) vain: (u64, u64),
    /// No completion can give this search what it wants: only frees of what is alive can.
    pub(super) hopeless: bool,
    /// No other pool could give memory up for this search.
    pub(super) alone: bool,
    /// Chunks of `cuMemAlloc` and the holes that stand for those that were given back.
    pub(super) chunks: Vec<Chunk>,
}

impl Mapper {
    /// Blocks that stand for addresses without memory.
    pub(super) fn holes(&self) -> impl Iterator<Item = Block> {
        self.chunks.iter().filter_map(|chunk| chunk.hole)
    }

    /// Begins a search, without what others have left of theirs.
    pub(super) fn begin(&mut self) {
        (self.full, self.lacking) = (None, false);
        (self.patient, self.soon) = (false, false);
        (self.hopeless, self.alone) = (false, false);
    }

    /// Pages that are mapped nowhere.
    pub(super) fn cached(&self) -> u64 {
        self.cache.pages()
    }

    /// What the device has free, as far as it was told, with so many pages in the pool now. `None`
    /// when that is too long ago to say.
    fn known(&self, used: u64) -> Option<Device> {
        let (device, then) = self.known?;
        let since = used.abs_diff(then);
        (since <= device.free / 16).then(|| device.less(since))
    }

    /// A full device refuses to map pages as well, and to give access: then there is no memory to
    /// be had, which is no failure.
    pub(super) fn fail(&mut self, error: Error) -> Result<bool> {
        let refused = Err(error);
        if is_out_of_memory(&refused) {
            self.note_full(refused.err());
            return Ok(false);
        }
        refused
    }

    /// The device has less left than was known, and nothing more for this search.
    pub(super) fn note_full(&mut self, error: Option<Error>) {
        self.full = error;
        self.known = None;
    }
}

/// A chunk, where there is no virtual memory management.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) base: CUdeviceptr,
    pub(super) bytes: u64,
    /// The block that keeps its addresses out of the heap while it has no memory.
    pub(super) hole: Option<Block>,
}

/// Where the memory for missing pages may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The cache, and the driver within the limit.
    Limit,
    /// Those, and pages that nothing uses.
    Idle,
}

/// A block that was found: with what its memory was used for before.
pub(super) type Found = (Block, Stamp);

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
    /// What the driver returned, except that it is out of memory; all is as before then, but
    /// that pages may be mapped which nobody uses.
    #[track_caller]
    pub(super) fn find(
        &self,
        mapper: &mut Mapper,
        want: Want,
        from: From,
    ) -> Result<Option<Found>> {
        // Pages of a graph's memory stay where they are.
        let from = match self.parent {
            Some(_) => From::Limit,
            None => from,
        };
        let Some(vmm) = &self.vmm else {
            return self.find_in_chunks(mapper, want, from);
        };
        let mut is_apart = false;
        loop {
            let place = {
                let mut central = self.central.lock();
                match central.heap.look(want.bytes, want.align, want.stream) {
                    Some(place) if place.rank == 0 => {
                        let Some(block) = central.heap.take(place) else {
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
                    let take = |heap: &mut Heap| Some((heap.take(place)?, place.data));
                    let mut mapped =
                        self.map_place(vmm, mapper, (place.rank, want.stream), from, take)?;
                    if matches!(mapped, Mapped::Soon) {
                        mapper.patient = false;
                        // As much as that is had at once, from threads, depots and slabs.
                        mapper.soon = self.kept() < want.bytes;
                        if mapper.soon {
                            return Ok(None);
                        }
                        mapped = Mapped::Short;
                    }
                    if matches!(mapped, Mapped::Short) && from == From::Idle {
                        mapped = self.map_cheapest(vmm, mapper, want, place.rank)?;
                        let is_first = !std::mem::replace(&mut is_apart, true);
                        if matches!(mapped, Mapped::Short)
                            && is_first
                            && self.unmap_large(vmm, mapper, place.rank)?
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
                        // What others have freed may still do.
                        mapper.full = refused.err();
                        return Ok(None);
                    }
                    refused => refused?,
                },
            }
        }
    }

    /// Reserves addresses for a request that the ones there are too few for.
    #[track_caller]
    fn reserve(&self, vmm: &Vmm, want: Want) -> Result<()> {
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
        let region = Pages::new(base, bytes, self.page);
        if self.central.lock().heap.add_region(region).is_err() {
            // SAFETY: reserved above, and nobody knows it.
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
        want: Want,
        below: u64,
    ) -> Result<Mapped> {
        let (bytes, stream) = (want.bytes, want.stream);
        let found = {
            let heap = &mut self.central.lock().heap;
            heap.cheapest(bytes, want.align, stream, below)
        };
        let Some((address, missing)) = found else {
            return Ok(Mapped::Short);
        };
        let take = |heap: &mut Heap| heap.take_usable_at(address, bytes, stream);
        self.map_place(vmm, mapper, (missing, stream), From::Idle, take)
    }

    /// Maps what is missing of a place, `rank` pages, and makes it a block.
    #[track_caller]
    fn map_place(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        (rank, stream): (u64, StreamIndex),
        from: From,
        take: impl FnOnce(&mut Heap) -> Option<(Block, Stamp)>,
    ) -> Result<Mapped> {
        let mut plan = Plan::default();
        // What cannot work out must not fill the device up first.
        let (mut device, mut sizes) = (None, None);
        if mapper.full.is_none() {
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
            // Others have asked since it was found.
            heap.rules_mut().request = stream;
            let Some((block, was)) = take(heap) else {
                return Ok(Mapped::Lost);
            };
            let was = heap.lasting(was);
            plan.find_missing(heap, block);
            let needed = plan.pages();
            let mut there = mapper.cached();
            if mapper.full.is_none() {
                let room = self.room();
                let left = device.map_or(u64::MAX, |device| device.free);
                mapper.lacking = left < room;
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
                    let patient = mapper.patient && from == From::Idle;
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
        let done = self.carry_out(vmm, mapper, &mut plan);
        let mut central = self.central.lock();
        plan.settle(&mut central.heap);
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

    /// What the device has free, from the driver.
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
    /// Somebody took part of the place first.
    Lost,
    /// There is too little memory.
    Short,
    /// As long as work uses what was freed.
    Soon,
}

/// Gives everything back: nobody has a piece any more.
impl Drop for Pool {
    fn drop(&mut self) {
        super::teardown::end(self);
    }
}
