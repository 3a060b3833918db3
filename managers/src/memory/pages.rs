//! `Pages`: which pages of a reserved range of addresses have memory behind them.
//!
//! A page is in one of four states, and only whoever holds the mapper changes them:
//!
//! ```text
//! Bare --begin_map--> Busy --mapped--> Sealed --opened--> Mapped
//!   ^                   |                 |                  |
//!   +-------------------+<---begin_unmap--+<-----------------+
//! ```
//!
//! * *Bare*: addresses only.
//! * *Busy*: a driver call for the page is under way; nobody counts on it.
//! * *Sealed*: memory is mapped and the device may not access it: `cuMemSetAccess` is missing,
//!   because it failed.
//! * *Mapped*: usable.
//!
//! Each page that has memory knows its handle, and each page the stamp of the last block that
//! was freed in it: unmapping is not ordered on streams, so a page is given up only after that
//! stamp is complete.

use cupola_sys::driver::CUdeviceptr;

use super::stamp::Stamp;
use super::vmm::PageHandle;

/// The smallest page that the tables are made for: the granularity of every device so far.
pub(super) const LEAST_PAGE: u64 = 2 << 20;

/// What is behind a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PageState {
    #[default]
    Bare,
    Busy,
    Sealed,
    Mapped,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    handle: PageHandle,
    freed: Stamp,
    state: PageState,
}

/// A number of a page in its range.
pub(super) type PageIndex = u32;

/// The pages of one reserved range.
#[derive(Debug)]
pub(super) struct Pages {
    base: CUdeviceptr,
    bytes: u64,
    shift: u32,
    /// All pages below this one are mapped and open.
    solid: PageIndex,
    /// Bit `n`: page `n` is mapped and open.
    mapped: Vec<u64>,
    /// Pages from here on were never touched.
    table: Vec<Page>,
}

impl Pages {
    /// `page` is a power of two, and divides both.
    pub(super) fn new(base: CUdeviceptr, bytes: u64, page: u64) -> Self {
        Self {
            base,
            bytes,
            shift: page.trailing_zeros(),
            solid: 0,
            mapped: Vec::new(),
            table: Vec::new(),
        }
    }

