//! `PageTable`: which pages of a reserved range of addresses have memory behind them.
//!
//! A page is in one of four states, and only the holder of the mapper changes them:
//!
//! ```text
//! Bare --begin_map--> Busy --mapped--> Sealed --opened--> Mapped
//!   ^                   |                 |                  |
//!   +-------------------+<---begin_unmap--+<-----------------+
//! ```
//!
//! * *Bare*: addresses only.
//! * *Busy*: a driver call for the page is under way; no thread counts on it.
//! * *Sealed*: memory is mapped and the device may not access it: `cuMemSetAccess` is missing,
//!   because it failed.
//! * *Mapped*: usable.
//!
//! Pages that got their memory with one handle are an *extent*: they change state together,
//! and are unmapped together. Each page has the stamp of the last block that was freed in it:
//! unmapping is not ordered on streams, so an extent is given up only after all of its stamps
//! are complete. The heap keeps these stamps only while requests search for idle pages.

use cupola_sys::driver::CUdeviceptr;

use crate::pool::pages::vmm::MemoryHandle;
use crate::pool::streams::free_stamp::{RetiredStreams, Stamp};

/// The memory behind a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PageState {
    #[default]
    Bare,
    Busy,
    Sealed,
    Mapped,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Of the first page of an extent.
    handle: MemoryHandle,
    /// Pages from the first of its extent to this one.
    back: u32,
    /// Of the first page: how many the extent has.
    span: u32,
    state: PageState,
}

/// Pages with one handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) first: PageIndex,
    pub(crate) pages: u32,
}

/// A number of a page in its range.
pub(crate) type PageIndex = u32;

/// The pages of one reserved range.
#[derive(Debug)]
pub(crate) struct PageTable {
    base: CUdeviceptr,
    bytes: u64,
    shift: u32,
    /// All pages below this one are mapped and open.
    solid: PageIndex,
    /// Bit `n`: page `n` is mapped and open.
    mapped: Vec<u64>,
    /// Pages from here on were never touched.
    table: Vec<Page>,
    /// As long as the table: when the last block was freed that touched a page, as far as the
    /// heap has noted it. On its own, as a free writes here and nowhere else.
    freed: Vec<Stamp>,
}

impl PageTable {
    /// `page` is a power of two, and divides both.
    pub(crate) fn new(base: CUdeviceptr, bytes: u64, page: u64) -> Self {
        Self {
            base,
            bytes,
            shift: page.trailing_zeros(),
            solid: 0,
            mapped: Vec::new(),
            table: Vec::new(),
            freed: Vec::new(),
        }
    }

