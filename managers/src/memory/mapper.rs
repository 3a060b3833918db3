//! `Mapper`: the one place that changes which pages have memory.
//!
//! Bytes are charged to the limit before memory is created and released after it was given
//! back, so what is mapped and what waits in the cache never exceeds the limit for an instant.
//! The mapper's lock is held over driver calls, the central lock never is: meanwhile a page is
//! *Busy*, and its block in use or its addresses free but dear.

use std::sync::atomic::Ordering;

use cupola_core::Budget;
use cupola_core::tlsf::{Block, Place};
use cupola_sys::driver::CUdeviceptr;

use super::central::Want;
use super::charge;
use super::config::DeviceLimit;
use super::heap::Heap;
use super::history::Action;
use super::pages::{Extent, PageIndex, PageState, Pages};
use super::pool::{Pool, count};
use super::stamp::Stamp;
use super::vmm::{MemoryHandle, Vmm, is_out_of_memory, memory_info};
use crate::error::{Error, Result, Site};

/// What only the holder of the lock may change.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    /// Memory that is mapped nowhere, ready to be. It is charged.
    cache: Vec<Memory>,
    /// What the driver said when it had no memory left, in this search.
    pub(super) full: Option<Error>,
    /// The device has less left than the limit would grant, and too little for this search.
    pub(super) lacking: bool,
    /// Chunks of `cuMemAlloc` and the holes that stand for those that were given back.
    pub(super) chunks: Vec<Chunk>,
}

/// A handle and how many pages it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) handle: MemoryHandle,
    pub(super) pages: u32,
}

impl Mapper {
    /// Blocks that stand for addresses without memory.
    pub(super) fn holes(&self) -> impl Iterator<Item = Block> {
        self.chunks.iter().filter_map(|chunk| chunk.hole)
    }

    /// Pages that are mapped nowhere.
    pub(super) fn cached(&self) -> u64 {
        self.cache
            .iter()
            .map(|memory| u64::from(memory.pages))
            .sum()
    }

    /// Keeps memory that is mapped nowhere any more.
    pub(super) fn put_by(&mut self, handle: MemoryHandle, pages: u32) {
        self.cache.push(Memory { handle, pages });
    }

    pub(super) fn take_any(&mut self) -> Option<Memory> {
        self.cache.pop()
    }

