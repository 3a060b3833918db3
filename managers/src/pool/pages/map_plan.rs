//! `MapPlan`: which pages are to change, and how far that has come.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::pool::heap::best_fit::Heap;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::HandleSizes;
use crate::pool::pages::page_table::{Extent, PageIndex, PageState, PageTable};
use crate::pool::pages::vmm::MemoryHandle;

/// Pages in a row that are about to get memory.
pub(crate) struct Bare {
    pub(crate) address: CUdeviceptr,
    pub(crate) pages: u32,
    /// How many have it.
    pub(crate) done: u32,
}

/// An extent that is about to lose its memory.
pub(crate) struct Idle {
    pub(crate) address: CUdeviceptr,
    pub(crate) extent: Extent,
    pub(crate) handle: MemoryHandle,
    was: PageState,
    pub(crate) gone: bool,
}

/// Which pages are to change, and how far that has come.
#[derive(Default)]
pub(crate) struct MapPlan {
    pub(crate) bare: Vec<Bare>,
    /// Mapped, and not to be accessed yet.
    pub(crate) sealed: Vec<CUdeviceptr>,
    pub(crate) idle: Vec<Idle>,
    pub(crate) handles: HandleSizes,
    pub(crate) mapped: Vec<(CUdeviceptr, PhysicalHandle)>,
    pub(crate) opened: Vec<CUdeviceptr>,
}

impl MapPlan {
    /// Whether nothing is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.bare.is_empty() && self.sealed.is_empty() && self.idle.is_empty()
    }

    /// Pages that need memory.
    pub(crate) fn pages(&self) -> u64 {
        self.bare.iter().map(|run| u64::from(run.pages)).sum()
    }

    pub(crate) fn find_missing(&mut self, heap: &Heap, block: Block) {
        let Some(region) = heap.rules().region(block.offset()) else {
            return;
        };
        let (first, end) = region.touched(block.offset(), block.size());
        let known = region.len().clamp(first, end);
        for page in first..known {
            match region.state(page) {
                PageState::Mapped => {}
                PageState::Sealed => self.find_sealed(region, page),
                // Only the holder of the mapper has busy pages. This thread holds it, so there are
                // none.
                PageState::Bare | PageState::Busy => self.add_bare(region, page, 1),
            }
        }
        // A request may be for more pages than have ever been mapped.
        if known < end {
            self.add_bare(region, known, end - known);
        }
    }

    fn add_bare(&mut self, region: &PageTable, page: PageIndex, pages: u32) {
        let address = region.address(page);
        match self.bare.last_mut() {
            Some(run) if run.address + u64::from(run.pages) * region.page() == address => {
                run.pages += pages;
            }
            _ => self.bare.push(Bare {
                address,
                pages,
                done: 0,
            }),
        }
    }

    /// All of an extent is opened, even pages beyond the block: access is that of a mapping.
    fn find_sealed(&mut self, region: &PageTable, page: PageIndex) {
        let Some(extent) = region.extent(page) else {
            return;
        };
        let first = region.address(extent.first);
        if !self.sealed.contains(&first) {
            let pages = extent.first..extent.first + extent.pages;
            self.sealed.extend(pages.map(|page| region.address(page)));
        }
    }

    pub(crate) fn begin_unmap(&mut self, heap: &mut Heap, extents: Vec<(CUdeviceptr, Extent)>) {
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

    pub(crate) fn begin_map(&mut self, heap: &mut Heap) {
        for run in &self.bare {
            if let Some(region) = heap.rules_mut().region_mut(run.address) {
                let (first, _) = region.touched(run.address, 1);
                (first..first + run.pages).for_each(|page| region.begin_map(page));
            }
        }
    }

    /// Enters the new state of each page.
    pub(crate) fn write_back(&self, heap: &mut Heap) {
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
