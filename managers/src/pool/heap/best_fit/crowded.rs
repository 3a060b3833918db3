//! The choice of a place while the pool is crowded: three quarters of what it could have are mapped.
//!
//! What a pool needs near its limit is how many pages have a live block, since all others can be
//! moved. So a block is placed where it begins the fewest pages that are free as a whole, at either
//! end of a piece; of such places in the smallest piece. Large blocks go to the lowest address
//! instead, however well another place fits: there are few of them, they live long, and those that
//! come and go meanwhile leave the high addresses as a whole.

use super::*;

/// A block is large from this part of the bytes on that the pool could have. With an 8192th, a family
/// of traces of few huge blocks among many small ones needs 1.019 times its peak at worst in place of
/// 1.015; where no block is large and begun pages do not count, variants of a decoder's trace need 1.036
/// on average in place of 1.030.
const LARGE: u64 = 2048;
/// A block is not large below this, however small the pool: of 128 MiB the family would need up to
/// 1.17 times its peak.
pub(crate) const LEAST_LARGE: u64 = 512 << 10;
/// A pool is crowded where this part of what it could have is left, or less. From a half on, the same
/// traces need the same, and a step of gpt_train at 1.3 times its peak takes 1.5 times as long; from an
/// eighth on embed13 on four streams needs 1.019 times its peak in place of 1.008.
const CROWDED: u64 = 4;
/// Free pieces of one class that are compared. With 16 or 64 no trace needs less.
const CANDIDATES: usize = 8;
/// Classes that are gone through for a place that begins no page: with 64 no trace needs less.
const FURTHER: usize = 16;

/// The best place that a search has met.
#[derive(Clone, Copy)]
struct Best {
    within: FreeBlock,
    at: u64,
    /// Pages that it misses.
    rank: u64,
    /// Pages that are free as a whole, and that it begins; 1 for a large block.
    begun: u32,
}

impl Best {
    /// Whether it misses no page and begins none.
    #[inline]
    fn is_ideal(&self) -> bool {
        (self.rank, self.begun) == (0, 0)
    }
}

impl Heap {
    /// Notes how many of the bytes that the pool could have are mapped.
    pub(crate) fn note_mapped(&mut self, mapped: u64, could: u64) {
        let is_crowded = mapped > could - could / CROWDED;
        self.large = is_crowded.then(|| (could / LARGE).max(LEAST_LARGE));
    }

    /// From how many bytes on a block is large, if the pool is crowded.
    #[inline]
    pub(crate) fn crowded(&self) -> Option<u64> {
        self.large
    }

    /// The best place, which `requester` may use, of all pieces for a large block, and else of
    /// those that are looked at.
    #[inline(never)]
    pub(super) fn look_crowded(
        &self,
        bytes: u64,
        align: u64,
        requester: Requester,
        large: u64,
    ) -> Option<Place<Stamp>> {
        let Some(best) = self.best(bytes, align, requester, large) else {
            self.rules().ask_streams();
            return None;
        };
        let piece = self.tlsf.piece(best.within)?;
        Some(Place::new(
            (best.within, piece),
            (best.at, bytes),
            best.rank,
        ))
    }

    /// [`allocate_ready`](Self::allocate_ready) of a crowded pool: apart from the way of the others.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_crowded(
        &mut self,
        bytes: u64,
        align: u64,
        requester: Requester,
        large: u64,
    ) -> Option<(Block, Stamp)> {
        let Some(best) = self.best(bytes, align, requester, large) else {
            self.rules().ask_streams();
            return None;
        };
        // A place of another stream's may be better, if that is known to be complete.
        if best.begun > 0 && requester.is_asking() && self.rules().ask_if_due() {
            return None;
        }
        if best.rank > 0 {
            return None;
        }
        loop {
            let tlsf = &mut self.tlsf;
            match tlsf.take_in(best.within, best.at, bytes, Stamp::READY, requester) {
                Ok((block, was)) => {
                    self.used += block.size();
                    return Some((block, was));
                }
                Err(AllocateError::NoNodes(_)) => self.lend(),
                Err(_) => return None,
            }
        }
    }

    #[inline(always)]
    fn best(&self, bytes: u64, align: u64, requester: Requester, large: u64) -> Option<Best> {
        if bytes >= large {
            self.lowest(bytes, align, requester)
        } else {
            self.fullest(bytes, align, requester)
        }
    }

    /// Of the places that miss the fewest pages the one at the lowest address.
    fn lowest(&self, bytes: u64, align: u64, requester: Requester) -> Option<Best> {
        let mut best: Option<Best> = None;
        for class in self.tlsf.classes_from(bytes) {
            for (within, piece) in class {
                let at = aligned(piece.offset, align);
                if let Some(rank) = self.rank_in(&piece, at, bytes, requester)
                    && best
                        .as_ref()
                        .is_none_or(|best| (rank, at) < (best.rank, best.at))
                {
                    let begun = 1;
                    best = Some(Best {
                        within,
                        at,
                        rank,
                        begun,
                    });
                }
            }
        }
        best
    }

    /// Of the places that miss the fewest pages the one that begins the fewest, in the smallest
    /// piece, and there the lowest.
    #[inline(always)]
    fn fullest(&self, bytes: u64, align: u64, requester: Requester) -> Option<Best> {
        let mut best: Option<Best> = None;
        // The size of the piece that the best place lies in.
        let mut size = u64::MAX;
        for (tried, class) in self.tlsf.classes_from(bytes).enumerate() {
            for (within, piece) in class.take(CANDIDATES) {
                // No place in a larger piece is better than that.
                if piece.size > size && best.as_ref().is_some_and(Best::is_ideal) {
                    continue;
                }
                let mut at = aligned(piece.offset, align);
                // The lowest place in the piece, and then the highest.
                loop {
                    if let Some(rank) = self.rank_in(&piece, at, bytes, requester) {
                        let begun = self.rules().begun(&piece, at, bytes);
                        let key = (rank, begun, piece.size, at);
                        let least = |best: &Best| (best.rank, best.begun, size, best.at);
                        if best.as_ref().is_none_or(|best| key < least(best)) {
                            size = piece.size;
                            best = Some(Best {
                                within,
                                at,
                                rank,
                                begun,
                            });
                        }
                        if (rank, begun) == (0, 0) {
                            break;
                        }
                    }
                    match self.highest(&piece, bytes, align) {
                        Some(high) if high > at => at = high,
                        _ => break,
                    }
                }
            }
            match &best {
                Some(best) if best.is_ideal() => break,
                Some(_) if tried >= FURTHER => break,
                _ => {}
            }
        }
        best
    }

    /// The highest place in a piece: none at the end of a range, whose addresses beyond all pages are
    /// of no use yet.
    #[inline]
    fn highest(&self, piece: &Piece<Stamp>, bytes: u64, align: u64) -> Option<u64> {
        let end = piece.offset + piece.size;
        let known = |region: &PageTable| end <= region.address(region.len());
        let is_known = self.rules().region(piece.offset).is_some_and(known);
        is_known.then_some(end.checked_sub(bytes)? & !(align - 1))
    }

    /// How many pages a place misses, if it lies in the piece and `requester` may use it.
    #[inline]
    fn rank_in(
        &self,
        piece: &Piece<Stamp>,
        at: u64,
        bytes: u64,
        requester: Requester,
    ) -> Option<u64> {
        if at < piece.offset || at + bytes > piece.offset + piece.size {
            return None;
        }
        self.rules().rank(requester, at, bytes, &piece.data)
    }
}