    /// The largest of what is there that has `most` pages at most.
    fn take_up_to(&mut self, most: u32) -> Option<Memory> {
        let fits = |(_, memory): &(usize, &Memory)| memory.pages <= most;
        let all = self.cache.iter().enumerate().filter(fits);
        let (at, _) = all.max_by_key(|(_, memory)| memory.pages)?;
        Some(self.cache.swap_remove(at))
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

/// Smallest chunk that is asked for, limit allowing.
const CHUNK: u64 = 32 << 20;
/// Pages from which on the device is asked first whether it has as many.
const MANY: u64 = 32;
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
                    // Others cannot take it but for its pages that are there, which makes it
                    // dearer: then the search begins anew.
                    match self.map_place(vmm, mapper, place, from)? {
                        Mapped::Done(found) => return Ok(Some(found)),
                        Mapped::Lost => {}
                        Mapped::Short => return Ok(None),
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
        let (_, total) = memory_info(&self.core, &self.calls)?;
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

    /// Pages that the limits would let the pool have more.
    pub(super) fn room(&self) -> u64 {
        let shared = self.shared().map_or(u64::MAX, Budget::available);
        self.budget.available().min(shared) / self.page
    }

    /// Charges pages to all limits: all of them or none.
    fn charge(&self, pages: u64) -> bool {
        charge::charge(&self.budget, self.shared(), pages * self.page)
    }

    /// Ends a charge.
    pub(super) fn release_charge(&self, bytes: u64) {
        charge::release(&self.budget, self.shared(), bytes);
    }

    fn shared(&self) -> Option<&Budget> {
        self.config.within.as_ref().map(DeviceLimit::budget)
    }

    /// Maps what is missing of a place and makes it a block.
    #[track_caller]
    fn map_place(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        place: Place<Stamp>,
        from: From,
    ) -> Result<Mapped> {
        let mut plan = Plan::default();
        // What cannot work out must not fill the device up first.
        let mut left = u64::MAX;
        if place.rank >= MANY && mapper.full.is_none() {
            left = memory_info(&self.core, &self.calls)?.0 / self.page;
        }
        let block = {
            let mut central = self.central.lock();
            let heap = &mut central.heap;
            let Some(block) = heap.take(place) else {
                return Ok(Mapped::Lost);
            };
            plan.find_missing(heap, block);
            let needed = plan.pages();
            let mut there = mapper.cached();
            if mapper.full.is_none() {
                let room = self.room();
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
                    heap.undo(block, place.data);
                    return Ok(Mapped::Short);
                }
                plan.begin_unmap(heap, idle);
            }
            // Large handles are not for a pool that is nearly full: they cannot be unmapped in
            // parts.
            let limit = self.budget.limit();
            let after = self.budget.used().saturating_add(needed * self.page);
            plan.large = after <= limit / 4 * 3;
            plan.begin_map(heap);
            block
        };
        let done = self.carry_out(vmm, mapper, &mut plan);
        let mut central = self.central.lock();
        plan.settle(&mut central.heap);
        match done {
            Ok(true) => {
                central.note_peak();
                count(&self.counters.grown);
                Ok(Mapped::Done((block, place.data)))
            }
            other => {
                central.heap.undo(block, place.data);
                other.map(|_| Mapped::Short)
            }
        }
    }

    /// Makes the driver calls of a plan. False when there was no memory after all: another pool
    /// took it, or the driver has none.
    #[track_caller]
    fn carry_out(&self, vmm: &Vmm, mapper: &mut Mapper, plan: &mut Plan) -> Result<bool> {
        for idle in &mut plan.idle {
            let bytes = u64::from(idle.extent.pages) * self.page;
            // SAFETY: the extent is mapped, in a free piece, and what used it is complete.
            unsafe { vmm.unmap(idle.address, bytes) }?;
            let pages = u64::from(idle.extent.pages);
            self.counters.remapped.fetch_add(pages, Ordering::Relaxed);
            idle.gone = true;
            mapper.put_by(idle.handle, idle.extent.pages);
        }
        for run in &mut plan.bare {
            let whole = run.pages;
            while run.done < whole {
                let most = if plan.large { handle_pages(whole) } else { 1 };
                let left = whole - run.done;
                let Some(memory) = self.supply(vmm, mapper, left, most.min(left))? else {
                    return Ok(false);
                };
                let address = run.address + u64::from(run.done) * self.page;
                let bytes = u64::from(memory.pages) * self.page;
                // SAFETY: the pages are reserved and bare, and Busy keeps others from them.
                if let Err(error) = unsafe { vmm.map(address, bytes, memory.handle) } {
                    mapper.cache.push(memory);
                    return Err(error);
                }
                run.done += memory.pages;
                plan.mapped.push((address, memory));
            }
        }
        // The call costs nearly the same for any number of pages.
        let mut sealed = std::mem::take(&mut plan.sealed);
        for &(address, memory) in &plan.mapped {
            sealed.extend((0..u64::from(memory.pages)).map(|page| address + page * self.page));
        }
        sealed.sort_unstable();
        for run in sealed.chunk_by(|a, b| a + self.page == *b) {
            // SAFETY: all pages of the run are mapped.
            unsafe { vmm.set_access(run[0], run.len() as u64 * self.page) }?;
            plan.opened.extend_from_slice(run);
        }
        Ok(true)
    }

    /// What the driver says when it has not enough: it is asked for more than the device has.
    pub(super) fn device_refusal(&self) -> Option<Error> {
        let vmm = self.vmm.as_ref()?;
        let (_, total) = memory_info(&self.core, &self.calls).ok()?;
        let beyond = total
            .checked_next_multiple_of(self.page)?
            .checked_add(self.page)?;
        let created = vmm.create(beyond);
        if is_out_of_memory(&created) {
            return created.err();
        }
        if let Ok(handle) = created {
            // SAFETY: nobody else has it.
            let _ = unsafe { vmm.release(handle) };
        }
        None
    }

    /// Memory of at most `left` pages: from the cache, else new memory of `size` pages or fewer.
    /// `None` when there is none to be had.
    #[track_caller]
    fn supply(
        &self,
        vmm: &Vmm,
        mapper: &mut Mapper,
        left: u32,
        size: u32,
    ) -> Result<Option<Memory>> {
        if let Some(memory) = mapper.take_up_to(left) {
            return Ok(Some(memory));
        }
        let mut pages = size;
        loop {
            if let Some(memory) = self.create(vmm, mapper, pages)? {
                return Ok(Some(memory));
            }
            if pages > 1 {
                // The device may have memory left, but not in one piece, or not as much.
                mapper.full = None;
                pages = 1;
                continue;
            }
            // Too large for this place: given back, it is memory for smaller ones.
            let Some(larger) = mapper.take_any() else {
                return Ok(None);
            };
            // SAFETY: it is mapped nowhere, and nobody else has it.
            if let Err(error) = unsafe { vmm.release(larger.handle) } {
                mapper.cache.push(larger);
                return Err(error);
            }
            self.release_charge(u64::from(larger.pages) * self.page);
            mapper.full = None;
        }
    }

    /// New memory, charged. `None` when there is none to be had.
    #[track_caller]
    fn create(&self, vmm: &Vmm, mapper: &mut Mapper, pages: u32) -> Result<Option<Memory>> {
        if mapper.full.is_some() || !self.charge(u64::from(pages)) {
            return Ok(None);
        }
        let bytes = u64::from(pages) * self.page;
        let created = vmm.create(bytes);
        if created.is_err() {
            self.release_charge(bytes);
        }
        if is_out_of_memory(&created) {
            mapper.full = created.err();
            return Ok(None);
        }
        created.map(|handle| Some(Memory { handle, pages }))
    }

    /// Unmaps pages that nothing uses until `wanted` were found, or all. How many were.
    ///
    /// # Errors
    /// What the driver returned first; the pages before it are in the cache.
    #[track_caller]
    pub(super) fn unmap_idle(&self, mapper: &mut Mapper, wanted: usize) -> Result<usize> {
        let Some(vmm) = &self.vmm else {
            return Ok(0);
        };
        let mut plan = Plan::default();
        {
            let mut central = self.central.lock();
            let idle = central.heap.idle(wanted);
            plan.begin_unmap(&mut central.heap, idle);
        }
        let done = self.carry_out(vmm, mapper, &mut plan);
        plan.settle(&mut self.central.lock().heap);
        done?;
        let pages = plan.idle.iter().map(|idle| idle.extent.pages as usize);
        Ok(pages.sum())
    }

    /// Gives memory of the cache back to the driver until `keep` pages are left.
    ///
    /// # Errors
    /// What the driver returned first; that page stays in the cache, and charged.
    #[track_caller]
    pub(super) fn release_cache(&self, mapper: &mut Mapper, keep: usize) -> Result<()> {
        let Some(vmm) = &self.vmm else {
            return Ok(());
        };
        while mapper.cached() > keep as u64 {
            let Some(memory) = mapper.take_any() else {
                break;
            };
            // SAFETY: it is mapped nowhere, and nobody else has it.
            if let Err(error) = unsafe { vmm.release(memory.handle) } {
                mapper.cache.push(memory);
                return Err(error);
            }
            self.release_charge(u64::from(memory.pages) * self.page);
        }
        Ok(())
    }
}

/// Pages of a handle for a run of so many: one, but for runs whose handles alone would take
/// the most of a millisecond. A handle of 256 MiB takes three times as long as one of 2 MiB.
fn handle_pages(run: u32) -> u32 {
    const FEW: u32 = 24;
    const MOST: u32 = 128;
    if run <= FEW {
        1
    } else {
        run.div_ceil(FEW).next_power_of_two().min(MOST)
    }
}

enum Mapped {
    Done(Found),
    /// Somebody took part of the place first.
    Lost,
    /// There is too little memory.
    Short,
}

/// Pages in a row that are about to get memory.
struct Bare {
    address: CUdeviceptr,
    pages: u32,
    /// How many have it.
    done: u32,
}

/// An extent that is about to lose its memory.
struct Idle {
    address: CUdeviceptr,
    extent: Extent,
    handle: MemoryHandle,
    was: PageState,
    gone: bool,
}

/// Which pages are to change, and how far that has come.
#[derive(Default)]
struct Plan {
    bare: Vec<Bare>,
    /// Mapped, and not to be accessed yet.
    sealed: Vec<CUdeviceptr>,
    idle: Vec<Idle>,
    /// Whether handles may have many pages.
    large: bool,
    mapped: Vec<(CUdeviceptr, Memory)>,
    opened: Vec<CUdeviceptr>,
}

impl Plan {
    /// Pages that need memory.
    fn pages(&self) -> u64 {
        self.bare.iter().map(|run| u64::from(run.pages)).sum()
    }

