//! The search for the free block that a request is cut from.

use core::hint::select_unpredictable;

use super::class::{Class, END};
use super::node::NONE;
use super::{FreeBlock, Hooks, Node, Piece, Tlsf};

/// Number of classes that surely fit and are tried before the complete scan, where hooks forbid
/// the blocks tried before.
const SURE_CLASSES: usize = 8;

/// A free block that holds the request, or none: a pair of words, so that it is passed in
/// registers. All else about it is in its node.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    pub(super) rank: u64,
    pub(super) node: u32,
}

impl Fit {
    const NONE: Self = Self {
        rank: u64::MAX,
        node: NONE,
    };

    #[inline(always)]
    fn is_some(self) -> bool {
        self.node != NONE
    }
}

/// The key that the blocks of one class are compared by. The best one is the least.
#[derive(Clone, Copy)]
struct Key {
    rank: u64,
    size: u64,
    offset: u64,
}

impl Key {
    /// One comparison without branches: which of two blocks is smaller cannot be foretold.
    #[inline(always)]
    fn beats(&self, other: &Self) -> bool {
        let low = |key: &Self| {
            if mutant!("tlsf_highest_among_equals") {
                !key.offset
            } else {
                key.offset
            }
        };
        let key = |key: &Self| u128::from(key.size) << 64 | u128::from(low(key));
        (self.rank < other.rank) | ((self.rank == other.rank) & (key(self) < key(other)))
    }
}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// The free block for `size` bytes, a multiple of the granule, and the place in it.
    ///
    /// A block holds the request for sure from the class on that covers the size and the
    /// most that alignment can cost. Below that, blocks have to be tried: a bounded number
    /// first, and all that could hold the request only when no block that was tried does.
    #[inline(always)]
    pub(super) fn find(&self, size: u64, align: u64, request: H::Request) -> Option<(Fit, u64)> {
        let own = if mutant!("tlsf_own_class_skipped") {
            Class::covering(size / GRANULE)
        } else {
            Self::class(size)
        };
        let most = align.max(GRANULE) - GRANULE;
        let sure = match size.checked_add(most) {
            Some(padded) => Class::covering(padded / GRANULE),
            None => END,
        };
        let mut fit = self.try_few(own, sure, size, align, request);
        if !fit.is_some() {
            fit = self.try_more(own, sure, size, align, request);
        }
        if !fit.is_some() {
            return None;
        }
        if H::FURTHER > 0 && fit.rank > 0 && !mutant!("tlsf_no_further_look") {
            fit = self.cheaper(fit, size, align, request);
        }
        let offset = self.chain.node(fit.node).offset;
        Some((fit, offset + padding(offset, align)))
    }

    /// `fit`, or a larger block of a lower rank.
    #[cold]
    #[inline(never)]
    fn cheaper(&self, fit: Fit, size: u64, align: u64, request: H::Request) -> Fit {
        let mut best = fit;
        let mut left = H::FURTHER;
        let mut class = Self::class(self.chain.node(fit.node).size);
        while left > 0 && best.rank > 0 {
            let Some(next) = self.index.first_from(class.next()) else {
                break;
            };
            let (found, seen) = self.best(next, left, size, align, request);
            if found.is_some() && found.rank < best.rank {
                best = found;
            }
            (class, left) = (next, left - seen);
        }
        best
    }

    /// Tries a bounded number of blocks, first of the request's own class.
    #[inline(always)]
    fn try_few(&self, own: Class, sure: Class, size: u64, align: u64, request: H::Request) -> Fit {
        let Some(mut class) = self.index.first_from(own) else {
            return Fit::NONE;
        };
        if class < sure {
            let (best, _) = self.best(class, H::TRIES, size, align, request);
            if best.is_some() {
                return best;
            }
            match self.index.first_from(class.next()) {
                None => return Fit::NONE,
                Some(next) if next < sure => {
                    return self.try_aligned(next, sure, size, align, request);
                }
                Some(next) => class = next,
            }
        } else if class == own {
            return self
                .best(class, H::CANDIDATES.max(1), size, align, request)
                .0;
        }
        self.best(class, H::TRIES.max(1), size, align, request).0
    }

    /// The rest of `try_few` for alignments that leave more than one class uncertain.
    #[inline(never)]
    fn try_aligned(
        &self,
        mut class: Class,
        sure: Class,
        size: u64,
        align: u64,
        request: H::Request,
    ) -> Fit {
        let mut left = H::TRIES;
        while class < sure && left > 0 {
            let (best, seen) = self.best(class, left, size, align, request);
            if best.is_some() {
                return best;
            }
            left -= seen;
            match self.index.first_from(class.next()) {
                Some(next) => class = next,
                None => return Fit::NONE,
            }
        }
        match self.index.first_from(class.max(sure)) {
            Some(class) => self.best(class, H::TRIES.max(1), size, align, request).0,
            None => Fit::NONE,
        }
    }

    /// A bounded number of blocks of the next classes that surely fit, where only the hooks
    /// can have forbidden the blocks tried before; and then every block.
    #[cold]
    #[inline(never)]
    fn try_more(&self, own: Class, sure: Class, size: u64, align: u64, request: H::Request) -> Fit {
        let mut from = sure;
        let classes = if mutant!("tlsf_larger_classes_not_tried") {
            0
        } else {
            SURE_CLASSES
        };
        for _ in 0..classes {
            let Some(class) = self.index.first_from(from) else {
                break;
            };
            let (best, _) = self.best(class, H::TRIES.max(1), size, align, request);
            if best.is_some() {
                return best;
            }
            from = class.next();
        }
        self.try_all(own, size, align, request)
    }

    /// The best fit in the first class that has any.
    fn try_all(&self, own: Class, size: u64, align: u64, request: H::Request) -> Fit {
        if mutant!("tlsf_no_complete_scan") {
            return Fit::NONE;
        }
        self.hooks.scanning();
        let mut from = own;
        while let Some(class) = self.index.first_from(from) {
            let (best, _) = self.best(class, usize::MAX, size, align, request);
            if best.is_some() {
                return best;
            }
            from = class.next();
        }
        Fit::NONE
    }

    /// The best fit among the first `count` blocks of a class, and how many were seen.
    #[inline(always)]
    fn best(
        &self,
        class: Class,
        count: usize,
        size: u64,
        align: u64,
        request: H::Request,
    ) -> (Fit, usize) {
        let nodes = self.chain.nodes();
        let mut best = Key {
            rank: u64::MAX,
            size: u64::MAX,
            offset: u64::MAX,
        };
        let mut found = NONE;
        let mut at = self.index.head(class);
        let mut seen = 0;
        while seen < count {
            // NONE is no index: the list's end.
            let Some(node) = nodes.get(at as usize) else {
                break;
            };
            let padding = padding(node.offset, align);
            let rank = if node.size.saturating_sub(padding) >= size {
                self.hooks
                    .rank(request, node.offset + padding, size, &node.data)
            } else {
                None
            };
            let key = Key {
                rank: rank.unwrap_or(u64::MAX),
                size: node.size,
                offset: node.offset,
            };
            let better = rank.is_some() & key.beats(&best);
            best.rank = select_unpredictable(better, key.rank, best.rank);
            best.size = select_unpredictable(better, key.size, best.size);
            best.offset = select_unpredictable(better, key.offset, best.offset);
            found = select_unpredictable(better, at, found);
            at = node.next;
            seen += 1;
        }
        let rank = best.rank;
        (Fit { rank, node: found }, seen)
    }
}

