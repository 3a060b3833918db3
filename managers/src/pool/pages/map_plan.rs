//! `MapPlan`: which pages are to change, and how far that has come.
//!
//! A plan makes no driver call. It says which call is next (unmap an extent, give pages memory, open
//! a run of them), is told of each that was made, and enters into the page table in the end what has
//! become of every page, however far the calls have come.

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::lists::{sort_by_number, sum};
use crate::pool::heap::best_fit::Heap;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::HandleSizes;
use crate::pool::pages::page_table::{Extent, PageIndex, PageState, PageTable};
use crate::pool::pages::vmm::MemoryHandle;

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
}

/// Pages that need memory next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    address: CUdeviceptr,
    most: u32,
    size: u32,
}

impl Missing {
    /// Where they begin.
    pub(crate) fn address(self) -> CUdeviceptr {
        self.address
    }

    /// How many pages a handle may have here at most.
    pub(crate) fn most(self) -> u32 {
        self.most
    }

    /// How many pages new memory for them is to have, `most` allowing.
    pub(crate) fn size(self) -> u32 {
        self.size
    }
}

/// Which pages are to change, and how far that has come.
pub(crate) struct MapPlan {
    /// Bytes of a page.
    page: u64,
    idle: Vec<Idle>,
    /// How many of these have lost their memory.
    gone: usize,
    bare: Vec<Bare>,
    handles: HandleSizes,
    mapped: Vec<(CUdeviceptr, PhysicalHandle)>,
    /// Pages that have memory, and are not to be accessed yet: those of `mapped` are added when all
    /// of them are there, and then they are in order.
    sealed: Vec<CUdeviceptr>,
    is_sorted: bool,
    /// How many of these are open.
    opened: usize,
}

impl MapPlan {
    /// A plan for pages of so many bytes, by which nothing is to change.
    pub(crate) fn new(page: u64) -> Self {
        Self {
            page,
            idle: Vec::new(),
            gone: 0,
            bare: Vec::new(),
            handles: HandleSizes::default(),
            mapped: Vec::new(),
            sealed: Vec::new(),
            is_sorted: false,
            opened: 0,
        }
    }

    /// Whether nothing is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.bare.is_empty() && self.sealed.is_empty() && self.idle.is_empty()
    }

    /// Pages that need memory.
    pub(crate) fn pages(&self) -> u64 {
        sum(&self.bare, |run| u64::from(run.pages))
    }

    /// Pages that are to lose theirs.
    pub(crate) fn idle_pages(&self) -> usize {
        let pages = self.idle.iter().map(|idle| idle.extent.pages as usize);
        pages.sum()
    }

    /// Adds the pages of a block that have no memory, or may not be accessed.
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
            Some(run) if run.address + u64::from(run.pages) * self.page == address => {
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

    /// Adds extents that nothing uses, which lose their memory: from now on no search counts on it.
    pub(crate) fn begin_unmap(&mut self, heap: &mut Heap, extents: &[(CUdeviceptr, Extent)]) {
        for &(address, extent) in extents {
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
                });
            }
        }
    }

    /// Notes that driver calls for the missing pages are under way, whose new memory is to have
    /// handles of these sizes.
    pub(crate) fn begin_map(&mut self, heap: &mut Heap, handles: HandleSizes) {
        self.handles = handles;
        for run in &self.bare {
            if let Some(region) = heap.rules_mut().region_mut(run.address) {
                let (first, _) = region.touched(run.address, 1);
                (first..first + run.pages).for_each(|page| region.begin_map(page));
            }
        }
    }

    /// The next extent to unmap: its address and its bytes.
    pub(crate) fn next_idle(&self) -> Option<(CUdeviceptr, u64)> {
        let idle = self.idle.get(self.gone)?;
        Some((idle.address, u64::from(idle.extent.pages) * self.page))
    }

    /// That extent is unmapped: its memory, which is mapped nowhere now.
    pub(crate) fn note_unmapped(&mut self) -> Option<PhysicalHandle> {
        let idle = self.idle.get(self.gone)?;
        self.gone += 1;
        Some(PhysicalHandle {
            handle: idle.handle,
            pages: idle.extent.pages,
        })
    }

    fn bare_run(&self) -> Option<&Bare> {
        self.bare.iter().find(|run| run.done < run.pages)
    }

    /// The next pages to give memory.
    pub(crate) fn next_missing(&self) -> Option<Missing> {
        let run = self.bare_run()?;
        Some(Missing {
            address: run.address + u64::from(run.done) * self.page,
            most: run.pages - run.done,
            size: self.handles.pages(run.pages),
        })
    }

    /// There is no memory of larger handles: the rest gets single pages.
    pub(crate) fn use_single_pages(&mut self) {
        self.handles = HandleSizes::default();
    }

    /// The first of those pages have this memory, which has no more pages than they.
    pub(crate) fn note_mapped(&mut self, memory: PhysicalHandle) {
        let Some(missing) = self.next_missing() else {
            return;
        };
        debug_assert!(
            memory.pages <= missing.most,
            "memory is mapped over the end"
        );
        self.mapped.push((missing.address, memory));
        let run = self.bare.iter_mut().find(|run| run.done < run.pages);
        if let Some(run) = run {
            run.done += memory.pages;
        }
    }

    /// The next pages to give access to, once all have memory: their address and bytes. The call
    /// costs nearly the same for any number of pages, so they are as many as there are in a row.
    pub(crate) fn next_sealed(&mut self) -> Option<(CUdeviceptr, u64)> {
        if !self.is_sorted {
            for (address, memory) in &self.mapped {
                let pages = 0..u64::from(memory.pages);
                self.sealed
                    .extend(pages.map(|page| address + page * self.page));
            }
            sort_by_number(&mut self.sealed, |&address| address);
            self.is_sorted = true;
        }
        let run = self.sealed_run()?;
        Some((*run.first()?, run.len() as u64 * self.page))
    }

    fn sealed_run(&self) -> Option<&[CUdeviceptr]> {
        let left = self.sealed.get(self.opened..)?;
        left.chunk_by(|a, b| a + self.page == *b).next()
    }

    /// The device may access those pages.
    pub(crate) fn note_opened(&mut self) {
        self.opened += self.sealed_run().map_or(0, <[_]>::len);
    }

    /// Enters the new state of each page.
    pub(crate) fn write_back(&self, heap: &mut Heap) {
        let rules = heap.rules_mut();
        for (at, idle) in self.idle.iter().enumerate() {
            if let Some(region) = rules.region_mut(idle.address) {
                if at < self.gone {
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
        for &address in self.sealed.iter().take(self.opened) {
            if let Some(region) = rules.region_mut(address) {
                let (page, _) = region.touched(address, 1);
                region.open(page);
            }
        }
    }
}