    fn find_missing(&mut self, heap: &Heap, block: Block) {
        let Some(region) = heap.rules().region(block.offset()) else {
            return;
        };
        let (first, end) = region.touched(block.offset(), block.size());
        for page in first..end {
            let address = region.address(page);
            match region.state(page) {
                PageState::Mapped => {}
                PageState::Sealed => self.find_sealed(region, page),
                // Busy pages are those of whoever holds the mapper: ours, so there are none.
                PageState::Bare | PageState::Busy => match self.bare.last_mut() {
                    Some(run) if run.address + u64::from(run.pages) * region.page() == address => {
                        run.pages += 1;
                    }
                    _ => self.bare.push(Bare {
                        address,
                        pages: 1,
                        done: 0,
                    }),
                },
            }
        }
    }

    /// All of an extent is opened, even what is beyond the block: access is that of a mapping.
    fn find_sealed(&mut self, region: &Pages, page: PageIndex) {
        let Some(extent) = region.extent(page) else {
            return;
        };
        let first = region.address(extent.first);
        if !self.sealed.contains(&first) {
            let pages = extent.first..extent.first + extent.pages;
            self.sealed.extend(pages.map(|page| region.address(page)));
        }
    }

    fn begin_unmap(&mut self, heap: &mut Heap, extents: Vec<(CUdeviceptr, Extent)>) {
        for (address, extent) in extents {
            let Some(region) = heap.rules_mut().region_mut(address) else {
                continue;
            };
            let was = region.state(extent.first);
            if let Some(handle) = region.begin_unmap(extent) {
                self.idle.push(Idle {
                    address,
                    extent,
                    handle,
                    was,
                    gone: false,
                });
            }
        }
    }