impl<S, H, const GRANULE: u64> Tlsf<S, H, GRANULE>
where
    S: AsRef<[Node<H::Data>]> + AsMut<[Node<H::Data>]>,
    H: Hooks,
{
    /// The free blocks that may hold `size` bytes, class by class: every block of a class is
    /// smaller than those of the next one. For a caller that compares places by more than their
    /// rank, and makes a [`Place`](super::Place) of the one that it has chosen.
    ///
    /// ```
    /// use cupola_core::Tlsf;
    /// use cupola_core::tlsf::{Node, Place};
    ///
    /// let mut heap = Tlsf::<_, ()>::new([Node::new(()); 8], ());
    /// heap.add_range(0, 100, ()).unwrap();
    /// heap.add_range(200, 300, ()).unwrap();
    ///
    /// // The end of the block at the highest address.
    /// let free = heap.classes_from(50).flatten();
    /// let (name, piece) = free.max_by_key(|(_, piece)| piece.offset).unwrap();
    /// let place = Place::new((name, piece), (450, 50), 0);
    /// let block = heap.take(place, (), ()).unwrap();
    /// assert_eq!((block.offset(), block.size()), (450, 50));
    /// ```
    pub fn classes_from(
        &self,
        size: u64,
    ) -> impl Iterator<Item = impl Iterator<Item = (FreeBlock, Piece<H::Data>)> + '_> + '_ {
        let mut next = Self::class(size);
        core::iter::from_fn(move || {
            let class = self.index.first_from(next)?;
            next = class.next();
            let mut at = self.index.head(class);
            Some(core::iter::from_fn(move || {
                // NONE is no index: the list's end.
                let node = self.chain.nodes().get(at as usize)?;
                let name = self.name(at);
                at = node.next;
                Some((name, node.piece()))
            }))
        })
    }
}

