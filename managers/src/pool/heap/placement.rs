//! `PlacementPolicy`: the pool's decisions about free memory, for the heap.
//!
//! * Two free pieces become one only if every stream that may use the one may use the other: both
//!   were freed on the same stream, or nothing that runs uses either. Merging without this rule
//!   costs several times the memory: a small piece that is still in use makes the whole
//!   unusable for all other streams. A pool that has seen one stream only may always merge.
//! * A request gets pieces of its own stream at once, and those of others when complete.
//! * Of the pieces that are looked at, the one wins whose place misses the fewest pages.

use std::cell::Cell;
use std::iter;

use cupola_core::tlsf::{Hooks, Piece};
use cupola_sys::driver::CUdeviceptr;

use crate::lists;
use crate::pool::heap::requester::Requester;
use crate::pool::pages::page_table::{Extent, PageIndex, PageTable};
use crate::pool::streams::free_stamp::{Stamp, StreamIndex};

#[derive(Debug, Default)]
pub(crate) struct PlacementPolicy {
    /// The reserved ranges by address: nearly always one.
    regions: Vec<PageTable>,
    /// By stream: up to which ticket all is complete.
    done: Vec<u64>,
    /// By stream: the last ticket that something was freed with.
    last: Vec<u64>,
    /// At most one stream has been seen.
    single: bool,
    /// A search went through everything, for most was of other streams: it may be complete by now.
    scanned: Cell<bool>,
    /// So much was freed that the streams should be asked how far they are.
    due: Cell<bool>,
    /// Threads that ask them at this moment.
    askers: Cell<u32>,
}

impl PlacementPolicy {
    /// Of a pool that no stream has used.
    pub(crate) fn new() -> Self {
        Self {
            single: true,
            ..Self::default()
        }
    }

    /// So many streams have a place in the pool.
    pub(crate) fn note_streams(&mut self, count: usize) {
        self.single = count <= 1;
    }

    /// Whether at most one stream has a place in the pool.
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Whether a search went through everything, for most was of other streams: it may be complete
    /// by now.
    pub(crate) fn has_scanned(&self) -> bool {
        self.scanned.get()
    }

    /// So much was freed that the streams should be asked how far they are, before a request takes a
    /// place that another stream's memory might save it.
    pub(crate) fn note_due(&self) {
        self.due.set(true);
    }

    /// Has the streams asked, if that is due. Whether it is.
    pub(crate) fn ask_if_due(&self) -> bool {
        let is_due = self.due.replace(false) && !self.single;
        if is_due {
            self.ask_streams();
        }
        is_due
    }

    /// Has other streams be asked how far they are before the next block is placed.
    pub(crate) fn ask_streams(&self) {
        self.scanned.set(!self.single);
    }

    /// As `has_scanned`: if so, the caller asks the streams, and calls [`note_asked`](Self::note_asked).
    pub(crate) fn take_scanned(&self) -> bool {
        let has_scanned = self.scanned.replace(false);
        self.askers.set(self.askers.get() + u32::from(has_scanned));
        has_scanned
    }

    /// A thread has asked the streams.
    pub(crate) fn note_asked(&self) {
        self.askers.set(self.askers.get() - 1);
    }

    /// Whether a thread asks the streams at this moment.
    pub(crate) fn is_asked(&self) -> bool {
        self.askers.get() > 0
    }

    /// The reserved ranges, by address.
    pub(crate) fn regions(&self) -> &[PageTable] {
        &self.regions
    }

    /// The same, to be changed, but for where they are.
    pub(crate) fn regions_mut(&mut self) -> &mut [PageTable] {
        &mut self.regions
    }

    /// Takes the ranges out: nothing of them is used any more.
    pub(crate) fn take_regions(&mut self) -> Vec<PageTable> {
        std::mem::take(&mut self.regions)
    }

    /// Whether no work that runs uses memory with this stamp.
    #[inline]
    pub(crate) fn is_done(&self, stamp: Stamp) -> bool {
        stamp.is_ready() || stamp.ticket() <= self.done(stamp.stream()).unwrap_or(0)
    }