    fn begin_map(&mut self, heap: &mut Heap) {
        for run in &self.bare {
            if let Some(region) = heap.rules_mut().region_mut(run.address) {
                let (first, _) = region.touched(run.address, 1);
                (first..first + run.pages).for_each(|page| region.begin_map(page));
            }
        }
    }

    /// Enters what has become of each page.
    fn settle(&self, heap: &mut Heap) {
        let rules = heap.rules_mut();
        for idle in &self.idle {
            if let Some(region) = rules.region_mut(idle.address) {
                if idle.gone {
                    region.leave_bare(idle.extent);
                    continue;
                }
                // The driver refused, or was not asked: it is as it was.
                region.seal(idle.extent, idle.handle);
                if idle.was == PageState::Mapped {
                    let first = idle.extent.first;
                    (first..first + idle.extent.pages).for_each(|page| region.open(page));
                }
            }
        }
        for run in &self.bare {
            if let Some(region) = rules.region_mut(run.address) {
                let (first, _) = region.touched(run.address, 1);
                let pages = run.pages;
                region.leave_bare(Extent { first, pages });
            }
        }
        for &(address, memory) in &self.mapped {
            if let Some(region) = rules.region_mut(address) {
                let (first, _) = region.touched(address, 1);
                let pages = memory.pages;
                region.seal(Extent { first, pages }, memory.handle);
            }
        }
        for &address in &self.opened {
            if let Some(region) = rules.region_mut(address) {
                let (page, _) = region.touched(address, 1);
                region.open(page);
            }
        }
    }
}

// Without virtual memory management.
impl Pool {
    #[track_caller]
    fn find_in_chunks(&self, mapper: &mut Mapper, want: Want, from: From) -> Result<Option<Found>> {
        loop {
            {
                let mut central = self.central.lock();
                if let Some(found) = central.ready(want) {
                    return Ok(Some(found));
                }
            }
            if !self.add_chunk(mapper, want)? {
                // Chunks that nothing uses may be too small for it, and all that the limit has.
                let before = self.budget.used();
                if from == From::Idle {
                    self.release_chunks(mapper)?;
                }
                if self.budget.used() >= before {
                    return Ok(None);
                }
                mapper.full = None;
                if !self.add_chunk(mapper, want)? {
                    return Ok(None);
                }
            }
            count(&self.counters.grown);
        }
    }

