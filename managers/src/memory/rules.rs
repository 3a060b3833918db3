//! `Rules`: what the pool decides about free memory, for the heap.
//!
//! * Two free pieces become one only if whoever may use the one may use the other: both were
//!   freed on the same stream, or nothing that runs uses either. Merging without this rule
//!   costs several times the memory: a small piece that is still in use makes the whole
//!   unusable for everybody else. A pool that has seen one stream only may always merge.
//! * A request gets pieces of its own stream at once, and those of others when complete.
//! * Of the pieces that are looked at, the one wins whose place misses the fewest pages.

use std::iter;

use cupola_core::tlsf::{Hooks, Piece};
use cupola_sys::driver::CUdeviceptr;

use super::pages::{Extent, Pages};
use super::stamp::{Stamp, StreamIndex};

#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The reserved ranges, oldest first: nearly always one.
    pub(super) regions: Vec<Pages>,
    /// By stream: up to which ticket all is complete.
    done: Vec<u64>,
    /// The stream that asks.
    pub(super) request: StreamIndex,
    /// By stream: up to which ticket the one that asks may use what was freed, because it will
    /// be made to wait for it. Empty but for one search.
    pub(super) granted: Vec<u64>,
    /// At most one stream has been seen.
    pub(super) single: bool,
}

impl Rules {
    /// Of a pool that nobody has used.
    pub(super) fn new() -> Self {
        Self {
            single: true,
            ..Self::default()
        }
    }

    /// Nothing that runs uses what has this stamp.
    #[inline]
    pub(super) fn is_done(&self, stamp: Stamp) -> bool {
        is_done(&self.done, stamp)
    }

    /// Notes in its pages that a block was freed.
    ///
    /// What is freed late may have an early stamp (a slab has that of its last use), which says
    /// nothing of the rest of the page. Of two streams whose work still runs the later to free
    /// is kept: what the other freed merges with this only when that is complete.
    #[inline]
    pub(super) fn note_freed(&mut self, address: CUdeviceptr, bytes: u64, stamp: Stamp) {
        let (regions, done) = (&mut self.regions, &self.done);
        let Some(region) = regions.iter_mut().find(|region| region.holds(address)) else {
            return;
        };
        let is_done = is_done(done, stamp);
        region.note_freed(address, bytes, |before| {
            if cfg!(mutant = "page_has_the_last_stamp") {
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

    /// Notes how far a stream has come. Whether that is news.
    pub(super) fn set_done(&mut self, stream: StreamIndex, ticket: u64) -> bool {
        let at = usize::from(stream);
        if self.done.len() <= at {
            self.done.resize(at + 1, 0);
        }
        let news = self.done[at] < ticket;
        self.done[at] = self.done[at].max(ticket);
        news
    }

    /// Begins a stream's place anew: nothing of the one that had it before is left.
    pub(super) fn renew(&mut self, stream: StreamIndex) {
        if let Some(done) = self.done.get_mut(usize::from(stream)) {
            *done = 0;
        }
    }

    /// Whether the stream that asks may use it now, or after the wait that was granted.
    #[inline]
    fn is_usable(&self, stamp: Stamp) -> bool {
        stamp.stream() == self.request
            || self.is_done(stamp)
            || self
                .granted
                .get(usize::from(stamp.stream()))
                .is_some_and(|&granted| stamp.ticket() <= granted)
    }

    /// The range that an address lies in.
    #[inline]
    pub(super) fn region(&self, address: CUdeviceptr) -> Option<&Pages> {
        self.regions.iter().find(|region| region.holds(address))
    }

    #[inline]
    pub(super) fn region_mut(&mut self, address: CUdeviceptr) -> Option<&mut Pages> {
        self.regions.iter_mut().find(|region| region.holds(address))
    }

    /// How many pages of this place have to be mapped before it can be used.
    #[inline]
    pub(super) fn missing(&self, address: CUdeviceptr, bytes: u64) -> u32 {
        self.region(address)
            .map_or(0, |region| region.missing(address, bytes))
    }

    /// The extents that lie in a piece as a whole and are used by nothing that runs, from the
    /// highest down.
    pub(super) fn idle<'a>(
        &'a self,
        piece: &Piece<Stamp>,
    ) -> impl Iterator<Item = (CUdeviceptr, Extent)> + use<'a> {
        let (offset, size) = (piece.offset, piece.size);
        self.region(offset).into_iter().flat_map(move |region| {
            let (first, end) = region.within(offset, size);
            let mut at = end.min(region.len());
            iter::from_fn(move || {
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
                    let pages = extent.first..extent.first + extent.pages;
                    if whole && { pages }.all(|page| self.is_done(region.freed(page))) {
                        return Some((region.address(extent.first), extent));
                    }
                }
                None
            })
        })
    }
}

#[inline]
fn is_done(done: &[u64], stamp: Stamp) -> bool {
    stamp.is_ready()
        || done
            .get(usize::from(stamp.stream()))
            .is_some_and(|&done| stamp.ticket() <= done)
}

impl Hooks for Rules {
    type Data = Stamp;
    const CANDIDATES: usize = 16;
    const TRIES: usize = 16;
    const FURTHER: usize = 48;

    #[inline]
    fn may_merge(&self, left: &Piece<Stamp>, right: &Piece<Stamp>) -> bool {
        self.single
            || left.data.stream() == right.data.stream()
            || (self.is_done(left.data) && self.is_done(right.data))
    }

    #[inline]
    fn merge(&self, left: &Piece<Stamp>, right: &Piece<Stamp>) -> Stamp {
        match (self.is_done(left.data), self.is_done(right.data)) {
            (true, true) => Stamp::READY,
            (true, false) => right.data,
            (false, true) => left.data,
            (false, false) => left.data.later(right.data),
        }
    }

    #[inline]
    fn rank(&self, offset: u64, size: u64, stamp: &Stamp) -> Option<u64> {
        self.is_usable(*stamp)
            .then(|| u64::from(self.missing(offset, size)))
    }
}
