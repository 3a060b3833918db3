//! Which free block a request is cut from.

use core::hint::select_unpredictable;

use super::class::{Class, END};
use super::node::NONE;
use super::{Hooks, Node, Tlsf};

/// How many classes that surely fit are tried before the complete scan, where hooks forbid
/// what was tried.
const SURE_CLASSES: usize = 8;

/// A free block that holds the request. The best one is the least.
#[derive(Clone, Copy)]
struct Fit {
    rank: u64,
    size: u64,
    offset: u64,
    node: u32,
}

impl Fit {
    /// One comparison without branches: which of two blocks is smaller cannot be foretold.
    #[inline(always)]
    fn beats(&self, other: &Self) -> bool {
        let low = |fit: &Self| {
            if cfg!(mutant = "tlsf_highest_among_equals") {
                !fit.offset
            } else {
                fit.offset
            }
        };
        let key = |fit: &Self| u128::from(fit.size) << 64 | u128::from(low(fit));
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
    pub(super) fn find(&self, size: u64, align: u64) -> Option<(u32, u64)> {
        let own = if cfg!(mutant = "tlsf_own_class_skipped") {
            Class::covering(size / GRANULE)
        } else {
            Self::class(size)
        };
        let most = align.max(GRANULE) - GRANULE;
        let sure = match size.checked_add(most) {
            Some(padded) => Class::covering(padded / GRANULE),
            None => END,
        };
        let fit = match self.try_few(own, sure, size, align) {
            Some(fit) => fit,
            None => self.try_more(own, sure, size, align)?,
        };
        Some((fit.node, fit.offset + padding(fit.offset, align)))
    }

    /// Tries a bounded number of blocks, first of the request's own class.
    #[inline(always)]
    fn try_few(&self, own: Class, sure: Class, size: u64, align: u64) -> Option<Fit> {
        let mut class = self.index.first_from(own)?;
        if class < sure {
            let (best, _) = self.best(class, H::TRIES, size, align);
            if best.is_some() {
                return best;
            }
            class = self.index.first_from(class.next())?;
            if class < sure {
                return self.try_aligned(class, sure, size, align);
            }
        } else if class == own {
            return self.best(class, H::CANDIDATES.max(1), size, align).0;
        }
        self.best(class, H::TRIES.max(1), size, align).0
    }

    /// The rest of `try_few` for alignments that leave more than one class uncertain.
    #[inline(never)]
    fn try_aligned(&self, mut class: Class, sure: Class, size: u64, align: u64) -> Option<Fit> {
        let mut left = H::TRIES;
        while class < sure && left > 0 {
            let (best, seen) = self.best(class, left, size, align);
            if best.is_some() {
                return best;
            }
            left -= seen;
            class = self.index.first_from(class.next())?;
        }
        let class = self.index.first_from(class.max(sure))?;
        self.best(class, H::TRIES.max(1), size, align).0
    }

    /// A bounded number of blocks of the next classes that surely fit, where only the hooks
    /// can have forbidden what was tried before; and then everything.
    #[cold]
    fn try_more(&self, own: Class, sure: Class, size: u64, align: u64) -> Option<Fit> {
        let mut from = sure;
        let classes = if cfg!(mutant = "tlsf_larger_classes_not_tried") {
            0
        } else {
            SURE_CLASSES
        };
        for _ in 0..classes {
            let Some(class) = self.index.first_from(from) else {
                break;
            };
            let (best, _) = self.best(class, H::TRIES.max(1), size, align);
            if best.is_some() {
                return best;
            }
            from = class.next();
        }
        self.try_all(own, size, align)
    }

    /// The best fit in the first class that has any.
    fn try_all(&self, own: Class, size: u64, align: u64) -> Option<Fit> {
        if cfg!(mutant = "tlsf_no_complete_scan") {
            return None;
        }
        let mut from = own;
        while let Some(class) = self.index.first_from(from) {
            let (best, _) = self.best(class, usize::MAX, size, align);
            if best.is_some() {
                return best;
            }
            from = class.next();
        }
        None
    }

    /// The best fit among the first `count` blocks of a class, and how many were seen.
    #[inline(always)]
    fn best(&self, class: Class, count: usize, size: u64, align: u64) -> (Option<Fit>, usize) {
        let nodes = self.chain.nodes();
        let mut best = Fit {
            rank: u64::MAX,
            size: u64::MAX,
            offset: u64::MAX,
            node: NONE,
        };
        let mut at = self.index.head(class);
        let mut seen = 0;
        while seen < count {
            // NONE is no index: the list's end.
            let Some(node) = nodes.get(at as usize) else {
                break;
            };
            let padding = padding(node.offset, align);
            let rank = if node.size.saturating_sub(padding) >= size {
                self.hooks.rank(node.offset + padding, size, &node.data)
            } else {
                None
            };
            let fit = Fit {
                rank: rank.unwrap_or(u64::MAX),
                size: node.size,
                offset: node.offset,
                node: at,
            };
            let better = rank.is_some() & fit.beats(&best);
            best.rank = select_unpredictable(better, fit.rank, best.rank);
            best.size = select_unpredictable(better, fit.size, best.size);
            best.offset = select_unpredictable(better, fit.offset, best.offset);
            best.node = select_unpredictable(better, fit.node, best.node);
            at = node.next;
            seen += 1;
        }
        ((best.node != NONE).then_some(best), seen)
    }
}

/// The bytes from `offset` up to the next multiple of `align`, a power of two.
#[inline(always)]
const fn padding(offset: u64, align: u64) -> u64 {
    offset.wrapping_neg() & (align - 1)
}