/// The bytes from `offset` up to the next multiple of `align`, a power of two.
#[inline(always)]
const fn padding(offset: u64, align: u64) -> u64 {
    offset.wrapping_neg() & (align - 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::vec::Vec;

    use super::super::{AllocateError, Hooks, Node, Tlsf};

    /// Ranks a place by its distance from 6 400 in hundreds.
    struct Distance;

    impl Hooks for Distance {
        type Data = ();
        type Request = ();
        const FURTHER: usize = 8;

        fn rank(&self, (): (), offset: u64, _: u64, (): &()) -> Option<u64> {
            Some(offset.abs_diff(6400) / 100)
        }
    }

    /// Free blocks of 1000, 2000, ... 8000 bytes with used ones between them.
    fn heap<H: Hooks<Data = (), Request = ()>>(hooks: H) -> Tlsf<[Node; 32], H> {
        let mut heap = Tlsf::<_, H>::new([Node::new(()); 32], hooks);
        let mut at = 0;
        for size in 1..=8 {
            heap.add_range(at, size * 1000, ()).unwrap();
            at += size * 1000 + 100;
        }
        heap
    }

    // Without it a request would be cut from the smallest block that holds it, however dear.
    #[test]
    fn a_larger_block_of_a_lower_rank_is_preferred() {
        let mut heap = heap(Distance);
        let place = heap.look(1000, 1, ()).unwrap();
        assert_eq!((place.offset, place.rank), (6300, 1));
        let block = heap.take(place, (), ()).unwrap();
        assert_eq!((block.offset(), block.size()), (6300, 1000));
        heap.check().unwrap();
    }

    // Without it a caller that chooses for itself could miss a block that holds its request, or stop
    // before a better one.
    #[test]
    fn classes_have_every_block_that_may_hold_a_request() {
        let heap = heap(());
        for size in [1, 999, 1000, 1001, 4000, 8000, 8001] {
            let classes = heap.classes_from(size);
            let classes: Vec<Vec<u64>> = classes
                .map(|class| class.map(|(_, piece)| piece.size).collect())
                .collect();
            let holds = |piece: &u64| *piece >= size;
            let found = classes.iter().flatten().filter(|it| holds(it)).count();
            let all = (1..=8).map(|size| size * 1000).filter(holds).count();
            assert_eq!(found, all, "{size}");
            let ends =
                |class: &Vec<u64>| (*class.iter().min().unwrap(), *class.iter().max().unwrap());
            assert!(classes.is_sorted_by(|one, next| ends(one).1 < ends(next).0));
        }
    }

    // Without it a place could be taken that was allocated meanwhile.
    #[test]
    fn a_place_is_taken_once() {
        let mut heap = heap(());
        let place = heap.look(1000, 1, ()).unwrap();
        assert_eq!((place.offset, place.size, place.rank), (0, 1000, 0));
        let block = heap.take(place, (), ()).unwrap();
        assert_eq!(heap.take(place, (), ()), Err(AllocateError::NoFit));
        heap.free(block, ()).unwrap();
        assert_eq!(heap.look(9000, 1, ()), Err(AllocateError::NoFit));
        heap.check().unwrap();
    }
}