    /// Gets another chunk. False when the limits or the driver have no room for one.
    #[track_caller]
    fn add_chunk(&self, mapper: &mut Mapper, want: Want) -> Result<bool> {
        // The driver aligns to 256 bytes at least, and chunks of pages to pages.
        let least = want
            .bytes
            .checked_add(if want.align > super::heap::GRANULE {
                want.align
            } else {
                0
            })
            .and_then(|bytes| bytes.checked_next_multiple_of(self.page));
        let Some(least) = least else {
            return Ok(false);
        };
        if mapper.full.is_some() {
            return Ok(false);
        }
        for bytes in [least.max(CHUNK), least] {
            let pages = bytes / self.page;
            let charged = (0..pages).take_while(|_| self.charge(1)).count() as u64;
            if charged < pages {
                self.release_charge(charged * self.page);
                continue;
            }
            match self.alloc_chunk(bytes) {
                Ok(base) => {
                    self.enter_chunk(mapper, base, bytes)?;
                    return Ok(true);
                }
                Err(error) => {
                    self.release_charge(bytes);
                    let refused: Result<()> = Err(error.clone());
                    if !is_out_of_memory(&refused) {
                        return Err(error);
                    }
                    if bytes == least {
                        mapper.full = Some(error);
                    }
                }
            }
        }
        Ok(false)
    }

    #[track_caller]
    fn alloc_chunk(&self, bytes: u64) -> Result<CUdeviceptr> {
        let driver = self.core.enter()?;
        let _relaxed = super::vmm::Relaxed::new(driver);
        count(&self.calls.alloc);
        let mut base: CUdeviceptr = 0;
        // SAFETY: `base` outlives the call, and the context is current.
        let allocated = unsafe { driver.cuMemAlloc_v2(&raw mut base, bytes as usize) };
        self.core.check(allocated)?;
        self.history.note_memory(Action::Map, base, bytes);
        Ok(base)
    }

