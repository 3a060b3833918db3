//! Plans of the page heap: which pages a place misses, where their memory comes from, and what has
//! become of them.
//!
//! The page heap makes no driver call. A holder of the mapper asks it for a plan, makes the calls of
//! the plan without the lock of the heap, and brings the plan back: however far the calls have come,
//! the heap is right after that.

use cupola_core::tlsf::{Block, Place};
use cupola_sys::driver::CUdeviceptr;

use crate::lists;
use crate::pool::heap::best_fit::PriorStamp;
use crate::pool::heap::central::{Central, HeapRequest};
use crate::pool::pages::handle_size::HandleSizes;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::{Found, From};
use crate::pool::streams::free_stamp::Stamp;

/// A free place that misses pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BarePlace {
    missing: u64,
    at: At,
}

#[derive(Clone, Copy, Debug)]
enum At {
    /// As a search by size has found it.
    Found(Place<Stamp>),
    /// Somewhere in a free piece.
    Address(CUdeviceptr),
}

impl BarePlace {
    /// How many pages it misses.
    pub(crate) fn missing(self) -> u64 {
        self.missing
    }
}

/// The outcome of a search for a place.
#[derive(Debug)]
pub(crate) enum Placed {
    /// All its pages are there.
    Ready(Found),
    /// The best place misses some.
    Bare(BarePlace),
    /// There are too few addresses.
    Nowhere,
}

/// The memory that a request may have for missing pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pages: u64,
    from: From,
}

impl Room {
    /// So many pages of the limits, the device and the mapper's cache, and where more may come from.
    pub(crate) fn new(pages: u64, from: From) -> Self {
        Self { pages, from }
    }
}

/// A block whose pages are about to get memory.
pub(crate) struct Mapping {
    plan: MapPlan,
    block: Block,
    was: PriorStamp,
}

impl Mapping {
    /// The driver calls that are to be made.
    pub(crate) fn plan(&mut self) -> &mut MapPlan {
        &mut self.plan
    }
}

/// The answer to a request for a plan.
pub(crate) enum Planned {
    /// The driver calls, and the block: to be brought back by [`Central::finish_mapping`].
    Mapping(Mapping),
    /// Another thread took part of the place first.
    Lost,
    /// There is too little memory.
    Short,
}

impl Central {
    /// The best place for a request by size; for one that may take pages that nothing uses, any
    /// stretch of mapped pages first.
    pub(crate) fn place(&mut self, want: HeapRequest, from: From) -> Placed {
        loop {
            let Some(place) = self.heap.look(want.bytes, want.align, want.stream) else {
                return Placed::Nowhere;
            };
            if place.rank == 0 {
                let Some(block) = self.heap.take(place, want.stream) else {
                    continue;
                };
                self.note_peak();
                return Placed::Ready((block, place.data));
            }
            if from == From::Idle
                && let Some(found) = self.in_mapped_stretch(want)
            {
                return Placed::Ready(found);
            }
            return Placed::Bare(BarePlace {
                missing: place.rank,
                at: At::Found(place),
            });
        }
    }

    /// The place that misses the fewest pages of all, but fewer than `below`.
    pub(crate) fn cheapest_place(&self, want: HeapRequest, below: u64) -> Option<BarePlace> {
        let (address, missing) = self
            .heap
            .cheapest(want.bytes, want.align, want.stream, below)?;
        Some(BarePlace {
            missing,
            at: At::Address(address),
        })
    }

    /// Makes a place that was found for the request a block, and plans how its pages get memory.
    /// `handles` says how large the handles of so many new pages may be.
    pub(crate) fn begin_mapping(
        &mut self,
        want: HeapRequest,
        place: BarePlace,
        room: Room,
        page: u64,
        handles: impl FnOnce(u64) -> HandleSizes,
    ) -> Planned {
        let heap = &mut self.heap;
        let taken = match place.at {
            At::Found(place) => heap
                .take(place, want.stream)
                .map(|block| (block, place.data)),
            At::Address(address) => heap.take_usable_at(address, want.bytes, want.stream),
        };
        let Some((block, was)) = taken else {
            return Planned::Lost;
        };
        let was = heap.lasting(was);
        let mut plan = MapPlan::new(page);
        plan.find_missing(heap, block);
        let needed = plan.pages();
        let short = usize::try_from(needed.saturating_sub(room.pages)).unwrap_or(usize::MAX);
        if short > 0 {
            let idle = match room.from {
                From::Limit => Vec::new(),
                From::Idle => heap.idle(short),
            };
            let found = lists::sum(&idle, |(_, it)| u64::from(it.pages));
            if found < short as u64 {
                heap.undo(block, was);
                return Planned::Short;
            }
            plan.begin_unmap(heap, &idle);
        }
        plan.begin_map(heap, handles(needed));
        Planned::Mapping(Mapping { plan, block, was })
    }

    /// Enters what has become of the pages. The block, if all of them have memory; else its
    /// addresses are free again.
    pub(crate) fn finish_mapping(&mut self, mapping: &Mapping, is_done: bool) -> Option<Found> {
        let &Mapping { block, was, .. } = mapping;
        mapping.plan.write_back(&mut self.heap);
        if is_done {
            self.note_peak();
            return Some((block, was.stamp()));
        }
        self.heap.undo(block, was);
        None
    }

    /// Plans to take the memory of so many pages that nothing uses, or of all there are: to be
    /// brought back by [`finish_unmapping`](Self::finish_unmapping).
    pub(crate) fn begin_unmapping(&mut self, wanted: usize, page: u64) -> MapPlan {
        let mut plan = MapPlan::new(page);
        let idle = self.heap.idle(wanted);
        plan.begin_unmap(&mut self.heap, &idle);
        plan
    }

    /// Plans to take all idle memory whose handles have several pages, if a request that misses so
    /// many pages might then be had, when there are `there` without. `None` where there are none.
    pub(crate) fn begin_unmapping_large(
        &mut self,
        missing: u64,
        there: u64,
        page: u64,
    ) -> Option<MapPlan> {
        let mut idle = self.heap.idle(usize::MAX);
        let pages = lists::sum(&idle, |(_, it)| u64::from(it.pages));
        lists::retain(&mut idle, |(_, extent)| extent.pages > 1);
        if idle.is_empty() || missing > there + pages {
            return None;
        }
        let mut plan = MapPlan::new(page);
        plan.begin_unmap(&mut self.heap, &idle);
        Some(plan)
    }

    /// Enters what has become of pages that were to lose their memory.
    pub(crate) fn finish_unmapping(&mut self, plan: &MapPlan) {
        plan.write_back(&mut self.heap);
    }
}

#[cfg(all(any(test, fuzzing), not(loom)))]
pub(crate) mod replay;
#[cfg(all(test, not(loom)))]
mod tests;