    /// Up to which ticket all of a stream is complete, if that was ever noted.
    #[inline]
    pub(crate) fn done(&self, stream: StreamIndex) -> Option<u64> {
        self.done.get(usize::from(stream)).copied()
    }

    /// Notes in its pages that a block was freed.
    ///
    /// A block that is freed late may have an early stamp (a slab has that of its last use), which
    /// says nothing of the rest of the page. Of two streams whose work still runs the page keeps
    /// the later to free: the other's memory merges with this only when it is complete, or where
    /// the heap has every page ask its piece again (neighbours that are joined, a stream that is
    /// gone).
    #[inline]
    pub(crate) fn note_freed(&mut self, address: CUdeviceptr, bytes: u64, stamp: Stamp) {
        let is_done = self.is_done(stamp);
        let Some(region) = self.region_mut(address) else {
            return;
        };
        region.note_freed(address, bytes, |before| {
            if mutant!("page_has_the_last_stamp") {
                stamp
            } else if before.stream() == stamp.stream() {
                before.later(stamp)
            } else if is_done {
                before
            } else {
                stamp
            }
        });
    }

    /// Notes the stamp of something that was freed.
    #[inline]
    pub(crate) fn note_last(&mut self, stamp: Stamp) {
        let at = usize::from(stamp.stream());
        if let Some(last) = self.last.get_mut(at) {
            *last = stamp.ticket().max(*last);
        } else {
            self.last.resize(at + 1, 0);
            self.last[at] = stamp.ticket();
        }
    }

    /// The last ticket that something was freed with on a stream; 0 for none.
    pub(crate) fn last_freed(&self, stream: StreamIndex) -> u64 {
        self.last.get(usize::from(stream)).copied().unwrap_or(0)
    }

    /// Whether something that was freed on a stream is not known to be complete.
    pub(crate) fn is_waiting(&self, stream: StreamIndex) -> bool {
        self.done(stream).unwrap_or(0) < self.last_freed(stream)
    }

    /// Notes how far a stream has come. Whether something that was freed may be complete by that.
    pub(crate) fn set_done(&mut self, stream: StreamIndex, ticket: u64) -> bool {
        let news = self.done(stream).unwrap_or(0) < ticket && self.is_waiting(stream);
        let at = usize::from(stream);
        if self.done.len() <= at {
            self.done.resize(at + 1, 0);
        }
        self.done[at] = self.done[at].max(ticket);
        news
    }

    /// Begins a stream's place anew: nothing of the one that had it before is left.
    pub(crate) fn renew(&mut self, stream: StreamIndex) {
        for tickets in [&mut self.done, &mut self.last] {
            if let Some(ticket) = tickets.get_mut(usize::from(stream)) {
                *ticket = 0;
            }
        }
    }

    /// Whether the stream that asks may use it now, or after the wait that was granted.
    #[inline]
    pub(crate) fn is_usable(&self, requester: Requester, stamp: Stamp) -> bool {
        requester.is_granted(stamp) || self.is_done(stamp)
    }

    /// Whether neighbours may become one for a request that holds parts of both, between these
    /// addresses: whichever other stream may use only one of them.
    pub(crate) fn may_join(
        &self,
        requester: Requester,
        (from, to): (CUdeviceptr, CUdeviceptr),
        left: &Piece<Stamp>,
        right: &Piece<Stamp>,
    ) -> bool {
        let within = from <= left.offset && right.offset + right.size <= to;
        within
            && !self.is_apart(right)
            && self.is_usable(requester, left.data)
            && self.is_usable(requester, right.data)
    }

    /// Whether a piece is of another range than the one on its left.
    #[inline]
    fn is_apart(&self, right: &Piece<Stamp>) -> bool {
        self.regions.len() > 1 && self.begins(right.offset)
    }

    /// The range that an address lies in.
    #[inline]
    pub(crate) fn region(&self, address: CUdeviceptr) -> Option<&PageTable> {
        let at = region_of(&self.regions, address)?;
        self.regions.get(at)
    }

    #[inline]
    pub(crate) fn region_mut(&mut self, address: CUdeviceptr) -> Option<&mut PageTable> {
        let at = region_of(&self.regions, address)?;
        self.regions.get_mut(at)
    }