    #[track_caller]
    fn enter_chunk(&self, mapper: &mut Mapper, base: CUdeviceptr, bytes: u64) -> Result<()> {
        let end = base + bytes;
        // The driver may give addresses again that stand for chunks given back.
        let overlaps = |chunk: &Chunk| chunk.base < end && base < chunk.base + chunk.bytes;
        let known = mapper
            .chunks
            .iter()
            .any(|chunk| overlaps(chunk) && chunk.hole.is_none());
        if known || !base.is_multiple_of(super::heap::GRANULE) {
            return self.refuse_chunk(base, bytes);
        }
        let mut old: Vec<Chunk> = mapper
            .chunks
            .extract_if(.., |chunk| overlaps(chunk))
            .collect();
        old.sort_unstable_by_key(|chunk| chunk.base);
        let mut region = Pages::new(base, bytes, self.page);
        for page in 0..(bytes / self.page) as u32 {
            region.begin_map(page);
            region.seal(
                Extent {
                    first: page,
                    pages: 1,
                },
                0,
            );
            region.open(page);
        }
        let central = &mut *self.central.lock();
        // Of each only what lies outside stays a hole.
        let mut rests = Vec::new();
        for chunk in &old {
            if let Some(hole) = chunk.hole {
                central.fill(hole);
            }
            let to = chunk.base + chunk.bytes;
            for (from, to) in [(chunk.base, base.min(to)), (end.max(chunk.base), to)] {
                // They are free: they were just given back.
                if from < to
                    && let Some(hole) = central.dig(from, to - from)
                {
                    rests.push(Chunk {
                        base: from,
                        bytes: to - from,
                        hole: Some(hole),
                    });
                }
            }
        }
        let rules = central.heap.rules_mut();
        for chunk in &old {
            rules.leave(chunk.base);
        }
        for rest in &rests {
            rules.enter(Pages::new(rest.base, rest.bytes, self.page));
        }
        rules.enter(region);
        // What lies between them is new.
        let mut at = base;
        for chunk in &old {
            if at < chunk.base {
                let _ = central.heap.add(at, chunk.base - at);
            }
            at = at.max(chunk.base + chunk.bytes);
        }
        if at < end {
            let _ = central.heap.add(at, end - at);
        }
        if !old.is_empty() {
            central.heap.sweep();
        }
        mapper.chunks.append(&mut rests);
        mapper.chunks.push(Chunk {
            base,
            bytes,
            hole: None,
        });
        Ok(())
    }

    /// Gives a chunk back whose addresses cannot be used.
    #[track_caller]
    fn refuse_chunk(&self, base: CUdeviceptr, bytes: u64) -> Result<()> {
        self.free_chunk(base)?;
        self.release_charge(bytes);
        self.history.note_memory(Action::Unmap, base, bytes);
        let problem = "the driver's memory overlaps what the pool had before";
        Err(Error::invalid("memory", problem))
    }

    #[track_caller]
    fn free_chunk(&self, base: CUdeviceptr) -> Result<()> {
        count(&self.calls.free);
        self.core.give_back(Site::here(), |driver| {
            let _relaxed = super::vmm::Relaxed::new(driver);
            // SAFETY: from `alloc_chunk`, and nothing uses it.
            unsafe { driver.cuMemFree_v2(base) }
        })
    }

    /// Gives chunks back that nothing uses.
    #[track_caller]
    pub(super) fn release_chunks(&self, mapper: &mut Mapper) -> Result<()> {
        for chunk in &mut mapper.chunks {
            if chunk.hole.is_some() {
                continue;
            }
            let hole = {
                let mut central = self.central.lock();
                let Some(hole) = central.dig(chunk.base, chunk.bytes) else {
                    continue;
                };
                hole
            };
            if let Err(error) = self.free_chunk(chunk.base) {
                self.central.lock().fill(hole);
                return Err(error);
            }
            chunk.hole = Some(hole);
            self.release_charge(chunk.bytes);
            self.history
                .note_memory(Action::Unmap, chunk.base, chunk.bytes);
        }
        Ok(())
    }
}

impl Pool {
    /// Gives all chunks back at the pool's end. The first error.
    pub(super) fn free_all_chunks(&self, mapper: &mut Mapper) -> Result<()> {
        let mut first = Ok(());
        for chunk in mapper.chunks.drain(..) {
            if chunk.hole.is_none() {
                let freed = self.free_chunk(chunk.base);
                self.release_charge(chunk.bytes);
                first = first.and(freed);
            }
        }
        first
    }
}

/// Gives everything back: nobody has a piece any more.
impl Drop for Pool {
    fn drop(&mut self) {
        super::teardown::end(self);
    }
}