    pub(super) fn base(&self) -> CUdeviceptr {
        self.base
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn page(&self) -> u64 {
        1 << self.shift
    }

    /// Whether the address lies in the range.
    #[inline]
    pub(super) fn holds(&self, address: CUdeviceptr) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// The first page that `bytes` bytes from `address` on touch, and the one after the last.
    #[inline]
    pub(super) fn touched(&self, address: CUdeviceptr, bytes: u64) -> (PageIndex, PageIndex) {
        let from = address - self.base;
        let to = from + bytes;
        let round_up = (1 << self.shift) - 1;
        (
            (from >> self.shift) as PageIndex,
            ((to + round_up) >> self.shift) as PageIndex,
        )
    }

    /// The first page that lies in them as a whole, and the one after the last.
    pub(super) fn within(&self, address: CUdeviceptr, bytes: u64) -> (PageIndex, PageIndex) {
        let from = address - self.base;
        let to = from + bytes;
        let round_up = (1 << self.shift) - 1;
        let first = ((from + round_up) >> self.shift) as PageIndex;
        (first, ((to >> self.shift) as PageIndex).max(first))
    }

    /// The address of a page.
    pub(super) fn address(&self, page: PageIndex) -> CUdeviceptr {
        self.base + (u64::from(page) << self.shift)
    }

    /// How many of the pages that the bytes touch are not mapped.
    #[inline]
    pub(super) fn missing(&self, address: CUdeviceptr, bytes: u64) -> u32 {
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

    pub(super) fn state(&self, page: PageIndex) -> PageState {
        self.table
            .get(page as usize)
            .map_or(PageState::Bare, |page| page.state)
    }

    /// When the last block was freed that touched the page.
    pub(super) fn freed(&self, page: PageIndex) -> Stamp {
        self.table
            .get(page as usize)
            .map_or(Stamp::READY, |page| page.freed)
    }

    /// Notes that a block was freed: `stamp` makes the pages' new stamp of the old. The pages it
    /// touches have been mapped, so they are in the table.
    #[inline]
    pub(super) fn note_freed(
        &mut self,
        address: CUdeviceptr,
        bytes: u64,
        stamp: impl Fn(Stamp) -> Stamp,
    ) {
        let (first, end) = self.touched(address, bytes);
        if let Some(pages) = self.table.get_mut(first as usize..end as usize) {
            for page in pages {
                page.freed = stamp(page.freed);
            }
        }
    }

    /// A driver call for a bare page begins.
    pub(super) fn begin_map(&mut self, page: PageIndex) {
        let at = page as usize;
        if self.table.len() <= at {
            self.table.resize(at + 1, Page::default());
        }
        self.table[at].state = PageState::Busy;
    }

    /// The page has memory, which the device may not access yet.
    pub(super) fn seal(&mut self, page: PageIndex, handle: PageHandle) {
        if let Some(page) = self.table.get_mut(page as usize) {
            page.state = PageState::Sealed;
            page.handle = handle;
        }
    }

    /// The page did not get memory.
    pub(super) fn leave_bare(&mut self, page: PageIndex) {
        if let Some(page) = self.table.get_mut(page as usize) {
            page.state = PageState::Bare;
        }
    }

    /// The device may access the page.
    pub(super) fn open(&mut self, page: PageIndex) {
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

    fn is_mapped(&self, page: PageIndex) -> bool {
        let at = page as usize;
        let word = self.mapped.get(at / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    /// The page is about to be unmapped: its handle. `None` if it has none.
    pub(super) fn begin_unmap(&mut self, page: PageIndex) -> Option<PageHandle> {
        let at = page as usize;
        let entry = self.table.get_mut(at)?;
        if !matches!(entry.state, PageState::Mapped | PageState::Sealed) {
            return None;
        }
        entry.state = PageState::Busy;
        let handle = entry.handle;
        if let Some(word) = self.mapped.get_mut(at / 64) {
            *word &= !(1 << (at % 64));
        }
        self.solid = self.solid.min(page);
        Some(handle)
    }

    /// Pages that have memory, from the highest down.
    pub(super) fn backed(&self) -> impl Iterator<Item = PageIndex> + '_ {
        self.table
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(at, page)| {
                let backed = matches!(page.state, PageState::Mapped | PageState::Sealed);
                backed.then_some(at as PageIndex)
            })
    }

    /// Pages up to the highest that was ever touched.
    pub(super) fn len(&self) -> PageIndex {
        self.table.len() as PageIndex
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BASE: u64 = 7 << 30;

    fn naive_missing(pages: &Pages, address: u64, bytes: u64) -> u32 {
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
            let mut pages = Pages::new(BASE, 1 << 40, LEAST_PAGE);
            for (map, page) in steps {
                let page = u32::from(page % 300);
                match (map, pages.state(page)) {
                    (true, PageState::Bare) => {
                        pages.begin_map(page);
                        pages.seal(page, u64::from(page) + 1);
                        pages.open(page);
                    }
                    (false, PageState::Mapped) => {
                        assert_eq!(pages.begin_unmap(page), Some(u64::from(page) + 1));
                        pages.leave_bare(page);
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
        let pages = Pages::new(BASE, 1 << 40, LEAST_PAGE);
        let page = LEAST_PAGE;
        assert_eq!(pages.touched(BASE, page), (0, 1));
        assert_eq!(pages.touched(BASE + page - 1, 2), (0, 2));
        assert_eq!(pages.within(BASE, page), (0, 1));
        assert_eq!(pages.within(BASE + 1, 2 * page - 1), (1, 2));
        assert_eq!(pages.within(BASE + 1, page), (1, 1));
        assert_eq!(pages.within(BASE + 1, 10), (1, 1));
    }
}