    /// Adds a range, which overlaps none that is there.
    pub(crate) fn enter(&mut self, region: PageTable) {
        let at = self
            .regions
            .partition_point(|other| other.base() < region.base());
        self.regions.insert(at, region);
    }

    /// Forgets the range that begins here.
    pub(crate) fn leave(&mut self, base: CUdeviceptr) {
        lists::retain(&mut self.regions, |region| region.base() != base);
    }

    /// Whether a range begins here: ranges may touch, and no block lies in two.
    #[cold]
    pub(crate) fn begins(&self, address: CUdeviceptr) -> bool {
        !mutant!("regions_merge")
            && self
                .regions
                .binary_search_by_key(&address, PageTable::base)
                .is_ok()
    }

    #[inline(never)]
    fn rank_of(&self, requester: Requester, offset: u64, size: u64, stamp: Stamp) -> Option<u64> {
        self.is_usable(requester, stamp)
            .then(|| u64::from(self.missing(offset, size)))
    }

    /// How many pages of this place have to be mapped before it can be used.
    #[inline]
    pub(crate) fn missing(&self, address: CUdeviceptr, bytes: u64) -> u32 {
        self.region(address)
            .map_or(u32::MAX, |region| region.missing(address, bytes))
    }

    /// How many pages that lie in a free piece as a whole a place in it touches.
    pub(crate) fn begun(&self, piece: &Piece<Stamp>, address: CUdeviceptr, bytes: u64) -> u32 {
        let Some(region) = self.region(piece.offset) else {
            return 0;
        };
        let (first, end) = region.touched(address, bytes);
        let (from, to) = region.within(piece.offset, piece.size);
        end.min(to).saturating_sub(first.max(from))
    }

    /// Calls `found` with the ends of each stretch of mapped pages in a piece that the stream that
    /// asks may use.
    pub(crate) fn mapped_stretches(
        &self,
        requester: Requester,
        piece: &Piece<Stamp>,
        mut found: impl FnMut(CUdeviceptr, CUdeviceptr),
    ) {
        let Some(region) = self
            .region(piece.offset)
            .filter(|_| self.is_usable(requester, piece.data))
        else {
            return;
        };
        let (first, end) = region.touched(piece.offset, piece.size);
        let mut from = None;
        for page in first..end.min(region.len()) {
            let address = region.address(page);
            if region.is_mapped(page) {
                from.get_or_insert(address.max(piece.offset));
            } else if let Some(from) = from.take() {
                found(from, address);
            }
        }
        if let Some(from) = from {
            let to = region.address(end.min(region.len()));
            found(from, to.min(piece.offset + piece.size));
        }
    }

    /// The place in a piece that the stream that asks may use which misses the fewest pages, but no
    /// more than `most`: its address, and how many.
    pub(crate) fn cheapest(
        &self,
        requester: Requester,
        piece: &Piece<Stamp>,
        (bytes, align): (u64, u64),
        most: u64,
    ) -> Option<(u64, CUdeviceptr)> {
        let region = self.region(piece.offset)?;
        if !self.is_usable(requester, piece.data) {
            return None;
        }
        let is_mapped = |page| region.is_mapped(page);
        let found = cheapest_in(
            region,
            (piece.offset, piece.size),
            (bytes, align),
            is_mapped,
        );
        found.filter(|&(missing, _)| missing <= most)
    }

    /// The extents that lie in a piece as a whole and are used by nothing that runs, from the
    /// highest down.
    pub(crate) fn idle<'a>(
        &'a self,
        piece: &Piece<Stamp>,
    ) -> impl Iterator<Item = (CUdeviceptr, Extent)> + use<'a> {
        let region = self.region(piece.offset);
        self.whole(piece).filter(move |(_, extent)| {
            let mut pages = extent.first..extent.first + extent.pages;
            region.is_some_and(|region| pages.all(|page| self.is_done(region.freed(page))))
        })
    }

    /// The extents that lie in a piece as a whole, from the highest down.
    pub(crate) fn whole<'a>(
        &'a self,
        piece: &Piece<Stamp>,
    ) -> impl Iterator<Item = (CUdeviceptr, Extent)> + use<'a> {
        let region = self.region(piece.offset);
        let (first, mut at) = region.map_or((0, 0), |region| {
            let (first, end) = region.within(piece.offset, piece.size);
            (first, end.min(region.len()))
        });
        iter::from_fn(move || {
            let region = region?;
            while at > first {
                at -= 1;
                let Some(extent) = region.extent(at) else {
                    continue;
                };
                if extent.first < first {
                    return None;
                }
                let whole = extent.first + extent.pages == at + 1;
                at = extent.first;
                if whole {
                    return Some((region.address(extent.first), extent));
                }
            }
            None
        })
    }
}