    pub(crate) fn base(&self) -> CUdeviceptr {
        self.base
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn page(&self) -> u64 {
        1 << self.shift
    }

    /// Whether the address lies in the range.
    #[inline]
    pub(crate) fn holds(&self, address: CUdeviceptr) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// The first page that `bytes` bytes from `address` on touch, and the one after the last.
    #[inline]
    pub(crate) fn touched(&self, address: CUdeviceptr, bytes: u64) -> (PageIndex, PageIndex) {
        let from = address - self.base;
        let to = from + bytes;
        let round_up = (1 << self.shift) - 1;
        (
            (from >> self.shift) as PageIndex,
            ((to + round_up) >> self.shift) as PageIndex,
        )
    }

    /// The first page that lies in them as a whole, and the one after the last.
    pub(crate) fn within(&self, address: CUdeviceptr, bytes: u64) -> (PageIndex, PageIndex) {
        let from = address - self.base;
        let to = from + bytes;
        let round_up = (1 << self.shift) - 1;
        let first = ((from + round_up) >> self.shift) as PageIndex;
        (first, ((to >> self.shift) as PageIndex).max(first))
    }

    /// The address of a page.
    pub(crate) fn address(&self, page: PageIndex) -> CUdeviceptr {
        self.base + (u64::from(page) << self.shift)
    }

    /// Whether the bytes lie in the part of the range that is mapped and open without a gap.
    #[inline]
    pub(crate) fn is_solid(&self, address: CUdeviceptr, bytes: u64) -> bool {
        let solid = u64::from(self.solid) << self.shift;
        let at = address.wrapping_sub(self.base);
        at < solid && bytes <= solid - at
    }

    /// How many of the pages that the bytes touch are not mapped.
    #[inline]
    pub(crate) fn missing(&self, address: CUdeviceptr, bytes: u64) -> u32 {
        let (first, end) = self.touched(address, bytes);
        if end <= self.solid {
            return 0;
        }
        (end - first) - self.mapped_between(first, end)
    }

    /// How many of these pages are mapped.
    #[inline]
    fn mapped_between(&self, first: PageIndex, end: PageIndex) -> u32 {
        let (first, end) = (first as usize, end as usize);
        let (low, high) = (first / 64, end / 64);
        let word = |index: usize| self.mapped.get(index).copied().unwrap_or(0);
        let from = u64::MAX << (first % 64);
        // Bits below the end; none when it is the first of its word.
        let to = (1u64 << (end % 64)) - 1;
        if low == high {
            return (word(low) & from & to).count_ones();
        }
        let middle: u32 = (low + 1..high.min(self.mapped.len()))
            .map(|index| word(index).count_ones())
            .sum();
        (word(low) & from).count_ones() + middle + (word(high) & to).count_ones()
    }

    pub(crate) fn state(&self, page: PageIndex) -> PageState {
        self.table
            .get(page as usize)
            .map_or(PageState::Bare, |page| page.state)
    }

    /// When the last block was freed that touched the page, as far as that was noted.
    pub(crate) fn freed(&self, page: PageIndex) -> Stamp {
        let freed = self.freed.get(page as usize);
        freed.copied().unwrap_or(Stamp::READY)
    }

    /// Notes that bytes were freed: `stamp` makes the pages' new stamp of the old. Pages that are
    /// not in the table have never been used.
    #[inline]
    pub(crate) fn note_freed(
        &mut self,
        address: CUdeviceptr,
        bytes: u64,
        stamp: impl Fn(Stamp) -> Stamp,
    ) {
        let (first, end) = self.touched(address, bytes);
        let end = (end as usize).min(self.freed.len());
        if let Some(pages) = self.freed.get_mut(first as usize..end) {
            for freed in pages {
                *freed = stamp(*freed);
            }
        }
    }

    /// Replaces the stamps of retired streams by READY, because their indices are used again.
    pub(crate) fn forget(&mut self, gone: &RetiredStreams) {
        for freed in &mut self.freed {
            *freed = gone.without(*freed);
        }
    }

    /// Begins anew: nothing is noted of any page.
    pub(crate) fn forget_all(&mut self) {
        self.freed.fill(Stamp::READY);
    }

    /// A driver call for a bare page begins.
    pub(crate) fn begin_map(&mut self, page: PageIndex) {
        let at = page as usize;
        if self.table.len() <= at {
            self.table.resize(at + 1, Page::default());
            self.freed.resize(at + 1, Stamp::READY);
        }
        self.table[at].state = PageState::Busy;
    }

    fn set(&mut self, extent: Extent, state: PageState) {
        let (first, end) = (
            extent.first as usize,
            (extent.first + extent.pages) as usize,
        );
        if let Some(pages) = self.table.get_mut(first..end) {
            for page in pages {
                page.state = state;
            }
        }
    }

    /// The pages have memory, which the device may not access yet.
    pub(crate) fn seal(&mut self, extent: Extent, handle: MemoryHandle) {
        self.set(extent, PageState::Sealed);
        for back in 0..extent.pages {
            if let Some(page) = self.table.get_mut((extent.first + back) as usize) {
                page.back = back;
            }
        }
        if let Some(page) = self.table.get_mut(extent.first as usize) {
            page.handle = handle;
            page.span = extent.pages;
        }
    }

    /// The pages did not get memory, or lost it.
    pub(crate) fn leave_bare(&mut self, extent: Extent) {
        self.set(extent, PageState::Bare);
    }

    /// The device may access the page.
    pub(crate) fn open(&mut self, page: PageIndex) {
        let at = page as usize;
        if let Some(page) = self.table.get_mut(at) {
            page.state = PageState::Mapped;
        }
        if self.mapped.len() <= at / 64 {
            self.mapped.resize(at / 64 + 1, 0);
        }
        self.mapped[at / 64] |= 1 << (at % 64);
        while self.is_mapped(self.solid) {
            self.solid += 1;
        }
    }

    pub(crate) fn is_mapped(&self, page: PageIndex) -> bool {
        let at = page as usize;
        let word = self.mapped.get(at / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    /// The extent of a page that has memory.
    pub(crate) fn extent(&self, page: PageIndex) -> Option<Extent> {
        let entry = self.table.get(page as usize)?;
        if !matches!(entry.state, PageState::Mapped | PageState::Sealed) {
            return None;
        }
        let first = page - entry.back;
        let pages = self.table.get(first as usize)?.span;
        Some(Extent { first, pages })
    }

    /// The extent is about to be unmapped: its handle.
    pub(crate) fn begin_unmap(&mut self, extent: Extent) -> Option<MemoryHandle> {
        if self.extent(extent.first) != Some(extent) {
            return None;
        }
        self.set(extent, PageState::Busy);
        for page in extent.first..extent.first + extent.pages {
            if let Some(word) = self.mapped.get_mut(page as usize / 64)
                && !mutant!("pages_are_ready_while_they_go")
            {
                *word &= !(1 << (page % 64));
            }
        }
        self.solid = self.solid.min(extent.first);
        let first = self.table.get(extent.first as usize)?;
        Some(first.handle)
    }

    /// All extents, from the highest down.
    pub(crate) fn extents(&self) -> impl Iterator<Item = Extent> + '_ {
        (0..self.len()).rev().filter_map(|page| {
            let extent = self.extent(page)?;
            (extent.first == page).then_some(extent)
        })
    }

    /// Pages up to the highest that was ever touched.
    pub(crate) fn len(&self) -> PageIndex {
        self.table.len() as PageIndex
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pool::pages::vmm::LEAST_PAGE;

    const BASE: u64 = 7 << 30;

    fn one(page: PageIndex) -> Extent {
        Extent {
            first: page,
            pages: 1,
        }
    }

    fn naive_missing(pages: &PageTable, address: u64, bytes: u64) -> u32 {
        let (first, end) = pages.touched(address, bytes);
        (first..end)
            .filter(|&page| pages.state(page) != PageState::Mapped)
            .count() as u32
    }

    // Without it a block could be handed out over a page that has no memory, or a mapped one
    // be mapped again.
    #[test]
    fn counts_agree_with_a_look_at_each_page() {
        fn property(steps: Vec<(bool, u16)>, looks: Vec<(u32, u32)>) -> bool {
            let mut pages = PageTable::new(BASE, 1 << 40, LEAST_PAGE);
            for (map, page) in steps {
                let page = u32::from(page % 300);
                match (map, pages.state(page)) {
                    (true, PageState::Bare) => {
                        pages.begin_map(page);
                        pages.seal(one(page), u64::from(page) + 1);
                        pages.open(page);
                    }
                    (false, PageState::Mapped) => {
                        assert_eq!(pages.begin_unmap(one(page)), Some(u64::from(page) + 1));
                        pages.leave_bare(one(page));
                    }
                    _ => {}
                }
            }
            looks.into_iter().all(|(offset, bytes)| {
                let (at, bytes) = (
                    BASE + u64::from(offset % (900 << 20)),
                    u64::from(bytes).max(1),
                );
                pages.missing(at, bytes) == naive_missing(&pages, at, bytes)
            })
        }
        quickcheck::quickcheck(property as fn(Vec<(bool, u16)>, Vec<(u32, u32)>) -> bool);
    }

    // Without it a page could be given up while part of it is in a live block, or a block's
    // last page be forgotten.
    #[test]
    fn edges_of_ranges_round_the_right_way() {
        let pages = PageTable::new(BASE, 1 << 40, LEAST_PAGE);
        let page = LEAST_PAGE;
        assert_eq!(pages.touched(BASE, page), (0, 1));
        assert_eq!(pages.touched(BASE + page - 1, 2), (0, 2));
        assert_eq!(pages.within(BASE, page), (0, 1));
        assert_eq!(pages.within(BASE + 1, 2 * page - 1), (1, 2));
        assert_eq!(pages.within(BASE + 1, page), (1, 1));
        assert_eq!(pages.within(BASE + 1, 10), (1, 1));
    }

    // Without it part of an extent could be unmapped, which the driver refuses, or another
    // one's handle be released.
    #[test]
    fn an_extent_goes_as_a_whole() {
        let mut pages = PageTable::new(BASE, 1 << 40, LEAST_PAGE);
        let extent = Extent { first: 3, pages: 4 };
        (3..8).for_each(|page| pages.begin_map(page));
        pages.seal(extent, 77);
        pages.seal(one(7), 78);
        assert_eq!(pages.extent(6), Some(extent));
        assert_eq!(pages.missing(BASE, 8 * LEAST_PAGE), 8);
        (3..8).for_each(|page| pages.open(page));
        assert_eq!(pages.missing(BASE, 8 * LEAST_PAGE), 3);
        assert_eq!(pages.extents().collect::<Vec<_>>(), [one(7), extent]);
        assert_eq!(pages.begin_unmap(one(4)), None);
        assert_eq!(pages.begin_unmap(extent), Some(77));
        pages.leave_bare(extent);
        assert_eq!(pages.extent(4), None);
        assert_eq!(pages.missing(BASE, 8 * LEAST_PAGE), 7);
        assert_eq!(pages.extents().collect::<Vec<_>>(), [one(7)]);
    }
}