/// The next multiple of `align`, a power of two: a division takes longer than all else that is asked
/// of a place.
#[inline]
fn aligned(address: u64, align: u64) -> u64 {
    address + (address.wrapping_neg() & (align - 1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::tests::{heap_of, single};
    use super::*;
    use crate::pool::pages::vmm::LEAST_PAGE as PAGE;

    const ONE: Requester = Requester::new(1);
    const PAGES: u32 = 24;

    /// A heap of mapped pages, with blocks of random sizes in some of it.
    fn filled(random: &mut cupola_random::Random) -> Heap {
        let mut heap = heap_of(PAGES, (0..PAGES).map(single));
        let mut blocks = Vec::new();
        for _ in 0..200 {
            let bytes = GRANULE << random.below(14);
            if let Some((block, _)) = heap.allocate_ready(bytes, 1, ONE) {
                blocks.push(block);
            }
        }
        for block in blocks {
            if random.below(3) > 0 {
                heap.free(block, Stamp::READY);
            }
        }
        heap
    }

    /// Every place at an end of a piece, and how many pages it begins.
    fn places(heap: &Heap, bytes: u64) -> Vec<(u64, u64)> {
        let pieces = heap.pieces().filter(|piece| piece.size >= bytes);
        let ends = pieces.flat_map(|piece| {
            let end = piece.offset + piece.size;
            [piece.offset, end - bytes].map(|at| {
                let pages = at / PAGE..(at + bytes).div_ceil(PAGE);
                let whole = |page: &u64| piece.offset <= page * PAGE && (page + 1) * PAGE <= end;
                (pages.filter(whole).count() as u64, at)
            })
        });
        ends.collect()
    }

    // Without it a block could begin a page beside pages that have room for it, or a large one stay
    // where it keeps a high page from being moved.
    #[test]
    fn a_block_begins_the_fewest_pages_and_a_large_one_lies_lowest() {
        let mut random = cupola_random::Random::new(7);
        let mut compared = 0;
        for _ in 0..100 {
            let heap = filled(&mut random);
            for bytes in [1, 3, 40, 1000, 9000].map(|granules| granules * GRANULE) {
                let all = places(&heap, bytes);
                let small = heap.look_crowded(bytes, GRANULE, ONE, u64::MAX);
                let begun = |at| all.iter().find(|place| place.1 == at).unwrap().0;
                assert_eq!(
                    small.map(|place| begun(place.offset)),
                    all.iter().map(|place| place.0).min(),
                );
                let large = heap.look_crowded(bytes, GRANULE, ONE, 1);
                assert_eq!(
                    large.map(|place| place.offset),
                    all.iter().map(|place| place.1).min(),
                );
                compared += usize::from(all.len() > 2);
            }
        }
        assert!(compared > 300, "{compared}");
    }

    // Without it a request on the slow path, for which the streams were asked already, would find
    // nothing once: it would then wait on the host for memory that it could borrow at once.
    #[test]
    fn only_a_request_that_searches_again_has_the_streams_asked() {
        let mut heap = heap_of(PAGES, (0..PAGES).map(single));
        heap.rules_mut().note_streams(2);
        heap.note_mapped(4, 4);
        heap.rules().note_due();
        assert!(heap.allocate_ready(PAGE, 1, ONE).is_some());
        assert!(!heap.rules().has_scanned());
        assert!(heap.allocate_ready(PAGE, 1, ONE.asking()).is_none());
        assert!(heap.rules().take_scanned());
        assert!(heap.allocate_ready(PAGE, 1, ONE.asking()).is_some());
    }
}