/// The place between these addresses, from `from` on `size` bytes, that has the fewest pages which
/// are not `there`: how many, and its address. `None` where it does not hold the request.
pub(crate) fn cheapest_in(
    region: &PageTable,
    (from, size): (CUdeviceptr, u64),
    (bytes, align): (u64, u64),
    there: impl Fn(PageIndex) -> bool,
) -> Option<(u64, CUdeviceptr)> {
    let last = from + size.checked_sub(bytes)?;
    let (first, end) = region.touched(from, size);
    let known = end.min(region.len()).max(first);
    // How many of the pages before each are there.
    let mut mapped = vec![0_u64];
    for page in first..known {
        mapped.push(mapped[mapped.len() - 1] + u64::from(there(page)));
    }
    let before = |page: u32| mapped[(page.min(known) - first) as usize];
    let missing = |at: CUdeviceptr| {
        let (from, to) = region.touched(at, bytes);
        u64::from(to - from) - (before(to) - before(from))
    };
    // A place that begins or ends with a page, where it can, misses no more than its neighbours.
    let mut best = None;
    let mut consider = |at: CUdeviceptr| {
        if (from..=last).contains(&at) {
            let place = (missing(at), at);
            best = Some(best.map_or(place, |best| place.min(best)));
        }
    };
    consider(from.next_multiple_of(align));
    for page in first..=known.max(first + 1) {
        let ends = (region.address(page) + region.page()).saturating_sub(bytes);
        consider(region.address(page).next_multiple_of(align));
        consider(ends / align * align);
    }
    best
}

/// Which range an address lies in.
#[inline]
pub(crate) fn region_of(regions: &[PageTable], address: CUdeviceptr) -> Option<usize> {
    let after = match regions {
        [_] => 1,
        _ => regions.partition_point(|region| region.base() <= address),
    };
    let at = after.checked_sub(1)?;
    regions[at].holds(address).then_some(at)
}

impl Hooks for PlacementPolicy {
    type Data = Stamp;
    type Request = Requester;
    const CANDIDATES: usize = 4;
    const TRIES: usize = 4;
    const FURTHER: usize = 48;

    #[inline]
    fn may_merge(&self, left: &Piece<Stamp>, right: &Piece<Stamp>) -> bool {
        if self.is_apart(right) {
            return false;
        }
        self.single
            || left.data.stream() == right.data.stream()
            || (self.is_done(left.data) && self.is_done(right.data))
    }

    #[inline]
    fn merge(&self, left: &Piece<Stamp>, right: &Piece<Stamp>) -> Stamp {
        // Most are of one batch: a later look sees whether it is complete.
        if left.data == right.data {
            return left.data;
        }
        match (self.is_done(left.data), self.is_done(right.data)) {
            (true, true) => Stamp::READY,
            (true, false) => right.data,
            (false, true) => left.data,
            (false, false) => left.data.later(right.data),
        }
    }

    #[inline]
    fn rank(&self, requester: Requester, offset: u64, size: u64, stamp: &Stamp) -> Option<u64> {
        // Nearly all that a search meets, where memory is plenty.
        if (requester.has_freed(*stamp) || stamp.is_ready())
            && let Some(region) = self.regions.first()
            && region.is_solid(offset, size)
        {
            return Some(0);
        }
        self.rank_of(requester, offset, size, *stamp)
    }
    #[inline]
    fn scanning(&self) {
        self.ask_streams();
    }
}
